"""Score: a number that says how it was made; and the check of texts before anything is scored."""

from collections.abc import Sequence
from dataclasses import dataclass

from core.errors import InputError

HUNDRED, ONE = "0..100", "0..1"  # units: BLEU, chrF and TER count to 100, ROUGE and repetition to 1


@dataclass(frozen=True)
class Score:
    """A value, its unit, and how it was made.

    value: in `unit`, higher is better, but for those with `lower_is_better`; TER may pass 100.
    signature: of the library that made it, with every option that moves it. tokenizer: how texts were cut into words.
    precisions: BLEU's, per cent, for n = 1, 2, ..; rates: repetition's; counts, totals: the n-grams behind them, of TER
    the edits and the mean number of reference words.
    lengths: tokens of (hypotheses, references), from which the brevity penalty comes.
    notes: sentences on what a reader must know, such as smoothing, an empty text, characters that were dropped.
    """

    name: str
    value: float
    signature: str
    unit: str = HUNDRED
    lower_is_better: bool = False
    tokenizer: str = ""
    precisions: tuple[float, ...] = ()
    rates: tuple[float, ...] = ()
    brevity_penalty: float | None = None
    counts: tuple[float, ...] = ()
    totals: tuple[float, ...] = ()
    lengths: tuple[int, int] | None = None
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.name} = {self.value:.2f}  {self.signature}"


def checked(hypotheses: Sequence[str], references: Sequence[Sequence[str | None]], needed: bool = True) -> None:
    """Flat lists of one length; sacrebleu takes shorter ones, transposed ones and plain strings, and scores something else.

    references: one flat list for each reference of a text; None where a text has no such reference, but not for all.
    InputError says what is wrong.
    """
    if not references and needed:
        raise InputError("There is no reference to score against; this score needs at least one for each output.")
    for name, texts in (("outputs", hypotheses), *(("references", side) for side in references)):
        if isinstance(texts, str) or not isinstance(texts, Sequence):
            raise InputError(f"The {name} are a {type(texts).__name__}; a list with one text each is needed.")
        if len(texts) != len(hypotheses):
            raise InputError(f"{len(hypotheses)} outputs for {len(texts)} references; each output needs its own.")
        for line, text in enumerate(texts, 1):
            if not isinstance(text, str) and (text is not None or texts is hypotheses):
                raise InputError(f"Text {line} of the {name} is a {type(text).__name__}; it must be a text.")
    if not hypotheses:
        raise InputError("There is nothing to score; at least one output is needed.")
    for line, row in enumerate(zip(*references), 1):
        if all(text is None for text in row):
            raise InputError(f"Text {line} has no reference; it needs at least one.")


def empty_notes(hypotheses: Sequence[str], references: Sequence[Sequence[str | None]]) -> tuple[str, ...]:
    """Sentences on empty texts, which score by rule and not by what they say."""
    found = []
    for name, texts in (("output", hypotheses), *(("reference", side) for side in references)):
        if blank := sum(text is not None and not text.strip() for text in texts):
            found.append(f"{blank} of {len(texts)} {name}s {'is' if blank == 1 else 'are'} empty.")
    return tuple(dict.fromkeys(found))
