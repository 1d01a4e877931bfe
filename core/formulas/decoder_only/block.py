"""Lesson 4 of sheet 003 on torch tensors: the MLP, the residual path, LayerNorm and RMSNorm and their gradients."""

from collections.abc import Callable

import torch
from torch.nn.functional import gelu

Tensor = torch.Tensor
EPSILON = 1e-5


def mlp(x: Tensor, w_1: Tensor, b_1: Tensor, w_2: Tensor, b_2: Tensor, activation: Callable[[Tensor], Tensor] = gelu) -> Tensor:
    """W_2 φ(W_1 x + b_1) + b_2 (..., width) of x (..., width), each row alone; w_1 (d_ff, width), w_2 (width, d_ff)."""
    return activation(x @ w_1.mT + b_1) @ w_2.mT + b_2


def residual_jacobian(sublayer: Callable[[Tensor], Tensor], x: Tensor) -> Tensor:
    """∂y/∂x = I + ∂F/∂x (width, width) of y = x + F(x), at x (width,)."""
    return torch.eye(len(x), dtype=x.dtype) + torch.func.jacrev(sublayer)(x)


def layernorm(x: Tensor, gain: Tensor | float = 1.0, bias: Tensor | float = 0.0, epsilon: float = EPSILON) -> Tensor:
    """γ ⊙ (x − μ) / √(σ² + ε) + β of x (..., width); σ² divides by d, not by d − 1. Ba et al. 2016."""
    return gain * _standard(x, epsilon)[0] + bias


def layernorm_gradient(x: Tensor, upstream: Tensor, gain: Tensor | float = 1.0, epsilon: float = EPSILON) -> Tensor:
    """∂L/∂x (..., width) of `layernorm`. upstream: ∂L/∂LN(x) (..., width); g of the formula is γ ⊙ upstream."""
    normal, root = _standard(x, epsilon)
    g = gain * upstream
    return (g - g.mean(-1, keepdim=True) - normal * (g * normal).mean(-1, keepdim=True)) / root


def rmsnorm(x: Tensor, gain: Tensor | float = 1.0, epsilon: float = EPSILON) -> Tensor:
    """x / √(mean x² + ε) ⊙ γ of x (..., width). Zhang and Sennrich 2019."""
    return x / _root(x, epsilon) * gain


def rmsnorm_gradient(x: Tensor, upstream: Tensor, gain: Tensor | float = 1.0, epsilon: float = EPSILON) -> Tensor:
    """∂L/∂x (..., width) of `rmsnorm`, upstream ∂L/∂RMS(x) (..., width): only the direction of x is taken out."""
    root = _root(x, epsilon)
    g, normal = gain * upstream, x / root
    return (g - normal * (g * normal).mean(-1, keepdim=True)) / root


def _standard(x: Tensor, epsilon: float) -> tuple[Tensor, Tensor]:
    centred = x - x.mean(-1, keepdim=True)
    root = _root(centred, epsilon)
    return centred / root, root


def _root(x: Tensor, epsilon: float) -> Tensor:
    return (x.square().mean(-1, keepdim=True) + epsilon).sqrt()
