"""Probe as a record: what `core.probes` found in one head. Plain numpy: score → mask → softmax replays without weights."""

from dataclasses import dataclass

import numpy as np

from core import masks
from core.checks import check_floats
from core.interventions import STACKS
from core.records import pack, unpack
from core.settings import Settings
from core.shapes import Floats
from core.text import Token

# name -> axes. hidden: what queries are made of; memory: what keys and values are. d_k, d_v: width of one head.
AXES: dict[str, tuple[str, ...]] = {
    "hidden": ("query", "width"), "memory": ("key", "memory width"), "q": ("query", "d_k"), "k": ("key", "d_k"),
    "v": ("key", "d_v"), "scores": ("query", "key"), "bias": ("query", "key"), "mask": ("query", "key"),
    "weights": ("query", "key"), "used": ("query", "key"), "output": ("query", "d_v"),
}


@dataclass(frozen=True, eq=False)
class Probe:
    """One head of one layer. queries and keys label the two axes of every matrix.

    scores = q kᵀ (before scaling). scale: 1 for T5, 1/√d_k for BART. bias: what is added next (T5's relative position
    bias; where a family caps its scores, what the cap takes off). mask: 0 or -inf. weights = softmax(scores · scale +
    bias + mask), 0 in a row that sees nothing. used: the same after rows set by hand and switched-off heads.
    output = used · v. Formula sheet 000, lessons 2 to 5.
    """

    kind = "probe"

    id: str
    settings: Settings
    fingerprint: str
    stack: str
    layer: int
    head: int
    queries: tuple[Token, ...]
    keys: tuple[Token, ...]
    scale: float
    arrays: dict[str, Floats]

    def __post_init__(self) -> None:
        for array in self.arrays.values():
            array.flags.writeable = False

    def __getattr__(self, name: str) -> Floats:
        """`probe.scores` for `probe.arrays["scores"]`; axes in AXES."""
        if name in AXES:
            return self.arrays[name]
        raise AttributeError(name)

    def softmax(self) -> np.ndarray:
        """(query, key): the weights again, from the record's own numbers, in float64."""
        return masks.softmax(self.scores.astype(np.float64) * self.scale + self.bias, self.mask == 0)

    def to_bytes(self) -> bytes:
        """One self-contained file (safetensors); no pickle."""
        head = {
            "id": self.id, "settings": self.settings.to_json(), "fingerprint": self.fingerprint, "stack": self.stack,
            "layer": self.layer, "head": self.head, "scale": self.scale,
            "queries": [[t.text, t.id, t.start, t.end] for t in self.queries],
            "keys": [[t.text, t.id, t.start, t.end] for t in self.keys],
        }
        return pack(self.kind, head, self.arrays)

    @classmethod
    def from_bytes(cls, data: bytes) -> "Probe":
        """What `to_bytes` wrote; RecordError says what is wrong with anything else."""
        return unpack(cls.kind, data, cls._read)

    @classmethod
    def _read(cls, head: dict, arrays: dict[str, np.ndarray]) -> "Probe":
        settings, _ = Settings.from_json(head["settings"])
        queries, keys = (
            tuple(Token(str(text), int(id), int(start), int(end)) for text, id, start, end in head[name])
            for name in ("queries", "keys")
        )
        if head["stack"] not in STACKS or not np.isfinite(float(head["scale"])):
            raise ValueError("a stack that is not known, or a scale that is not finite")
        sizes = {"query": len(queries), "key": len(keys), "d_k": arrays["q"].shape[-1], "d_v": arrays["v"].shape[-1],
                 "width": arrays["hidden"].shape[-1], "memory width": arrays["memory"].shape[-1]}
        found = {}
        for name, axes in AXES.items():
            array = arrays[name]
            plain = np.where(np.isneginf(array), np.float32(0), array) if name == "mask" else array
            check_floats(name, plain, tuple(sizes[axis] for axis in axes))
            found[name] = array
        if (found["mask"][np.isfinite(found["mask"])] != 0).any():
            raise ValueError("a mask that holds something else than 0 and -inf")
        return cls(
            str(head["id"]), settings, str(head["fingerprint"]), head["stack"], int(head["layer"]), int(head["head"]),
            queries, keys, float(head["scale"]), found,
        )
