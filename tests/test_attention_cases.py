"""Faults of attention met in public: what a mask must never let through, whose mask it is, how long a cross cache is."""

import json
import shutil

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from core import masks as booleans
from core.attention import attend, attend_eagerly
from core.controls import Controls, use
from core.errors import ModelError
from core.interventions import Cell, Edits, Head, Masks, StackMask
from core.models.loading import load_folder
from core.runs import Run
from core.settings import Decoding, Settings
from tests import models

NONE, PLAIN = Masks(), Edits()
HIDDEN = (1,)  # the source token that is blocked


def started(family: str, masks: Masks = NONE, edits: Edits = PLAIN, loaded=None, steps: int = 10) -> Run:
    settings = Settings(models.TEXT, masks=masks, edits=edits, decoding=Decoding(max_new_tokens=steps))
    return Run(settings, loaded or models.shared(family))


def one_site(masks: Masks, mask: torch.Tensor | None, key: torch.Tensor, value: torch.Tensor, call):
    """Output (batch, query, heads, d_v) of the first encoder site of a tiny BART on ones, under `masks`."""
    site = models.shared("bart").model.get_encoder().layers[0].self_attn
    with use(Controls({id(site): ("encoder", 0)}, masks)):
        return call(site, torch.ones_like(key), key, value, mask, scaling=1.0, dropout=0.0)[0]


CALLS = pytest.mark.parametrize("call", [attend, attend_eagerly], ids=["sdpa", "eager"])


@CALLS
def test_b49_nan_in_a_blocked_key_stays_there(call):
    key, value = torch.randn(2, 1, 2, 3, 4)
    spoilt = [each.index_fill(2, torch.tensor(HIDDEN), torch.nan) for each in (key, value)]
    masks = Masks(encoder=StackMask(hidden=HIDDEN))
    found = one_site(masks, None, *spoilt, call)
    assert found.isfinite().all() and torch.equal(found, one_site(masks, None, key, value, call))
    assert not one_site(Masks(encoder=StackMask("causal")), None, *spoilt, call)[:, 1:].isfinite().all()  # read, it is felt


def test_b49_the_token_that_it_comes_from_is_named():
    loaded = models.loaded("bart")
    ids = [token.id for token in started("bart").source]
    plain = [step.logprob[0] for step in started("bart", hidden())]
    with torch.no_grad():
        loaded.model.get_encoder().layernorm_embedding.register_forward_hook(
            lambda module, inputs, output: output.index_fill(1, torch.tensor(HIDDEN), torch.nan))
    going = started("bart", hidden(), loaded=loaded)
    assert [step.logprob[0] for step in going] == pytest.approx(plain, abs=1e-5)
    assert any(f"source token 2 ({going.source[1].text}) are not finite" in note for note in going.notes) and len(ids) > 2
    assert np.isfinite(going.trace().encoder_weights).all()
    with pytest.raises(ModelError, match="not finite"):
        next(started("bart", loaded=loaded))


def hidden() -> Masks:
    """One source token that nobody reads."""
    return Masks(encoder=StackMask(hidden=HIDDEN), cross=StackMask(hidden=HIDDEN))


@CALLS
def test_b50_a_row_of_the_most_negative_number_sees_nothing(call):
    """As the model's own additive mask says it: (1, 1, query, key)."""
    key, value = torch.randn(2, 1, 2, 3, 4)
    own = torch.zeros(1, 1, 3, 3)
    own[0, 0, 1] = torch.finfo(own.dtype).min
    found = one_site(Masks(encoder=StackMask(exceptions=(Cell(0, 2),))), own, key, value, call)
    assert (found[:, 1] == 0).all() and (found[:, [0, 2]] != 0).all() and found.isfinite().all()


def test_b51_a_blocked_key_has_weight_exactly_0():
    """-10 on a score of 20 leaves it 10 above the other: no mask at all."""
    scores, mask = np.array([[20.0, 0.0]]), np.array([[False, True]])
    assert booleans.softmax(scores, mask).tolist() == [[0.0, 1.0]]
    assert booleans.softmax(scores + [[-10.0, 0.0]], np.array([[True, True]]))[0, 0] > 0.99


def test_b54_b115_each_stack_has_heads_of_its_own():
    """Two encoder heads, four decoder heads: a decoder head that is off is none of the encoder's."""
    plain = started("bart")
    before = list(plain)
    assert plain.encoder_weights.shape[1] == 2 and before[0].decoder_weights.shape[2] == 4
    for stack in ("decoder", "cross"):
        going = started("bart", edits=Edits(heads=(Head(stack, 0, 0),)))
        after = list(going)
        assert np.array_equal(going.encoder_weights, plain.encoder_weights)
        assert [a.entropy[0] for a in after] != [b.entropy[0] for b in before]
        assert torch.equal(going.encoded().output.last_hidden_state, plain.encoded().output.last_hidden_state)
    encoder = started("bart", edits=Edits(heads=(Head("encoder", 0, 0),)))
    assert not torch.equal(encoder.encoded().output.last_hidden_state, plain.encoded().output.last_hidden_state)


def test_b55_two_encoders_put_together_lack_cross_attention_and_are_refused(tmp_path):
    folder = models.save("bert_bert", tmp_path / "whole")
    weights = load_file(folder / "model.safetensors")
    crossing = [name for name in weights if "crossattention" in name]
    save_file({name: each for name, each in weights.items() if name not in crossing}, folder / "model.safetensors",
              metadata={"format": "pt"})
    with pytest.raises(ModelError, match="crossattention") as said:
        load_folder("mine", folder, "cpu")
    assert crossing and f"{len(crossing) - 3} more" in str(said.value)


def test_b57_a_checkpoint_in_half_precision_runs_in_float32(tmp_path):
    folder = models.save("t5", tmp_path / "t5")
    half = {name: each.half() for name, each in load_file(folder / "model.safetensors").items()}
    save_file(half, folder / "model.safetensors", metadata={"format": "pt"})
    config = folder / "config.json"
    config.write_text(json.dumps(json.loads(config.read_text()) | {"dtype": "float16", "torch_dtype": "float16"}))
    loaded = load_folder("mine", folder, "cpu")
    assert loaded.dtype == torch.float32
    going = Run(Settings("a dog runs on the beach", decoding=Decoding(max_new_tokens=6)), loaded)
    assert all(np.isfinite(step.logprob).all() for step in going) and going.trace().made["dtype"] == "float32"
    shutil.rmtree(folder)


def test_b59_a_window_of_self_attention_does_not_cut_the_cross_cache():
    going = started("t5gemma_window", steps=12)
    assert going.loaded.model.config.decoder.sliding_window == 6 < len(going.source)
    steps = list(going)
    assert len(steps) == 12 and len({step.cross_cache_bytes for step in steps}) == 1
    for step in steps:
        assert step.cross_weights.shape[-1] == len(going.source) and (step.cross_weights > 0).all()
