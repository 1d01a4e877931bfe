"""SBERT: from the tokens of a sentence to one vector, how two are compared, and what they are trained on. Torch tensors."""

from collections.abc import Callable
from typing import Any

import torch

Tensor = torch.Tensor


def cls_pooling(u: Tensor) -> Tensor:
    """s (width,): the first of the token vectors u (source, width)."""
    return u[0]


def mean_pooling(u: Tensor, real: Tensor | None = None) -> Tensor:
    """s (width,): the mean over the tokens of u (source, width); real (source,) is 0 for padding, which does not count."""
    if real is None:
        return u.mean(0)
    weights = real.to(u.dtype)
    return weights @ u / weights.sum()


def max_pooling(u: Tensor, real: Tensor | None = None) -> Tensor:
    """s (width,): the largest number of each column of u (source, width), padding left out."""
    return (u if real is None else u[real.bool()]).amax(0)


def attention_pooling(u: Tensor, w: Tensor) -> tuple[Tensor, Tensor]:
    """α (source,) and s (width,): shares by softmax(u_i · w), w (width,) learned."""
    shares = (u @ w).softmax(0)
    return shares, shares @ u


POOLS: dict[str, Callable[..., Tensor]] = {"cls": cls_pooling, "mean": mean_pooling, "max": max_pooling}


def sentence_embedding(encode: Callable[[Any], Tensor], sentence: Any, pool: str = "mean") -> Tensor:
    """s (width,): POOL of the token vectors that `encode` gives, (source, width); pool "cls", "mean" or "max"."""
    return POOLS[pool](encode(sentence))


def siamese(encode: Callable[[Any], Tensor], first: Any, second: Any, pool: str = "mean") -> tuple[Tensor, Tensor]:
    """u and v (width,): one encoder, twice; gradients of both sides add up in its weights."""
    return sentence_embedding(encode, first, pool), sentence_embedding(encode, second, pool)


def cosine(u: Tensor, v: Tensor) -> Tensor:
    """u · v / (|u| |v|) of two vectors (width,): −1 to 1, lengths do not count. NaN for a zero vector."""
    return u @ v / (u.norm() * v.norm())


def euclidean(u: Tensor, v: Tensor) -> Tensor:
    """|u − v|_2 of two vectors (width,)."""
    return ((u - v) ** 2).sum().sqrt()


def manhattan(u: Tensor, v: Tensor) -> Tensor:
    """|u − v|_1 of two vectors (width,)."""
    return (u - v).abs().sum()


def classifier(u: Tensor, v: Tensor, w: Tensor) -> Tensor:
    """o (classes,) = softmax(W_t [u; v; |u − v|]); u, v (width,), w (classes, 3 · width)."""
    return (w @ torch.cat([u, v, (u - v).abs()])).softmax(0)


def pair_logits(u: Tensor, v: Tensor, w: Tensor, b: Tensor) -> Tensor:
    """(classes,) = W [u; v; u ⊙ v; |u − v|] + b; u, v (width,), w (classes, 4 · width), b (classes,)."""
    return w @ torch.cat([u, v, u * v, (u - v).abs()]) + b


def regression_loss(similarity: Tensor, label: Tensor) -> Tensor:
    """(similarity − label)²; both single numbers, the label on the scale of a cosine."""
    return (similarity - label) ** 2


def triplet_loss(anchor: Tensor, positive: Tensor, negative: Tensor, margin: float) -> Tensor:
    """max(|a − p|² − |a − n|² + ε, 0) of vectors (width,): squared distances, as the sheet has them."""
    return (((anchor - positive) ** 2).sum() - ((anchor - negative) ** 2).sum() + margin).clamp(min=0)


def negatives_loss(positive: Tensor, negatives: Tensor, with_positive: bool = True, scale: float = 1.0) -> Tensor:
    """−log (e^{sim(a, p)} / Σ e^{sim}), of similarities: positive (), negatives (N,); scale multiplies all of them.

    with_positive False is the sheet's letter: a sum over the negatives only, which is no probability and can be below 0.
    The loss in use counts the positive too: then it is a cross-entropy (Henderson et al. 2017).
    """
    below = torch.cat([positive[None], negatives]) if with_positive else negatives
    return torch.logsumexp(scale * below, 0) - scale * positive
