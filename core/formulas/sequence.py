"""Probabilities of sequences and the output head: lessons 1 and 3; and what the first items of the foundations compute."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from core.formulas.attention import weights

Array = np.ndarray


def probability(logprobs: Array) -> float:
    """P(y | x) of log P(y_t | y_<t, x) (target,), nats: the product, as a sum of logs. Lesson 1."""
    return float(np.exp(np.sum(logprobs, dtype=np.float64)))


def two_maps(model: Any, source: Sequence[int], before: Sequence[int]) -> tuple[Any, Any]:
    """H_enc (source, width), once; p̂ (target, vocab), a row for each of `before`, the tokens the decoder reads. Lesson 1."""
    import torch

    ids = torch.tensor([list(source)], device=model.device)
    memory = model.get_encoder()(input_ids=ids, return_dict=True)
    fed = torch.tensor([list(before)], device=model.device)
    logits = model(encoder_outputs=memory, decoder_input_ids=fed, use_cache=False).logits
    return memory[0][0], logits[0].float().softmax(-1)


def output_head(states: Array, unembedding: Array, temperature: float = 1.0) -> tuple[Array, Array]:
    """z (target, vocab) = h W_U and p̂ (target, vocab) = softmax(z / T); states (target, width), unembedding (width, vocab).

    Lesson 3, where W_U = Eᵀ (tied) and T = 1.
    """
    logits = states @ unembedding
    return logits, weights(logits / temperature)


def pairs(length: int) -> Array:
    """(query, key, 2): the two fingers i and j of every pair of boxes."""
    return np.stack(np.meshgrid(np.arange(length), np.arange(length), indexing="ij"), axis=-1)


def embed(ids: Array, table: Array) -> Array:
    """h (source, width): the rows of table (vocab, width) that ids (source,) name."""
    return table[ids]


def dot(q: Array, k: Array) -> float:
    """Σ_c q_c k_c of two vectors (d_k,)."""
    return float(np.dot(q, k))


def match(q: Array, k: Array) -> Array:
    """(query, key): q_i · k_j of every pair, before any scaling."""
    return q @ k.T
