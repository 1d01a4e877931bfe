"""BLEU by sacrebleu, for a corpus or a sentence. Source: Papineni et al. 2002; Post 2018."""

import threading
from collections.abc import Sequence
from functools import lru_cache
from itertools import chain

import sacrebleu

from core.errors import InputError
from core.metrics.score import Score, checked, empty_notes
from core.metrics.scripts import tokenizer_for

TOKENIZERS = ("13a", "intl", "zh", "ja-mecab", "char", "none")
SMOOTHINGS = ("exp", "floor", "add-k", "none")
_LOCK = threading.Lock()  # a kept metric remembers its last references, and MeCab's tagger is for one thread


def score(
    hypotheses: Sequence[str], *references: Sequence[str | None], tokenizer: str = "", lowercase: bool = False,
    smoothing: str = "exp", smooth_value: float | None = None, effective_order: bool | None = None,
) -> Score:
    """BLEU, 0..100, of flat lists; each of `references` is a list beside the hypotheses (several references: several lists).

    tokenizer: one of TOKENIZERS, "" by the script of the references. effective_order: n-gram orders that a text is too
    short for are left out; None: for one text yes, for a corpus no, as sacrebleu advises. InputError for unusable input.
    """
    checked(hypotheses, references)
    tokenizer = chosen(tokenizer, *references)
    effective = len(hypotheses) == 1 if effective_order is None else effective_order
    with _LOCK:
        made = _kept(tokenizer, lowercase, smoothing, smooth_value, effective)
        found = made.corpus_score(list(hypotheses), [list(side) for side in references])
        signature = str(made.get_signature())
    return Score(
        "BLEU", min(100.0, found.score), signature, tokenizer=tokenizer, precisions=tuple(found.precisions),
        brevity_penalty=found.bp, counts=tuple(found.counts), totals=tuple(found.totals),
        lengths=(found.sys_len, found.ref_len),
        notes=_notes(found, effective, smoothing, tokenizer, hypotheses) + empty_notes(hypotheses, references),
    )


def metric(
    tokenizer: str, lowercase: bool = False, smoothing: str = "exp", smooth_value: float | None = None, effective: bool = False,
) -> sacrebleu.BLEU:
    """sacrebleu's own object, new. InputError for a name that it does not have."""
    for what, name, names in (("tokeniser", tokenizer, TOKENIZERS), ("smoothing", smoothing, SMOOTHINGS)):
        if name not in names:
            raise InputError(f"There is no {what} {str(name)[:40]!r}; there are {', '.join(names)}.")
    # force: sacrebleu would write its warning of tokenised text into the log; `_notes` says it to the reader
    return sacrebleu.BLEU(lowercase=lowercase, tokenize=tokenizer, smooth_method=smoothing, smooth_value=smooth_value,
                          effective_order=effective, force=True)


# Kept because each tokeniser remembers up to 65,536 lines for as long as the process lives: one of each is enough.
_kept = lru_cache(maxsize=64)(metric)


def chosen(tokenizer: str, *texts: Sequence[str | None]) -> str:
    """`tokenizer`, or the one for the script of the texts where it is ""."""
    return tokenizer or tokenizer_for(text for text in chain(*texts) if text)


def tokens(text: str, tokenizer: str, lowercase: bool = False) -> list[str]:
    """`text` as BLEU cuts it."""
    with _LOCK:
        return _kept(tokenizer, lowercase, "exp", None, False).tokenizer(
            (text.lower() if lowercase else text).rstrip()).split()


def _notes(found, effective: bool, smoothing: str, tokenizer: str, hypotheses: Sequence[str]) -> tuple[str, ...]:
    notes = []
    short = [n for n, total in enumerate(found.totals, 1) if not total]
    missed = [n for n, (count, total) in enumerate(zip(found.counts, found.totals), 1) if total and not count]
    if not any(found.counts):
        notes.append("No word of the output is in a reference: 0, without smoothing.")
    elif missed:
        what = "so the score is 0" if smoothing == "none" else f"smoothed ({smoothing})"
        notes.append(f"No match for n = {', '.join(map(str, missed))}: {what}.")
    if short and found.totals[0]:
        what = "they are left out (effective order)" if effective else "they count as no match, even where all is equal"
        notes.append(f"Too short for n-grams of n = {', '.join(map(str, short))}: {what}.")
    cut = sum(text.rstrip().endswith(" .") for text in hypotheses)
    if tokenizer != "none" and 2 * cut > len(hypotheses):
        notes.append(f"{cut} of {len(hypotheses)} outputs end in ' .': this looks tokenised already; detokenise it first.")
    return tuple(notes)
