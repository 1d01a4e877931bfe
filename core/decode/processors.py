"""Changes to the logits before a token is chosen: penalties, bans, forced tokens, in the reference's order.

In greedy search they act on raw logits (transformers `logits_process`; in beam search they would act on log-probs,
with other results). The history counts the start token, as the reference does.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch

# (logits (rows, vocab) to change in place, history of ids per row, tokens written so far) -> notes for the Step
Processor = Callable[[torch.Tensor, Sequence[Sequence[int]], int], list[str]]


@dataclass(frozen=True)
class RepetitionPenalty:
    """Each distinct id already there once: a positive logit is divided by `penalty`, a negative one multiplied."""

    penalty: float

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
        head = tuple(ids[len(ids) - self.size + 1 :])
        runs = (tuple(ids[k : k + self.size]) for k in range(len(ids) - self.size + 1))
        return sorted({run[-1] for run in runs if run[:-1] == head})

    def __call__(self, logits: torch.Tensor, history: Sequence[Sequence[int]], written: int) -> list[str]:
        notes = []
        for row, ids in enumerate(history):
            if banned := self.banned(ids):
                logits[row, torch.tensor(banned, device=logits.device)] = -torch.inf
                notes.append(f"banned {banned} (would repeat a run of {self.size})")
        return notes


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
