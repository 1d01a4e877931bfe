"""Sheet 004: 70 displayed formulas over nine families of transformers, in 18 sections by its headings.

What it shares with sheets 000 and 003 are entries there, with `also`. `lesson` of an entry is its section here. Nothing here
imports torch by itself.
"""

from core.formulas.families import family_cards, foundation_cards, sentence_cards
from core.formulas.formula import Formula

__all__ = ["FORMULAS_004"]

_ENTRIES = sorted(foundation_cards.ENTRIES + family_cards.ENTRIES + sentence_cards.ENTRIES, key=lambda one: one.lesson)
FORMULAS_004: dict[str, Formula] = {one.id: one for one in _ENTRIES}
