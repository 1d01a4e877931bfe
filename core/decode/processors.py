"""Changes to the logits before a token is chosen: penalties, bans, forced tokens, in the reference's order.

In greedy search and sampling they act on raw logits, in beam search on log-probabilities, where the repetition penalty
always multiplies (transformers `logits_process`). The history counts the start token, as the reference does.
`reason`: what a tree says of a token that one keeps out (search_tree.FATES).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

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

    reason: ClassVar[str] = "n-gram ban"
    size: int

    def banned(self, ids: Sequence[int]) -> list[int]:
        """The ids that may not follow `ids`."""
        if len(ids) + 1 < self.size:
            return []
        head = tuple(ids[len(ids) - self.size + 1 :])
        runs = (tuple(ids[k : k + self.size]) for k in range(len(ids) - self.size + 1))
        return sorted({run[-1] for run in runs if run[:-1] == head})

    def __call__(self, logits: torch.Tensor, history: Sequence[Sequence[int]], written: int) -> list[str]:
        return _ban(logits, [self.banned(ids) for ids in history], f"would repeat a run of {self.size}")


@dataclass(frozen=True)
class NoEncoderNgram:
    """Ban every token that would copy a run of `size` source tokens; size 1 bans every source id, the end token too.

    source (source,): the ids that the encoder read. It forbids copying; NoRepeatNgram forbids the output to repeat itself.
    """

    reason: ClassVar[str] = "source n-gram ban"
    size: int
    source: tuple[int, ...]
    follows: dict[tuple[int, ...], set[int]] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        follows: dict[tuple[int, ...], set[int]] = {}
        for k in range(len(self.source) - self.size + 1):
            *head, last = self.source[k : k + self.size]
            follows.setdefault(tuple(head), set()).add(last)
        object.__setattr__(self, "follows", follows)

    def __call__(self, logits: torch.Tensor, history: Sequence[Sequence[int]], written: int) -> list[str]:
        heads = (tuple(ids[len(ids) - self.size + 1 :]) if len(ids) + 1 >= self.size else None for ids in history)
        banned = [sorted(self.follows.get(head, ())) for head in heads]
        return _ban(logits, banned, f"would copy a run of {self.size} from the source")


@dataclass(frozen=True)
class MinNewTokens:
    """None of the `eos` ids before `count` tokens are written."""

    reason: ClassVar[str] = "minimum length"
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

    reason: ClassVar[str] = "banned word"
    ids: tuple[int, ...]

    def __call__(self, logits: torch.Tensor, history: Sequence[Sequence[int]], written: int) -> list[str]:
        logits[:, torch.tensor(self.ids, device=logits.device)] = -torch.inf
        return []


@dataclass(frozen=True)
class Forced:
    """At the token number `at` (0 = first), nothing but `id`: a language token, or the end at the length limit."""

    reason: ClassVar[str] = "forced token"
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


def _ban(logits: torch.Tensor, banned: Sequence[Sequence[int]], why: str) -> list[str]:
    """Ban ids in each row; a note for each row that loses any, which names the row where there are several."""
    notes = []
    for row, ids in enumerate(banned):
        if ids:
            logits[row, torch.tensor(ids, device=logits.device)] = -torch.inf
            notes.append(f"row {row + 1}: " * (len(banned) > 1) + f"banned {ids} ({why})")
    return notes
