"""Warpers: what sampling does to the logits after all penalties and bans, in the reference's order (transformers
`logits_process`): temperature, top-k, top-p, min-p, typical. Greedy and beam search ignore them.

They are processors. `said` is their name in the notes of a step, beside how many tokens are left; `least`: so many always are.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch


@dataclass(frozen=True)
class Temperature:
    """Divide the logits by `t`: below 1 the likely ones gain, above 1 the others do."""

    t: float

    def __call__(self, logits: torch.Tensor, history: Sequence[Sequence[int]], written: int) -> list[str]:
        logits.div_(self.t)
        return []


@dataclass(frozen=True)
class TopK:
    """The `k` most likely tokens; all that are as likely as the last of them stay too."""

    k: int
    least: int = 1

    @property
    def said(self) -> str:
        return f"top-k {self.k}"

    def __call__(self, logits: torch.Tensor, history: Sequence[Sequence[int]], written: int) -> list[str]:
        last = logits.topk(min(max(self.k, self.least), logits.shape[-1])).values[:, -1:]
        logits.masked_fill_(logits < last, -torch.inf)
        return []


@dataclass(frozen=True)
class TopP:
    """The most likely tokens until their chances sum to `p`, the one that crosses it included (Holtzman et al. 2020)."""

    p: float
    least: int = 1

    @property
    def said(self) -> str:
        return f"top-p {self.p:g}"

    def __call__(self, logits: torch.Tensor, history: Sequence[Sequence[int]], written: int) -> list[str]:
        ascending, ids = logits.sort(dim=-1)
        out = ascending.softmax(-1).cumsum(-1) <= 1 - self.p
        out[:, -self.least :] = False
        logits.masked_fill_(out.scatter(1, ids, out), -torch.inf)
        return []


@dataclass(frozen=True)
class MinP:
    """Tokens with at least `p` times the chance of the most likely one (Nguyen et al. 2024)."""

    p: float
    least: int = 1

    @property
    def said(self) -> str:
        return f"min-p {self.p:g}"

    def __call__(self, logits: torch.Tensor, history: Sequence[Sequence[int]], written: int) -> list[str]:
        chances = logits.softmax(-1)
        out = chances < self.p * chances.amax(-1, keepdim=True)
        out.scatter_(-1, chances.topk(min(self.least, chances.shape[-1])).indices, False)
        logits.masked_fill_(out, -torch.inf)
        return []


@dataclass(frozen=True)
class Typical:
    """Tokens whose surprise is nearest to the entropy, until their chances sum to `p` (Meister et al. 2023)."""

    p: float
    least: int = 1

    @property
    def said(self) -> str:
        return f"typical {self.p:g}"

    def __call__(self, logits: torch.Tensor, history: Sequence[Sequence[int]], written: int) -> list[str]:
        logprobs = logits.log_softmax(-1)
        entropy = -(logprobs * logprobs.exp()).nansum(-1, keepdim=True)  # a banned token has surprise ∞ and chance 0
        distance, ids = (-logprobs - entropy).abs().sort(dim=-1)
        mass = logits.gather(-1, ids).softmax(-1).cumsum(-1)
        last = (mass < self.p).sum(1, keepdim=True).clamp(max=logits.shape[-1] - 1)
        out = distance > distance.gather(1, last)
        out[:, : self.least] = False
        logits.masked_fill_(out.scatter(1, ids, out), -torch.inf)
        return []
