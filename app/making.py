"""Runs that are being made just now, by id: whoever asks for an equal one follows it instead of making it once more."""

import threading
from collections.abc import Callable, Iterator


class Making:
    """Shared by all visitors; holds the browser messages of a run until it ends, then nothing."""

    def __init__(self):
        self._changed = threading.Condition()
        self._told: dict[str, list[dict]] = {}

    def lead(self, id: str) -> bool:
        """Whether the caller is to make this run; then it must call `end`. False while somebody else does."""
        with self._changed:
            if id in self._told:
                return False
            self._told[id] = []
            return True

    def tell(self, id: str, message: dict) -> None:
        """A message of the run that the caller makes."""
        with self._changed:
            self._told[id].append(message)
            self._changed.notify_all()

    def end(self, id: str) -> None:
        """The run is over, whole or not."""
        with self._changed:
            self._told.pop(id, None)
            self._changed.notify_all()

    def follow(self, id: str, wanted: Callable[[], bool]) -> Iterator[dict]:
        """Its messages from the first on, as they come, until it is over or no longer wanted; none where nobody makes it."""
        with self._changed:
            told = self._told.get(id)
        at = 0
        while told is not None and wanted():
            with self._changed:
                if at == len(told) and self._told.get(id) is told:
                    self._changed.wait(0.2)
                new, over = told[at:], self._told.get(id) is not told
            yield from new
            at += len(new)
            if over and at == len(told):
                return
