"""Corruption: one text under one noise, with every token's origin, as a record; the series and the histogram of it.

    source ─ mask ─> corrupted (what the encoder reads)
                └──> target (what the decoder is to write)
"""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from core.errors import InputError, RecordError
from core.noise.drawn import KINDS, MOVED, RANDOM, Drawn, Piece, unchanged
from core.noise.tokens import Units
from core.noising import NoiseSettings
from core.records import pack, unpack
from core.shapes import Floats, Ids
from core.text import Token

SEEDS = 200  # draws of a histogram
_ARRAYS = (
    "mask", "source_span", "corrupted_from", "corrupted_span", "corrupted_kind", "target_from", "target_span", "target_kind",
)


@dataclass(frozen=True, eq=False)
class Corruption:
    """One corrupted text. Equal where `id` is: all of it follows from the settings, the text and the tokenizer.

    source, corrupted, target: tokens that label the axes, special tokens included; offsets point into `text`.
    mask (source,): bool, hidden, or moved where the noise only moves. source_span (source,): the span that hides it.
    corrupted_from (corrupted,), target_from (target,): index of the source token, or -1 for one that is not of the text.
    corrupted_span, target_span: the span it belongs to, or -1; a sentinel's is its number. Span k begins further left
    than span k + 1. corrupted_kind, target_kind: index into core.noise.drawn.KINDS. spans: how many there are.
    requested, achieved: shares of 1. notes: for a person. difference: code against paper for this text, or "".
    """

    kind = "corruption"

    settings: NoiseSettings
    text: str
    source: tuple[Token, ...]
    corrupted: tuple[Token, ...]
    target: tuple[Token, ...]
    mask: np.ndarray
    source_span: Ids
    corrupted_from: Ids
    corrupted_span: Ids
    corrupted_kind: Ids
    target_from: Ids
    target_span: Ids
    target_kind: Ids
    requested: float
    achieved: float
    notes: tuple[str, ...] = ()
    difference: str = ""

    def __post_init__(self) -> None:
        for name in _ARRAYS:
            getattr(self, name).flags.writeable = False

    @property
    def id(self) -> str:
        """SHA-256 of what went in and what came out."""
        sha = hashlib.sha256(f"{self.settings.to_json()}\n{self.text}\n".encode())
        for tokens in (self.source, self.corrupted, self.target):
            sha.update(repr([(t.text, t.id, t.start, t.end) for t in tokens]).encode())
        for name in _ARRAYS:
            sha.update(np.ascontiguousarray(getattr(self, name)).tobytes())
        return sha.hexdigest()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Corruption) and self.id == other.id

    def __hash__(self) -> int:
        return hash(self.id)

    @property
    def spans(self) -> int:
        """How many spans, those that hide nothing (inserted masks) included."""
        return int(max(self.source_span.max(initial=-1), self.corrupted_span.max(initial=-1))) + 1

    def hidden(self, span: int) -> list[Token]:
        """The source tokens of one span."""
        return [self.source[k] for k in np.flatnonzero(self.source_span == span)]

    def to_bytes(self) -> bytes:
        """One self-contained file (safetensors); no pickle."""
        head = {
            "settings": self.settings.to_json(), "text": self.text, "requested": self.requested, "achieved": self.achieved,
            "notes": list(self.notes), "difference": self.difference,
        }
        for name in ("source", "corrupted", "target"):
            head[name] = [[t.text, t.id, t.start, t.end] for t in getattr(self, name)]
        return pack(self.kind, head, {name: getattr(self, name) for name in _ARRAYS})

    @classmethod
    def from_bytes(cls, data: bytes) -> "Corruption":
        """What `to_bytes` wrote; RecordError says what is wrong with anything else."""
        return unpack(cls.kind, data, cls._read)

    @classmethod
    def _read(cls, head: dict, arrays: dict[str, np.ndarray]) -> "Corruption":
        tokens = {
            name: tuple(Token(str(text), int(id), int(start), int(end)) for text, id, start, end in head[name])
            for name in ("source", "corrupted", "target")
        }
        made = cls(
            NoiseSettings.from_json(head["settings"])[0], str(head["text"]), **tokens,
            **{name: arrays[name] for name in _ARRAYS}, requested=float(head["requested"]),
            achieved=float(head["achieved"]), notes=tuple(map(str, head["notes"])), difference=str(head["difference"]),
        )
        _check(made)
        return made


def _check(made: Corruption) -> None:
    """What a page relies on: axes that agree, and numbers that point at something."""
    lengths = {"corrupted": len(made.corrupted), "target": len(made.target), "source": len(made.source), "mask": len(made.source)}
    for name in _ARRAYS:
        array, dtype = getattr(made, name), "bool" if name == "mask" else "int32"
        if array.shape != (lengths[name.split("_")[0]],) or array.dtype != dtype:
            raise RecordError(f"{name} is {array.dtype} {array.shape}, not {dtype} ({lengths[name.split('_')[0]]},)")
        top = {"from": len(made.source), "kind": len(KINDS), "span": len(made.source) + len(made.corrupted)}
        low = 0 if name.endswith("kind") else -1
        if name != "mask" and len(array) and not low <= array.min() <= array.max() < top[name.split("_")[1]]:
            raise RecordError(f"{name} has numbers from {array.min()} to {array.max()}")
    if not (0 <= made.requested <= 1 and 0 <= made.achieved <= 1):
        raise RecordError(f"the rates are {made.requested} and {made.achieved}")


def corrupt(units: Units, settings: NoiseSettings) -> Corruption:
    """`units` under `settings`. Every text, setting and edit gives one; what could not be done is in its notes.

    InputError for a noise that the vocabulary has no tokens for, and for settings that name no noise.
    """
    from core.noise import NOISES

    if settings.name not in NOISES:
        raise InputError(f"No noise is chosen; pick one of: {', '.join(NOISES)}.")
    noise, has = NOISES[settings.name], {"sentinels": bool(units.sentinels), "mask": units.mask is not None}
    if not has.get(noise.needs, True):
        missing = {"sentinels": "sentinels (<extra_id_0> and on)", "mask": "mask token"}[noise.needs]
        raise InputError(f"{noise.title} needs {missing}, which this model's vocabulary does not have.")
    drawn = draw(units, settings, settings.seed)
    notes = [*_about_text(units), *drawn.notes, *_random_notes(units, drawn)]
    if (settings.hide or settings.show) and not noise.edits:
        notes.append("This noise chooses no single tokens, so edits by hand change nothing.")
    return _recorded(units, settings, drawn, notes, float(getattr(settings, noise.amount)), noise.difference(units, settings))


def draw(units: Units, settings: NoiseSettings, seed: int) -> Drawn:
    """The draw itself, from `seed` (and the epoch, for a noise that has epochs)."""
    from core.noise import NOISES

    if not units.body or not units.text.strip():
        return unchanged(units, "The text is empty: there is nothing to hide.")
    noise = NOISES[settings.name]
    epoch = settings.epoch if "epoch" in noise.settings else 0
    return noise.corrupt(units, settings, np.random.default_rng((seed, epoch)))


def series(units: Units, settings: NoiseSettings, epochs: int) -> Iterator[Corruption]:
    """One text in epochs 0, 1, ...: with RoBERTa's masking each is another mask, with the others all are the same."""
    for epoch in range(epochs):
        yield corrupt(units, replace(settings, epoch=epoch))


def histogram(units: Units, settings: NoiseSettings, seeds: int = SEEDS) -> Floats:
    """The share of `seeds` draws in which each source token is hidden, or moved: (source,), 0 to 1."""
    counts = np.zeros(len(units.tokens), np.float32)
    body = slice(units.head, units.head + len(units.body))
    for seed in range(seeds):
        counts[body] += _touched(draw(units, settings, seed))
    return counts / max(seeds, 1)


def _touched(drawn: Drawn) -> np.ndarray:
    """(body,): hidden; where nothing can be, moved."""
    mask = np.array(drawn.spans, int) >= 0
    if not mask.any():
        mask[[piece.origin for piece in drawn.corrupted if piece.kind == MOVED]] = True
    return mask


def _recorded(
    units: Units, settings: NoiseSettings, drawn: Drawn, notes: Sequence[str], requested: float, difference: str
) -> Corruption:
    spans = np.full(len(units.tokens), -1, np.int32)
    mask = np.zeros(len(units.tokens), bool)
    body = slice(units.head, units.head + len(units.body))
    spans[body], mask[body] = drawn.spans, _touched(drawn)
    sides = {name: _framed(units, pieces) for name, pieces in (("corrupted", drawn.corrupted), ("target", drawn.target))}
    arrays = {}
    for name, pieces in sides.items():
        arrays |= {
            name: _labels(units, pieces, spans),
            f"{name}_from": np.array([p.origin for p in pieces], np.int32),
            f"{name}_span": np.array([p.span for p in pieces], np.int32),
            f"{name}_kind": np.array([KINDS.index(p.kind) for p in pieces], np.int32),
        }
    return Corruption(
        settings, units.text, units.tokens, mask=mask, source_span=spans, **arrays, requested=requested,
        achieved=drawn.done / drawn.of if drawn.of else 0.0, notes=tuple(notes), difference=difference,
    )


def _framed(units: Units, pieces: Sequence[Piece]) -> list[Piece]:
    """Pieces of the body with the special tokens around them, origins counted in the source."""
    inner = [p._replace(origin=p.origin + units.head) if p.origin >= 0 else p for p in pieces]
    outer = [Piece(token.id, k) for k, token in enumerate(units.tokens)]
    return [*outer[: units.head], *inner, *outer[len(outer) - units.tail :]]


def _labels(units: Units, pieces: Sequence[Piece], spans: Ids) -> tuple[Token, ...]:
    """Tokens for show: those of the text keep their offsets, the others stand where their span begins."""
    begins: dict[int, int] = {}
    for k, span in enumerate(spans):
        begins.setdefault(int(span), units.tokens[k].start)
    out = []
    for piece in pieces:
        if piece.origin >= 0:
            out.append(units.tokens[piece.origin])
        else:
            at = begins.get(piece.span, out[-1].end if out else 0) if piece.span >= 0 else (out[-1].end if out else 0)
            out.append(Token(units.name_of(piece.id), piece.id, at, at))
    return tuple(out)


def _about_text(units: Units) -> list[str]:
    notes = []
    if units.cut:
        notes.append(f"The text has {len(units.tokens) + units.cut} tokens; the first {len(units.tokens)} are used.")
    fillers = {*units.sentinels, units.mask}
    typed = [t.text for t in units.body if t.id in fillers]
    if typed:
        notes.append(
            f"{' '.join(typed[:8])} stands in the text itself: as a token it cannot be told from one that hides something."
        )
    return notes


def _random_notes(units: Units, drawn: Drawn) -> list[str]:
    """Which tokens became a random one, and whether it is the one that was there or a special one."""
    said = []
    for piece in drawn.corrupted:
        if piece.kind != RANDOM:
            continue
        hidden = [units.body[k].text for k, span in enumerate(drawn.spans) if span == piece.span]
        strange = " (special)" if piece.id in units.special else ""
        said.append(f"{' '.join(hidden)[:40] or 'a new place'} → {units.name_of(piece.id)}{strange}")
    more = f" and {len(said) - 12} more" if len(said) > 12 else ""
    return [f"Random tokens: {', '.join(said[:12])}{more}."] if said else []
