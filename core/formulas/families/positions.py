"""Where a token stands, in the families of sheet 004: BERT's sum, learned rows, relative keys, DeBERTa's two vectors.

Torch tensors, no batch. Distances are query − key (i − j), as the sheet writes r_{i−j} and δ_{i,j}.
"""

import math

import torch

Tensor = torch.Tensor


def bert_input(ids: Tensor, segments: Tensor, tokens: Tensor, halves: Tensor, places: Tensor) -> Tensor:
    """(source, width): the sum of three rows for each token, before BERT's LayerNorm and dropout.

    ids and segments (source,); tokens (vocab, width), halves (2, width) for sentence A and B, places (positions, width).
    """
    return tokens[ids] + halves[segments] + places[: len(ids)]


def learned_positions(at: Tensor, places: Tensor) -> Tensor:
    """(source, width): p_i, row i of a table (positions, width) that is trained. Beyond its end there is no row: IndexError."""
    return places[at]


def relative_rows(queries: int, keys: int, furthest: int) -> Tensor:
    """(query, key): the row of a table (2 · furthest + 1 rows) for i − j, cut at ±furthest; row `furthest` is distance 0."""
    distance = torch.arange(queries)[:, None] - torch.arange(keys)[None, :]
    return distance.clamp(-furthest, furthest) + furthest


def relative_keys(states: Tensor, w_q: Tensor, w_k: Tensor, table: Tensor) -> Tensor:
    """e (query, key) = x_i W_Q (x_j W_K + r_{i−j})ᵀ / √d_k (Shaw et al. 2018).

    states (source, width), w_q and w_k (width, d_k), table (2 · furthest + 1, d_k): distances beyond furthest share its ends.
    """
    q, k = states @ w_q, states @ w_k
    r = table[relative_rows(len(q), len(k), len(table) // 2)]
    return (q @ k.T + torch.einsum("id,ijd->ij", q, r)) / math.sqrt(q.size(-1))


def disentangled(
    q: Tensor, k: Tensor, q_r: Tensor, k_r: Tensor, furthest: int, paper: bool = False
) -> tuple[Tensor, Tensor, Tensor]:
    """Content to content, content to position, position to content: three (query, key) terms, not yet divided by √(3 d_k).

    q, k (source, d_k) of content; q_r, k_r (2 · furthest, d_k) of relative positions, after their projections. Row δ(i, j) is
    i − j + furthest, cut to 0 .. 2 · furthest − 1. The third term reads δ(i, j) as the sheet and Microsoft's and
    transformers' code do; `paper` has it read δ(j, i) (He et al. 2021, equation 4).
    """
    i, j = torch.arange(len(q))[:, None], torch.arange(len(k))[None, :]
    row = (i - j + furthest).clamp(0, 2 * furthest - 1)
    back = (j - i + furthest).clamp(0, 2 * furthest - 1) if paper else row
    to_place = (q @ k_r.T).gather(1, row)
    from_place = (q_r @ k.T).gather(0, back)
    return q @ k.T, to_place, from_place


def disentangled_scores(q: Tensor, k: Tensor, q_r: Tensor, k_r: Tensor, furthest: int) -> Tensor:
    """A (query, key): the sum of the three terms, divided by √(3 d_k) as DeBERTa does."""
    return sum(disentangled(q, k, q_r, k_r, furthest)) / math.sqrt(3 * q.size(-1))
