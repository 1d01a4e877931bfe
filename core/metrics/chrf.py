"""chrF and chrF++ by sacrebleu: F of character n-grams, the score for short texts. Source: Popović 2015, 2017."""

from collections.abc import Sequence

import sacrebleu

from core.metrics.score import Score, checked, empty_notes


def score(
    hypotheses: Sequence[str], *references: Sequence[str | None], word_order: int = 0, lowercase: bool = False,
) -> Score:
    """chrF2, 0..100, of flat lists (each of `references` beside the hypotheses); word_order 2 makes it chrF++."""
    checked(hypotheses, references)
    made = sacrebleu.CHRF(word_order=word_order, lowercase=lowercase)
    found = made.corpus_score(list(hypotheses), [list(side) for side in references])
    return Score(found.name, min(100.0, found.score), str(made.get_signature()), tokenizer="characters",
                 notes=empty_notes(hypotheses, references))
