"""What weights in fewer bits change, as the page shows it: three lines of tokens, the change of the logits below each."""

from collections.abc import Sequence
from statistics import median
from typing import TYPE_CHECKING, Any

from app.words import worded
from core.models import PRECISIONS
from core.records import how_made

if TYPE_CHECKING:  # it needs torch, which the first picture must not wait for
    from core.precision import Position

WORD = "page.search.precision."


def pack(full: Any, found: Sequence["Position"], asked: int, sizes: Sequence[int]) -> dict[str, Any]:
    """sizes: bytes of the weights of all products, float32 first."""
    tokenizer = full.loaded.tokenizer
    own = [one.id for one in found]
    lines, notes = [_line("float32", tokenizer, own, own, [""] * len(own))], []
    for at, name in enumerate(PRECISIONS):
        changes = [one.changes[at] for one in found]
        ids = [one.id for one in changes]
        lines.append(_line(name, tokenizer, ids, own, [f"{one.difference:.3f}" for one in changes]))
        notes.append(worded(
            WORD + "note", name=name, mb=f"{sizes[at + 1] / 1e6:.1f}", of=f"{sizes[0] / 1e6:.1f}",
            most=f"{max(one.difference for one in changes):.3f}", kl=f"{sum(one.kl for one in changes) / len(changes):.1e}",
            same=sum(a == b for a, b in zip(ids, own, strict=True)), n=len(own),
            ms=f"{1000 * median(one.seconds for one in changes):.2f}", whole=f"{1000 * median(one.seconds for one in found):.2f}",
            model=f"{full.settings.model}@{name}"))
    said = worded(WORD + ("sentence" if len(found) >= asked else "running"), n=len(found), of=asked)
    notes.append(worded(WORD + "how", how=how_made(full.settings, full.loaded.device, full.loaded.dtype)))
    return {"kind": "found", "sentence": said, "lines": lines, "notes": notes}


def _line(name: str, tokenizer: Any, ids: Sequence[int], own: Sequence[int], below: Sequence[str]) -> dict[str, Any]:
    texts = tokenizer.convert_ids_to_tokens(list(ids))
    return {"name": name, "text": tokenizer.decode(list(ids), skip_special_tokens=True),
            "tokens": [[text, "" if id == full else "moved", under]
                       for text, id, full, under in zip(texts, ids, own, below, strict=True)]}
