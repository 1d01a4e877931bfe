"""What the sections about a decoder draw and say. Sizes are limited here; no number that is not finite is written out."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from app import mask_packs
from app.decoder_looks import CHEAT, Unmasked
from app.look_packs import marked, size
from app.mask_packs import MOST_DRAWN, MOST_SHOWN, numbered
from app.masked import Pair
from app.row_looks import SetRow
from app.widgets import matrices
from app.words import worded
from core.interventions import ALL


def unmasked(found: Sequence[Unmasked]) -> dict[str, Any]:
    """−log P of each true token under a causal and an unmasked decoder, a panel a model, on one scale."""
    ways = [worded(f"page.masks.unmasked.{way}") for way in ("causal", "ahead")]
    losses = [-np.stack([one.causal.logprobs, one.ahead.logprobs])[:, :MOST_SHOWN] for one in found]
    most = max(0.1, *(float(each.max()) for each in losses))
    return matrices.pack([
        matrices.panel(one.name, each, ways, numbered(one.causal.target[:MOST_SHOWN]), low=0, high=most, digits=1,
                       note=worded("told.masks.unmasked.note"), column_title=worded("told.masks.unmasked.true"))
        for one, each in zip(found, losses, strict=True)])


def unmasked_said(found: Sequence[Unmasked]) -> dict[str, Any]:
    """Both losses of each model, what a later token moves, and why."""
    said = " ".join(worded("told.masks.unmasked.cheat" if one.name == CHEAT else "page.masks.unmasked.said", name=one.name,
                            causal=f"{one.causal.loss:.2f}", ahead=f"{one.ahead.loss:.2f}",
                            written=_short(one.written)) for one in found)
    first = found[0]
    at = first.leaked.position
    held, earlier = first.held.logits[:at], first.leaked.logits[:at]
    leaks = worded("told.masks.unmasked.leak", name=first.name, rows=at, most=size(float(earlier.max())),
                    moved=int((earlier > 0).sum()), held=int((held > 0).sum()))
    notes = [worded("told.masks.unmasked.why"), leaks, *(worded(f"page.masks.unmasked.{why}") for why in ("copy", "cache"))]
    tokens = [token.text for token in first.ahead.target]
    line = {"name": "target", "text": "", "tokens": marked(tokens, first.leaked.logits, at)}
    notes += [worded("page.masks.first", n=MOST_DRAWN)] * (len(tokens) > MOST_DRAWN)
    return {"kind": "found", "sentence": said, "lines": [line], "notes": notes}


def _short(text: str, most: int = 80) -> str:
    return text if len(text) <= most else text[:most].rstrip() + " …"


def row(asked: SetRow) -> dict[str, Any]:
    """The row as it is and as it is to be; the first columns."""
    values = np.stack([asked.before, asked.after])[:, :MOST_SHOWN]
    names = [worded(f"page.masks.row.{way}") for way in ("now", "then")]
    return matrices.pack([matrices.panel(
        worded("told.masks.row.title", row=asked.query + 1, token=asked.trace.target[asked.query].text), values, names,
        numbered(asked.keys[:MOST_SHOWN]), low=0, high=1, column_title=worded("page.masks.read"), drag=True,
        note=worded("told.masks.row.note", where=_where(asked)))])


def _where(asked: SetRow) -> str:
    layer, head = (worded(f"page.masks.row.{name}s") if at == ALL else worded(f"page.masks.row.{name}", n=at + 1)
                   for name, at in (("layer", asked.layer), ("head", asked.head)))
    return worded("told.masks.row.where", site=worded(f"page.masks.{asked.site}"), layer=layer, head=head)


def row_said(asked: SetRow, pair: Pair) -> dict[str, Any]:
    """What the branch writes, beside the run that it leaves."""
    if pair.comparison is None:
        raise ValueError("A branch is compared with the run that it leaves.")
    what = worded("told.masks.row.what", row=asked.query + 1, where=_where(asked), share=f"{asked.after[asked.key]:.2f}",
                   token=asked.keys[asked.key].text)
    found = replace(pair, comparison=replace(pair.comparison, what=what))
    told = mask_packs.told(found)
    kept = worded("told.masks.row.kept", row=asked.query + 1) if asked.query else worded("told.masks.row.whole")
    partly = [worded("told.masks.row.partly")] * bool((asked.visible != asked.visible[0]).any())
    return told | {"notes": [kept, *partly, *told["notes"]]}
