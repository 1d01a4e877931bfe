"""The engine in this process: nothing to install, nothing to connect to. Each `next` is one decoder step."""

from collections.abc import Iterator, Sequence

from core.batches import side_by_side
from core.borrowed import Borrowed
from core.engines import Lent
from core.engines.compared import Compared
from core.metrics.corpus import Corpus
from core.models import BUNDLED, Models
from core.runs import Run, run
from core.settings import Settings
from core.sweeps.plan import Chunk, Made
from core.translating import Translating


class Local:
    """Shared by all visitors; whoever steps what it gives takes the model's turn. lent: see `engine_of`."""

    def __init__(self, models: Models, lent: Lent | None = None):
        self.models, self.lent = models, lent

    def open(self) -> str:
        return ""

    def run(self, settings: Settings) -> Run:
        """On ZeroGPU a bundled model's forwards are made in the process that has the GPU."""
        if self.lent and settings.model in BUNDLED:
            return Borrowed(settings, self.models.load(settings.model), self.lent(settings))
        return run(settings, self.models)

    def compare(self, settings: Sequence[Settings]) -> Compared:
        runs = [run(one, self.models) for one in settings]
        return Compared(runs, side_by_side(runs))

    def translate(self, settings: Sequence[Settings], corpus: Corpus) -> Translating:
        return Translating(settings, corpus, self.models)

    def sweep(self, chunks: Sequence[Chunk]) -> "InTurn":
        return InTurn(chunks, self.models)

    def close(self) -> None:
        """Nothing was taken."""


class InTurn(Iterator[Made | None]):
    """A sweep in this process, chunk after chunk."""

    elsewhere = False

    def __init__(self, chunks: Sequence[Chunk], models: Models):
        self._going = (made for chunk in chunks for made in chunk.make(models))

    def __next__(self) -> Made | None:
        return next(self._going)

    def close(self) -> None:
        self._going.close()
