"""Where forwards are made: in this process, or on the replicas and workers of a Ray cluster. The page does not know which.

    engine = engine_of(options, models)      ENGINE=local or ENGINE=ray
    engine.run(settings)                     a Run: iterate it for the steps, close it to stop
    engine.compare([settings, ...])          a Compared: the steps of several runs of one text
    engine.translate([settings, ...], corpus)  a Translating: many texts
    engine.sweep(chunks)                     a Sweep: models x settings x test sets, chunk by chunk

What is given back has `elsewhere`: False where a `next` takes this process's model, and so the model's turn. Importing this
imports neither torch nor Ray.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Protocol

from core.engines.options import Options
from core.models import Models
from core.settings import Settings

if TYPE_CHECKING:
    from core.engines.compared import Compared
    from core.metrics.corpus import Corpus
    from core.runs import Run
    from core.sweeps.plan import Chunk, Made
    from core.translating import Translating

Lent = Callable[[Settings], Iterator]  # what makes a run's forwards in another process (core.borrowed.Borrowed)


class Engine(Protocol):
    """What run, compare and corpus go through. Thread-safe. Errors are TwoStacksError: what the settings ask for is refused
    at once; EngineError while steps are asked for says that whoever made them is gone."""

    def open(self) -> str:
        """Make it ready, once; a few words on what it runs on, "" where there is nothing to say."""

    def run(self, settings: Settings) -> "Run":
        """A run of these settings, not begun."""

    def compare(self, settings: Sequence[Settings]) -> "Compared":
        """Several runs of one text, not begun."""

    def translate(self, settings: Sequence[Settings], corpus: "Corpus") -> "Translating":
        """Many texts under one to three settings of one model."""

    def sweep(self, chunks: Sequence["Chunk"]) -> "Sweep":
        """The chunks, each made once, in any order."""

    def close(self) -> None:
        """Let go of what `open` took."""


class Sweep(Protocol):
    """Each `next` gives a chunk that is made, or None: a step, or a look at the workers. Close it to stop."""

    elsewhere: bool

    def __iter__(self) -> "Sweep": ...

    def __next__(self) -> "Made | None": ...

    def close(self) -> None: ...


def engine_of(options: Options, models: Models, lent: Lent | None = None) -> Engine:
    """The engine that the options name; Ray is imported for ENGINE=ray alone, and only when it is opened.

    lent: what makes the runs of bundled models on a GPU that a Space lends; for the local engine.
    """
    if options.engine == "ray":
        from core.engines.cluster import Cluster

        return Cluster(options, models)
    from core.engines.local import Local

    return Local(models, lent)


__all__ = ["Engine", "Lent", "Options", "Sweep", "engine_of"]
