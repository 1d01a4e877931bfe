"""Work that takes the model's turn a step at a time, so that nobody waits long behind it; and when it tells how far it is."""

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from typing import Any

PATIENCE = 0.5  # seconds before a run is streamed; a shorter one arrives whole
INTERVAL = 0.1  # seconds between streamed messages
_END = object()


class Steps:
    """What each step of some work gives, in its own turn, while the work is wanted.

    work: an iterator that uses the model with each `next`; one that says `elsewhere` uses another process's, and takes no turn of
    this one. interval: seconds between two messages, of which the first may come after `patience` seconds.
    ended: whether the work came to its end, rather than being no longer wanted. longest: seconds of its longest step.
    """

    def __init__(self, work: Iterator, turn: AbstractContextManager, wanted: Callable[[], bool], interval: float = INTERVAL,
                 patience: float = 0.0):
        self.ended, self.longest = False, 0.0
        self._work, self._turn, self._wanted, self._interval, self._patience = work, turn, wanted, interval, patience
        self._began = self._told = time.monotonic()

    def __iter__(self) -> Iterator[Any]:
        while self._wanted():
            with nullcontext() if getattr(self._work, "elsewhere", False) else self._turn:
                began = time.monotonic()
                found = next(self._work, _END)
                self.longest = max(self.longest, time.monotonic() - began)
            if found is _END:
                self.ended = True
                return
            yield found

    @property
    def seconds(self) -> float:
        """Since it was begun."""
        return time.monotonic() - self._began

    def due(self) -> bool:
        """Whether a message is due; the next one then is an interval later."""
        now = time.monotonic()
        if now - self._began < self._patience or now - self._told < self._interval:
            return False
        self._told = now
        return True
