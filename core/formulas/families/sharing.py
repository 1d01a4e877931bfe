"""How ALBERT saves weights: a table in two factors, one layer used many times."""

from collections.abc import Callable

import torch

Tensor = torch.Tensor


def embedding_counts(vocab: int, width: int, inner: int) -> tuple[int, int]:
    """Weights of the token table: V · H in one piece, V · E + E · H in two factors. width is H, inner is E."""
    return vocab * width, vocab * inner + inner * width


def factorized(table: Tensor, up: Tensor) -> Tensor:
    """(vocab, width): what the two factors (vocab, inner) and (inner, width) stand for; its rank is at most `inner`."""
    return table @ up


def layer_count(width: int, inner: int) -> int:
    """Weights of one encoder layer with its biases and two LayerNorms: four width² maps, a feed-forward of `inner`."""
    return 4 * (width * width + width) + (2 * width * inner + inner + width) + 4 * width


def stack_counts(layers: int, width: int, inner: int) -> tuple[int, int]:
    """Weights of the layers: each with its own, and all sharing one. Work and memory of a forward stay those of `layers`."""
    one = layer_count(width, inner)
    return layers * one, one


def shared_stack(x: Tensor, layer: Callable[[Tensor], Tensor], layers: int) -> list[Tensor]:
    """x (source, width) after 1 to `layers` uses of the one layer: W_l = W_shared."""
    states = []
    for _ in range(layers):
        states.append(x := layer(x))
    return states
