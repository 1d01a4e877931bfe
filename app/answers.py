"""Answers of a handler, or a sentence on what went wrong; what a browser was sent before stays where it is."""

import logging
from collections.abc import Callable, Iterator
from typing import Any

from core.errors import TwoStacksError

log = logging.getLogger("two-stacks")
UNFORESEEN = "This failed for a reason we did not foresee; the host's log has it. Your text is kept."


def quick(answer: Callable[[], dict]) -> dict:
    """An answer, or a sentence on what went wrong."""
    try:
        return answer()
    except Exception as error:
        return refused(sentence(error))


def slow(answers: Callable[[], Iterator[Any]]) -> Iterator[Any]:
    """Answers as they come; what goes wrong is said, and what has been shown stays."""
    try:
        yield from answers()
    except Exception as error:
        yield refused(sentence(error))


def refused(said: str) -> dict:
    return {"kind": "refused", "text": said}


def sentence(error: Exception, unforeseen: str = UNFORESEEN) -> str:
    """Our own errors are sentences; of any other the host's log keeps the traceback."""
    if isinstance(error, TwoStacksError):
        return str(error)
    log.error(unforeseen, exc_info=error)
    return unforeseen
