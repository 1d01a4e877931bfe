"""Products of some ten rows, for several searches in one batch: the reference's numbers to rounding, in less time on a CPU.

A search alone has the reference's own products, and so its bits. Several together are promised equal tokens only, and
scores within 1e-4: then each weight is read from a second copy in oneDNN's own order (a decoder step of T5-small, 15 rows, all
its products: 9.1 ms against 14.0), and rows that read one source are queries of one attention, without a copy of its keys
for each.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import torch

FEW, MANY = 2, 64  # rows: at most FEW, or more than MANY, are multiplied as the reference does
LARGEST = 2**30  # bytes: of a larger model no second copy is made


def _there(owner: Any, name: str) -> Callable | None:
    """A function of torch's that has no public name: a later version may lack it, and then nothing is faster."""
    try:
        return getattr(owner, name)
    except (AttributeError, RuntimeError):
        return None


_mkldnn = torch.backends.mkldnn.is_available()
REORDER = _there(torch.ops.mkldnn, "_reorder_linear_weight") if _mkldnn else None
ORDERED = _there(torch.ops.mkldnn, "_linear_pointwise") if _mkldnn and REORDER else None
INT8 = _there(torch, "_weight_int8pack_mm")

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
    """torch's, but for the order of its weights inside `joined`."""

    packs = True
    packed: tuple[tuple[int, int], torch.Tensor] | None = None  # which weights it was made of, and the copy

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        if not _joined.get() or torch.is_grad_enabled():
            return super().forward(input)
        if input.ndim == 3 and len(input) > 1 and not input.stride(0):  # the memory of one source, expanded
            return super().forward(input[:1]).expand(len(input), -1, -1)
        rows = input.numel() // self.in_features
        if not (self.packs and FEW < rows <= MANY and self.weight.device.type == "cpu" and self.weight.dtype == torch.float32):
            return super().forward(input)
        return ORDERED(input, self._in_order(), self.bias, "none", [], "")

    def _in_order(self) -> torch.Tensor:
        """The weights as oneDNN reads them, made when they are first asked for and when they have changed."""
        made_of = self.weight.data_ptr(), self.weight._version
        if self.packed is None or self.packed[0] != made_of:
            self.packed = made_of, REORDER(self.weight.detach())
        return self.packed[1]

    def __getstate__(self) -> dict:
        return {name: value for name, value in super().__getstate__().items() if name != "packed"}


def prepare(model: torch.nn.Module) -> None:
    """Every linear layer of `model` becomes one of ours; names, weights and what saves them stay as they are."""
    small = sum(one.numel() * one.element_size() for one in model.parameters()) <= LARGEST
    for module in model.modules():
        if type(module) is torch.nn.Linear:
            module.__class__, module.packs = Linear, small and ORDERED is not None


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
