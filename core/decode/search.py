"""The messages between a search and the driver. A search holds no model; the driver makes no choice."""

from collections.abc import Generator
from dataclasses import dataclass

import numpy as np

from core.search_tree import Level

NEVER = np.float32(-1e9)  # the reference's log P of what must not win: rows beside the first at the start, empty places


@dataclass(frozen=True)
class Request:
    """From the search: the ids (beams,) to feed next and the row each continues (beams,). `finished`: no more.

    At first ids may be a beginning of several tokens, (beams, prompt). logprobs (beams,): the model's own of each id;
    None: to be looked up among the candidates. level: every hypothesis that was ranked, from a search that ranks its rows
    together. stopped: why there is no more, for a person. notes: why these ids, in words, for the Step.

    What is asked for beside the best of each row: with sums (beams,), log P of each row so far, the `keep` best next tokens
    of all rows together, where penalties and bans act on log-probabilities; with `whole` every token of every row.
    """

    ids: np.ndarray
    parents: np.ndarray
    finished: bool = False
    logprobs: np.ndarray | None = None
    level: Level | None = None
    stopped: str = ""
    sums: np.ndarray | None = None
    keep: int = 0
    whole: bool = False
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Together:
    """The best next tokens of all rows together, best first, each array (keep,): as transformers' beam search ranks them.

    rows, ids: the row continued, the token. logprobs: the model's own; totals: float32, sum of the row + log-probability
    after penalties. fates: 0, or why one is out before it is ranked (search_tree.FATES): those that would be here but for
    a ban stand behind the others, with the total they would have had.
    """

    rows: np.ndarray
    ids: np.ndarray
    logprobs: np.ndarray
    totals: np.ndarray
    fates: np.ndarray


@dataclass(frozen=True)
class Whole:
    """Every next token, (beams, vocab): its logit after penalties and bans; the model's own log-probabilities."""

    scores: np.ndarray
    logprobs: np.ndarray


@dataclass(frozen=True)
class Ranked:
    """From the driver, per row fed: the best next ids and their log-probabilities (beams, candidates), best first.

    Ranked after penalties and bans, as the reference ranks them (on raw logits, or on log-probabilities where rows are
    ranked together); the log-probabilities are the model's own, in nats, and -inf where banned. together, whole: where
    the request asked. Host arrays: one copy a step serves search, trace and page alike.
    """

    ids: np.ndarray
    logprobs: np.ndarray
    together: Together | None = None
    whole: Whole | None = None


Search = Generator[Request, Ranked, None]
