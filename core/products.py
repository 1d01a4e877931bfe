"""Products of some ten rows, for several searches in one batch: the reference's numbers to rounding, in less time on a CPU.

A search alone has the reference's own products, and so its bits. Several together are promised equal tokens only, and
scores within 1e-4: then W xᵀ replaces x Wᵀ, for which MKL has the faster code between 9 and 64 rows (output head of T5-small,
15 rows: 3.1 ms against 5.9), and rows that read one source are queries of one attention, without a copy of its keys for each.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import torch

FEW, MANY = 8, 64  # rows: at most FEW, or more than MANY, are multiplied as the reference does

_joined: ContextVar[bool] = ContextVar("joined", default=False)


@contextmanager
def joined(on: bool) -> Iterator[None]:
    """What runs inside is one forward for several searches, if `on`. Never hold it across a `yield`: it would leak."""
    token = _joined.set(on)
    try:
        yield
    finally:
        _joined.reset(token)


class Linear(torch.nn.Linear):
    """torch's, but for the order of the product inside `joined`."""

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        if not _joined.get():
            return super().forward(input)
        if input.ndim == 3 and len(input) > 1 and not input.stride(0):  # the memory of one source, expanded
            return super().forward(input[:1]).expand(len(input), -1, -1)
        rows = input.numel() // self.in_features
        if not FEW < rows <= MANY or input.device.type != "cpu":
            return super().forward(input)
        out = torch.mm(self.weight, input.reshape(rows, -1).t()).t().contiguous()
        if self.bias is not None:
            out += self.bias
        return out.reshape(*input.shape[:-1], -1)


def prepare(model: torch.nn.Module) -> None:
    """Every linear layer of `model` becomes one of ours; names, weights and what saves them stay as they are."""
    for module in model.modules():
        if type(module) is torch.nn.Linear:
            module.__class__ = Linear


def over_one_source(attention: Callable, module: Any, query, key, value, mask, options: dict) -> tuple | None:
    """Output (batch, 1, heads, d_v) and weights (batch, heads, 1, key) of rows that share keys, or None where they do not.

    Rows share keys where these are one row expanded (the driver's cross cache); their masks are equal then.
    """
    if not _joined.get() or len(key) < 2 or key.stride(0) or query.shape[2] != 1:
        return None
    bias = options.get("position_bias")
    if bias is not None and len(bias) > 1:
        return None
    mask = None if mask is None else mask[:1]
    output, weights = attention(module, query.permute(2, 1, 0, 3), key[:1], value[:1], mask, **options)
    return output.transpose(0, 1), weights.permute(2, 1, 0, 3)
