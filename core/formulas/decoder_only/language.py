"""Lessons 1 and 2 of sheet 003 on torch tensors: a model as a function, its likelihood, embeddings and positions."""

from collections.abc import Mapping

import torch

from core.errors import InputError
from core.formulas.decoder_only.attention import multi_head
from core.formulas.decoder_only.block import layernorm, mlp

Tensor = torch.Tensor
BASE = 10000.0


def next_token(ids: Tensor, theta: Mapping[str, Tensor], heads: int) -> Tensor:
    """f(x; θ): p̂ (vocab,) of the token after ids (target,). theta: as `core.formulas.decoder_only.weights:drawn` names it.

    A whole decoder-only model: embedding plus sinusoids, pre-norm blocks with a causal mask, a last norm, the output head.
    """
    return logits(ids, theta, heads)[-1].softmax(-1)


def logits(ids: Tensor, theta: Mapping[str, Tensor], heads: int) -> Tensor:
    """z (target, vocab) after each of ids (target,), by the same model."""
    if not 0 < len(ids) or int(ids.max()) >= len(theta["E"]) or int(ids.min()) < 0:
        raise InputError(f"The ids must be one or more numbers from 0 to {len(theta['E']) - 1}.")
    h = embedding(ids, theta["E"])
    h = h + sinusoids(len(ids), h.shape[-1]).to(h.dtype)
    mask = torch.full((len(ids), len(ids)), -torch.inf, dtype=h.dtype).triu(1)
    for layer in range(sum(name.endswith("W_Q") for name in theta)):
        own = {name.partition(".")[2]: value for name, value in theta.items() if name.startswith(f"{layer}.")}
        normed = layernorm(h, own["γ_1"], own["β_1"])
        q, k, v = (_by_head(own[name], heads) for name in ("W_Q", "W_K", "W_V"))
        h = h + multi_head(normed, q, k, v, own["W_O"], mask)[0]
        h = h + mlp(layernorm(h, own["γ_2"], own["β_2"]), own["W_1"], own["b_1"], own["W_2"], own["b_2"])
    return layernorm(h, theta["γ"], theta["β"]) @ theta["W_U"]


def _by_head(weight: Tensor, heads: int) -> Tensor:
    """(width, heads · d_k) as (heads, width, d_k)."""
    return weight.unflatten(-1, (heads, -1)).movedim(-2, 0)


def log_factors(logits: Tensor, ids: Tensor) -> tuple[Tensor, Tensor]:
    """log P(x_t | x_<t) (target,), nats, and their sum log P(x). logits (target, vocab): row t was made from x_<t alone."""
    each = logits.log_softmax(-1).gather(-1, ids.unsqueeze(-1)).squeeze(-1)
    return each, each.sum(-1)


def risk(logits: Tensor, ids: Tensor) -> Tensor:
    """E_x [−Σ_t log P(x_t | x_<t)] over the sequences of a batch: logits (batch, target, vocab), ids (batch, target). Nats."""
    return -log_factors(logits, ids)[1].mean()


def training_flops(parameters: float, tokens: float) -> float:
    """C = 6 P D: 2 forward and 4 backward for each weight and token. One token of inference costs a third of one trained."""
    return 6 * parameters * tokens


def embedding(ids: Tensor, table: Tensor) -> Tensor:
    """x_i = e_iᵀ E (target, width): the one-hot rows of ids (target,) times table (vocab, width)."""
    return torch.nn.functional.one_hot(ids, len(table)).to(table.dtype) @ table


def embedding_gradient(ids: Tensor, upstream: Tensor, vocab: int) -> Tensor:
    """∂L/∂E (vocab, width): upstream ∂L/∂x (target, width) added up over the positions of each token of ids (target,)."""
    return upstream.new_zeros(vocab, upstream.shape[-1]).index_add(0, ids, upstream)


def frequencies(width: int, base: float = BASE) -> Tensor:
    """ω_k = base^(−2k/d) (width / 2,), radians a position, float64."""
    if width % 2:
        raise InputError(f"The width is {width}; sines and cosines come in pairs, so it must be even.")
    return base ** (-torch.arange(0, width, 2, dtype=torch.float64) / width)


def sinusoids(length: int, width: int, base: float = BASE) -> Tensor:
    """PE (target, width), float64: sine in even columns, cosine in odd ones, neighbours of one frequency."""
    angle = torch.arange(length, dtype=torch.float64)[:, None] * frequencies(width, base)
    return torch.stack([angle.sin(), angle.cos()], -1).flatten(-2)


def rope(q: Tensor, positions: Tensor, base: float = BASE) -> Tensor:
    """q' (..., target, d_k): the neighbours q_2k, q_2k+1 of each row turned by p ω_k; positions (target,), from 0."""
    angle = positions.to(torch.float64)[:, None] * frequencies(q.shape[-1], base)
    cos, sin = angle.cos().to(q.dtype), angle.sin().to(q.dtype)
    even, odd = q[..., 0::2], q[..., 1::2]
    return torch.stack([cos * even - sin * odd, sin * even + cos * odd], -1).flatten(-2)
