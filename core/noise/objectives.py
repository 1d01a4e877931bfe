"""T5's objectives beside span corruption: masks (where) and fills (what), combined by name in core/noise/t5.py.

Source: t5/data/preprocessors.py and its gin files (Raffel et al. 2020, section 3.3). tokens and mask have one length;
True is noise. A fill keeps what is not noise.
"""

from collections.abc import Callable, Sequence

import numpy as np


def iid_mask(length: int, density: float, rng: np.random.Generator) -> np.ndarray:
    """Each token by itself: bool (length,). The count is random; short texts often lose nothing."""
    return rng.random(length) < density


def exact_mask(length: int, count: int, rng: np.random.Generator) -> np.ndarray:
    """Exactly `count` tokens, each set of them as likely: bool (length,)."""
    mask = np.zeros(length, bool)
    mask[rng.permutation(length)[:count]] = True
    return mask


def regular_mask(length: int, density: float, span: int, offset: int) -> np.ndarray:
    """Equal spans at equal distances: bool (length,). `span` is 1 to 5 and `offset` below the period in the reference."""
    period = int(np.round(np.float32(span) / np.float32(density)))
    return (np.arange(length) + offset) % period < span


def prefix_range(length: int, density: float) -> tuple[int, int]:
    """(shortest, longest) prefix that prefix LM may keep, both possible; density is at most 0.5, as in the reference."""
    if not 0 <= density <= 0.5:
        raise ValueError(f"density is {density}; prefix LM is defined from 0 to 0.5")
    longest = max(length - 1, 0)
    shortest = int(np.round(np.float32(1 - 2 * density) * np.float32(longest)))
    return min(longest, max(1, shortest)), longest


def token_to_sentinel(tokens: Sequence[int], mask: Sequence[bool], sentinel: int) -> list[int]:
    """Every noise token becomes the same sentinel; neighbours stay two."""
    return [sentinel if noise else int(token) for token, noise in zip(tokens, mask, strict=True)]


def span_to_sentinel(tokens: Sequence[int], mask: Sequence[bool], sentinel: int) -> list[int]:
    """Every run of noise becomes the same sentinel, once."""
    return [
        sentinel if noise else int(token) for k, (token, noise) in enumerate(zip(tokens, mask, strict=True))
        if not (noise and k and mask[k - 1])
    ]


def dropped(tokens: Sequence[int], mask: Sequence[bool]) -> list[int]:
    """Noise tokens are gone."""
    return [int(token) for token, noise in zip(tokens, mask, strict=True) if not noise]


def permuted(tokens: Sequence[int], mask: Sequence[bool], rng: np.random.Generator) -> list[int]:
    """Noise tokens change places among themselves."""
    places = np.flatnonzero(mask)
    out = [int(token) for token in tokens]
    for place, source in zip(places, rng.permutation(places)):
        out[place] = int(tokens[source])
    return out


def random_or_sentinel(
    tokens: Sequence[int], mask: Sequence[bool], sentinel: int, draw: Callable[[int], int], share: float,
    rng: np.random.Generator,
) -> list[int]:
    """Every noise token becomes `draw(its place)` with probability `share`, else the sentinel; never left as it is."""
    lucky = rng.random(len(tokens)) < share
    return [
        (draw(k) if lucky[k] else sentinel) if noise else int(token)
        for k, (token, noise) in enumerate(zip(tokens, mask, strict=True))
    ]
