"""The registry of scores: each takes flat lists of outputs and of references, and gives a Score that says how it was made."""

from collections.abc import Callable, Iterable, Sequence
from functools import partial

from core.errors import InputError
from core.metrics import bleu, chrf, repetition, rouge, ter
from core.metrics.score import Score

METRICS: dict[str, Callable[..., Score]] = {
    "BLEU": bleu.score,
    "chrF2": chrf.score,
    "chrF2++": partial(chrf.score, word_order=2),
    "TER": ter.score,
    "ROUGE-1": partial(rouge.score, kind="rouge1"),
    "ROUGE-2": partial(rouge.score, kind="rouge2"),
    "ROUGE-L": partial(rouge.score, kind="rougeL"),
    "ROUGE-Lsum": partial(rouge.score, kind="rougeLsum"),
    "repetition": repetition.score,
}
WITHOUT_REFERENCES = ("repetition",)
CUT = ("BLEU", "repetition")  # these cut words by a tokeniser of sacrebleu's, which a person may pick


def scores(
    hypotheses: Sequence[str], *references: Sequence[str | None], names: Iterable[str] = METRICS, tokenizer: str = "",
) -> list[Score]:
    """The scores `names`, in the registry's order; without references those that need none. InputError for unusable input.

    tokenizer: of sacrebleu, for the scores of CUT; "" by the script.
    """
    names = set(names)
    if unknown := names - METRICS.keys():
        raise InputError(f"There is no score {sorted(map(str, unknown))[0][:40]!r}; there are {', '.join(METRICS)}.")
    possible = METRICS if references else WITHOUT_REFERENCES
    return [
        METRICS[name](hypotheses, *references, **({"tokenizer": tokenizer} if name in CUT else {}))
        for name in METRICS if name in names and name in possible
    ]


def bound(
    names: Iterable[str], tokenizer: str, hypotheses: Sequence[str], *references: Sequence[str | None],
) -> dict[str, Callable[..., Score]]:
    """The scores `names` for single texts of this corpus: options that follow from the texts are those of all together."""
    spaceless = ter.spaceless(*references)
    options = dict.fromkeys(CUT, {"tokenizer": bleu.chosen(tokenizer, *(references or [hypotheses]))})
    options["TER"] = {"normalized": spaceless, "asian_support": spaceless}
    words = {"tokenizer": rouge.chosen("", hypotheses, *references)[0]}
    return {name: partial(METRICS[name], **options.get(name, words if name.startswith("ROUGE") else {})) for name in names}
