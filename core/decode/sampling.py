"""Sampling: each token is drawn by its chance after penalties, bans and warpers (core/decode/warpers.py).

The rule, so that a draw can be checked by hand: step t takes the t-th number u in [0, 1) of numpy's default_rng(seed),
and the first id, counted from 0, at which the chances summed in float64 exceed u. transformers draws by another rule.
"""

import numpy as np

from core.decode.search import Request, Search
from core.errors import InputError


def sampling(start: int, eos: frozenset[int], max_new_tokens: int, seed: int) -> Search:
    """One hypothesis, drawn token by token until one of `eos` or `max_new_tokens` tokens (the start token not counted)."""
    draws, row = np.random.default_rng(seed), np.zeros(1, np.int32)
    ranked = yield Request(np.array([start], np.int32), row, whole=True)
    for written in range(1, max_new_tokens + 1):
        chances = ranked.whole.chances[0]
        if not np.isfinite(chances).all():
            raise InputError(f"Every next token is banned after {written - 1} tokens; forbid less, or stop earlier.")
        id = drawn(chances, draws.random())
        finished = id in eos or written == max_new_tokens
        ranked = yield Request(
            np.array([id], np.int32), row, finished, logprobs=ranked.whole.logprobs[0, [id]], whole=True
        )


def drawn(chances: np.ndarray, u: float) -> int:
    """The id that u in [0, 1) falls on; chances (vocab,) sum to 1, up to rounding."""
    edges = np.cumsum(chances, dtype=np.float64)
    return int(np.searchsorted(edges, u * edges[-1], side="right").clip(max=np.flatnonzero(chances)[-1]))
