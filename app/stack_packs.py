"""What the sections about a stack draw and say. Sizes are limited here; no number that is not finite is written out."""

from typing import Any

import numpy as np

from app import mask_packs
from app.look_packs import ends, size
from app.mask_packs import MOST_SHOWN, numbered
from app.masked import Pair
from app.stack_looks import Padded, Prefixed
from app.widgets import matrices
from app.words import worded
from core.comparison import compare
from core.masks import additive

NEAR = 16  # distances to either side that are drawn one by one


def bias(found: Any) -> dict[str, Any]:
    """Bias by distance, a row a head; and by bucket, each named by the distances that share it."""
    most = -1 if not found.bidirectional else NEAR  # under a causal mask nothing to the right is read
    near = (found.distances >= -NEAR * (1 if found.bidirectional else 2)) & (found.distances <= max(0, most))
    heads = [str(head + 1) for head in range(len(found.bias))]
    axes = dict(scale="diverging", digits=1, row_title=worded("page.masks.head"), column_title=worded("page.masks.key"),
                **ends(found.bias))
    firsts = {int(bucket): np.flatnonzero(found.buckets == bucket) for bucket in np.unique(found.buckets)}
    table = found.bias[:, [at[0] for at in firsts.values()]]
    names = [f"{bucket}: {_span(found.distances[at], found.distances)}" for bucket, at in firsts.items()]
    return matrices.pack([
        matrices.panel(worded("told.masks.bias.near"), found.bias[:, near], heads, [_place(d) for d in found.distances[near]],
                       note=worded("told.masks.bias.near.note"), **axes),
        matrices.panel(worded("told.masks.bias.buckets"), table, heads, names,
                       note=worded("told.masks.bias.buckets.note", n=len(names), total=int(found.buckets.max()) + 1), **axes),
    ])


def _place(distance: int) -> str:
    """Where a key stands, seen from the query."""
    if distance == 0:
        return worded("page.masks.same")
    return worded("page.masks.left" if distance < 0 else "page.masks.right", n=abs(int(distance)))


def _span(bucket: np.ndarray, every: np.ndarray) -> str:
    """Where the keys of one bucket stand: "8–11 left"; the outermost goes on for ever."""
    near, far = sorted((int(bucket[0]), int(bucket[-1])), key=abs)
    if near <= 0 <= far:  # a decoder's first bucket: the query itself, and all that the mask hides
        return worded("told.masks.same.or.right") if far else _place(0)
    if far in (every[0], every[-1]):
        return "≥ " + _place(near)
    return _place(near) if near == far else f"{abs(near)}–{_place(far)}"


def bias_said(found: Any, name: str) -> dict[str, Any]:
    """How to read it, by position."""
    where = worded("told.masks.bias.shared" if found.shared else "page.masks.bias.each", layer=found.layer + 1)
    said = worded("told.masks.bias.said", name=name, stack=found.stack, where=where)
    notes = [worded("told.masks.bias.sign"), worded("told.masks.bias.two" if found.bidirectional else "page.masks.bias.past")]
    return {"kind": "found", "sentence": said, "lines": [], "notes": notes}


def padding(found: Padded) -> dict[str, Any]:
    """Largest change of any logit in each target row, with the padding mask and without it, on one scale."""
    rows = np.stack([found.effect.hidden_rows, found.effect.seen_rows])[:, :MOST_SHOWN]
    names = [worded(f"page.masks.padding.{way}") for way in ("hidden", "seen")]
    return matrices.pack([matrices.panel(
        worded("told.masks.padding.change"), rows, names, numbered(found.old.target[:MOST_SHOWN]), low=0,
        high=max(0.01, float(rows.max())), column_title=worded("page.masks.writes"), note=worded("told.masks.padding.note"))])


def padding_said(found: Padded) -> dict[str, Any]:
    """The two numbers, and what the model writes with the pad tokens there."""
    effect, pads = found.effect, found.effect.pads
    if not pads:
        return {"kind": "found", "sentence": worded("told.masks.padding.none"), "lines": [], "notes": []}
    said = worded("told.masks.padding.said", pads=pads, hidden=size(effect.hidden), seen=size(effect.seen))
    pair = Pair(found.old, found.new, compare(found.old, found.new))
    changed = worded("told.masks.padding.on" if found.mask else "page.masks.padding.off",
                      changed=pair.comparison.changed, total=pair.comparison.total)
    return {"kind": "found", "sentence": said, "lines": mask_packs.told(pair)["lines"],
            "notes": [changed, worded("told.masks.padding.why")]}


def prefix(found: Prefixed) -> dict[str, Any]:
    """Mask, weights, and for every p how far the logits are from the causal ones."""
    words = [f"{at} {word}" for at, word in enumerate(found.pieces, 1)]
    reads = dict(row_title=worded("page.masks.reads"), column_title=worded("page.masks.read"))
    lengths = [f"p = {p}" + (" ←" if p == found.p else "") for p in range(len(found.distance))]
    return matrices.pack([
        matrices.panel(worded("page.masks.mask"), additive(found.mask), words, words, scale="diverging", digits=0,
                       note=worded("told.masks.mask.note"), **reads),
        matrices.panel(worded("page.masks.weights"), found.weights, words, words, low=0, high=1,
                       note=worded("told.masks.prefix.weights"), **reads),
        matrices.panel(worded("told.masks.prefix.distance"), found.distance, lengths, words, low=0,
                       note=worded("told.masks.prefix.distance.note"), column_title=worded("page.masks.reads")),
    ])


def prefix_said(found: Prefixed) -> dict[str, Any]:
    """How far this p is from causal; why 0 and 1 are the same; how exact the cache is."""
    n, distance = len(found.pieces), found.distance[found.p]
    name = "causal" if found.p <= 1 else "whole" if found.p == n else "part"
    said = worded(f"page.masks.prefix.{name}", p=found.p, n=n, moved=int((distance > 0).sum()), most=size(float(distance.max())))
    notes = [worded("told.masks.prefix.writes", p=p, text=text) for p, text in found.written.items()]
    counted = "off" if found.penalty == 1 else "prompt" if found.prompt else "written"
    notes += [worded(f"page.masks.prefix.penalty.{counted}", penalty=f"{found.penalty:g}")]
    notes += [worded("told.masks.prefix.trained"), worded("told.masks.prefix.why"),
              worded("told.masks.prefix.cached", cached=size(found.cached))]
    return {"kind": "found", "sentence": said, "lines": [], "notes": notes}
