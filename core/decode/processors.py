"""Changes to the logits before a token is chosen: penalties, bans, forced tokens, in the reference's order.

In greedy search they act on raw logits (transformers `logits_process`; in beam search they would act on log-probs,
with other results). The history counts the start token, as the reference does.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from core.errors import InputError

# (logits (rows, vocab) to change in place, history of ids per row, tokens written so far) -> notes for the Step
Processor = Callable[[torch.Tensor, Sequence[Sequence[int]], int], list[str]]


@dataclass(frozen=True)
class RepetitionPenalty:
    """Each distinct id already there once: a positive logit is divided by `penalty`, a negative one multiplied."""

    penalty: float

    def __post_init__(self) -> None:
        positive("the repetition penalty", self.penalty)

    def __call__(self, logits: torch.Tensor, history: Sequence[Sequence[int]], written: int) -> list[str]:
        for row, ids in enumerate(history):
            seen = torch.tensor(sorted(set(ids)), device=logits.device)
            value = logits[row, seen]
            logits[row, seen] = torch.where(value < 0, value * self.penalty, value / self.penalty)
        return []


@dataclass(frozen=True)
class NoRepeatNgram:
    """Ban every token that would repeat a run of `size` tokens; size 1 bans every id seen, the start token too."""

    size: int

    def banned(self, ids: Sequence[int]) -> list[int]:
        """The ids that may not follow `ids`."""
        if len(ids) + 1 < self.size:
            return []
        return _endings(ids, self.size, ids)

    def __call__(self, logits: torch.Tensor, history: Sequence[Sequence[int]], written: int) -> list[str]:
        return _ban(self, logits, history, f"would repeat a run of {self.size}")


@dataclass(frozen=True)
class NoEncoderNgram:
    """Ban every token that would copy a run of `size` tokens of the source; size 1 bans every id of the source."""

    size: int
    source: tuple[int, ...]

    def banned(self, ids: Sequence[int]) -> list[int]:
        """The ids that may not follow `ids`."""
        if len(ids) + 1 < self.size:
            return []
        return _endings(self.source, self.size, ids)

    def __call__(self, logits: torch.Tensor, history: Sequence[Sequence[int]], written: int) -> list[str]:
        return _ban(self, logits, history, f"would copy a run of {self.size} from the source")


@dataclass(frozen=True)
class MinNewTokens:
    """None of the `eos` ids before `count` tokens are written."""

    count: int
    eos: frozenset[int]

    def __call__(self, logits: torch.Tensor, history: Sequence[Sequence[int]], written: int) -> list[str]:
        if written >= self.count or not self.eos:
            return []
        ids = sorted(self.eos)
        logits[:, torch.tensor(ids, device=logits.device)] = -torch.inf
        return [f"banned {ids} (no end before {self.count} tokens)"]


@dataclass(frozen=True)
class Suppressed:
    """Ids that the checkpoint says are never written (`bad_words_ids` of one token, `suppress_tokens`)."""

    ids: tuple[int, ...]

    def __call__(self, logits: torch.Tensor, history: Sequence[Sequence[int]], written: int) -> list[str]:
        logits[:, torch.tensor(self.ids, device=logits.device)] = -torch.inf
        return []


@dataclass(frozen=True)
class Forced:
    """At the token number `at` (0 = first), nothing but `id`: a language token, or the end at the length limit."""

    id: int
    at: int
    why: str

    def __call__(self, logits: torch.Tensor, history: Sequence[Sequence[int]], written: int) -> list[str]:
        if written != self.at:
            return []
        logits.fill_(-torch.inf)
        logits[:, self.id] = 0
        return [f"forced {self.id} ({self.why})"]


def positive(name: str, value: float) -> None:
    """InputError unless `value` is a float above 0."""
    if type(value) is not float or not value > 0:
        raise InputError(f"{name} is {str(value)[:40]}; it must be a fraction above 0.".capitalize())


def _endings(text: Sequence[int], size: int, ids: Sequence[int]) -> list[int]:
    """The last ids of all runs of `size` in `text` that begin with the last size - 1 of `ids`."""
    head = tuple(ids[len(ids) - size + 1 :])
    runs = (tuple(text[k : k + size]) for k in range(len(text) - size + 1))
    return sorted({run[-1] for run in runs if run[:-1] == head})


def _ban(rule: Any, logits: torch.Tensor, history: Sequence[Sequence[int]], why: str) -> list[str]:
    """-inf for what `rule` bans after each row's history; a note for each row."""
    notes = []
    for row, ids in enumerate(history):
        if banned := rule.banned(ids):
            logits[row, torch.tensor(banned, device=logits.device)] = -torch.inf
            notes.append(f"banned {banned} ({why})")
    return notes
