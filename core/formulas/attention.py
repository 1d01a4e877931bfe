"""Attention of lessons 2, 4 and 5 on plain arrays: one head, no batch. Masks and softmax are those of core.masks.

Axes: query and key stand for target or source, as the stack has it; width is d; d_k and d_v are the widths of one head.
"""

from collections.abc import Callable

import numpy as np

from core import masks
from core.positions import bucket

Array = np.ndarray
Part = Callable[..., Array]


def projections(reading: Array, read: Array, w_q: Array, w_k: Array, w_v: Array) -> tuple[Array, Array, Array]:
    """Q (query, d_k) = reading W_Q; K (key, d_k) = read W_K; V (key, d_v) = read W_V. Lessons 2 and 4.

    reading (query, width), read (key, width): the same states in self-attention, decoder and encoder in cross-attention.
    """
    return reading @ w_q, read @ w_k, read @ w_v


def scaled(q: Array, k: Array) -> Array:
    """Scores (query, key): q_i · k_j / √d_k."""
    return q @ k.T / np.sqrt(q.shape[-1])


def weights(scores: Array, mask: Array | None = None) -> Array:
    """Softmax over keys of scores (query, key); mask (query, key) is True where a key may be read, None where all may."""
    return masks.softmax(scores, np.ones(np.shape(scores), bool) if mask is None else mask)


def blend(weights: Array, v: Array) -> Array:
    """o_i (query, d_v) = Σ_j A_ij v_j. Lesson 4."""
    return np.einsum("ij,jd->id", weights, v)


def cross_attention(q: Array, k: Array, v: Array, real: Array | None = None) -> tuple[Array, Array]:
    """A (target, source) and A V (target, d_v); real (source,), 1 for a token and 0 for padding. No causal mask. Lesson 4."""
    mask = None if real is None else masks.cross(len(q), np.asarray(real)[None])[0]
    found = weights(scaled(q, k), mask)
    return found, blend(found, v)


def encoder_attention(states: Array, w_q: Array, w_k: Array, w_v: Array, real: Array | None = None) -> Array:
    """One head of bidirectional self-attention over states (source, width): (source, d_v). Lesson 2."""
    return cross_attention(*projections(states, states, w_q, w_k, w_v), real)[1]


def encoder_block(states: Array, attend: Part, feed: Part, norm: tuple[Part, Part]) -> tuple[Array, Array]:
    """H' and H_out (source, width): two pre-norm residual sublayers. Lesson 2."""
    between = states + attend(norm[0](states))
    return between, between + feed(norm[1](between))


def decoder_block(
    states: Array, memory: Array, attend: Part, cross: Part, feed: Part, norm: tuple[Part, Part, Part]
) -> tuple[Array, Array, Array]:
    """H_1, H_2, H_3 (target, width): three pre-norm residual sublayers; memory (source, width) is H_enc. Lesson 3."""
    first = states + attend(norm[0](states))
    second = first + cross(norm[1](first), memory)
    return first, second, second + feed(norm[2](second))


def biased(q: Array, k: Array, table: Array, bidirectional: bool, furthest: int = 128) -> Array:
    """Scores (query, key) with T5's bias: table (buckets,) of one head is read by the distance key − query. Lesson 5."""
    distance = np.arange(len(k))[None, :] - np.arange(len(q))[:, None]
    return scaled(q, k) + table[bucket(distance, bidirectional, len(table), furthest)]
