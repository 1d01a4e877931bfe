"""How T5 cuts a long text: raw lengths whose inputs just fit, and eos at the end of both sides.

Source: t5/data/preprocessors.py (`random_spans_helper`, `split_tokens`), seqio (`append_eos`, `append_eos_after_trim`).
"""

from collections.abc import Sequence


def lengths_of(tokens: int, density: float, mean: float, per_span: tuple[int, int] = (1, 1)) -> tuple[int, int]:
    """(inputs, targets) of `tokens` raw tokens, eos counted; per_span: sentinels a span on either side.

    The helper of the reference rounds half to even in float64, and clamps nothing, unlike the mask itself.
    """
    noise = round(tokens * density)
    spans = round(noise / mean)
    return tokens - noise + spans * per_span[0] + 1, noise + spans * per_span[1] + 1


def raw_length(inputs: int, density: float, mean: float, per_span: tuple[int, int] = (1, 1)) -> tuple[int, int]:
    """(raw tokens, targets): the most raw tokens whose inputs, eos counted, are at most `inputs` long.

    At a density of exactly 0.5 both are one less where targets would be the longer side.
    """
    if not 0 <= density < 1 or mean <= 0:
        raise ValueError(f"density {density} and mean span {mean}: no length fills the inputs")
    tokens = 0
    while lengths_of(tokens + 1, density, mean, per_span)[0] <= inputs:
        tokens += 1
    found, targets = lengths_of(tokens, density, mean, per_span)
    shorter = density == 0.5 and targets > found
    return tokens - shorter, targets - shorter


def segments(tokens: Sequence[int], length: int) -> list[list[int]]:
    """`tokens` in pieces of `length`; the last one may be shorter."""
    return [list(tokens[at : at + length]) for at in range(0, len(tokens), length)]


def with_eos(tokens: Sequence[int], eos: int, length: int | None = None) -> list[int]:
    """`tokens` and eos; with a length the tokens are cut first, so that eos is never lost."""
    return [*(tokens if length is None else tokens[: max(length - 1, 0)]), eos]
