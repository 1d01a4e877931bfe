"""What the components of the masks tab draw: traces and comparisons as packs. Sizes are limited here."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from app.masked import Pair
from app.sentences import translated
from app.widgets import mask_grid, matrices
from app.words import worded
from core.comparison import Comparison
from core.interventions import STACKS, Masks
from core.text import Token
from core.trace import Trace

MOST_DRAWN = 128  # tokens of either side in the grid; beyond it the presets hold
MOST_SHOWN = 64  # rows and columns of a heatmap with numbers


def grid(trace: Trace, loaded: Any = None, masks: Masks | None = None) -> dict[str, Any]:
    """Axes and sites for the mask grid; `loaded` knows the sites, else they are those that the trace has weights of."""
    if loaded is None:
        cross, encoder = trace.path().shape[0], trace.encoder_weights.shape[0]
        layers = {"encoder": encoder, "decoder": cross, "cross": cross}
    else:
        layers = {stack: loaded.sites.layers(stack) for stack in STACKS}
    reached = [stack for stack in STACKS if layers[stack]]
    name = trace.settings.model
    reasons = {stack: worded("told.unreached", stack=stack, name=name) for stack in STACKS if stack not in reached}
    fed = [(trace.start.text, True), *map(_label, trace.target[:-1])][:MOST_DRAWN]
    writes = [token.text for token in trace.target[:MOST_DRAWN]] or [""]
    source = [_label(token) for token in trace.source[:MOST_DRAWN]]
    hidden = len(trace.source) - len(source)
    return mask_grid.pack(source, fed, layers, masks, writes=writes, reached=reached, reasons=reasons) | {"cut": hidden}


def _label(token: Token) -> tuple[str, bool]:
    """A token, and whether it covers no text."""
    return token.text, token.start == token.end


def told(pair: Pair) -> dict[str, Any]:
    """The sentence, both outputs with what differs marked, and what the masks make of the model."""
    old, new, found = pair.old, pair.new, pair.comparison
    said = worded("page.masks.none", text=old.text) if found is None else translated(found.sentence)
    marks = ({"before": [""] * len(old.target)} if found is None else _marks(found))
    lines = [_line(name, trace, marks[name]) for name, trace in zip(("before", "after"), (old, new)) if name in marks]
    notes = [translated(note) for note in new.notes if note not in old.notes]
    blind = [step.index + 1 for step in new.steps if any("nothing visible" in note for note in step.notes)]
    if blind:
        notes.append(worded("told.blind", rows=_listed(blind)))
    return {"kind": "found", "sentence": said, "lines": lines, "notes": notes + _cut(old)}


def _cut(trace: Trace) -> list[str]:
    more = len(trace.source) - MOST_DRAWN
    return [worded("told.drawable", n=MOST_DRAWN, of=len(trace.source))] * (more > 0)


def _line(name: str, trace: Trace, marks: Sequence[str]) -> dict[str, Any]:
    tokens = [[token.text, mark, ""] for token, mark in zip(trace.target, marks, strict=True)]
    return {"name": name, "text": trace.text, "tokens": tokens}


def _marks(found: Comparison) -> dict[str, list[str]]:
    """Per line a mark for each token: "" where it is in both, "gone" or "new" where it is not."""
    marks = {"before": ["gone"] * len(found.old_tokens), "after": ["new"] * len(found.new_tokens)}
    for tag, i1, i2, j1, j2 in found.opcodes:
        if tag == "equal":
            marks["before"][i1:i2], marks["after"][j1:j2] = [""] * (i2 - i1), [""] * (j2 - j1)
    return marks


def _listed(numbers: Sequence[int]) -> str:
    return ", ".join(map(str, numbers[:12])) + (", …" if len(numbers) > 12 else "")


def heatmaps(pair: Pair) -> dict[str, Any] | None:
    """Cross-attention before, after, and the signed difference of rows that have a counterpart; means over layers and heads."""
    before, after = _mean(pair.old), _mean(pair.new)
    if not before.size:
        return None
    columns = numbered(pair.old.source[: before.shape[1]])
    top = float(max(before.max(), after.max() if after.size else 0, 0.01))  # one scale for both
    shared = dict(columns=columns, row_title=worded("page.masks.writes"), column_title=worded("page.masks.source"))
    rows = numbered(pair.old.target[: len(before)])
    panels = [matrices.panel(worded("page.masks.before"), before, rows, low=0, high=top, note=_note(pair.old), **shared)]
    if pair.comparison is None:
        return matrices.pack(panels)
    dead = np.flatnonzero(after.sum(1) == 0)
    panels.append(matrices.panel(worded("page.masks.after"), after, numbered(pair.new.target[: len(after)]), low=0, high=top,
                                 note=_note(pair.new), dead=dead, **shared))
    places = [place for place in _aligned(pair.comparison) if place[0] < len(before) and place[1] < len(after)]
    if places:
        olds, news = map(list, zip(*places))
        names = [_both(pair, old, new) for old, new in places]
        change = after[news] - before[olds]
        most = max(0.01, float(abs(change).max()))
        panels.append(matrices.panel(worded("page.masks.difference"), change, names, scale="diverging", low=-most, high=most,
                                     note=_left_out(pair, len(places)), **shared))
    return matrices.pack(panels, beside=True)


def _mean(trace: Trace) -> np.ndarray:
    """(target, source), mean over layers and heads."""
    path = trace.path()
    return path.mean((0, 1))[:MOST_SHOWN, :MOST_SHOWN] if path.size else np.zeros((0, 0), np.float32)


def _note(trace: Trace) -> str:
    layers, heads = trace.path().shape[:2]
    cut = worded("told.first", n=MOST_SHOWN) if max(len(trace.source), len(trace.target)) > MOST_SHOWN else ""
    return worded("page.masks.mean", layers=layers, heads=heads) + cut


def _aligned(found: Comparison) -> list[tuple[int, int]]:
    """(old row, new row) that stand opposite each other."""
    return [pair for _, i1, i2, j1, j2 in found.opcodes for pair in zip(range(i1, i2), range(j1, j2))]


def _both(pair: Pair, old: int, new: int) -> str:
    was, now = pair.old.target[old].text, pair.new.target[new].text
    return f"{new + 1} {now}" if was == now else f"{new + 1} {was} → {now}"


def _left_out(pair: Pair, rows: int) -> str:
    alone = len(pair.old.target) + len(pair.new.target) - 2 * rows
    return worded("told.masks.difference.note", n=alone) if alone else ""


def numbered(tokens: Sequence[Token]) -> list[str]:
    """Labels that count from 1, as the formulas do."""
    return [f"{at} {token.text}" for at, token in enumerate(tokens, 1)]
