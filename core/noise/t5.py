"""T5's span corruption and its other objectives on one text: a mask, edits by hand, then what is written for it.

Source: t5/data/preprocessors.py and its gin files; Raffel et al. 2020, sections 3.1.4 and 3.3. Positions of the body
stand for tokens and -1 - k for sentinel k, so that the fills give each token's origin for free.
"""

from fractions import Fraction

import numpy as np

from core.noise.drawn import KEPT, MOVED, RANDOM, SENTINEL, Drawn, Piece, edited, runs_of, whole_text
from core.noise.objectives import (
    dropped,
    exact_mask,
    iid_mask,
    permuted,
    prefix_range,
    random_or_sentinel,
    token_to_sentinel,
)
from core.noise.spans import mask_of, paper_counts, paper_targets, rounded, span_counts, unbiased_mask, with_sentinels
from core.noise.tokens import Units
from core.noising import NoiseSettings

_LOWEST = 3  # random ids start behind pad, eos and unk


def spans(units: Units, settings: NoiseSettings, rng: np.random.Generator) -> Drawn:
    """Span corruption: runs of tokens behind one sentinel each, and the runs as the target."""
    length, notes, code = len(units.body), [], settings.mode == "code"
    noise, wanted = (span_counts if code else paper_counts)(length, settings.rate, settings.mean_span)
    clean = (max(length, 2) if code else length) - noise
    fit = min(noise, clean + (not code))  # the paper's spans may stand at both ends
    if wanted > fit:
        notes.append(
            f"{wanted} spans do not fit: there are {noise} tokens to hide and {clean} to keep them apart, so {fit} are "
            f"made{'; the reference stops with an error here' if code else ''}."
        )
    most = len(units.sentinels) - (not code)
    if min(wanted, fit) > most:
        notes.append(_too_many(min(wanted, fit), units, most))
    count = min(wanted, fit, most)
    noise *= count > 0  # a vocabulary with a single sentinel cannot close a target
    mask = mask_of(length, noise, count, rng, settings.roll) if code else unbiased_mask(length, noise, count, rng)
    if code and length == 1 and settings.rate:
        notes.append("A text of one token is too short: the reference hides nothing of it.")
    return _unique(units, settings, mask, notes)


def iid(units: Units, settings: NoiseSettings, rng: np.random.Generator) -> Drawn:
    """Each token by itself; neighbours that are hidden share a sentinel."""
    mask, notes = _scattered(units, settings, rng)
    return _unique(units, settings, mask, notes)


def mass_style(units: Units, settings: NoiseSettings, rng: np.random.Generator) -> Drawn:
    """Every hidden token becomes the same sentinel; the target is the whole text."""
    mask, notes = _edited(units, settings, rng)
    entries = token_to_sentinel(range(len(mask)), mask, -1)
    return _whole(units, mask, entries, notes)


def bert_style(units: Units, settings: NoiseSettings, rng: np.random.Generator) -> Drawn:
    """As MASS-style, but a share of the hidden tokens becomes a random one."""
    mask, notes = _edited(units, settings, rng)
    length = len(mask)
    entries = random_or_sentinel(range(length), mask, -1, lambda k: length + k, settings.random_share, rng)
    ordinary = settings.mode == "paper"
    ids = {e: units.random_id(_LOWEST, rng, ordinary, units.ids[e - length]) for e in entries if e >= length}
    return _whole(units, mask, entries, notes, ids)


def drop(units: Units, settings: NoiseSettings, rng: np.random.Generator) -> Drawn:
    """Hidden tokens vanish without a trace; the target is nothing but them."""
    mask, notes = _edited(units, settings, rng)
    runs, positions = runs_of(mask), range(len(mask))
    return Drawn(
        runs, _pieces(units, dropped(positions, mask), runs), _pieces(units, dropped(positions, ~mask), runs),
        int(mask.sum()), len(mask), notes,
    )


def deshuffle(units: Units, settings: NoiseSettings, rng: np.random.Generator) -> Drawn:
    """All tokens, or a share of them, change places among themselves; the target is the text in order."""
    mask, notes = _scattered(units, settings, rng)
    runs = [-1] * len(mask)
    entries = permuted(range(len(mask)), mask, rng)
    moved = [p._replace(kind=KEPT if p.origin == k else MOVED) for k, p in enumerate(_pieces(units, entries, runs))]
    return Drawn(runs, moved, whole_text(units, runs), sum(p.kind == MOVED for p in moved), len(mask), notes)


def prefix_lm(units: Units, settings: NoiseSettings, rng: np.random.Generator) -> Drawn:
    """The encoder reads a beginning of random length; the target is the rest."""
    length, notes = len(units.body), []
    if settings.rate == 0:
        prefix = length
    elif settings.rate <= 0.5 or settings.mode == "code":
        if settings.rate > 0.5:
            notes.append(f"The reference has no prefix LM above a rate of 0.5; it is 0.5 here, not {settings.rate:g}.")
        low, high = prefix_range(length, min(settings.rate, 0.5))
        prefix = int(rng.integers(low, high + 1))
    else:  # the mirror image: from nothing to what keeps the mean
        prefix = int(rng.integers(0, rounded(2 * (1 - Fraction(str(settings.rate))) * length) + 1))
    if length == 1 and prefix == 0:
        notes.append("A text of one token has an empty prefix: the encoder reads none of it.")
    mask = np.arange(length) >= prefix
    runs = runs_of(mask)
    return Drawn(
        runs, _pieces(units, list(range(prefix)), runs), _pieces(units, list(range(prefix, length)), runs),
        int(mask.sum()), length, notes,
    )


def _scattered(units: Units, settings: NoiseSettings, rng: np.random.Generator) -> tuple[np.ndarray, list[str]]:
    """The mask of single tokens: independent in the code, an exact count in the paper."""
    length = len(units.body)
    if settings.mode == "paper":
        return exact_mask(length, rounded(length * Fraction(str(settings.rate))), rng), []
    mask = iid_mask(length, settings.rate, rng)
    empty = settings.rate > 0 and length > 0 and not mask.any()
    chance = (1 - settings.rate) ** length
    return mask, [f"This draw hides nothing, as {chance:.0%} of the draws on {length} tokens do."] if empty else []


def _edited(units: Units, settings: NoiseSettings, rng: np.random.Generator) -> tuple[np.ndarray, list[str]]:
    mask, notes = _scattered(units, settings, rng)
    mask, more = edited(mask, units, settings)
    return mask, notes + more


def _unique(units: Units, settings: NoiseSettings, mask: np.ndarray, notes: list[str]) -> Drawn:
    """Inputs and targets with a fresh sentinel for each run, after edits by hand."""
    mask, more = edited(mask, units, settings)
    mask, capped = _capped(units, settings, mask)
    runs, positions = runs_of(mask), range(len(mask))
    inputs = with_sentinels(positions, mask, -1)
    targets = with_sentinels(positions, ~mask, -1) if settings.mode == "code" else paper_targets(positions, mask, -1)
    return Drawn(
        runs, _pieces(units, inputs, runs), _pieces(units, targets, runs), int(mask.sum()), len(mask),
        [*notes, *more, *capped],
    )


def _capped(units: Units, settings: NoiseSettings, mask: np.ndarray) -> tuple[np.ndarray, list[str]]:
    """Runs that would need more sentinels than there are stay visible, the last ones first."""
    runs, before = runs_of(mask), max(runs_of(mask), default=-1) + 1
    allowed = before
    while allowed and _needed(mask, settings.mode) > len(units.sentinels):
        allowed -= 1
        mask = mask & (np.array(runs) < allowed)
    return mask, [_too_many(before, units, allowed)] if allowed < before else []


def _needed(mask: np.ndarray, mode: str) -> int:
    """Sentinels that the longer side takes."""
    hidden = max(runs_of(mask), default=-1) + 1
    return hidden + 1 if mode == "paper" else max(hidden, max(runs_of(~mask), default=-1) + 1)


def _too_many(spans: int, units: Units, most: int) -> str:
    return (
        f"{spans} spans are more than the {len(units.sentinels)} sentinels of this vocabulary allow; {most} are hidden. "
        "The reference goes on with ordinary pieces as sentinels, without a warning."
    )


def _whole(units: Units, mask: np.ndarray, entries: list[int], notes: list[str], random: dict | None = None) -> Drawn:
    """A noise whose target is the whole text; every hidden token is a span of its own."""
    runs = np.where(mask, np.cumsum(mask) - 1, -1).tolist()
    pieces = []
    for k, entry in enumerate(entries):  # one entry a token: these noises keep the length
        if not mask[k]:
            pieces.append(Piece(units.ids[k], k))
        elif random and entry in random:
            pieces.append(Piece(random[entry], -1, runs[k], RANDOM))
        else:
            pieces.append(Piece(units.sentinels[0], -1, runs[k], SENTINEL))
    return Drawn(runs, pieces, whole_text(units, runs), int(mask.sum()), len(mask), notes)


def _pieces(units: Units, entries: list[int], runs: list[int]) -> list[Piece]:
    """Positions and sentinels as pieces. A sentinel belongs to the span of its number, where there is one."""
    ids, count = units.ids, max(runs, default=-1) + 1
    return [
        Piece(ids[e], e, runs[e]) if e >= 0
        else Piece(units.sentinels[-1 - e], -1, -1 - e if -1 - e < count else -1, SENTINEL)
        for e in entries
    ]
