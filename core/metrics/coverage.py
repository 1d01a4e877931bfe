"""Coverage: how much attention each source token received, what came twice, what was left out.

Source: See et al. 2017, equations 11 to 13; Wu et al. 2016, equation 14; sheet 000, lesson 9.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.errors import InputError
from core.metrics.score import ONE, Score

GAP = 0.5  # a source token that received less in all is a gap; the page's bars take the same number

Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class Coverage:
    """before (target, source): c_t, what each source token had received before step t. final (source,): after the last.

    losses (target,): Σ over source of min(A_t, c_t), the overlap of a step with what came before; the first is 0.
    """

    before: Numbers
    final: Numbers
    losses: Numbers

    @property
    def loss(self) -> float:
        """Σ over steps, as the lesson writes it."""
        return float(self.losses.sum())

    @property
    def mean_loss(self) -> float:
        """Mean over steps, as See et al.'s code trains it; 0 without steps."""
        return float(self.losses.mean()) if len(self.losses) else 0.0

    def gaps(self, below: float = GAP) -> list[int]:
        """Source tokens that received less than `below` in all."""
        return np.flatnonzero(self.final < below).tolist()


def coverage(weights: Numbers, steps: NDArray[np.bool_] | None = None) -> Coverage:
    """Of one hypothesis' cross-attention (target, source), one head or a mean of heads: each row adds up to 1.

    steps (target,): False for padded steps, which give nothing and are not counted.
    """
    weights = np.asarray(weights, np.float64)
    if weights.ndim != 2 or not np.isfinite(weights).all() or (weights < 0).any():
        raise InputError(f"Weights of shape {weights.shape} are no cross-attention: (target, source), finite, not negative.")
    weights = weights if steps is None else weights[np.asarray(steps, bool)]
    total = np.cumsum(weights, axis=0)
    before = np.vstack([np.zeros((1, weights.shape[1])), total])[: len(weights)]
    final = total[-1] if len(total) else np.zeros(weights.shape[1])
    return Coverage(before, final, np.minimum(weights, before).sum(axis=1))


def batch_loss(weights: Numbers, steps: NDArray[np.bool_]) -> float:
    """Training's loss of (batch, target, source): the mean over real steps of each source, then the mean over the batch."""
    return float(np.mean([coverage(each, real).mean_loss for each, real in zip(weights, steps)]))


def score(weights: Numbers, below: float = GAP) -> Score:
    """The loss as a mean over steps, 0..1, of cross-attention (target, source); the sum and the gaps stand in the notes."""
    found = coverage(weights)
    gaps = found.gaps(below)
    notes = (f"Sum over {len(found.losses)} steps: {found.loss:.3f}.",
             f"{len(gaps)} of {len(found.final)} source tokens received less than {below:g} in all.")
    return Score("coverage loss", found.mean_loss, f"sum of min(A, c)|mean over steps:{len(found.losses)}|gap:{below:g}", ONE,
                 True, notes=notes)
