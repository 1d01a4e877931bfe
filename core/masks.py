"""Boolean masks: True where a query (row i) may read a key (column j). Pure numpy, no torch: a replay draws them too.

Masks are combined by AND over the booleans and converted once, at the end (two finite fills would add up to -inf).
`offset` is the number of cached keys: row i of a step stands at position i + offset (sheet 000, lessons 2, 3, 4, 6).
"""

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from core.interventions import ALL, OWN, StackMask

Mask = NDArray[np.bool_]  # (..., query, key)


def _positions(queries: int, keys: int, offset: int) -> tuple[np.ndarray, np.ndarray]:
    return np.arange(queries)[:, None] + offset, np.arange(keys)[None, :]


def bidirectional(queries: int, keys: int, offset: int = 0) -> Mask:
    """(query, key): every row reads every column (lesson 2: M_ij = 0)."""
    return np.ones((queries, keys), bool)


def causal(queries: int, keys: int, offset: int = 0) -> Mask:
    """(query, key): j <= i (lesson 3)."""
    i, j = _positions(queries, keys, offset)
    return j <= i


def prefix(queries: int, keys: int, length: int, offset: int = 0) -> Mask:
    """(query, key): j <= i or j < length (lesson 6). Lengths 0 and 1 are causal: the first row sees itself anyway."""
    i, j = _positions(queries, keys, offset)
    return (j <= i) | (j < length)


def window(queries: int, keys: int, width: int, offset: int = 0) -> Mask:
    """(query, key): |i - j| <= width; width 0 is the diagonal."""
    i, j = _positions(queries, keys, offset)
    return abs(i - j) <= width


def diagonal(queries: int, keys: int, offset: int = 0) -> Mask:
    """(query, key): j = i."""
    return window(queries, keys, 0, offset)


def hide(queries: int, keys: int, hidden: Iterable[int]) -> Mask:
    """(query, key): every column but the hidden ones; positions beyond the axis do not count."""
    mask = np.ones((queries, keys), bool)
    mask[:, [at for at in hidden if at < keys]] = False
    return mask


def padding(real: np.ndarray) -> Mask:
    """(batch, 1, key) from real (batch, key), nonzero where a token is no padding: padded keys are hidden, not queries."""
    return np.asarray(real).astype(bool)[:, None, :]


def cross(queries: int, real: np.ndarray) -> Mask:
    """(batch, query, key): every target row reads every real source column; no causality (lesson 4)."""
    real = padding(real)
    return np.broadcast_to(real, (len(real), queries, real.shape[-1])).copy()


def both(*masks: Mask) -> Mask:
    """All of them at once: AND."""
    out = masks[0]
    for mask in masks[1:]:
        out = out & mask
    return out


def additive(mask: Mask) -> NDArray[np.float32]:
    """0 where allowed, -inf where not: M of the formulas."""
    return np.where(mask, np.float32(0), np.float32(-np.inf))


def dead(mask: Mask) -> Mask:
    """(..., query): rows that see no key at all."""
    return ~mask.any(-1)


def softmax(scores: np.ndarray, mask: Mask) -> np.ndarray:
    """Weights (..., query, key) of scores under a mask, float64. A row that sees nothing has weights 0, never NaN.

    The robust rule: the scores of a dead row are replaced by 0 before the softmax, its weights by 0 after.
    """
    alive = ~dead(mask)[..., None]
    scores = np.where(mask | ~alive, np.asarray(scores, np.float64), -np.inf)
    scores = np.where(alive, scores, 0.0)
    powers = np.exp(scores - scores.max(-1, keepdims=True))
    return np.where(alive, powers / powers.sum(-1, keepdims=True), 0.0)


def preset(choice: StackMask, stack: str, queries: int, keys: int, offset: int = 0) -> Mask:
    """(query, key) of the preset alone; "" is what an encoder-decoder has by itself: causal in the decoder only."""
    name = choice.preset if choice.preset != OWN else ("causal" if stack == "decoder" else "bidirectional")
    if name == "causal":
        return causal(queries, keys, offset)
    if name == "prefix":
        return prefix(queries, keys, choice.size, offset)
    if name == "diagonal":
        return diagonal(queries, keys, offset)
    if name == "window":
        mask = window(queries, keys, choice.size, offset)
        return both(mask, causal(queries, keys, offset)) if stack == "decoder" else mask
    return bidirectional(queries, keys, offset)  # "padding": nothing but padding is hidden


def drawn(choice: StackMask, layer: int, queries: int, keys: int, offset: int = 0) -> NDArray[np.int8]:
    """(query, key): 1 opened and -1 closed by hand, 0 as the preset says. Cells off the axes do not apply (yet)."""
    out = np.zeros((queries, keys), np.int8)
    out[:, [at for at in choice.hidden if at < keys]] = -1
    for cells in (ALL, layer):  # a cell of one layer wins over the same cell of all
        found = [(c.query - offset, c.key, c.allowed) for c in choice.exceptions if c.layer == cells]
        found = [(i, j, 1 if open else -1) for i, j, open in found if 0 <= i < queries and j < keys]
        if found:
            rows, columns, verdicts = zip(*found)
            out[list(rows), list(columns)] = verdicts
    return out


def effective(
    choice: StackMask, stack: str, layer: int, queries: int, keys: int, offset: int = 0, real: Sequence[int] | None = None
) -> Mask:
    """(query, key) of one layer: preset, hidden columns, cells by hand, and last the padding; real (key,), 1 for a token.

    What a family hides by itself on top (a sliding window of T5Gemma) is known to the model alone.
    """
    by_hand = drawn(choice, layer, queries, keys, offset)
    mask = np.where(by_hand == 0, preset(choice, stack, queries, keys, offset), by_hand > 0)
    return mask if real is None else both(mask, np.asarray(real, bool)[None, :])


def dead_rows(
    choice: StackMask, stack: str, layers: int, queries: int, keys: int, offset: int = 0, real: Sequence[int] | None = None
) -> dict[int, list[int]]:
    """Position of each row that sees nothing -> the layers where it does; those rows have weights 0 and output 0."""
    found: dict[int, list[int]] = {}
    for layer in range(layers):
        for row in np.flatnonzero(dead(effective(choice, stack, layer, queries, keys, offset, real))):
            found.setdefault(int(row) + offset, []).append(layer)
    return found


def looks_ahead(choice: StackMask) -> bool:
    """Whether some decoder row may see a later position; then keys and values in a cache do not stay true."""
    ahead = choice.preset in ("bidirectional", "padding") or (choice.preset == "prefix" and choice.size > 1)
    return ahead or any(cell.allowed and cell.key > cell.query for cell in choice.exceptions)


def reach(layers: Iterable[Mask]) -> Mask:
    """(position, position): whether the output of a stack at row i can depend on its input at column j.

    Each layer reads what its mask allows, and its own row through the residual; layers add up: two windows of 1 see 2.
    """
    out: Mask | None = None
    for mask in layers:
        step = mask | np.eye(len(mask), dtype=bool)
        out = step if out is None else step @ out
    if out is None:
        raise ValueError("A stack without layers reaches nothing.")
    return out
