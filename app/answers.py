"""Answers of a handler, or a sentence on what went wrong; what a browser was sent before stays where it is."""

import functools
import logging
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from typing import Any

import gradio as gr

from app.sentences import translated
from app.troubles import trouble
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


def spoken(handler: Callable[..., Generator]) -> Callable[..., Generator]:
    """The handler of an event, which leaves the page as it is where it says nothing: Gradio would empty all its outputs."""
    @functools.wraps(handler)
    def speaks(*args: Any, **named: Any) -> Generator:
        silent = True
        with closing(handler(*args, **named)) as answers:
            for answer in answers:
                silent = False
                yield answer
        if silent:
            yield gr.skip()

    return speaks


def refused(said: str) -> dict:
    return {"kind": "refused", "text": said}


def sentence(error: Exception, unforeseen: str = UNFORESEEN) -> str:
    """Our own errors are sentences, and those of the disk have one; of any other the host's log keeps the traceback."""
    if isinstance(error, TwoStacksError):
        return translated(str(error))
    if wrong := trouble(error):
        log.error("%s (%s)", wrong, error)
        return translated(wrong)
    log.error(unforeseen, exc_info=error)
    return translated(unforeseen)
