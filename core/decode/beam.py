"""Beam search, as transformers 5 does it (`_beam_search`): the same hypotheses, scores and pruned candidates.

Each step ranks the next tokens of all rows together. What ends among the first `beams` enters the pool of the finished,
of which the best `beams` stay; the best `beams` that do not end go on. Source: Wu et al. 2016; sheet 000, lesson 9.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from core.decode.penalties import PENALTIES
from core.decode.search import NEVER, Request, Search
from core.errors import InputError
from core.search_tree import FINISHED, KEPT, RANK, REPEATED, STOP, TOO_LOW, Level

_JUDGED = {"false": "at its present length", "true": "at its present length", "never": "at any length up to the limit"}


@dataclass(frozen=True)
class Rules:
    """beams: rows, and places for what has ended. eos: ids that end one. alpha: α of the length penalty `rule`.

    early_stopping: "true" stops as soon as `beams` have ended; "false" when no row at its present length can beat the
    worst of them; "never" when none could at any length up to max_new_tokens.
    """

    beams: int
    eos: frozenset[int]
    max_new_tokens: int
    alpha: float = 1.0
    early_stopping: str = "false"
    rule: str = "transformers"

    @property
    def keep(self) -> int:
        """How many a step ranks: so many that there are always `beams` that do not end."""
        return max(2, 1 + len(self.eos)) * self.beams

    def score(self, totals: np.ndarray, length: int) -> np.ndarray:
        """log P under the length penalty; length: tokens written after the prompt, end included."""
        return totals / np.float32(PENALTIES[self.rule](length, self.alpha))


def beam(prompt: Sequence[int], rules: Rules) -> Search:
    """The best hypotheses after `prompt`: the start token, or a beginning of several."""
    beams, pool, ended_before = rules.beams, np.full(rules.beams, NEVER), 0  # pool: scores of what has ended, best first
    sums = np.where(np.arange(beams) == 0, np.float32(0), NEVER)  # else all rows would write the same
    fed = np.tile(np.array(prompt, np.int32), (beams, 1))
    ranked = yield Request(fed, np.zeros(beams, np.int32), sums=sums, keep=rules.keep)
    for written in range(1, rules.max_new_tokens + 1):
        best = ranked.together
        places = np.flatnonzero(best.fates == 0)  # those that no ban kept out
        if not len(places) or best.totals[0] <= NEVER:
            raise InputError(f"Every next token is banned after {written - 1} tokens; forbid less, or stop earlier.")
        ended = np.isin(best.ids[places], list(rules.eos)) | (written == rules.max_new_tokens)
        scores = rules.score(best.totals, written)
        real = best.totals[places] > REPEATED  # the others repeat the first row: a forced token leaves no better ones
        entering, going = enters(ended & real, beams), goes_on(best.totals[places], ended, beams)
        pool, ended_before = merged(pool, scores[entering]), ended_before + len(entering)
        why = _stopped(rules, written, bool(ended.all()), best.totals[going[0]], pool[-1], ended_before)
        fate = best.fates.astype(np.uint8)
        fate[places] = np.where(ended, TOO_LOW, RANK)
        if not ended.all():
            fate[places[going]] = STOP if why else KEPT
        fate[places[entering]] = FINISHED
        level = Level(best.rows, best.ids, best.logprobs, best.totals, scores, fate)
        on = level.chosen
        ranked = yield Request(
            level.token[on], level.row[on], bool(why), logprobs=level.logprob[on], level=level, stopped=why,
            sums=level.total[on], keep=rules.keep,
        )


def enters(ended: np.ndarray, beams: int) -> np.ndarray:
    """Places of what enters the pool: it ended, and ranked among the first `beams`."""
    return np.flatnonzero(ended[:beams])


def goes_on(totals: np.ndarray, ended: np.ndarray, beams: int) -> np.ndarray:
    """Places of the best `beams` that have not ended."""
    return np.argsort(-(totals + ended.astype(np.float32) * NEVER), kind="stable")[:beams]


def merged(pool: np.ndarray, scores: np.ndarray) -> np.ndarray:
    """The best of both, as many as the pool holds, best first."""
    return -np.sort(-np.concatenate([pool, scores]))[: len(pool)]


def improves(rules: Rules, total: float, written: int, least: float) -> bool:
    """Whether the best row, with log P `total`, could still beat the last one of a full pool."""
    later = rules.early_stopping == "never" and rules.alpha > 0
    return bool(rules.score(total, rules.max_new_tokens if later else written) > least)


def _stopped(rules: Rules, written: int, all_ended: bool, total: float, least: float, ended: int) -> str:
    """Why the search stops, for a person; empty while it goes on. ended: how many have entered the pool."""
    if written == rules.max_new_tokens:
        return f"stopped at the limit of {rules.max_new_tokens} tokens"
    if all_ended:
        return "stopped: all that the bans left has ended"
    full = ended >= rules.beams
    if full and rules.early_stopping == "true":
        return f"stopped as soon as {rules.beams} hypotheses had ended"
    if not improves(rules, total, written, least if full else NEVER):
        return (f"stopped: judged {_JUDGED[rules.early_stopping]}, no row can still beat the last of the {rules.beams} "
                "hypotheses that ended")
    return ""
