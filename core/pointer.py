"""Pointer-generator: a distribution over the vocabulary mixed with one over the source's own words.

Source: See et al. 2017, equation 9; sheet 000, lesson 9. Words of the source that the vocabulary lacks have extended ids,
V, V + 1, .. in the order in which they first appear, so that they can be copied.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.errors import InputError

Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class Extended:
    """ids (source,) with extended ones for what the vocabulary lacks; unknown: those words, the first has id V."""

    ids: tuple[int, ...]
    unknown: tuple[str, ...]


def extended_ids(words: Sequence[str], ids: Sequence[int | None], vocab: int) -> Extended:
    """words: of the source, as they are; ids: theirs in the vocabulary, None for what it lacks; vocab: its size V."""
    if len(words) != len(ids):
        raise InputError(f"{len(words)} words have {len(ids)} ids; each needs its own, or None.")
    unknown = list(dict.fromkeys(word for word, known in zip(words, ids) if known is None))
    places = {word: vocab + place for place, word in enumerate(unknown)}
    return Extended(tuple(places[word] if known is None else known for word, known in zip(words, ids)), tuple(unknown))


def copied(weights: Numbers, ids: Sequence[int], size: int) -> Numbers:
    """Attention (source,) as a distribution (size,): a word that stands in the source twice gets both weights."""
    found = np.zeros(size)
    np.add.at(found, np.asarray(ids, np.int64), np.asarray(weights, np.float64))  # `found[ids] += weights` would lose one
    return found


def mixture(generated: Numbers, weights: Numbers, ids: Sequence[int], p_gen: float) -> Numbers:
    """p_gen · P_vocab + (1 - p_gen) · copies, over the vocabulary and then the source's unknown words.

    generated (vocab,): P_vocab. weights (source,): cross-attention of this step, adding up to 1. ids (source,): extended
    ids. p_gen: from 0, all copied, to 1, all generated. InputError names what does not fit.
    """
    generated, weights = np.asarray(generated, np.float64), np.asarray(weights, np.float64)
    if not 0 <= p_gen <= 1:
        raise InputError(f"p_gen is {p_gen!r:.40}; it must be a number from 0 to 1.")
    if generated.ndim != 1 or weights.shape != (len(ids),):
        raise InputError(f"Weights of shape {weights.shape} and P_vocab of shape {generated.shape} do not fit {len(ids)} source "
                         "tokens: (source,) and (vocab,) are needed.")
    for name, values in (("P_vocab", generated), ("the weights", weights)):
        if not np.isfinite(values).all() or (values < 0).any():
            raise InputError(f"A number of {name} is negative or not finite; they are probabilities.")
    if min(ids, default=0) < 0 or max(ids, default=0) >= len(generated) + len(ids):
        raise InputError(f"Source ids must lie from 0 to {len(generated) + len(ids) - 1}: the vocabulary, then unknown words.")
    size = max(len(generated), 1 + max(ids, default=0))
    mixed = (1 - p_gen) * copied(weights, ids, size)
    mixed[: len(generated)] += p_gen * generated
    return mixed
