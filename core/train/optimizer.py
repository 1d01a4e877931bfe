"""Muon for the matrices, Adam for embeddings, norms and position tables: one optimiser with one state to save."""

import math
from collections import defaultdict
from collections.abc import Iterable

import torch

_COEFFICIENTS = (3.4445, -4.7750, 2.0315)
STEPS = 4  # of Newton-Schulz; one fewer than usual, it costs as much as the forward pass
TURNS = 2  # a matrix moves every second step


def orthogonal(updates: torch.Tensor, steps: int = STEPS) -> torch.Tensor:
    """Each of `updates` (matrices, rows, columns) with its singular values pushed towards 1 (Newton-Schulz).

    Source: Jordan et al. 2024, Muon; in float32, since bfloat16 is slow on a CPU.
    """
    a, b, c = _COEFFICIENTS
    x = updates / (updates.norm(dim=(1, 2), keepdim=True) + 1e-7)
    wide = x.size(1) > x.size(2)
    x = x.mT if wide else x
    for _ in range(steps):
        gram = x.mT @ x
        x = torch.baddbmm(x, x, torch.baddbmm(gram, gram, gram, beta=b, alpha=c), beta=a)
    return x.mT if wide else x


class MuonAdam(torch.optim.Optimizer):
    """Groups with `kind` "matrix" step by Muon, the others by Adam (betas 0.9, 0.98; no weight decay).

    The matrices take turns: each moves every TURNS steps, that much further. Their momentum spans twenty steps, so the
    direction hardly changes in between, and Newton-Schulz is a third of a step's time otherwise.
    A matrix's step has the root mean square 0.2 * lr whatever its shape (Liu et al. 2025), so that lr means for it
    about what it means for Adam.
    """

    def __init__(self, groups: Iterable[dict], momentum: float = 0.95, betas: tuple[float, float] = (0.9, 0.98)):
        super().__init__(groups, {"lr": 0.0, "peak": 0.0, "kind": "adam", "momentum": momentum, "betas": betas})

    @torch.no_grad()
    def step(self, closure=None) -> None:
        """One step of every parameter that has a gradient."""
        for group in self.param_groups:
            (self._muon if group["kind"] == "matrix" else self._adam)(group)

    def _muon(self, group: dict) -> None:
        by_shape = defaultdict(list)
        for index, p in enumerate(group["params"]):
            if p.grad is None:
                continue
            state = self.state[p]
            if not state:
                state.update(step=0, mean=torch.zeros_like(p))
            state["step"] += 1
            state["mean"].lerp_(p.grad, 1 - group["momentum"])
            if (index + state["step"]) % TURNS == 0:
                by_shape[p.shape].append((p, p.grad.lerp(state["mean"], group["momentum"])))  # Nesterov
        for shape, same in by_shape.items():
            size = TURNS * group["lr"] * 0.2 * math.sqrt(max(shape))
            for (p, _), update in zip(same, orthogonal(torch.stack([update for _, update in same]))):
                p.add_(update, alpha=-size)

    def _adam(self, group: dict) -> None:
        first, second = group["betas"]
        for p in group["params"]:
            if p.grad is None:
                continue
            state = self.state[p]
            if not state:
                state.update(step=0, mean=torch.zeros_like(p), square=torch.zeros_like(p))
            state["step"] += 1
            state["mean"].lerp_(p.grad, 1 - first)
            state["square"].mul_(second).addcmul_(p.grad, p.grad, value=1 - second)
            size = group["lr"] / (1 - first ** state["step"])
            scale = math.sqrt(1 - second ** state["step"])
            p.addcdiv_(state["mean"], state["square"].sqrt().div_(scale).add_(1e-9), value=-size)


def optimizer_for(model, matrix_rate: float, rate: float) -> MuonAdam:
    """Muon at `matrix_rate` for 2-d weights of layers, Adam at `rate` for the rest; `peak` keeps each group's rate.

    T5 does not scale its scores by 1/sqrt(head width), so its queries start smaller by that factor and must move
    slower by it too.
    """
    tables = {id(m.weight) for m in model.modules() if isinstance(m, torch.nn.Embedding)}
    slow = matrix_rate / math.sqrt(model.config.d_kv) if model.config.model_type == "t5" else matrix_rate
    groups = {"matrix": [], "query": [], "rest": []}
    for name, p in model.named_parameters():
        kind = "rest" if p.ndim != 2 or id(p) in tables else "query" if name.endswith(".q.weight") else "matrix"
        groups[kind].append(p)
    rates = {"matrix": matrix_rate, "query": slow, "rest": rate}
    kinds = {"rest": "adam"}
    return MuonAdam([
        {"params": params, "lr": rates[name], "peak": rates[name], "kind": kinds.get(name, "matrix")}
        for name, params in groups.items() if params
    ])
