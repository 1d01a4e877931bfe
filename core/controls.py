"""Controls: masks and edits on the attention sites of one loaded model, around single forwards.

They live in a context variable, so that threads that share one model never see each other's. `core.attention.attend`
asks here what the site that runs just now may see. A control whose site is out of reach is refused, never ignored.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

import torch

from core import masks
from core.errors import ControlError
from core.interventions import ALL, STACKS, Edits, Masks, Row


@dataclass
class Controls:
    """What is changed in one model. of: id(module) -> (stack, layer), as `Sites.of`.

    given: whole boolean masks (batch, query, key) in place of a stack's preset, for rows that differ within a batch.
    keep: (stack, layer) -> (batch, heads), 0 where a head is off in that row of the batch; beside `edits.heads`.
    """

    of: Mapping[int, tuple[str, int]]
    masks: Masks = Masks()
    edits: Edits = Edits()
    given: Mapping[str, torch.Tensor] = field(default_factory=dict)
    keep: Mapping[tuple[str, int], torch.Tensor] = field(default_factory=dict)

    @property
    def key(self) -> tuple[Masks, Edits]:
        """Searches share a forward only where this is equal."""
        return self.masks, self.edits

    @property
    def idle(self) -> bool:
        """Whether nothing is changed inside attention."""
        quiet = self.masks == Masks() and not (self.edits.heads or self.edits.rows)
        return quiet and not self.given and not self.keep


@dataclass
class Active:
    """Controls while a forward runs. offset: target position of its first decoder row, learnt from the decoder's keys."""

    controls: Controls
    offset: int = 0
    device: torch.device | None = None
    built: dict[tuple, Any] = field(default_factory=dict)  # masks by place and size: layers mostly share them

    def site(self, module: Any) -> "Site | None":
        """What is asked of `module`; None where it is left alone."""
        stack, layer = self.controls.of.get(id(module), ("", 0))
        return Site(self, stack, layer) if stack else None


_active: ContextVar[Active | None] = ContextVar("controls", default=None)


@contextmanager
def use(controls: Controls | None) -> Iterator[None]:
    """Put `controls` in force. Around one model call; never across a `yield`, it would leak to the caller."""
    idle = controls is None or controls.idle
    token = _active.set(None if idle else Active(controls))
    try:
        yield
    finally:
        _active.reset(token)


def active() -> Active | None:
    """The controls in force in this thread, if any."""
    return _active.get()


@dataclass(frozen=True)
class Site:
    """One attention module under controls."""

    state: Active
    stack: str
    layer: int

    def offset(self, queries: int, keys: int) -> int:
        """Position of the first row: the decoder's keys are the cached ones and the rows themselves."""
        if self.stack == "decoder":
            self.state.offset = keys - queries
        return 0 if self.stack == "encoder" else self.state.offset

    @property
    def restricts(self) -> bool:
        """Whether its mask differs from the model's own."""
        controls = self.state.controls
        return self.stack in controls.given or not controls.masks.of(self.stack).own

    def allowed(self, own: torch.Tensor | None, queries: int, keys: int, offset: int, real: torch.Tensor | None):
        """(batch or 1, heads or 1, query, key), bool on the model's device; own: the model's mask, real: its padding."""
        controls = self.state.controls
        if self.stack in controls.given:
            mask = controls.given[self.stack][:, None, offset : offset + queries, :keys].to(self.state.device)
        else:
            mask = self._by_hand(own, queries, keys, offset)
        return mask if real is None else mask & real

    def _by_hand(self, own: torch.Tensor | None, queries: int, keys: int, offset: int) -> torch.Tensor:
        choice, state = self.state.controls.masks.of(self.stack), self.state
        layered = any(cell.layer == self.layer for cell in choice.exceptions)
        place = (self.stack, self.layer if layered else ALL, queries, keys, offset)
        if place not in state.built:
            verdicts = masks.drawn(choice, self.layer, queries, keys, offset)
            preset = masks.preset(choice, self.stack, queries, keys, offset)
            state.built[place] = torch.from_numpy(verdicts).to(state.device), torch.from_numpy(preset).to(state.device)
        verdicts, preset = state.built[place]
        base = own if own is not None and not choice.preset else preset
        return torch.where(verdicts == 0, base, verdicts > 0)[(None,) * (4 - max(2, base.ndim))]

    def kept(self, heads: int, like: torch.Tensor) -> torch.Tensor | None:
        """(batch or 1, heads), 0 for a head that is switched off; None while all run."""
        controls = self.state.controls
        off = [h.head for h in controls.edits.heads if (h.stack, h.layer) == (self.stack, self.layer)]
        keep = controls.keep.get((self.stack, self.layer))
        if off:
            ones = like.new_ones(1, heads)
            ones[:, off] = 0
            keep = ones if keep is None else keep.to(like) * ones
        return None if keep is None else keep.to(like)

    def rows(self, queries: int, offset: int) -> list[tuple[int, Row]]:
        """(row of this forward, what it is set to)."""
        wanted = [r for r in self.state.controls.edits.rows if r.stack == self.stack and r.layer in (ALL, self.layer)]
        return [(row.query - offset, row) for row in wanted if offset <= row.query < offset + queries]


def check(controls: Controls, sites: Any, name: str, source: int) -> None:
    """Refuse, with the reason, what this model cannot do. sites: its `Sites`; source: tokens, pad tokens included."""
    chosen, edits = controls.masks, controls.edits
    for stack in STACKS:
        asked = [] if chosen.of(stack).own else ["mask"]
        asked += ["head"] * any(head.stack == stack for head in edits.heads)
        asked += ["row"] * any(row.stack == stack for row in edits.rows)
        if asked and stack not in sites.reached:
            can = ", ".join(sites.reached) or "none"
            raise ControlError(
                f"The {stack} {asked[0]} cannot be changed: the {stack} attention of {name} cannot be reached; sites that "
                f"can: {can}."
            )
        for cell in chosen.of(stack).exceptions:
            _within(f"A cell of the {stack} mask", "layer", cell.layer, sites.layers(stack), name)
    for head in edits.heads:
        _within(f"A switched-off {head.stack} head", "layer", head.layer, sites.layers(head.stack), name)
        _within(f"A switched-off {head.stack} head", "head", head.head, sites.heads[head.stack], name)
    for row in edits.rows:
        _check_row(row, sites, name, source)


def _within(what: str, axis: str, value: int, count: int, name: str) -> None:
    if value >= count:
        raise ControlError(f"{what} names {axis} {value}; {name} has {axis}s 0 to {count - 1} there.")


def _check_row(row: Row, sites: Any, name: str, source: int) -> None:
    what = f"A row of {row.stack} weights"
    _within(what, "layer", row.layer, sites.layers(row.stack), name)
    _within(what, "head", row.head, sites.heads[row.stack], name)
    if row.stack == "encoder" and row.query >= source:
        raise ControlError(f"{what} names row {row.query}; the source has rows 0 to {source - 1}.")
    keys = row.query + 1 if row.stack == "decoder" else source
    if len(row.weights) > keys:
        raise ControlError(f"{what} has {len(row.weights)} weights; row {row.query} has {keys} columns.")
