"""Families beside the encoder-decoder, as what the training tab draws: plain lists, texts as plain strings."""

from typing import TYPE_CHECKING, Any

from core.text import plain

if TYPE_CHECKING:  # it imports torch, which must not be there before the first picture
    from core.relatives import Beside, Reading, Relative


def pack(found: "Relative", reading: "Reading", tokenizer: Any) -> dict[str, Any]:
    """One card. mask: a row of 0 and 1 for each token. pairs: the two parts of each pair that cosines compare."""
    pairs = [reading.parts, *reading.others] if found.matrix is not None else []
    return {
        "name": found.name, "classes": found.classes, "tokens": list(found.tokens), "mask": found.mask.astype(int).tolist(),
        "changed": found.changed, "moved": sum(found.moved), "columns": found.columns, "losses": found.losses, "even": found.even,
        "counts": found.counts, "facts": [[key, numbers] for key, numbers in found.facts], "parameters": found.parameters,
        "parts": [[part.name, list(part.shape), part.size] for part in found.parts],
        "matrix": None if found.matrix is None else found.matrix.round(4).tolist(),
        "pairs": [[plain(tokenizer, side) for side in pair] for pair in pairs],
    }


def beside(found: "Beside") -> dict[str, Any]:
    """What the encoder-decoder reads and writes."""
    return {"model": found.model, "read": list(found.read), "written": list(found.written), "hidden": found.hidden,
            "of": found.of, "loss": found.loss}
