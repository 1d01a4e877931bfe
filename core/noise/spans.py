"""T5's span corruption: which tokens are hidden, and the two texts that come of it.

Source: t5/data/preprocessors.py (`random_spans_noise_mask`, `noise_span_to_unique_sentinel`,
`nonnoise_span_to_unique_sentinel`), Raffel et al. 2020, section 3.1.4. Nothing here appends eos: seqio does so later.
"""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np


def span_counts(length: int, density: float, mean: float) -> tuple[int, int]:
    """(hidden tokens, spans) of the default mask; the reference rounds half to even, in float32."""
    if density == 0 or length == 0:
        return 0, 0
    length = max(length, 2)
    noise = int(np.round(np.float32(length) * np.float32(density)))
    noise = min(max(noise, 1), length - 1)
    return noise, max(int(np.round(np.float32(noise) / np.float32(mean))), 1)


def spans_mask(
    length: int, density: float, mean: float, rng: np.random.Generator, roll: bool = False
) -> np.ndarray:
    """`random_spans_noise_mask`: bool (length,), True is hidden. It starts clean and ends hidden, unless rolled.

    ValueError where the reference fails too: more spans than hidden or than clean tokens to keep them apart.
    """
    noise, spans = span_counts(length, density, mean)
    clean = max(length, 2) - noise
    if noise and spans > min(noise, clean):
        raise ValueError(f"{spans} spans do not fit into {noise} hidden and {clean} clean tokens")
    return mask_of(length, noise, spans, rng, roll)


def mask_of(length: int, noise: int, spans: int, rng: np.random.Generator, roll: bool = False) -> np.ndarray:
    """The same from its counts: bool (length,) with `noise` True in `spans` runs; 1 <= spans <= min(noise, clean)."""
    if not noise:
        return np.zeros(length, bool)
    clean = max(length, 2) - noise
    # clean, hidden, clean, hidden, ...: where each run starts, then which runs are odd
    lengths = np.stack([_parts(clean, spans, rng), _parts(noise, spans, rng)], axis=1).ravel()
    mask = np.repeat(np.arange(2 * spans) % 2 == 1, lengths)[:length]
    return np.roll(mask, rng.integers(length)) if roll else mask


def paper_counts(length: int, density: float, mean: float) -> tuple[int, int]:
    """(hidden tokens, spans) without the code's accidents: exact products, halves rounded up, all may be hidden."""
    if density == 0 or length == 0:
        return 0, 0
    noise = min(max(rounded(length * Fraction(str(density))), 1), length)
    return noise, max(rounded(noise / Fraction(str(mean))), 1)


def rounded(exact: Fraction) -> int:
    """To the nearest whole number, halves up."""
    return int(exact + Fraction(1, 2))


def unbiased_mask(length: int, noise: int, spans: int, rng: np.random.Generator) -> np.ndarray:
    """bool (length,) with `noise` True in `spans` runs, each such mask as likely: the ends may be hidden or clean.

    spans <= noise and spans - 1 <= clean. The default mask of the code is the part of them that starts clean and
    ends hidden.
    """
    if not noise:
        return np.zeros(length, bool)
    clean = length - noise
    between = _parts(clean + 2, spans + 1, rng)  # one more at either end, which may be nothing
    between[[0, -1]] -= 1
    lengths = np.insert(_parts(noise, spans, rng), np.arange(spans + 1), between)
    return np.repeat(np.arange(2 * spans + 1) % 2 == 1, lengths)


def _parts(items: int, parts: int, rng: np.random.Generator) -> np.ndarray:
    """`items` cut into `parts` lengths of at least 1, uniform over all ways: (parts,), summing to items."""
    cuts = np.sort(rng.choice(items - 1, parts - 1, replace=False)) + 1 if parts > 1 else np.empty(0, int)
    return np.diff(np.concatenate([[0], cuts, [items]]))


def with_sentinels(tokens: Sequence[int], mask: Sequence[bool], first_sentinel: int) -> list[int]:
    """`tokens` with each run of True replaced by one fresh sentinel: first_sentinel, then descending ids."""
    out, following = [], first_sentinel
    for index, (token, hidden) in enumerate(zip(tokens, mask, strict=True)):
        if not hidden:
            out.append(int(token))
        elif index == 0 or not mask[index - 1]:
            out.append(following)
            following -= 1
    return out


def corrupt(tokens: Sequence[int], mask: Sequence[bool], first_sentinel: int) -> tuple[list[int], list[int]]:
    """(inputs, targets) without eos. Inputs name hidden runs, targets name clean runs; two separate counters.

    So a mask that starts hidden gives targets that begin with bare tokens, and a text that ends clean gives targets
    with one more sentinel at the end: both as in the reference.
    """
    clean = [not hidden for hidden in mask]
    return with_sentinels(tokens, mask, first_sentinel), with_sentinels(tokens, clean, first_sentinel)


def paper_targets(tokens: Sequence[int], mask: Sequence[bool], first_sentinel: int) -> list[int]:
    """Targets as in the paper's figure: each hidden run after the sentinel of the inputs, and one more to close."""
    out, following = [], first_sentinel
    for index, (token, hidden) in enumerate(zip(tokens, mask, strict=True)):
        if hidden and (index == 0 or not mask[index - 1]):
            out.append(following)
            following -= 1
        if hidden:
            out.append(int(token))
    return [*out, following]
