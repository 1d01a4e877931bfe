"""What one draw of a noise gives, piece by piece with its origin; and what the registry says about a noise."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from core.noise.tokens import Units
from core.noising import NoiseSettings

KEPT, MOVED, SENTINEL, MASK, RANDOM, INSERTED, UNCHANGED = KINDS = (
    "kept", "moved", "sentinel", "mask", "random", "inserted", "unchanged",
)


class Piece(NamedTuple):
    """One token of a corrupted text or of a target: where it came from (body position or -1), and its span or -1."""

    id: int
    origin: int = -1
    span: int = -1
    kind: str = KEPT


@dataclass(frozen=True)
class Drawn:
    """spans (body,): the span that hides each token, -1 where it is visible; numbered from the left.

    done of `of` tokens, words or sentences were hidden, moved or inserted: the achieved rate. notes: for a person.
    """

    spans: list[int]
    corrupted: list[Piece]
    target: list[Piece]
    done: int
    of: int
    notes: list[str] = field(default_factory=list)


Corrupt = Callable[[Units, NoiseSettings, np.random.Generator], Drawn]


@dataclass(frozen=True)
class Noise:
    """One noise of the registry.

    source: paper and code it was taken from. settings: the fields of NoiseSettings that it reads, beside mode and
    seed; their ranges and help are the fields' own. start: values to begin with. amount: the field that is its rate, 0
    of which changes nothing. needs: "sentinels", "mask" or "" (nothing of the vocabulary). edits: whether single tokens
    can be hidden and shown by hand. difference: a sentence on code and paper for one text.
    """

    name: str
    title: str
    family: str
    help: str
    source: str
    settings: tuple[str, ...]
    corrupt: Corrupt
    difference: Callable[[Units, NoiseSettings], str]
    start: dict = field(default_factory=dict)
    amount: str = "rate"
    needs: str = ""
    edits: bool = True

    def usual(self, **changes) -> NoiseSettings:
        """Its settings to begin with."""
        return NoiseSettings(**{"name": self.name} | self.start | changes)


def runs_of(mask: Sequence[bool]) -> list[int]:
    """Each run of True numbered from the left, -1 elsewhere: (tokens,)."""
    out, run = [], -1
    for k, hidden in enumerate(mask):
        run += bool(hidden) and not (k and mask[k - 1])
        out.append(run if hidden else -1)
    return out


def edited(mask: np.ndarray, units: Units, settings: NoiseSettings) -> tuple[np.ndarray, list[str]]:
    """The mask (body,) with a person's edits; and a note on edits that meet no token."""
    mask, lost = mask.copy(), []
    for places, hidden in ((settings.hide, True), (settings.show, False)):
        for place in places:
            inside = 0 <= place - units.head < len(mask)
            if inside:
                mask[place - units.head] = hidden
            else:
                lost.append(str(place))
    return mask, [f"Edits at {', '.join(lost[:8])} meet no token of this text that may be hidden."] if lost else []


def whole_text(units: Units, spans: Sequence[int]) -> list[Piece]:
    """The clean text as a target."""
    return [Piece(id, k, spans[k]) for k, id in enumerate(units.ids)]


def unchanged(units: Units, note: str) -> Drawn:
    """Nothing done, and why."""
    spans = [-1] * len(units.body)
    return Drawn(spans, whole_text(units, spans), whole_text(units, spans), 0, len(spans), [note] if note else [])
