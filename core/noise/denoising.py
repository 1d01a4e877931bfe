"""BART's noises on one text, alone or combined in the reference's order; the target is always the clean text.

Source: fairseq's `DenoisingDataset`; Lewis et al. 2020, section 2.2. What each noise makes of its choices is in
core/noise/bart.py; here the choices are drawn, edits by hand are met, and every token keeps its origin.
"""

from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import ceil

import numpy as np

from core.noise.bart import (
    hidden_count,
    inserts_in_reference,
    reordered,
    rotated,
    sentence_ends,
    span_lengths,
    spans_of,
)
from core.noise.drawn import INSERTED, KEPT, MASK, MOVED, RANDOM, Corrupt, Drawn, Piece, whole_text
from core.noise.tokens import Units
from core.noising import BART_STEPS, NoiseSettings

_LOWEST = 1  # random ids start behind <s>


@dataclass
class _Text:
    """A text between two noises. `next`: the number of the next span; `done` of `of`: what the last noise achieved."""

    units: Units
    settings: NoiseSettings
    rng: np.random.Generator
    pieces: list[Piece]
    spans: list[int]
    next: int = 0
    done: int = 0
    of: int = 0
    notes: list[str] = field(default_factory=list)

    @property
    def code(self) -> bool:
        return self.settings.mode == "code"

    def starts(self) -> list[bool]:
        """Where a word, or any token, starts; masks stand alone."""
        whole = self.units.whole(self.settings.whole_words)
        return [piece.origin < 0 or whole[piece.origin] for piece in self.pieces]

    def filler(self, span: int, random: bool, kind: str = MASK, instead: int = -1) -> Piece:
        """A mask, or a random token, that stands for `span`."""
        if not random:
            return Piece(self.units.mask, -1, span, kind)
        return Piece(self.units.random_id(_LOWEST, self.rng, not self.code, instead), -1, span, RANDOM)


def single(step: str) -> Corrupt:
    """`corrupt` of one noise alone."""
    return lambda units, settings, rng: combined(units, replace(settings, combined=(step,)), rng)


def combined(units: Units, settings: NoiseSettings, rng: np.random.Generator) -> Drawn:
    """Sentences first, then masking, deletion or infilling, then insertion, then rotation, as the reference does."""
    length = len(units.body)
    text = _Text(units, settings, rng, [Piece(id, k) for k, id in enumerate(units.ids)], [-1] * length)
    hiding = [step for step in settings.combined if step in ("masking", "deletion", "infilling")]
    if len(hiding) > 1:
        text.notes.append(f"The reference has one of masking, deletion and infilling at a time; here {' and '.join(hiding)}.")
    achieved = None
    for step in BART_STEPS:
        if step in settings.combined:
            STEPS[step](text)
            if achieved is None or step in hiding:
                achieved = text.done, text.of  # the rate shown is that of hiding, where there is any
    if len(hiding) > 1:
        achieved = sum(span >= 0 for span in text.spans), length
    return _numbered(text, *(achieved or (0, length)))


def _count(text: _Text, things: int, rate: float) -> int:
    """Rounded up: of the float32 product in the code, of the exact one in the paper."""
    return hidden_count(things, rate) if text.code else ceil(things * Fraction(str(rate)))


def _permutation(text: _Text) -> None:
    stops = [piece.origin >= 0 and text.units.stops[piece.origin] for piece in text.pieces]
    ends = sentence_ends(stops, True) if text.code else _whole_sentences(stops)
    count = ceil(len(ends) * text.settings.permute_rate)
    order, chosen = np.arange(len(ends)), text.rng.permutation(len(ends))[:count]
    order[chosen] = chosen[text.rng.permutation(count)]
    _reorder(text, reordered(range(len(text.pieces)), ends, order.tolist()))
    text.done, text.of = int((order != np.arange(len(ends))).sum()), len(ends)
    if len(ends) < 2:
        text.notes.append("The text is one sentence: there is nothing to permute.")
    elif count and not text.done:
        text.notes.append("The sentences drew the order that they had.")


def _whole_sentences(stops: list[bool]) -> list[int]:
    """Ends (exclusive) without the code's accidents: a run of stops ends one sentence, what is left is one more."""
    ends = [k + 1 for k, stop in enumerate(stops) if stop and not (k + 1 < len(stops) and stops[k + 1])]
    return ends if not stops or ends and ends[-1] == len(stops) else [*ends, len(stops)]


def _rotation(text: _Text) -> None:
    length, turned = len(text.pieces), text.rng.random() < text.settings.rotate_rate
    last = max(1, length + 1 if text.code else length)
    offset = int(text.rng.integers(1, last, endpoint=True)) if turned else 1
    _reorder(text, rotated(range(length), offset))
    text.done, text.of = (length, length) if 1 < offset <= length else (0, length)
    if turned and not text.done:
        text.notes.append("The rotation drew an offset that changes nothing.")


def _reorder(text: _Text, order: list[int]) -> None:
    before = text.pieces
    text.pieces = [
        Piece(before[k].id, before[k].origin, -1, MOVED) if k != place and before[k].kind == KEPT else before[k]
        for place, k in enumerate(order)
    ]


def _masking(text: _Text, left: bool = True) -> None:
    """Words, or tokens, become masks; with `left` False nothing is left of them."""
    starts = np.array(text.starts(), bool)
    count = _count(text, int(starts.sum()), text.settings.rate)
    chosen = text.rng.permutation(np.flatnonzero(starts))[:count].tolist()
    _write(text, spans_of(starts, chosen, [1] * count), {}, join=False, left=left)


def _deletion(text: _Text) -> None:
    _masking(text, left=False)
    if text.pieces == []:
        text.notes.append("Nothing is left of the text.")


def _infilling(text: _Text) -> None:
    """Spans of words become one mask each; a span of no words is a mask that hides nothing."""
    starts = np.array(text.starts(), bool)
    budget = _count(text, int(starts.sum()), text.settings.rate)
    lengths = span_lengths(budget, text.settings.poisson, text.rng)
    full = [length for length in lengths if length]
    if not text.code:
        ids, inserts = _apart(text, starts, lengths)
        _write(text, ids, inserts, join=True)
        return
    chosen = text.rng.permutation(np.flatnonzero(starts))[: len(full)].tolist()
    _write(text, spans_of(starts, chosen, full), {}, join=True)
    empty, before = len(lengths) - len(full), len(text.pieces) + 2
    _insert(text, empty)
    if text.done < budget and full:
        text.notes.append(f"Spans overlap or end with the text, so {text.done} are hidden, not {budget}.")
    if inserts_in_reference(empty, before) != empty:
        text.notes.append(f"The reference would insert {empty + 1} masks into {before} tokens, by a rounding error, not {empty}.")


def _apart(text: _Text, starts: np.ndarray, lengths: list[int]) -> tuple[list[int], dict[int, int]]:
    """Spans that never overlap, each arrangement as likely: (ids (pieces,), masks to insert before a piece).

    Visible words and spans are shuffled as items in a row, so that exactly the drawn number of words is hidden.
    """
    words = np.cumsum(starts) - 1  # of each piece; one before the first start belongs to nothing and stays
    visible = int(starts.sum()) - sum(lengths)
    items = [0] * visible + [1] * len(lengths)
    rest, word, span, of_word, before = iter(lengths), 0, 0, {}, {}
    for k in text.rng.permutation(len(items)):
        if not items[k]:
            word += 1
            continue
        length = next(rest)
        if not length:
            before[word] = before.get(word, 0) + 1
        of_word |= dict.fromkeys(range(word, word + length), span)
        span, word = span + (length > 0), word + length
    firsts = np.flatnonzero(starts).tolist() + [len(starts)]
    return [of_word.get(int(w), -1) for w in words], {firsts[w]: n for w, n in before.items()}


def _write(text: _Text, ids: list[int], inserts: dict[int, int], join: bool, left: bool = True) -> None:
    """The pieces with their spans hidden, after edits by hand. join: an edit beside a span becomes part of it."""
    settings, before = text.settings, text.pieces
    ids, drawn = list(ids), max(ids, default=-1) + 1
    for k, piece in enumerate(before if settings.hide or settings.show else ()):
        if piece.origin < 0:
            continue
        place = piece.origin + text.units.head
        if place in settings.show:
            ids[k] = -1
        elif place in settings.hide and ids[k] < 0:
            ids[k] = ids[k - 1] if join and k and ids[k - 1] >= 0 else drawn + k
    random, out, span = {}, [], text.next - 1
    for k, piece in enumerate(before):
        out += [_new_insert(text, False) for _ in range(inserts.get(k, 0))]
        if ids[k] < 0:
            out.append(piece)
            continue
        first = k == 0 or ids[k - 1] != ids[k]
        if first:
            span, text.next = text.next, text.next + 1
            random[span] = settings.random_share > 0 and text.rng.random() < settings.random_share
        if piece.origin >= 0:
            text.spans[piece.origin] = span
        if left and (first or settings.each_piece):
            out.append(text.filler(span, random[span], instead=piece.id))
    out += [_new_insert(text, False) for _ in range(inserts.get(len(before), 0))]
    starts = text.starts()
    text.pieces, text.of = out, sum(starts)
    text.done = sum(s and i >= 0 for s, i in zip(starts, ids))


def _new_insert(text: _Text, random: bool) -> Piece:
    text.next += 1
    return text.filler(text.next - 1, random, INSERTED)


def _insert(text: _Text, count: int) -> None:
    """Masks at random slots of the result; the first of them are random tokens, as many as their share says."""
    length = len(text.pieces) + count
    random = ceil(count * text.settings.random_share)
    new = {int(slot): _new_insert(text, k < random) for k, slot in enumerate(text.rng.permutation(length)[:count])}
    rest = iter(text.pieces)
    text.pieces = [new[slot] if slot in new else next(rest) for slot in range(length)]


def _insertion(text: _Text) -> None:
    length = len(text.pieces) + 2 * text.code  # the reference counts <s> and </s>
    count = ceil(length * text.settings.insert_rate)
    _insert(text, count)
    text.done, text.of = count, length


STEPS = {
    "permutation": _permutation, "masking": _masking, "deletion": _deletion, "infilling": _infilling,
    "insertion": _insertion, "rotation": _rotation,
}


def _numbered(text: _Text, done: int, of: int) -> Drawn:
    """Spans renumbered from the left of the clean text, then those that hide nothing."""
    seen = [*text.spans, *(piece.span for piece in text.pieces)]
    number = {span: k for k, span in enumerate(dict.fromkeys(span for span in seen if span >= 0))}
    spans = [number.get(span, -1) for span in text.spans]
    pieces = [p if p.span < 0 else p._replace(span=number[p.span]) for p in text.pieces]
    return Drawn(spans, pieces, whole_text(text.units, spans), done, of, text.notes)
