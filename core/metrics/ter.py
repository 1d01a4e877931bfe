"""TER by sacrebleu: edits and shifts for each reference word. Source: Snover et al. 2006."""

from collections.abc import Sequence

import sacrebleu

from core.metrics.score import Score, checked, empty_notes
from core.metrics.scripts import SPACELESS, main_script


def score(
    hypotheses: Sequence[str], *references: Sequence[str | None], case_sensitive: bool = False,
    normalized: bool | None = None, asian_support: bool | None = None,
) -> Score:
    """TER in per cent of the mean reference length, 0 is best and it may pass 100; flat lists as everywhere.

    normalized, asian_support: None turns both on for scripts without spaces, where a sentence would be a single word.
    """
    checked(hypotheses, references)
    usual = spaceless(*references)
    made = sacrebleu.TER(
        case_sensitive=case_sensitive, normalized=usual if normalized is None else normalized,
        asian_support=usual if asian_support is None else asian_support,
    )
    found = made.corpus_score(list(hypotheses), [list(side) for side in references])
    notes = empty_notes(hypotheses, references)
    if found.score > 100:
        notes += ("More edits than reference words: TER passes 100.",)
    return Score("TER", found.score, str(made.get_signature()), lower_is_better=True, tokenizer="tercom",
                 counts=(found.num_edits,), totals=(found.ref_length,), notes=notes)


def spaceless(*references: Sequence[str | None]) -> bool:
    """Whether most letters are of scripts that put no space between words."""
    return main_script(text for side in references for text in side if text) in SPACELESS
