"""A row of attention set by hand: one weight is chosen or dragged, the others share the rest; decoding goes on as a branch."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from app.mask_looks import Looks, within
from app.masked import Pair, Progress
from core.errors import InputError
from core.fields import shown
from core.interventions import ALL, Edits, Row
from core.masks import Mask, effective
from core.settings import Settings
from core.shapes import Floats
from core.text import Token
from core.trace import Trace

SITES = ("cross", "decoder")  # whose rows can be set


class Hand(NamedTuple):
    """A row as the last drag left it, from which the next one starts. place: as `SetRow.place`; key counts from 0."""

    place: tuple[str, str, int, int, int]
    key: int
    share: float
    weights: tuple[float, ...]


@dataclass(frozen=True, eq=False)
class SetRow:
    """Row `query` of one site as the run has it, and as it is to be: before and after (key,), mean over layers and heads chosen.

    keys: tokens of the columns. layer and head count from 0; -1 is all. key: the column that was chosen; share: its weight.
    visible (layers chosen, key): which columns the masks leave the row.
    """

    trace: Trace
    site: str
    query: int
    layer: int
    head: int
    key: int
    share: float
    keys: tuple[Token, ...]
    before: Floats
    after: Floats
    visible: Mask

    @property
    def place(self) -> tuple[str, str, int, int, int]:
        """Which row of which run it is."""
        return self.trace.id, self.site, self.query, self.layer, self.head

    @property
    def hand(self) -> Hand:
        """What the page keeps of it."""
        return Hand(self.place, self.key, self.share, tuple(map(float, self.after)))

    @property
    def settings(self) -> Settings:
        """The branch: written as before up to this row, which is then as it was set."""
        old, given = self.trace.settings, tuple(map(float, self.after))
        row = Row(self.site, self.query, given, self.layer, self.head)
        forced = tuple(token.id for token in self.trace.target[: self.query])
        return replace(old, edits=replace(old.edits, rows=(*old.edits.rows, row), forced=forced))

    def going_on(self, hand: Hand | None) -> "SetRow":
        """The same from the row as it was left, where that is this row of this run."""
        return self._shared(np.array(hand.weights)) if hand and hand.place == self.place else self

    def left(self, hand: Hand | None) -> "SetRow":
        """The same as it was left, where the controls still tell what was dragged last."""
        same = hand and hand[:3] == (self.place, self.key, self.share)
        return replace(self, after=np.array(hand.weights, np.float32)) if same else self

    def _shared(self, weights: np.ndarray) -> "SetRow":
        return replace(self, after=_shared(weights, self.before, self.key, self.share))


def set_row(trace: Trace, site: object, query: object, layer: object, head: object, key: object, share: object) -> SetRow:
    """A row of the run with `share` of its weight on one column, the rest as it was in proportion.

    query and key count from 1, and so do layer and head, of which 0 is all of them.
    """
    if site not in SITES:
        raise InputError(f"There is no site {shown(site)} whose rows can be set; it must be one of: {', '.join(SITES)}.")
    if isinstance(share, bool) or not isinstance(share, int | float) or not 0 <= share <= 1:
        raise InputError(f"The weight is {shown(share)}; it must be between 0 and 1.")
    if not trace.target:
        raise InputError("The model writes nothing here, so there is no row to set.")
    at = within("target row", query, len(trace.target), "this output")
    keys = trace.source if site == "cross" else (trace.start, *trace.target[:at])
    place = trace.line()[at]
    step = place.step
    weights = (step.cross_weights if site == "cross" else step.decoder_weights)[place.fed]  # (layers, heads, key)
    if not weights.size:
        raise InputError(f"The {site} attention of {trace.settings.model} cannot be reached, so no row of it can be set.")
    chosen = [ALL if value == 0 and not isinstance(value, bool) else within(name, value, most, f"the {site} attention")
              for name, value, most in (("layer", layer, weights.shape[0]), ("head", head, weights.shape[1]))]
    column = within("token", key, len(keys), f"row {at + 1} of the {site} attention")
    layers, heads = (_of(one, count) for one, count in zip(chosen, weights.shape, strict=False))
    _running(trace.settings.edits, site, layers, heads)
    mask = trace.settings.masks.of(site)
    visible = np.concatenate([effective(mask, site, layer, 1, len(keys), at) for layer in layers])
    if not visible[:, column].any():
        raise InputError(f"The mask hides token {column + 1} from row {at + 1} of the {site} attention, so its weight stays 0.")
    before = weights[np.ix_(layers, heads)].mean((0, 1), dtype=np.float64).astype(np.float32)
    after = _shared(before, before, column, float(share))
    return SetRow(trace, site, at, *chosen, column, float(share), tuple(keys), before, after, visible)


def _of(value: int, count: int) -> list[int]:
    return list(range(count)) if value == ALL else [value]


def _running(edits: Edits, site: str, layers: list[int], heads: list[int]) -> None:
    off = {(head.layer, head.head) for head in edits.heads if head.stack == site}
    if off.issuperset((layer, head) for layer in layers for head in heads):
        which = f"head {heads[0] + 1} of layer {layers[0] + 1}" if len(layers) == len(heads) == 1 else "every head chosen"
        raise InputError(f"In the {site} attention {which} is switched off, so no row of it can be set.")


def _shared(weights: np.ndarray, before: np.ndarray, column: int, share: float) -> Floats:
    """`share` on one column; the others keep their proportions, or have those of before where they are all 0.

    All is on the column where they were 0 before as well.
    """
    others = np.arange(len(before)) != column
    rest = next((one for one in (weights * others, before * others) if one.sum() > 0), None)
    out = np.zeros(len(before)) if rest is None else rest / rest.sum(dtype=np.float64) * (1 - share)
    out[column] = 1 if rest is None else share
    return out.astype(np.float32)


def branch(looks: Looks, asked: SetRow, visitor: str) -> Iterator[Pair | Progress]:
    """Progress while it is long, then the run as it was and the branch."""
    yield from looks.made.pair(asked.settings, visitor, against=asked.trace.settings)
