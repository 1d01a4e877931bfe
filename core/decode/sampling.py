"""Seeded sampling: each token is drawn, by a rule that can be followed by hand.

At token number t (0 = first) the draw is u = numpy.random.default_rng((seed, t)).random(), in [0, 1). The tokens stand in
order of probability, best first, equal ones by id; written is the first whose cumulated probability passes u times the
whole. So u depends on nothing but seed and t: a branch with another beginning has the same luck later on.
"""

from collections.abc import Sequence

import numpy as np
import torch

from core.decode.search import Request, Search
from core.decode.warpers import Warper, warped
from core.errors import InputError


def sampling(start: int, eos: frozenset[int], max_new_tokens: int, warpers: Sequence[Warper], seed: int) -> Search:
    """Draw a token each step, until one of `eos` or `max_new_tokens` tokens (the start token not counted).

    InputError where no token is left to draw.
    """
    parent = np.zeros(1, np.int32)
    ranked = yield Request(np.array([start], np.int32), parent, whole=True)
    for at in range(max_new_tokens):
        logits, notes = warped(torch.from_numpy(ranked.whole.scores[:1]), warpers)
        id, left, probability, place = drawn(logits[0].softmax(-1).numpy(), luck(seed, at), at)
        if left > 1:
            notes.append(f"drawn from {left} tokens: number {place}, probability {probability:.3g}")
        finished = id in eos or at + 1 == max_new_tokens
        ranked = yield Request(np.array([id], np.int32), parent, finished, whole=True, notes=tuple(notes))


def luck(seed: int, at: int) -> float:
    """u in [0, 1) of token number `at`."""
    return float(np.random.default_rng((seed, at)).random())


def drawn(probabilities: np.ndarray, u: float, at: int = 0) -> tuple[int, int, float, int]:
    """(id, how many tokens can be drawn, its probability, its place among them from 1) for probabilities (vocab,)."""
    order = np.argsort(-probabilities, kind="stable")
    left = int(np.count_nonzero(probabilities > 0))  # nothing at all is greater than 0 among NaN
    if not left:
        raise InputError(f"No token may be written at step {at}: all of them are banned. Take back one of the bans.")
    cumulated = probabilities[order[:left]].astype(np.float64).cumsum()
    place = min(int(np.searchsorted(cumulated, u * cumulated[-1], side="right")), left - 1)
    return int(order[place]), left, float(probabilities[order[place]]), place + 1
