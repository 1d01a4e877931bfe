"""A sweep as a list of chunks, each small enough to be made again after a failure; what a chunk became."""

import hashlib
import json
import math
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import torch

from core.errors import InputError, RecordError
from core.models import Models
from core.settings import Settings
from core.translating import Line, Written, written

SIZE = 32  # texts of a chunk: about a second of work, so that little is made twice


@dataclass(frozen=True)
class Chunk:
    """Some texts of one test set under settings of one model. number: its place in the plan; first: its first text's place."""

    number: int
    settings: tuple[Settings, ...]
    corpus: str
    first: int
    sources: tuple[str, ...]

    @property
    def id(self) -> str:
        """SHA-256 of all that decides what comes out, but for the weights."""
        told = [[one.to_json() for one in self.settings], self.corpus, self.first, self.sources]
        return hashlib.sha256(json.dumps(told, ensure_ascii=False).encode()).hexdigest()

    def make(self, models: Models) -> Iterator["Made | None"]:
        """None for each decoder step, at the end what it became: the same wherever it is made with as many threads."""
        began, loaded, lines = time.monotonic(), models.load(self.settings[0].model), []
        for line in written(self.settings, self.sources, models):
            if line is None:
                yield None
            else:
                lines.append(line)
        yield Made(self.number, self.id, loaded.fingerprint, tuple(lines), {
            "process": os.getpid(), "seconds": round(time.monotonic() - began, 3), "threads": torch.get_num_threads(),
            "device": str(loaded.device), "dtype": str(loaded.dtype).removeprefix("torch."),
        })


@dataclass(frozen=True)
class Made:
    """What a chunk became: a line for each text. made: the process, seconds, threads, device, dtype; fingerprint: the weights."""

    number: int
    id: str
    fingerprint: str
    lines: tuple[Line, ...]
    made: Mapping[str, str | int | float] = field(compare=False, default_factory=dict)

    def to_json(self) -> str:
        """One line; numbers keep all their digits, NaN is null."""
        lines = [[[one.text, [None if n != n else n for n in one.numbers], one.why] for one in line] for line in self.lines]
        return json.dumps({"number": self.number, "id": self.id, "fingerprint": self.fingerprint, "made": dict(self.made),
                           "lines": lines}, ensure_ascii=False, allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> "Made":
        """The same again; RecordError for anything else."""
        try:
            found = json.loads(text)
            lines = tuple(
                tuple(Written(str(said), tuple(math.nan if n is None else float(n) for n in numbers), str(why))
                      for said, numbers, why in line) for line in found["lines"])
            return cls(int(found["number"]), str(found["id"]), str(found["fingerprint"]), lines, dict(found["made"]))
        except (ValueError, TypeError, KeyError) as error:
            raise RecordError(f"This is no chunk of a sweep: {type(error).__name__} ({str(error)[:80]}).") from None


def plan(groups: Sequence[Sequence[Settings]], corpora: Mapping[str, Sequence[str]], size: int = SIZE) -> list[Chunk]:
    """Chunks of every group of settings on every test set. groups: one to three settings of one model each, run in one batch."""
    if not 1 <= size <= 1000:
        raise InputError(f"A chunk of {size} texts cannot be made; take 1 to 1,000.")
    chunks: list[Chunk] = []
    for group in groups:
        if len({one.model for one in group}) != 1:
            raise InputError("Settings of one group must name one model.")
        bare = tuple(replace(one, text="") for one in group)
        for name, sources in corpora.items():
            chunks += [Chunk(len(chunks) + at, bare, name, first, tuple(sources[first : first + size]))
                       for at, first in enumerate(range(0, len(sources), size))]
    return chunks
