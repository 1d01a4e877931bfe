"""Parameters by the formula against models that transformers builds, and what the course's estimate leaves out."""

from dataclasses import replace

import pytest
import torch
from transformers import AutoConfig, AutoModelForSeq2SeqLM

from core.parameters import architecture_of, blocks, estimate, exact, frozen, reasons
from core.zoo import ZOO
from tests import models

COUNTED = ("t5", "t5_gated", "mt5", "umt5", "mbart", "pegasus", "bart", "marian", "t5gemma")


@pytest.mark.parametrize("family", COUNTED)
def test_the_count_is_that_of_the_model(family):
    model = models.shared(family).model
    found = architecture_of(model.config.to_dict())
    assert exact(found) == sum(p.numel() for p in model.parameters())
    assert exact(found) - frozen(found) == sum(p.numel() for p in models.build(family).parameters() if p.requires_grad)


@pytest.mark.parametrize("released", ZOO, ids=lambda one: one.name)
def test_a_released_model_is_as_large_as_transformers_makes_it(released):
    a = released.sizes
    if a.family in ("t5", "mt5"):
        sizes = dict(d_model=a.d, num_layers=a.encoder, num_decoder_layers=a.decoder, num_heads=a.heads, d_kv=a.d_kv,
                     d_ff=a.d_ff, feed_forward_proj="gated-gelu" if a.gated else "relu")
    elif a.family == "t5gemma":
        sizes = {}
    else:
        sizes = dict(d_model=a.d, encoder_layers=a.encoder, decoder_layers=a.decoder, encoder_attention_heads=a.heads,
                     decoder_attention_heads=a.heads, encoder_ffn_dim=a.d_ff, decoder_ffn_dim=a.d_ff,
                     max_position_embeddings=a.positions)
    config = AutoConfig.for_model(a.family, **sizes, **({} if a.family == "t5gemma" else {"vocab_size": a.vocab}))
    with torch.device("meta"):
        model = AutoModelForSeq2SeqLM.from_config(config)
    tied = replace(a, tied=True)  # transformers ties every T5 that it makes from a config alone
    assert exact(tied) == sum(p.numel() for p in model.parameters())
    assert replace(architecture_of(model.config.to_dict()), tied=True) == tied


@pytest.mark.parametrize("released", ZOO, ids=lambda one: one.name)
def test_the_reasons_are_the_whole_difference(released):
    a = released.sizes
    assert sum(reasons(a).values()) == exact(a) - estimate(a)
    assert sum(blocks(a).values()) == exact(a)


def test_untying_and_gating_cost_what_they_say():
    a = ZOO[0].sizes
    assert exact(replace(a, tied=False)) - exact(a) == a.vocab * a.d
    assert exact(replace(a, gated=True)) - exact(a) == (a.encoder + a.decoder) * a.d * a.d_ff


def test_a_model_that_the_formula_does_not_speak_of_is_left_to_its_weights():
    assert architecture_of(models.shared("bert_bert").model.config.to_dict()) is None
    uneven = models.config_of("bart").to_dict() | {"encoder_ffn_dim": 128}
    assert architecture_of(uneven) is None
