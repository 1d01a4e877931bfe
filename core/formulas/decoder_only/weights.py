"""θ of a decoder-only model, as lesson 5 of sheet 003 lists it: the shape of every weight, their count, a random set."""

import torch

Shape = tuple[int, ...]


def parameters(layers: int, width: int, inner: int, vocab: int) -> dict[str, Shape]:
    """Name -> shape of every weight in θ: "E", "0.W_Q" ... of each layer, the norms, "W_U". inner: d_ff.

    A pre-norm block has two norms, and one stands before the output head.
    """
    found: dict[str, Shape] = {"E": (vocab, width)}
    for layer in range(layers):
        found |= {f"{layer}.{name}": (width, width) for name in ("W_Q", "W_K", "W_V", "W_O")}
        found |= {f"{layer}.W_1": (inner, width), f"{layer}.b_1": (inner,)}
        found |= {f"{layer}.W_2": (width, inner), f"{layer}.b_2": (width,)}
        found |= {f"{layer}.{name}": (width,) for name in ("γ_1", "β_1", "γ_2", "β_2")}
    return found | {"γ": (width,), "β": (width,), "W_U": (width, vocab)}


def drawn(shapes: dict[str, Shape], seed: int = 0, spread: float = 0.3) -> dict[str, torch.Tensor]:
    """Random weights of these shapes, float64: normal with standard deviation `spread`, γ = 1 and every bias 0."""
    random = torch.Generator().manual_seed(seed)
    found = {}
    for name, shape in shapes.items():
        kind = name.rpartition(".")[2][0]
        if kind in "γβb":
            found[name] = torch.full(shape, float(kind == "γ"), dtype=torch.float64)
        else:
            found[name] = torch.randn(shape, generator=random, dtype=torch.float64) * spread
    return found
