"""Several runs of one text while they are made, wherever that is."""

from collections.abc import Iterator, Sequence

from core.runs import Run
from core.trace import Step


class Compared(Iterator[dict[int, Step]]):
    """runs: one for each setting. Each `next` gives the steps that were made at once, by place. Close it to stop."""

    def __init__(self, runs: Sequence[Run], steps: Iterator[dict[int, Step]], elsewhere: bool = False):
        self.runs, self.elsewhere, self._steps = list(runs), elsewhere, steps

    def __next__(self) -> dict[int, Step]:
        return next(self._steps)

    def close(self) -> None:
        self._steps.close()
