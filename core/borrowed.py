"""Borrowed: a run whose forwards are made in another process; `forwards` makes them there."""

from collections.abc import Iterator

from core.decode.driver import Encoded, Forward, decode
from core.errors import ModelError
from core.models import Models
from core.models.loading import Loaded
from core.runs import Run, run
from core.settings import Settings


class Borrowed(Run):
    """A run whose forwards are made elsewhere, by `forwards` in a process that has a GPU; its steps are made here, as always.

    made: what that gives. `elsewhere` is False once it has not, with a ModelError: then the forwards are made here, and a
    note says why.
    """

    def __init__(self, settings: Settings, loaded: Loaded, made: Iterator):
        super().__init__(settings, loaded)
        self.elsewhere, self._source = True, made

    def _go(self) -> Iterator[Forward]:
        try:
            weights, self.device, self.dtype, self.threads = next(self._source)
        except ModelError as error:
            self.elsewhere = False
            self.notes.append(f"{error} This run was made on the {self.loaded.device} instead.")
            yield from super()._go()
            return
        self.read(Encoded(None, weights))
        yield from self._source


def forwards(settings: Settings, registry: Models) -> Iterator:
    """What `Borrowed` reads, all of it plain numpy that can be pickled.

    First (encoder weights (layers, heads, source, source), device, dtype, threads), then every decoder forward.
    """
    going = run(settings, registry)
    going.read(encoded := going.encoded())
    yield encoded.weights, str(going.device), str(going.dtype), going.threads
    yield from decode(going.loaded.model, going.loaded.sites, encoded, *going.search())
