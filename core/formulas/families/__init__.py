"""Sheet 004: 70 displayed formulas over nine families of transformers, in 18 sections; those it shares stand elsewhere.

`lesson` of an entry is its section here. Nothing here imports torch by itself.
"""

from core.formulas.families import family_cards, foundation_cards, sentence_cards
from core.formulas.formula import Formula

__all__ = ["ALSO_004", "FORMULAS_004", "SECTIONS_004"]

SECTIONS_004: dict[int, str] = {
    1: "Mathematical foundations",
    2: "BERT",
    3: "GPT",
    4: "T5",
    5: "RoBERTa",
    6: "ELECTRA",
    7: "DeBERTa",
    8: "BART",
    9: "ALBERT",
    10: "Common components",
    11: "SBERT",
    12: "Pooling strategies",
    13: "Training objectives",
    14: "Siamese networks",
    15: "Triplet loss",
    16: "Multiple negatives ranking",
    17: "Similarity and distance",
    18: "Fine-tuning variants",
}

_ENTRIES = sorted(foundation_cards.ENTRIES + family_cards.ENTRIES + sentence_cards.ENTRIES, key=lambda one: one.lesson)
FORMULAS_004: dict[str, Formula] = {one.id: one for one in _ENTRIES}

# Entries of other sheets that stand in this one too: id -> "sheet.section"
ALSO_004: dict[str, tuple[str, ...]] = {
    "softmax": ("004.1", "004.10"),
    "attention": ("004.1",),
    "multi_head": ("004.1", "004.10"),
    "layernorm": ("004.1",),
    "sinusoids": ("004.1",),
    "cross_entropy": ("004.1", "004.13"),
    "projections": ("004.1",),
    "causal_mask": ("004.1",),
    "rmsnorm": ("004.1",),
    "factorization_lm": ("004.3",),
    "cross_attention": ("004.4",),
}
