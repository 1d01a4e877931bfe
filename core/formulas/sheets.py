"""Where each formula stands: the three sheets, section by section in their own order. One entry may stand in several places."""

from collections.abc import Mapping

from core.formulas import FORMULAS
from core.formulas.decoder_only import FORMULAS_003
from core.formulas.families import FORMULAS_004
from core.formulas.formula import Formula

ALL: dict[str, Formula] = {**FORMULAS, **FORMULAS_003, **FORMULAS_004}

# Lessons of 003 and sections of 004 (its headings, counted), with the ids in the order of the document.
_003 = {
    1: "model_map factorization_lm risk compute",
    2: "embedding embedding_gradient sinusoids rope",
    3: "projections attention attention_row score_variance softmax_jacobian causal_mask multi_head",
    4: "block_prenorm mlp residual_jacobian layernorm layernorm_backward rmsnorm",
    5: "softmax cross_entropy logit_gradient parameters",
    6: "entropy_kl kl_minimum one_hot perplexity",
    7: "gradient_descent vjp linear_adjoints",
    8: "momentum adam_moments adam_bias adam_update cosine_schedule scaling_law",
    9: "sft_loss lora bradley_terry kl_anchored ppo_clip dpo",
    10: "factorization temperature top_p kv_bytes",
}
_004 = {
    1: "softmax attention attention_steps multi_head general_attention layernorm residual_sum feed_forward gelu "
       "gelu_tanh sinusoids post_norm_block cross_entropy projections causal_mask rmsnorm",
    2: "bert_input mlm_loss nsp_loss bert_loss",
    3: "factorization_lm gpt_loss causal_attention",
    4: "t5_loss cross_attention",
    5: "roberta_loss",
    6: "generator_loss discriminator_loss electra_loss",
    7: "disentangled mask_decoder",
    8: "bart_loss",
    9: "factorized_embedding shared_layers sop_loss",
    10: "attention_score softmax multi_head attention_dropout learned_positions relative_keys",
    11: "sentence_embedding",
    12: "cls_pooling mean_pooling max_pooling attention_pooling",
    13: "sbert_classifier cross_entropy cosine regression_loss",
    14: "siamese",
    15: "triplet_loss",
    16: "negatives_loss",
    17: "cosine euclidean manhattan",
    18: "pair_logits",
}


def _by_lesson(formulas: Mapping[str, Formula]) -> dict[int, tuple[str, ...]]:
    lessons = sorted({one.lesson for one in formulas.values()})
    return {lesson: tuple(id for id, one in formulas.items() if one.lesson == lesson) for lesson in lessons}


# sheet -> lesson or section -> ids
SHEETS: dict[str, dict[int, tuple[str, ...]]] = {
    "000": _by_lesson(FORMULAS),
    "003": {number: tuple(ids.split()) for number, ids in _003.items()},
    "004": {number: tuple(ids.split()) for number, ids in _004.items()},
}


def places(id: str) -> list[tuple[str, int]]:
    """(sheet, lesson or section) of each place where a formula stands; its own first."""
    found = [(sheet, number) for sheet, sections in SHEETS.items() for number, ids in sections.items() if id in ids]
    own = (ALL[id].sheet, ALL[id].lesson)
    return sorted(found, key=lambda place: place != own)
