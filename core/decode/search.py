"""The two messages between a search and the driver. A search holds no model; the driver makes no choice."""

from collections.abc import Generator
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Request:
    """From the search: the ids (beams,) to feed next and the row each continues (beams,). `finished`: no more.

    whole: what is ranked next is needed for the whole vocabulary. notes: why these ids, in words, for the Step.
    """

    ids: np.ndarray
    parents: np.ndarray
    finished: bool = False
    whole: bool = False
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Ranked:
    """From the driver, per row fed: the best next ids and their log-probabilities (beams, candidates), best first.

    Ranked after penalties and bans, as the reference ranks them (on raw logits); the log-probabilities are the
    model's own, in nats, and -inf where banned. Host arrays: one copy a step serves search, trace and page alike.
    For a search that asks for the whole: scores (beams, vocab) after penalties and bans, and own (beams, vocab), the
    model's log-probabilities before them.
    """

    ids: np.ndarray
    logprobs: np.ndarray
    scores: np.ndarray | None = None
    own: np.ndarray | None = None


Search = Generator[Request, Ranked, None]
