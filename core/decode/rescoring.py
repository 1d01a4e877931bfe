"""Stored hypotheses ranked anew under another length penalty α and coverage penalty β; the search is not run again.

The penalties and what α means in each: core/decode/penalties.py.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from core.decode.penalties import FLOOR, PENALTIES, coverage_penalty
from core.errors import InputError

LIMIT = 10.0  # |α| and β


@dataclass(frozen=True)
class Hypothesis:
    """What ranking needs of one: its log P (natural, summed), its length m in tokens, what each source token received.

    received (source,): Σ over steps of cross-attention, padding left out; () where β is not used.
    """

    name: str
    logprob: float
    length: int
    received: tuple[float, ...] = ()


@dataclass(frozen=True)
class Rescored:
    """A hypothesis with its score. coverage: what β added, at most 0. floored: source tokens that were never read."""

    hypothesis: Hypothesis
    score: float
    coverage: float = 0.0
    floored: int = 0


def ranked(
    hypotheses: Sequence[Hypothesis], rule: str, alpha: float, beta: float = 0.0, floor: float = FLOOR,
) -> list[Rescored]:
    """Best first: log P / penalty(m, α) + cp(β); equal scores keep their order. rule: a name of PENALTIES.

    InputError names what is out of range, or a hypothesis without tokens.
    """
    _usable(hypotheses, rule, alpha, beta)
    found = []
    for each in hypotheses:
        cost = coverage_penalty(each.received, beta, floor)
        floored = sum(share < floor for share in each.received) if beta else 0
        found.append(Rescored(each, each.logprob / PENALTIES[rule](each.length, alpha) + cost, cost, floored))
    return sorted(found, key=lambda each: -each.score)


def flipped(hypotheses: Sequence[Hypothesis], alpha: float, beta: float = 0.0) -> bool:
    """Whether the two rules choose different winners at this α; β counts with GNMT's, transformers' has no coverage term."""
    winners = {ranked(hypotheses, rule, alpha, beta * (rule == "GNMT"))[0].hypothesis.name for rule in PENALTIES}
    return len(winners) > 1


def _usable(hypotheses: Sequence[Hypothesis], rule: str, alpha: float, beta: float) -> None:
    if rule not in PENALTIES:
        raise InputError(f"There is no length penalty {str(rule)[:40]!r}; there are {', '.join(PENALTIES)}.")
    for name, value, least in (("α", alpha, -LIMIT), ("β", beta, 0.0)):
        if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value <= LIMIT:
            raise InputError(f"{name} is {str(value)[:40]}; it must be a number from {least:g} to {LIMIT:g}.")
    if not hypotheses:
        raise InputError("There is no hypothesis to rank.")
    for each in hypotheses:
        if each.length < 1:
            raise InputError(f"Hypothesis {each.name!r:.60} has {each.length} tokens; at least the end token is needed.")
        if beta and not each.received:
            raise InputError(f"Hypothesis {each.name!r:.60} has no attention, which β needs.")
