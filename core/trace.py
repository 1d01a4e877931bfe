"""Step and Trace: what one run leaves. Plain numpy, no torch: a saved trace is drawn before any model has loaded.

Both are STATE in the course's words: made per input, thrown away after. Coverage is derived, never stored.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from core.checks import check_step, check_trace
from core.records import pack, unpack
from core.settings import SCHEMA, Settings
from core.shapes import CrossWeights, DecoderWeights, EncoderWeights, Floats, Ids, PathWeights
from core.text import Token

ARRAYS = (
    "token", "parent", "logprob", "candidates", "candidate_logprobs", "entropy", "cross_weights", "decoder_weights",
)


@dataclass(frozen=True, eq=False)
class Step:
    """What one decoder forward gave, for every live hypothesis.

    token (beams,), parent (beams,): id written and the row it continues. logprob (beams,): log P(y_t | y_<t, x) in
    nats, before any ban. candidates, candidate_logprobs (beams, candidates): the best next tokens after bans.
    entropy (beams,): of the model's distribution, nats. cross_weights (beams, layers, heads, source);
    decoder_weights (beams, layers, heads, index + 1). texts: the written token for display, one per beam.
    notes: what was forced or banned and why. Cache bytes: all layers' keys and values after this forward.
    """

    index: int
    token: Ids
    parent: Ids
    logprob: Floats
    candidates: Ids
    candidate_logprobs: Floats
    entropy: Floats
    cross_weights: CrossWeights
    decoder_weights: DecoderWeights
    texts: tuple[str, ...]
    candidate_texts: tuple[tuple[str, ...], ...]
    self_cache_bytes: int
    cross_cache_bytes: int
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in ARRAYS:
            getattr(self, name).flags.writeable = False  # frozen all through: a digest stays true


@dataclass(frozen=True, eq=False)
class Trace:
    """One run, whole. Equal when `id` (what was asked of which weights) and `digest` (what came out) are equal.

    source: the tokens that label the source axis, the first `prefix_tokens` of them the task prefix.
    start: what the decoder is fed first. target: the tokens of the best hypothesis, labels of the target axis.
    encoder_weights (layers, heads, source, source). notes: messages to the person, such as a cut source.
    made: device, dtype, versions, seconds (in neither id nor digest).
    """

    kind = "trace"

    settings: Settings
    fingerprint: str
    input: str
    source: tuple[Token, ...]
    prefix_tokens: int
    start: Token
    target: tuple[Token, ...]
    text: str
    encoder_weights: EncoderWeights
    steps: tuple[Step, ...]
    notes: tuple[str, ...] = ()
    made: dict = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.encoder_weights.flags.writeable = False

    @property
    def id(self) -> str:
        """SHA-256 of canonical settings, model weights and schema: the same across batching, threads, devices."""
        return run_id(self.settings, self.fingerprint)

    @property
    def digest(self) -> str:
        """SHA-256 over every array and every token, in order."""
        sha = hashlib.sha256()
        for token in (*self.source, *self.target):
            sha.update(repr((token.text, token.id, token.start, token.end)).encode())
        for name, array in self._arrays().items():
            sha.update(f"{name}{array.dtype.str}{array.shape}".encode())
            sha.update(np.ascontiguousarray(array).tobytes())
        return sha.hexdigest()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Trace) and (self.id, self.digest) == (other.id, other.digest)

    def __hash__(self) -> int:
        return hash(self.id)

    @property
    def nbytes(self) -> int:
        """What its arrays take."""
        return sum(array.nbytes for array in self._arrays().values())

    def path(self, row: int = 0) -> PathWeights:
        """Cross weights (layers, heads, target, source) of the hypothesis that ends in `row` of the last step."""
        if not self.steps:
            return np.zeros((0, 0, 0, len(self.source)), np.float32)
        rows = []
        for step in reversed(self.steps):
            # The forward that ranked this token ran on the parent's row.
            row = int(step.parent[row])
            rows.append(step.cross_weights[row])
        return np.stack(rows[::-1], axis=2)

    def coverage(self) -> Floats:
        """Σ over target rows of the mean over layers and heads, (source,): each row adds 1 (sheet 000, lesson 9)."""
        return self.path().mean((0, 1)).sum(0)

    def to_bytes(self) -> bytes:
        """One self-contained file (safetensors); no pickle."""
        return pack(self.kind, self.head() | {"steps": [step_head(s) for s in self.steps]}, self._arrays())

    def head(self) -> dict:
        """What it holds beside its steps and its arrays, as JSON has it."""
        return {
            "settings": self.settings.to_json(), "fingerprint": self.fingerprint, "input": self.input,
            "source": [list(t) for t in map(_row, self.source)], "prefix_tokens": self.prefix_tokens,
            "start": list(_row(self.start)), "target": [list(t) for t in map(_row, self.target)],
            "text": self.text, "notes": list(self.notes), "made": self.made,
        }

    def arrays(self) -> dict[str, np.ndarray]:
        """Its arrays beside those of its steps."""
        return {"encoder_weights": self.encoder_weights}

    @classmethod
    def from_bytes(cls, data: bytes) -> "Trace":
        """The trace that `to_bytes` wrote; RecordError says what is wrong with anything else."""
        return unpack(cls.kind, data, cls._read)

    @classmethod
    def _read(cls, head: dict, arrays: dict[str, np.ndarray]) -> "Trace":
        settings, _ = Settings.from_json(head["settings"])
        source, target = _tokens(head["source"]), _tokens(head["target"])
        steps = []
        for index, extra in enumerate(head["steps"]):
            step = Step(
                index=index, **{name: arrays[f"steps.{index}.{name}"] for name in ARRAYS},
                texts=tuple(map(str, extra["texts"])),
                candidate_texts=tuple(tuple(map(str, row)) for row in extra["candidate_texts"]),
                self_cache_bytes=int(extra["self_cache_bytes"]), cross_cache_bytes=int(extra["cross_cache_bytes"]),
                notes=tuple(map(str, extra["notes"])),
            )
            check_step(step, steps[-1] if steps else None, len(source))
            steps.append(step)
        trace = cls(
            settings=settings, fingerprint=str(head["fingerprint"]), input=str(head["input"]), source=source,
            prefix_tokens=int(head["prefix_tokens"]), start=_tokens([head["start"]])[0], target=target,
            text=str(head["text"]), encoder_weights=arrays["encoder_weights"], steps=tuple(steps),
            notes=tuple(map(str, head["notes"])), made=dict(head["made"]),
        )
        check_trace(trace)
        return trace

    def _arrays(self) -> dict[str, np.ndarray]:
        steps = {f"steps.{s.index}.{name}": array for s in self.steps for name, array in step_arrays(s).items()}
        return {**self.arrays(), **steps}


def run_id(settings: Settings, fingerprint: str) -> str:
    """The id a run of `settings` on weights with `fingerprint` will have, known before it starts."""
    return hashlib.sha256(f"{SCHEMA}\n{settings.to_json()}\n{fingerprint}".encode()).hexdigest()


def step_head(step: Step) -> dict:
    """What a step holds beside its arrays, as JSON has it."""
    return {
        "texts": list(step.texts), "candidate_texts": [list(c) for c in step.candidate_texts],
        "self_cache_bytes": step.self_cache_bytes, "cross_cache_bytes": step.cross_cache_bytes, "notes": list(step.notes),
    }


def step_arrays(step: Step) -> dict[str, np.ndarray]:
    """Its arrays by name."""
    return {name: getattr(step, name) for name in ARRAYS}


def _row(token: Token) -> tuple:
    return token.text, token.id, token.start, token.end


def _tokens(rows: Sequence) -> tuple[Token, ...]:
    return tuple(Token(str(text), int(id), int(start), int(end)) for text, id, start, end in rows)
