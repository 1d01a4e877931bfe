"""What the closer looks of the masks tab draw. Sizes are limited here; no number that is not finite is written out."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from app.mask_packs import MOST_DRAWN, MOST_SHOWN, numbered
from app.widgets import matrices
from app.words import worded
from core.interventions import Edits
from core.probe_record import Probe


def probe(found: Probe) -> dict[str, Any]:
    """Score → + bias → + mask → softmax → weights of one head, with numbers; the first tokens of each axis."""
    rows, columns = numbered(found.queries[:MOST_SHOWN]), numbered(found.keys[:MOST_SHOWN])
    labels = dict(rows=rows, columns=columns, row_title=worded("page.masks.reads"), column_title=worded("page.masks.read"))

    def cut(array: np.ndarray) -> np.ndarray:
        return array[:MOST_SHOWN, :MOST_SHOWN]

    closed = ~np.isfinite(found.mask)
    dead = np.flatnonzero(closed.all(1)[:MOST_SHOWN])
    panels = [matrices.panel(worded("page.masks.score"), cut(found.scores * np.float32(found.scale)), scale="diverging",
                             note=scaling(found), **ends(found.scores * found.scale), **labels)]
    signs = []
    if found.bias.any():
        signs.append("+")
        panels.append(matrices.panel(worded("page.masks.bias"), cut(found.bias), scale="diverging",
                                     note=worded("told.masks.bias.note"), **ends(found.bias), **labels))
    panels.append(matrices.panel(worded("page.masks.mask"), cut(found.mask), note=worded("told.masks.mask.note"),
                                 scale="diverging", digits=0, **labels))
    panels.append(matrices.panel(worded("page.masks.weights"), cut(found.weights), low=0, high=1, dead=dead,
                                 note=worded("told.masks.weights.note"), **labels))
    signs += ["+", "→ softmax →"]
    if not np.array_equal(found.used, found.weights):
        panels.append(matrices.panel(worded("page.masks.used"), cut(found.used), low=0, high=1,
                                     note=worded("told.masks.used.note"), **labels))
        signs.append("→")
    return matrices.pack(panels, signs)


def ends(values: np.ndarray) -> dict[str, float]:
    """Ends of a scale around 0."""
    most = max(0.01, float(abs(values).max())) if values.size else 1.0
    return {"low": -most, "high": most}


def scaling(found: Probe) -> str:
    """What this model does with q·k before anything is added."""
    width = found.q.shape[-1]
    if found.scale == 1:
        return worded("told.masks.scale.none")
    if abs(found.scale - width**-0.5) < 1e-6:
        return worded("told.masks.scale.root", width=width)
    return worded("told.masks.scale.other", scale=f"{found.scale:.4g}")


def probe_said(found: Probe) -> dict[str, Any]:
    said = worded("told.masks.probe.said", stack=found.stack, layer=found.layer + 1, head=found.head + 1)
    cut = max(len(found.queries), len(found.keys)) > MOST_SHOWN
    dead = np.flatnonzero(~np.isfinite(found.mask).any(1))
    notes = [worded("told.probe.dead", rows=", ".join(str(row + 1) for row in dead[:12]))] if len(dead) else []
    return {"kind": "found", "sentence": said, "lines": [], "notes": notes + [worded("page.masks.first", n=MOST_SHOWN)] * cut}


def leak(found: Any, going: Any, reads: Sequence[str], writes: Sequence[str]) -> dict[str, Any]:
    """Which positions changed and by how much; exactly 0 where the masks keep them apart from the token.

    reads, writes (target,): what each target row reads, the start token first, and what it writes.
    """
    source, of_source = [token.text for token in going.source], found.side == "source"
    numbers = {"n": found.position + 1, "rows": int(found.changed_target.sum()), "all": len(writes)}
    if of_source:
        said = worded("told.leak.source", token=source[found.position], moved=int(found.changed_encoder.sum()), of=len(source),
                      **numbers)
    else:
        said = worded("told.leak.target", token=reads[found.position], **numbers)
    apart = int((~found.may_encoder).sum()) * of_source + int((~found.may_target).sum())
    held = ("told.leak.held" if found.leaked == 0 else "told.leak.leaked") + ".one" * (apart == 1)
    said += " " + worded(held if apart else "told.leak.open", n=apart, most=f"{found.leaked:.2g}")
    lines = [{"name": "encoder", "text": "", "tokens": marked(source, found.encoder, found.position)}] * of_source
    change = np.maximum(found.states, found.logits)
    lines.append({"name": "target", "text": "", "tokens": marked(writes, change, -1 if of_source else found.position)})
    notes = [worded("told.leak.note")]
    notes += [worded("page.masks.first", n=MOST_DRAWN)] * (max(len(source), len(writes)) > MOST_DRAWN)
    return {"kind": "found", "sentence": said, "lines": lines, "notes": notes}


def marked(tokens: Sequence[str], change: np.ndarray, here: int) -> list[list[str]]:
    """Tokens, marked by whether anything changed there, each with by how much; `here` is where it was perturbed."""
    out = []
    for at, (text, by) in enumerate(zip(tokens[:MOST_DRAWN], map(float, change), strict=False)):
        mark = "here" if at == here else "moved" if by > 0 else "still"
        below = worded("told.exactly") if by == 0 else size(by)
        out.append([text, mark, below])
    return out


def size(by: float) -> str:
    """The size of a change, as short as it can be said."""
    if not np.isfinite(by):
        return worded("told.infinite")
    if by == 0:
        return "0"
    return f"{by:.2f}" if by >= 0.01 else f"{by:.3f}" if by >= 0.001 else f"{by:.0e}".replace("e-0", "e-").replace("-", "−")


def heads(change: dict[str, np.ndarray], edits: Edits) -> dict[str, Any]:
    """A map of layers × heads for each stack; a tick switches the head off."""
    panels = []
    most = max([0.01, *(float(abs(one[np.isfinite(one)]).max()) for one in change.values() if np.isfinite(one).any())])
    for stack, one in change.items():
        off = [(head.layer, head.head) for head in edits.heads if head.stack == stack]
        panels.append(matrices.panel(
            worded(f"page.masks.heads.{stack}"), one, [str(at + 1) for at in range(len(one))],
            [str(at + 1) for at in range(one.shape[1])], scale="diverging", low=-most, high=most, checked=off,
            check=worded("told.masks.heads.off"), row_title=worded("page.masks.layer"), column_title=worded("page.masks.head"),
            note=worded("told.masks.heads.note"),
        ))
    return matrices.pack(panels)


def heads_said(measured: Sequence[Any]) -> dict[str, Any]:
    """How far it is; at the end which head alone costs most, and which is best gone."""
    if not measured or measured[-1].done < measured[-1].total:
        done, total = (measured[-1].done, measured[-1].total) if measured else (0, 0)
        return {"kind": "progress", "text": worded("told.heads.measured", done=done, total=total)}
    every = [(float(by), one.stack, one.layer, at) for one in measured for at, by in enumerate(one.change)]
    (low, *worst), (high, *best) = min(every), max(every)
    said = worded("told.heads.grows" if high > 0.005 else "told.heads.falls", worst=_head(*worst), low=_signed(low),
                  best=_head(*best), high=_signed(high))
    return {"kind": "found", "sentence": said, "lines": [], "notes": []}


def _head(stack: str, layer: int, head: int) -> str:
    return worded("told.heads.name", stack=stack, layer=layer + 1, head=head + 1)


def _signed(value: float) -> str:
    return f"{value:+.2f}".replace("-", "−")
