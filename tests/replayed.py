"""A run that gives the steps of a recorded trace, without a model; two owners."""

from collections.abc import Iterator
from dataclasses import replace

from core.sessions.store import owner_of

ANN, BOB = owner_of("ann"), owner_of("bob")


class Going(Iterator):
    """As core.runs.Run, as far as sessions look at it."""

    def __init__(self, trace):
        self.whole, self.steps, self.closed, self.settings = trace, [], False, trace.settings

    @property
    def target(self):
        return self.whole.target[: len(self.steps)]

    @property
    def written(self):
        return self.whole.text[: self.target[-1].end] if self.steps else ""

    def __next__(self):
        if self.closed or len(self.steps) == len(self.whole.steps):
            raise StopIteration
        self.steps.append(self.whole.steps[len(self.steps)])
        return self.steps[-1]

    def close(self):
        self.closed = True

    def trace(self):
        whole = len(self.steps) == len(self.whole.steps)
        return replace(self.whole, steps=tuple(self.steps), target=self.target, text=self.whole.text if whole else self.written)
