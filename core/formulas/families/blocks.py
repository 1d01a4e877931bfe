"""What every family of sheet 004 is built of: attention in steps, feed-forward, GELU, the block of the paper of 2017.

One head, no batch, torch tensors. Axes: query and key stand for target or source, as the stack has it; width is d.
"""

import math
from collections.abc import Callable

import torch

Tensor = torch.Tensor
Part = Callable[[Tensor], Tensor]


def attention_steps(q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Scores and weights (query, key) and output (query, d_v) of q (query, d_k), k (key, d_k), v (key, d_v)."""
    scores = q @ k.T / math.sqrt(q.size(-1))
    weights = scores.softmax(-1)
    return scores, weights, weights @ v


def general_attention(q: Tensor, k: Tensor, v: Tensor, score: Callable[[Tensor, Tensor], Tensor]) -> tuple[Tensor, Tensor]:
    """α (key,) and Σ_i α_i v_i (d_v,) of one query (d_k,); score(q, k) gives a number for each key, (key,).

    Any f: a scaled dot product, an additive network (Bahdanau), minus a distance.
    """
    weights = score(q, k).softmax(-1)
    return weights, weights @ v


def attention_score(states: Tensor, w_q: Tensor, w_k: Tensor) -> Tensor:
    """e (query, key) of states (source, width): (x_i W_Q)(x_j W_K)ᵀ / √d_k; w_q and w_k (width, d_k)."""
    q, k = states @ w_q, states @ w_k
    return q @ k.T / math.sqrt(q.size(-1))


def causal_attention(q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
    """Weights (query, key) and output (query, d_v) with M added before the division, as the sheet writes it.

    −∞ / √d_k is −∞: the same weights as softmax(QKᵀ/√d_k + M). A finite fill in the place of −∞ would be divided too.
    """
    mask = torch.full((len(q), len(k)), -math.inf, dtype=q.dtype).triu(1)
    weights = ((q @ k.T + mask) / math.sqrt(q.size(-1))).softmax(-1)
    return weights, weights @ v


def attention_dropout(scores: Tensor, v: Tensor, p: float, seed: int) -> tuple[Tensor, Tensor]:
    """Weights (query, key) after dropout, and what they blend (query, d_v): each weight is 0 with probability p, else / (1 − p).

    The rows no longer add up to 1, except in the mean over seeds.
    """
    keep = torch.rand(scores.shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64) >= p
    weights = scores.softmax(-1) * keep / (1 - p) if p < 1 else torch.zeros_like(scores)
    return weights, weights @ v


def residual(x: Tensor, sublayer: Part) -> Tensor:
    """x + Sublayer(x), (..., width)."""
    return x + sublayer(x)


def feed_forward(x: Tensor, w_1: Tensor, b_1: Tensor, w_2: Tensor, b_2: Tensor, activation: str = "relu") -> Tensor:
    """φ(x W_1 + b_1) W_2 + b_2 for x (..., width), w_1 (width, d_ff), w_2 (d_ff, width); activation "relu" or "gelu"."""
    inner = x @ w_1 + b_1
    return (gelu(inner) if activation == "gelu" else inner.clamp(min=0)) @ w_2 + b_2


def gelu(x: Tensor) -> Tensor:
    """x Φ(x), Φ the distribution function of the standard normal (Hendrycks, Gimpel 2016). Any shape."""
    return x * 0.5 * (1 + torch.erf(x / math.sqrt(2)))


def gelu_tanh(x: Tensor) -> Tensor:
    """The approximation by tanh; it never leaves gelu by more than 0.0005. Any shape."""
    return 0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


def post_norm_block(x: Tensor, attend: Part, feed: Part, norms: tuple[Part, Part]) -> tuple[Tensor, Tensor]:
    """z and the block's output (source, width): the norm comes after the sum, as in BERT (and Vaswani et al. 2017)."""
    z = norms[0](x + attend(x))
    return z, norms[1](z + feed(z))
