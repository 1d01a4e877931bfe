"""BART's five noises on the tokens between <s> and </s>, which are never hidden, moved or deleted.

Each noise is where (positions, lengths, an order) and what is made of them, so that a choice can be replayed. Source:
fairseq's `DenoisingDataset` (Lewis et al. 2020, section 2.2). The target is always the clean text.
"""

from collections.abc import Sequence

import numpy as np

RATIO, MEAN_SPAN = 0.3, 3.0  # the paper's
MOST_MEAN = 16.0  # P(0) is below 1e-7 from 16.2 on, where the reference's table ends with its first entry


def hidden_count(words: int, ratio: float) -> int:
    """How many words are hidden: rounded up, and multiplied in float32 as the reference does (50 x 0.3 -> 16)."""
    return int(np.ceil(np.float32(words) * np.float32(ratio)))


def spans_of(starts: Sequence[bool], chosen: Sequence[int], lengths: Sequence[int]) -> list[int]:
    """The span that hides each token, -1 where none does: (tokens,). `lengths[k]` words are hidden from `chosen[k]` on.

    starts: True where a word starts (all True to hide single pieces). A span that runs over the start of another
    swallows it; spans that only touch stay two. Spans are numbered from the left.
    """
    begun, covered = set(chosen), set()
    for start, left in zip(chosen, lengths, strict=True):
        for position in range(start + 1, len(starts)):
            left -= bool(starts[position])
            if left <= 0:
                break
            covered.add(position)
    out, span = [], -1
    for position in range(len(starts)):
        span += position in begun and position not in covered
        out.append(span if position in begun or position in covered else -1)
    return out


def hide(
    tokens: Sequence[int], starts: Sequence[bool], chosen: Sequence[int], lengths: Sequence[int], mask: int,
    replace: int = 1,
) -> list[int]:
    """`tokens` with `lengths[k]` words hidden from position `chosen[k]` on; starts and lengths as in `spans_of`.

    replace 1: one mask for each span; 0: nothing is left of it; -1: a mask for each piece.
    """
    spans, out = spans_of(starts, chosen, lengths), []
    for position, (token, span) in enumerate(zip(tokens, spans, strict=True)):
        if span < 0:
            out.append(int(token))
        elif replace == -1 or replace and (position == 0 or spans[position - 1] != span):
            out.append(mask)
    return out


def poisson_table(mean: float) -> np.ndarray:
    """P(length) up to the first term below 1e-7, which is kept; normalised in float32, as the reference's table is."""
    terms = [np.exp(-mean)]
    while terms[-1] >= 1e-7:
        terms.append(terms[-1] * mean / len(terms))
    table = np.array(terms, np.float32)
    return table / table.sum()


def trimmed(lengths: Sequence[int], budget: int) -> list[int]:
    """The first lengths whose sum reaches `budget`, the last of them cut so that it is exactly that."""
    out, total = [], 0
    for length in lengths:
        out.append(min(int(length), budget - total))
        total += out[-1]
        if total == budget:
            return out
    raise ValueError(f"{list(lengths)} do not reach {budget}")


def span_lengths(budget: int, mean: float, rng: np.random.Generator) -> list[int]:
    """Lengths that sum to `budget`, zeros among them; drawn `budget` at a time while they are too few.

    A mean of 0 gives `budget` lengths of 0, which sum to nothing: the reference would draw for ever.
    """
    if mean == 0:
        return [0] * budget
    if not 0 < mean <= MOST_MEAN:
        raise ValueError(f"mean is {mean}; it must be from 0 to {MOST_MEAN}: beyond, the reference's table has only zeros")
    table, drawn = poisson_table(mean).astype(float), np.empty(0, int)
    while drawn.sum() < budget:
        drawn = np.concatenate([drawn, rng.choice(len(table), budget, p=table / table.sum())])
    return trimmed(drawn, budget) if budget else []


def inserted(tokens: Sequence[int], slots: Sequence[int], mask: int) -> list[int]:
    """`tokens` with a mask at each of `slots`, which are positions of the result."""
    rest, places = iter(tokens), set(slots)
    return [mask if k in places else int(next(rest)) for k in range(len(tokens) + len(places))]


def inserts_in_reference(inserts: int, length: int) -> int:
    """How many masks the reference inserts for `inserts` spans of no words into `length` tokens, <s> and </s> counted.

    It goes through a ratio, and rounds up: (7, 25) gives 8. `inserted` takes the number as it is.
    """
    return int(np.ceil(length * (inserts / length)))


def sentence_ends(tokens: Sequence[int], stop: int) -> list[int]:
    """Where each sentence ends (exclusive): after a stop that follows no stop; the last token counts as one."""
    stops = [token == stop for token in tokens]
    if stops:
        stops[-1] = True
    return [k + 1 for k, here in enumerate(stops) if here and not (k and stops[k - 1])]


def reordered(tokens: Sequence[int], ends: Sequence[int], order: Sequence[int]) -> list[int]:
    """The sentences that end at `ends` in `order`; what follows the last one stays last."""
    begins = [0, *ends][: len(ends)]
    out = [token for k in order for token in tokens[begins[k] : ends[k]]]
    return [int(token) for token in [*out, *tokens[len(out) :]]]


def rotated(tokens: Sequence[int], offset: int) -> list[int]:
    """The text from `offset` on, then what was before it; 1 is the first token, as positions count <s>."""
    return [int(token) for token in [*tokens[offset - 1 :], *tokens[: offset - 1]]]


# The five noises with their choices drawn: (tokens, starts, mask, stop, rng) -> tokens

def token_masking(tokens, starts, mask, stop, rng: np.random.Generator, ratio: float = RATIO) -> list[int]:
    """Single pieces become masks; neighbours stay two masks."""
    chosen = _chosen(np.ones(len(tokens), bool), hidden_count(len(tokens), ratio), rng)
    return hide(tokens, [True] * len(tokens), chosen, [1] * len(chosen), mask)


def token_deletion(tokens, starts, mask, stop, rng: np.random.Generator, ratio: float = RATIO) -> list[int]:
    """Single pieces vanish."""
    chosen = _chosen(np.ones(len(tokens), bool), hidden_count(len(tokens), ratio), rng)
    return hide(tokens, [True] * len(tokens), chosen, [1] * len(chosen), mask, replace=0)


def text_infilling(tokens, starts, mask, stop, rng: np.random.Generator, ratio: float = RATIO) -> list[int]:
    """Spans of words become one mask each; a span of no words is a mask that hides nothing."""
    starts = np.asarray(starts, bool)
    lengths = span_lengths(hidden_count(int(starts.sum()), ratio), MEAN_SPAN, rng)
    spans = [length for length in lengths if length]
    out = hide(tokens, starts, _chosen(starts, len(spans), rng), spans, mask)
    empty = len(lengths) - len(spans)
    return inserted(out, rng.permutation(len(out) + empty)[:empty].tolist(), mask)


def sentence_permutation(tokens, starts, mask, stop, rng: np.random.Generator) -> list[int]:
    """All sentences in a new order, which may be the old one."""
    ends = sentence_ends(tokens, stop)
    return reordered(tokens, ends, rng.permutation(len(ends)).tolist())


def document_rotation(tokens, starts, mask, stop, rng: np.random.Generator) -> list[int]:
    """The text starts at a uniformly chosen token; two of the reference's offsets change nothing."""
    return rotated(tokens, int(rng.integers(1, max(1, len(tokens) + 1), endpoint=True)))


NOISES = {
    "deletion": token_deletion,
    "infilling": text_infilling,
    "masking": token_masking,
    "permutation": sentence_permutation,
    "rotation": document_rotation,
}


def _chosen(starts: np.ndarray, count: int, rng: np.random.Generator) -> list[int]:
    """`count` distinct word starts, in the order they were drawn."""
    return rng.permutation(np.flatnonzero(starts))[:count].tolist()
