"""What sampling does to the logits before it draws: temperature, then cuts of the tail, in transformers' order.

A cut leaves -inf; what is left is renormalised by the softmax of the draw. `least` tokens stay whatever is asked for.
Sources: temperature, Ackley et al. 1985; top-k, Fan et al. 2018; top-p, Holtzman et al. 2020; min-p, Nguyen et al.
2024; typical, Meister et al. 2023. Results are those of transformers' warpers to the bit, ties and boundaries too.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch

from core.decode.processors import positive
from core.errors import InputError

Warper = Callable[[torch.Tensor], torch.Tensor]  # logits (rows, vocab) -> the same, -inf where nothing is drawn


@dataclass(frozen=True)
class Temperature:
    """Divide by `value` > 0: below 1 the best tokens gain, above 1 they lose."""

    value: float
    name = "temperature"

    def __post_init__(self) -> None:
        positive(self.name, self.value)

    def __call__(self, logits: torch.Tensor) -> torch.Tensor:
        return logits / self.value


@dataclass(frozen=True)
class TopK:
    """Keep the `value` best; what ties with the last of them stays too, so more may be kept."""

    value: int
    least: int = 1
    name = "top-k"

    def __post_init__(self) -> None:
        if type(self.value) is not int or self.value < 1:
            raise InputError(f"top-k is {str(self.value)[:40]}; it must be a whole number from 1 on.")

    def __call__(self, logits: torch.Tensor) -> torch.Tensor:
        size = min(max(self.value, self.least), logits.shape[-1])
        return logits.masked_fill(logits < logits.topk(size).values[..., -1:], -torch.inf)


@dataclass(frozen=True)
class TopP:
    """Keep the fewest best tokens whose mass passes `value`: the one that crosses it stays. Of equals the last id wins."""

    value: float
    least: int = 1
    name = "top-p"

    def __post_init__(self) -> None:
        _share(self.name, self.value)

    def __call__(self, logits: torch.Tensor) -> torch.Tensor:
        ascending, ids = logits.sort(descending=False)
        drop = ascending.softmax(-1).cumsum(-1) <= 1 - self.value
        drop[..., -self.least :] = False
        return logits.masked_fill(drop.scatter(-1, ids, drop), -torch.inf)


@dataclass(frozen=True)
class MinP:
    """Keep what has at least `value` times the probability of the best token."""

    value: float
    least: int = 1
    name = "min-p"

    def __post_init__(self) -> None:
        _share(self.name, self.value)

    def __call__(self, logits: torch.Tensor) -> torch.Tensor:
        probability = logits.softmax(-1)
        drop = probability < self.value * probability.amax(-1, keepdim=True)
        best = probability.topk(min(self.least, logits.shape[-1])).indices
        return logits.masked_fill(drop.scatter(-1, best, False), -torch.inf)


@dataclass(frozen=True)
class Typical:
    """Keep the tokens whose surprise is nearest to the entropy, until their mass passes `value`."""

    value: float
    least: int = 1
    name = "typical"

    def __post_init__(self) -> None:
        _share(self.name, self.value)

    def __call__(self, logits: torch.Tensor) -> torch.Tensor:
        logprobs = logits.log_softmax(-1)
        entropy = -(logprobs * logprobs.exp()).nansum(-1, keepdim=True)
        distance, ids = (-logprobs - entropy).abs().sort(descending=False)
        mass = logits.gather(-1, ids).softmax(-1).cumsum(-1)
        last = (mass < self.value).sum(-1, keepdim=True).clamp(max=logits.shape[-1] - 1)
        drop = distance > distance.gather(-1, last)
        drop[..., : self.least] = False
        return logits.masked_fill(drop.scatter(-1, ids, drop), -torch.inf)


def warped(logits: torch.Tensor, warpers: Sequence[Warper]) -> tuple[torch.Tensor, list[str]]:
    """One row (1, vocab) after all of them, and what each cut away: "top-k 5 leaves 5 of 8000 tokens"."""
    notes = []
    before = _left(logits)
    for warp in warpers:
        logits = warp(logits)
        if (after := _left(logits)) != before:
            notes.append(f"{warp.name} {warp.value:g} leaves {after} of {before} tokens")
            before = after
    return logits, notes


def _left(logits: torch.Tensor) -> int:
    return int((logits > -torch.inf).sum())


def _share(name: str, value: float) -> None:
    if type(value) is not float or not 0 <= value <= 1:
        raise InputError(f"{name} is {str(value)[:40]}; it must be a fraction from 0 to 1.")
