"""Lesson 3 of sheet 003 on torch tensors: scaled dot-product attention, one row of it, its scale, its Jacobian, heads."""

import torch

Tensor = torch.Tensor


def attention(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """softmax(Q Kᵀ / √d_k + M) V (..., query, d_v), and its weights A (..., query, key).

    q (..., query, d_k), k (..., key, d_k), v (..., key, d_v); mask (query, key) is added after the scaling: 0 or −inf.
    """
    scores = q @ k.mT / q.shape[-1] ** 0.5
    weights = (scores if mask is None else scores + mask).softmax(-1)
    return weights @ v, weights


def attention_row(q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """o_i (d_v,), A_i (key,) and s_i (key,) of one query q (d_k,), from k (key, d_k) and v (key, d_v).

    A causal row is given the keys up to itself.
    """
    scores = k @ q / len(q) ** 0.5
    powers = (scores - scores.max()).exp()
    weights = powers / powers.sum()
    return weights @ v, weights, scores


def score_variance(q: Tensor, k: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """q_i · k_i (pairs,) of q and k (pairs, d_k), their mean, and their variance (over pairs, unbiased)."""
    scores = (q * k).sum(-1)
    return scores, scores.mean(), scores.var()


def softmax_jacobian(scores: Tensor) -> Tensor:
    """∂a_i/∂s_j = a_i (δ_ij − a_j), (key, key), at scores (key,): symmetric, each row adds up to 0."""
    a = scores.softmax(-1)
    return torch.diag(a) - torch.outer(a, a)


def multi_head(
    states: Tensor, w_q: Tensor, w_k: Tensor, w_v: Tensor, w_o: Tensor, mask: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """[head_1 ‖ … ‖ head_h] W_O (query, width) and the weights (heads, query, key) of states (query, width).

    w_q, w_k (heads, width, d_k), w_v (heads, width, d_v), w_o (heads · d_v, width); mask (query, key) is added.
    """
    out, weights = attention(states @ w_q, states @ w_k, states @ w_v, mask)
    return out.movedim(0, -2).flatten(-2) @ w_o, weights
