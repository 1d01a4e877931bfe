"""What a score adds to log P: two length penalties and the coverage penalty. Search and rescoring take them from here.

Two length penalties share one name and are never the same: transformers divides log P by m^α, GNMT by (5+m)^α / 6^α, so
an α from a paper does not carry over. m: tokens written, end token included. α = 0 is neutral in both; α > 0 favours
long outputs, α < 0 short ones.

Source: Wu et al. 2016, equation 14; transformers' `_update_finished_beams`; sheet 000, lesson 9.
"""

import math
from collections.abc import Callable, Sequence

FLOOR = 1e-12  # in place of the log of nothing, so that a source token that was never read does not end all comparison


def transformers_penalty(length: int, alpha: float) -> float:
    """m^α, by which transformers divides."""
    return float(length) ** alpha


def gnmt_penalty(length: int, alpha: float) -> float:
    """lp(m) = (5+m)^α / 6^α, by which GNMT divides; 1 for a single token."""
    return ((5 + length) / 6) ** alpha


PENALTIES: dict[str, Callable[[int, float], float]] = {"transformers": transformers_penalty, "GNMT": gnmt_penalty}


def coverage_penalty(received: Sequence[float], beta: float, floor: float = FLOOR) -> float:
    """cp = β · Σ over source of log min(received, 1): at most 0, and added to a score; more than 1 costs nothing.

    floor: what a token that was never read counts as; 0 gives -∞ for it, as the formula has it.
    """
    if not beta:
        return 0.0
    least = [min(max(each, floor), 1.0) for each in received]
    return beta * sum(math.log(each) if each > 0 else -math.inf for each in least) + 0.0
