"""Lesson 10 of sheet 003: temperature and nucleus, with what the product's own sampling does."""

import torch

from core.decode.warpers import Temperature, TopP

Tensor = torch.Tensor


def temperature(logits: Tensor, value: float) -> Tensor:
    """p̂(T) = softmax(z / T) (..., vocab) of logits (..., vocab); value is T > 0."""
    return Temperature(float(value))(logits).softmax(-1)


def nucleus(logits: Tensor, mass: float) -> tuple[Tensor, Tensor]:
    """S as bool (..., vocab): the fewest best tokens whose mass reaches p; and p̂ (..., vocab) over S alone, 0 outside."""
    kept = TopP(float(mass))(logits)
    return kept > -torch.inf, kept.softmax(-1)
