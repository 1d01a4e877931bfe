"""A replica of Ray Serve: it holds the models and makes forwards for whoever asks; it keeps nothing and writes nothing.

Ray does the scheduling: it picks the replica, gathers requests that arrive together (serve.batch), restarts what has died and
adds replicas under load. Here is only what one batch does: in each round a decoder forward for each crowd
(core/engines/crowds.py), one at a time in one thread, so that the batches under way share the model a step at a time, and a
cancelled request leaves at its next one.
"""

import asyncio
import os
from collections.abc import AsyncIterator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from ray import serve

from core.decode.driver import Forward
from core.engines.crowds import crowds, encode_all, forwards
from core.engines.workers import Registry, registry_of
from core.errors import TwoStacksError
from core.models import DEFAULT
from core.runs import Run, run
from core.settings import Settings

ROWS = 64  # of one forward: beams of all searches in it
WAIT = 0.01  # seconds in which what arrives is one batch; what arrives later waits no longer than for a batch to end
BATCHES = 3  # under way at once, in turns
WAITING = 64  # requests that one replica has at once


@dataclass(frozen=True)
class Origin:
    """The first message: what each run of the request reads, and what makes it. weights: of the encoder, a run each."""

    weights: tuple[Any, ...]
    device: str
    dtype: str
    threads: int
    process: int


@dataclass(frozen=True)
class Failed:
    """The last message of a request that cannot be answered: an error that a person may see."""

    error: TwoStacksError


@dataclass(eq=False)
class Asked:
    """A request while it is here. settings: a run each, of one text. wanted: until whoever asked is gone."""

    settings: Sequence[str]
    wanted: bool = True
    runs: list[Run] = field(default_factory=list)

    @property
    def rows(self) -> int:
        return sum(Settings.from_json(one)[0].decoding.beams for one in self.settings)


def rows_of(asked: Sequence[Asked]) -> int:
    """Rows of a forward for all of them, at most; one request alone always fits."""
    return min(sum(each.rows for each in asked), ROWS) if len(asked) == 1 else sum(each.rows for each in asked)


@serve.deployment
class Replica:
    """The models of one process. threads: of torch."""

    def __init__(self, registry: Registry, threads: int):
        import torch

        torch.set_num_threads(threads)
        self.threads, self.models = threads, registry_of(registry)
        self.models.load(DEFAULT)
        self._turn = ThreadPoolExecutor(1, "model")
        self.batches: list[int] = []  # how many people each of the last batches had
        self.made = 0  # decoder forwards

    async def run(self, settings: list[str]) -> AsyncIterator[Origin | dict[int, Forward] | Failed]:
        """Origin, then the forwards of the runs by place; ends early where whoever asked cancels."""
        asked = Asked(settings)
        try:
            async for message in self._together(asked):
                yield message
        finally:
            asked.wanted = False

    def facts(self) -> dict[str, Any]:
        """This process, its decoder forwards so far, and how many requests each of its last batches had."""
        return {"process": os.getpid(), "forwards": self.made, "batches": self.batches[-100:], "threads": self.threads}

    @serve.batch(max_batch_size=ROWS, batch_wait_timeout_s=WAIT, max_concurrent_batches=BATCHES, batch_size_fn=rows_of)
    async def _together(self, asked: list[Asked]) -> AsyncIterator[list[Any]]:
        """A message for each request in every round, StopIteration for one that is over."""
        self.batches.append(len(asked))
        loop = asyncio.get_running_loop()
        failed = [await loop.run_in_executor(self._turn, self._begin, each) for each in asked]
        yield [each_failed or self._origin(each) for each, each_failed in zip(asked, failed)]
        owners = [(each, place) for each, wrong in zip(asked, failed) if not wrong for place in range(len(each.runs))]
        runs = [each.runs[place] for each, place in owners]
        going = {tuple(places): self._crowd([runs[at] for at in places], [owners[at][0] for at in places])
                 for places in (crowds(runs) if runs else [])}
        while going:
            told: dict[int, dict[int, Forward] | Failed] = {}
            for places in list(going):
                found = await loop.run_in_executor(self._turn, _next, going[places])
                self.made += isinstance(found, dict)
                if found is None or isinstance(found, Failed):
                    del going[places]
                for at in places:
                    owner, place = owners[at]
                    if isinstance(found, Failed):
                        told[id(owner)] = found
                    elif found and places.index(at) in found and not isinstance(told.get(id(owner)), Failed):
                        told.setdefault(id(owner), {})[place] = found[places.index(at)]
            if told:
                yield [told.get(id(each), StopIteration) for each in asked]

    def _begin(self, asked: Asked) -> Failed | None:
        """Tokens and encoder memory of one request; nothing for one that is gone already."""
        try:
            asked.runs = [run(Settings.from_json(one)[0], self.models) for one in asked.settings] if asked.wanted else []
            for _ in encode_all(asked.runs):
                pass
        except TwoStacksError as error:
            return Failed(error)
        return None

    def _origin(self, asked: Asked) -> Origin:
        first = asked.runs[0].loaded if asked.runs else self.models.load(DEFAULT)
        dtype = str(first.dtype)
        return Origin(tuple(going.encoder_weights for going in asked.runs), str(first.device), dtype, self.threads, os.getpid())

    @staticmethod
    def _crowd(runs: Sequence[Run], owners: Sequence[Asked]) -> Iterator[dict[int, Forward]]:
        return forwards(runs, lambda place: owners[place].wanted)


def _next(going: Iterator[dict[int, Forward]]) -> dict[int, Forward] | Failed | None:
    """The next forward of one crowd; None at its end."""
    try:
        return next(going, None)
    except TwoStacksError as error:
        return Failed(error)
