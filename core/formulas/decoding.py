"""Scores of a whole output: lesson 9. The penalties, coverage and the pointer-generator are the product's own."""

from collections.abc import Sequence

from core.decode.penalties import gnmt_penalty


def beam_score(logprobs: Sequence[float], alpha: float) -> float:
    """Σ log p̂ / lp(m), lp(m) = (5 + m)^α / 6^α, for log P of each token (target,), nats. Lesson 9."""
    return sum(logprobs) / gnmt_penalty(len(logprobs), alpha)
