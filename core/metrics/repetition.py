"""Repetition: the share of n-grams that are there already. Source: See et al. 2017, figure 4."""

from collections.abc import Sequence

from core.metrics import bleu
from core.metrics.score import ONE, Score, checked

ORDERS = (1, 2, 3, 4)


def score(hypotheses: Sequence[str], *references: Sequence[str | None], tokenizer: str = "") -> Score:
    """Duplicates among the n-grams of each text, 0..1, for n = 1 to 4 as `rates`; the value is their mean.

    A duplicate is an n-gram that the same text has had before; a corpus adds up duplicates and n-grams of its texts.
    References are not needed; with some, their scores stand in a note. tokenizer: as for BLEU.
    """
    checked(hypotheses, references, needed=False)
    tokenizer = bleu.chosen(tokenizer, hypotheses)
    counts, totals = duplicates([bleu.tokens(text, tokenizer) for text in hypotheses])
    rates = tuple(count / total if total else 0.0 for count, total in zip(counts, totals))
    notes = [] if totals[-1] else ["Too short for 4-grams: what is not there is no duplicate."]
    for side in references:
        theirs, possible = duplicates([bleu.tokens(text, tokenizer) for text in side if text])
        shares = (f"{count / total if total else 0:.2f}" for count, total in zip(theirs, possible))
        notes.append(f"The references' own for n = 1 to 4: {', '.join(shares)}.")
    return Score("repetition", sum(rates) / len(rates), f"duplicates of n-grams, n:1-4|mean|tok:{tokenizer}", ONE, True,
                 tokenizer, rates=rates, counts=counts, totals=totals, notes=tuple(notes))


def duplicates(texts: Sequence[Sequence[str]]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """(duplicate n-grams, all n-grams) for each of ORDERS."""
    counts, totals = [], []
    for n in ORDERS:
        grams = [[tuple(words[at : at + n]) for at in range(len(words) - n + 1)] for words in texts]
        totals.append(sum(map(len, grams)))
        counts.append(totals[-1] - sum(len(set(each)) for each in grams))
    return tuple(counts), tuple(totals)
