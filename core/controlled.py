"""One attention site under controls: restrict what its rows see, then set rows, then switch heads off.

The same on both paths, sdpa and eager: the mask goes in as booleans, converted once; rows and heads are changed in
what comes out.
"""

from collections.abc import Callable
from typing import Any

import torch

from core.controls import Site


def under_controls(
    site: Site, attention: Callable, eager: bool, module: Any, query, key, value, mask, options: dict,
    seen: dict | None = None,
) -> tuple[torch.Tensor, torch.Tensor | None]:
    """Output (batch, query, heads, d_v) and weights (batch, heads, query, key; None on sdpa) of `attention` as controlled.

    A row that sees nothing has weights 0 and output 0, and gradients that are finite: its softmax runs over all keys,
    and what comes out is taken times 0 (nan_to_num after the softmax would leave NaN in the gradient). seen: what a
    probe is told: the mask in use, and the weights before rows are set and heads switched off. eager: whether
    `attention` is a family's own, which adds the mask, or sdpa, which takes booleans.
    """
    queries, keys = query.shape[-2], key.shape[-2]
    site.state.device = query.device
    offset = site.offset(queries, keys)
    kept, rows = site.kept(query.shape[1], query), site.rows(queries, offset)
    allowed = None
    if site.restricts or rows:
        own = _booleans(mask, keys)
        if own is None and site.stack == "decoder":
            own = _causal(queries, keys, offset, query.device)
        allowed = site.allowed(own, queries, keys, offset, _real(site, module, own))
    dead = None
    if site.restricts:
        dead = ~allowed.any(-1, keepdim=True)
        mask = allowed | dead
        unread = ~allowed.any(-2).any(1, keepdim=True)[..., None]  # (batch or 1, 1, key, 1): 0 · NaN would still be NaN
        key, value = key.masked_fill(unread, 0), value.masked_fill(unread, 0)
        if eager:
            mask = torch.zeros_like(mask, dtype=query.dtype).masked_fill(~mask, torch.finfo(query.dtype).min)
    output, weights = attention(module, query, key, value, mask, **options)
    if dead is not None:
        output = output.masked_fill(dead.transpose(1, 2), 0)
        weights = None if weights is None else weights.masked_fill(dead, 0)
    if seen is not None:
        seen |= {"mask": mask, "weights": weights, "dead": dead}
    if rows:
        output, weights = _set_rows(rows, output, weights, value, allowed)
    if kept is not None:
        output = output * kept[:, None, :, None]
        weights = None if weights is None else weights * kept[:, :, None, None]
    return output, weights


def _booleans(mask: torch.Tensor | None, keys: int) -> torch.Tensor | None:
    """(batch or 1, heads or 1, query, key), True where the model's own mask allows."""
    if mask is None:
        return None
    mask = mask[..., :keys]
    return mask if mask.dtype == torch.bool else mask > torch.finfo(mask.dtype).min / 2


def _causal(queries: int, keys: int, offset: int, device: torch.device) -> torch.Tensor:
    """What sdpa does by itself when it is given no mask."""
    rows = torch.arange(queries, device=device)[:, None] + offset
    return (torch.arange(keys, device=device)[None, :] <= rows)[None, None]


def _real(site: Site, module: Any, own: torch.Tensor | None) -> torch.Tensor | None:
    """(batch, 1, 1, key): a key that no row of the model's own mask sees is padding, which stays hidden.

    A cached decoder row under a sliding window sees less than that, so there nothing counts as padding.
    """
    if own is None:
        return None
    if site.stack == "decoder" and own.shape[-2] != own.shape[-1] and getattr(module, "sliding_window", None):
        return None
    return own.any(-2, keepdim=True)


def _set_rows(rows, output, weights, value, allowed) -> tuple[torch.Tensor, torch.Tensor | None]:
    """Rows of weights set by hand: hidden columns stay 0, the rest is divided by its sum; output is weights @ V."""
    heads, keys = output.shape[2], value.shape[-2]
    value = value.repeat_interleave(heads // value.shape[1], dim=1)
    output = output.clone()
    weights = None if weights is None else weights.clone()
    for at, row in rows:
        wanted = torch.zeros(keys, dtype=value.dtype)
        given = row.weights[:keys]
        wanted[: len(given)] = torch.tensor(given, dtype=value.dtype)
        seen = wanted.to(value.device) * allowed[:, :, at]
        total = seen.sum(-1, keepdim=True)
        seen = torch.where(total > 0, seen / total.clamp_min(torch.finfo(seen.dtype).tiny), 0)  # (batch or 1, heads or 1, key)
        chosen = slice(None) if row.head < 0 else slice(row.head, row.head + 1)
        seen = seen.expand(len(value), heads, keys)[:, chosen]
        output[:, at, chosen] = (seen[:, :, None] @ value[:, chosen])[:, :, 0]
        if weights is not None:
            weights[:, chosen, at] = seen.to(weights.dtype)
    return output, weights
