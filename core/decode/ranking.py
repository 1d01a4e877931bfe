"""What the driver ranks for one search after a forward: on the model's device, then all of it in one copy to the host."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from core.decode.processors import Processor
from core.decode.search import NEVER, Ranked, Request, Together, Whole
from core.search_tree import fate_of

CANDIDATES = 10
Parts = dict[str, torch.Tensor]  # everything float32; ids travel as the bits of floats


def rank(
    request: Request, logits: torch.Tensor, processors: Sequence[Processor], history: Sequence[Sequence[int]], written: int,
    exact: bool = True,
) -> tuple[Parts, list[str]]:
    """What `request` asks of logits (beams, vocab), and notes on what was banned or forced.

    exact: candidates with equal totals are ranked as the reference ranks them; otherwise in some order, in less time.
    """
    logprobs = logits.log_softmax(-1)
    together = request.sums is not None
    allowed = logprobs if together else logits
    allowed = allowed.clone() if processors else allowed
    parts: Parts = {}
    if together:
        sums = torch.from_numpy(request.sums).to(logits.device)[:, None]
        keep = min(request.keep, logits.numel())
        free = (logprobs + sums).reshape(-1).topk(keep).indices if processors else None
    notes, bans = [], []
    for process in processors:
        notes += process(allowed, history, written)
        if together:
            bans.append(torch.isneginf(allowed.reshape(-1)[free]))
    best = allowed.topk(min(max(CANDIDATES, keep if together and not exact else 0), allowed.shape[-1]), dim=-1)
    if together:
        totals, places = _joint(allowed, sums, keep) if exact else _joint_of(best, sums, keep, allowed.shape[-1])
        parts |= _places("", places, logprobs) | {"totals": totals}
        if processors:
            parts |= _places("free_", free, logprobs) | {"banned": torch.stack(bans).float()}
    if request.whole:
        parts |= {"scores": allowed, "whole": logprobs}
    return parts | _candidates(logprobs, allowed, *(part[:, :CANDIDATES] for part in best), exact), notes


def _joint(allowed: torch.Tensor, sums: torch.Tensor, keep: int) -> tuple[torch.Tensor, torch.Tensor]:
    """The best `keep` totals over all rows, and their places in the flattened (beams, vocab)."""
    return tuple((allowed + sums).reshape(-1).topk(keep))


def _joint_of(best: Sequence[torch.Tensor], sums: torch.Tensor, keep: int, vocab: int) -> tuple[torch.Tensor, torch.Tensor]:
    """The same from the best `keep` of each row: (beams, keep or more) values and ids."""
    value, ids = best
    totals, at = (value + sums).reshape(-1).topk(min(keep, value.numel()))
    return totals, at // value.shape[-1] * vocab + ids.reshape(-1)[at]


def _candidates(logprobs: torch.Tensor, allowed: torch.Tensor, value: torch.Tensor, ids: torch.Tensor, exact: bool) -> Parts:
    """The best next tokens of each row, (beams, candidates), for show, and the entropy of the model's own distribution."""
    # topk may order equal logits otherwise than argmax, which is what the reference takes: swap them.
    tied = torch.where(value == value[:, :1], ids, ids[:, :1])
    best = allowed.argmax(-1, keepdim=True) if exact else tied.amin(-1, keepdim=True)
    ids = torch.cat([best, torch.where(ids == best, ids[:, :1], ids)[:, 1:]], dim=1)
    kept = torch.where(value > -torch.inf, logprobs.gather(1, ids), -torch.inf)
    # Where exp gives 0 the logarithm may be −inf, and counts 0; NaN stays NaN: the driver refuses it.
    entropy = -logprobs.exp().mul_(logprobs.clamp(min=-1e4)).sum(-1)
    return {"candidates": _bits(ids), "candidate_logprobs": kept, "entropy": entropy}


def _places(prefix: str, places: torch.Tensor, logprobs: torch.Tensor) -> Parts:
    """Rows, ids and log-probabilities at places of the flattened (beams, vocab)."""
    vocab = logprobs.shape[-1]
    return {f"{prefix}rows": _bits(places // vocab), f"{prefix}ids": _bits(places % vocab),
            f"{prefix}logprobs": logprobs.reshape(-1)[places]}


def _bits(ids: torch.Tensor) -> torch.Tensor:
    return ids.to(torch.int32).view(torch.float32)


def to_host(parts: Sequence[Parts]) -> list[dict[str, np.ndarray]]:
    """The parts of several searches in one device-to-host copy."""
    flat = torch.cat([part.reshape(-1) for each in parts for part in each.values()]).cpu().numpy()
    out, at = [], 0
    for each in parts:
        found: dict[str, np.ndarray] = {}
        for name, part in each.items():
            found[name] = flat[at : at + part.numel()].reshape(part.shape).copy()
            at += part.numel()
        out.append(found)
    return out


def ranked(found: dict[str, np.ndarray], request: Request, processors: Sequence[Any]) -> Ranked:
    """The answer to `request` from what came to the host."""
    together = whole = None
    if "totals" in found:
        together = _together(found, request, [fate_of(getattr(process, "reason", "")) for process in processors])
    if "whole" in found:
        whole = Whole(found["scores"], found["whole"])
    return Ranked(found["candidates"].view(np.int32), found["candidate_logprobs"], together, whole)


def _together(found: dict[str, np.ndarray], request: Request, fates: list[int]) -> Together:
    """Those ranked, and after them those that would have been but for a ban: the first that banned one says why."""
    left = found["totals"] > -np.inf
    rows, ids = found["rows"].view(np.int32)[left], found["ids"].view(np.int32)[left]
    logprobs, totals, why = found["logprobs"][left], found["totals"][left], np.zeros(left.sum(), np.uint8)
    if "banned" in found:
        banned = found["banned"] > 0
        real = found["free_rows"].view(np.int32)
        out = banned.any(0) & (request.sums[real] > NEVER)
        more = [found[f"free_{name}"][out] for name in ("rows", "ids", "logprobs")]
        extra_rows = more[0].view(np.int32)
        rows, ids = np.concatenate([rows, extra_rows]), np.concatenate([ids, more[1].view(np.int32)])
        logprobs = np.concatenate([logprobs, more[2]])
        totals = np.concatenate([totals, more[2] + request.sums[extra_rows]])
        why = np.concatenate([why, np.array(fates, np.uint8)[banned.argmax(0)[out]]])
    return Together(rows, ids, logprobs, totals, why)
