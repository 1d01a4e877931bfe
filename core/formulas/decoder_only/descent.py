"""Lessons 7 and 8 of sheet 003 on torch tensors: adjoints, steps of descent, the schedule, the scaling law; and LoRA."""

import math
from collections.abc import Callable

import torch

from core.errors import InputError

Tensor = torch.Tensor


def gradient_descent(loss: Callable[[Tensor], Tensor], theta: Tensor, rate: float) -> tuple[Tensor, Tensor]:
    """θ − η ∇L(θ) and ∇L(θ), both of the shape of theta; loss gives one number."""
    gradient = torch.func.grad(loss)(theta)
    return theta - rate * gradient, gradient


def vjp(layer: Callable[[Tensor, Tensor], Tensor], a: Tensor, theta: Tensor, adjoint: Tensor) -> tuple[Tensor, Tensor]:
    """ā of the layer below (width in) and θ̄ (of theta's shape): the transposed Jacobians of layer(a, θ) times adjoint ā.

    The Jacobians are made in full, as the formula has them; backpropagation computes the products without them.
    """
    by_input, by_weights = torch.func.jacrev(layer, (0, 1))(a, theta)
    return by_input.mT @ adjoint, torch.tensordot(adjoint, by_weights, 1)


def linear_adjoints(weight: Tensor, x: Tensor, adjoint: Tensor) -> tuple[Tensor, Tensor]:
    """W̄ = ū xᵀ (out, in) and x̄ = Wᵀ ū (in,) of u = W x: weight (out, in), x (in,), adjoint ū (out,)."""
    return torch.outer(adjoint, x), weight.mT @ adjoint


def momentum(theta: Tensor, mean: Tensor, gradient: Tensor, rate: float, beta: float = 0.9) -> tuple[Tensor, Tensor]:
    """θ − η m_t and m_t = β m_{t−1} + (1 − β) g_t; all of one shape, m_0 = 0."""
    mean = beta * mean + (1 - beta) * gradient
    return theta - rate * mean, mean


def adam_moments(
    mean: Tensor, square: Tensor, gradient: Tensor, betas: tuple[float, float] = (0.9, 0.999)
) -> tuple[Tensor, Tensor]:
    """m_t and v_t from m_{t−1}, v_{t−1} and g_t; all of one shape. Kingma and Ba 2015."""
    first, second = betas
    return first * mean + (1 - first) * gradient, second * square + (1 - second) * gradient.square()


def adam_bias(mean: Tensor, square: Tensor, step: int, betas: tuple[float, float] = (0.9, 0.999)) -> tuple[Tensor, Tensor]:
    """m̂_t = m_t / (1 − β₁ᵗ) and v̂_t = v_t / (1 − β₂ᵗ); step counts from 1."""
    if step < 1:
        raise InputError(f"The step is {step}; the first one is 1.")
    return mean / (1 - betas[0] ** step), square / (1 - betas[1] ** step)


def adam_step(
    theta: Tensor, mean: Tensor, square: Tensor, rate: float, epsilon: float = 1e-8, decay: float = 0.0
) -> Tensor:
    """θ − η (m̂ / (√v̂ + ε) + λ θ): Adam at decay λ = 0, else AdamW (Loshchilov and Hutter 2019)."""
    return theta - rate * (mean / (square.sqrt() + epsilon) + decay * theta)


def cosine_schedule(step: float, warmup: float, total: float, highest: float, lowest: float = 0.0) -> float:
    """η_t at step t from T_w to T: half a cosine from η_max to η_min. Before T_w it rises from 0 in a line, after T it stays."""
    if not 0 <= warmup < total:
        raise InputError(f"Warm-up takes {warmup} of {total} steps; it must end before the training does.")
    if step < warmup:
        return highest * step / warmup
    done = min(1.0, (step - warmup) / (total - warmup))
    return lowest + (highest - lowest) * (1 + math.cos(math.pi * done)) / 2


def scaling_law(
    parameters: float, tokens: float, floor: float, a: float, alpha: float, b: float, beta: float
) -> float:
    """L_∞ + (A/N)^α + (B/D)^β, nats a token."""
    return floor + (a / parameters) ** alpha + (b / tokens) ** beta


def lora(frozen: Tensor, a: Tensor, b: Tensor, alpha: float) -> tuple[Tensor, Tensor]:
    """W = W_0 + ΔW and ΔW = α/r B A: frozen W_0 (d, k), a (rank, k), b (d, rank). Hu et al. 2021."""
    change = alpha / len(a) * b @ a
    return frozen + change, change
