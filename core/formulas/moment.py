"""Moment: the numbers of one run that the formulas are shown with. Plain numpy: a saved one is drawn before torch is there."""

import hashlib
from dataclasses import dataclass

import numpy as np

from core.examples import TRACES
from core.records import pack, unpack
from core.settings import Settings
from core.shapes import Floats
from core.text import Token

SAVED, TOUR = TRACES / "formulas.safetensors", TRACES / "tour.safetensors"  # of the first example, and of a short one
TOUR_TEXT = "Three dogs run."
STACKS = ("encoder", "decoder", "cross")
SHOWN = 16  # numbers of a hidden state that are kept for show; sums and norms were taken over all
SHARE, TEMPERATURE = 0.5, 2.0  # λ and T of distillation, where its sliders stand at first
TOP = 8192  # logits that are kept, the largest first: all of them for a pocket model


@dataclass(frozen=True, eq=False)
class Moment:
    """One run, one layer and head, one step t. Axes as in core/shapes.py; width is cut to SHOWN where a name ends in `_cut`.

    encoder., decoder., cross. + q, k, v, scores, bias, mask, weights, output: of a Probe (core/probe_record.py), cross and
    decoder for all rows of the output. logprobs (target,). ids, logits, weak (top,): the largest logits at step t, and the
    same tokens' logits of the weak student, that is without the last layer's cross-attention. rest: P of what was left out.
    More, where the model has it: see core/formulas/moments.py.
    """

    kind = "moment"

    settings: Settings
    fingerprint: str
    text: str
    source: tuple[Token, ...]
    prefix_tokens: int
    start: Token
    target: tuple[Token, ...]
    texts: tuple[str, ...]
    step: int
    layer: int
    head: int
    facts: dict[str, float]
    arrays: dict[str, Floats]
    about: str = ""

    def __post_init__(self) -> None:
        for array in self.arrays.values():
            array.flags.writeable = False

    @property
    def id(self) -> str:
        """What was looked at, in which run of which weights."""
        place = [self.step, self.layer, self.head, [token.id for token in self.target]]
        return hashlib.sha256(f"{self.settings.to_json()}\n{self.fingerprint}\n{place}".encode()).hexdigest()

    def get(self, name: str) -> Floats | None:
        """An array, or None where this model does not have it."""
        return self.arrays.get(name)

    def to_bytes(self) -> bytes:
        """One self-contained file (safetensors); no pickle."""
        def rows(tokens: tuple[Token, ...]) -> list[list]:
            return [[t.text, t.id, t.start, t.end] for t in tokens]

        names = ("fingerprint", "text", "prefix_tokens", "step", "layer", "head", "facts", "about")
        head = {name: getattr(self, name) for name in names}
        return pack(self.kind, head | {
            "settings": self.settings.to_json(), "source": rows(self.source), "start": rows((self.start,)),
            "target": rows(self.target), "texts": list(self.texts),
        }, self.arrays)

    @classmethod
    def from_bytes(cls, data: bytes) -> "Moment":
        """What `to_bytes` wrote; RecordError says what is wrong with anything else."""
        return unpack(cls.kind, data, cls._read)

    @classmethod
    def _read(cls, head: dict, arrays: dict[str, np.ndarray]) -> "Moment":
        settings, _ = Settings.from_json(head["settings"])

        def tokens(name: str) -> tuple[Token, ...]:
            return tuple(Token(str(text), int(id), int(start), int(end)) for text, id, start, end in head[name])

        source, target, (start,) = tokens("source"), tokens("target"), tokens("start")
        n, m = len(source), len(target)
        for stack, rows, columns in (("encoder", n, n), ("decoder", m, m), ("cross", m, n)):
            if arrays[f"{stack}.weights"].shape != (rows, columns):
                raise ValueError(f"weights of the {stack} that do not fit {rows} rows and {columns} columns")
        if not 0 <= int(head["step"]) < m or arrays["logprobs"].shape != (m,) or len(head["texts"]) != len(arrays["ids"]):
            raise ValueError("a step or log-probabilities that do not fit the output")
        return cls(
            settings, str(head["fingerprint"]), str(head["text"]), source, int(head["prefix_tokens"]), start, target,
            tuple(map(str, head["texts"])), int(head["step"]), int(head["layer"]), int(head["head"]),
            {str(name): float(value) for name, value in head["facts"].items()}, arrays, str(head["about"]),
        )
