"""Greedy search: a beam of one (sheet 000, lesson 9)."""

import numpy as np

from core.decode.search import Request, Search


def greedy(start: int, eos: frozenset[int], max_new_tokens: int) -> Search:
    """Take the best token each step, until one of `eos` or `max_new_tokens` tokens (the start token not counted)."""
    parent = np.zeros(1, np.int32)
    ranked = yield Request(np.array([start], np.int32), parent)
    for written in range(1, max_new_tokens + 1):
        best = ranked.ids[:1, 0]
        finished = int(best[0]) in eos or written == max_new_tokens
        ranked = yield Request(best.astype(np.int32), parent, finished)
