"""Weights in fewer bits: what is rounded and what is shared, under a name of its own, and what the page says of it."""

import json
import re
from dataclasses import replace

import gradio as gr
import pytest
import torch

from app.engine import Engine
from app.mask_looks import Looks
from app.masked import Masked
from app.search_sections import PrecisionPart
from app.words import worded
from core.errors import ControlError, InputError, ModelError
from core.interventions import Masks, StackMask
from core.models import ASSETS, PRECISIONS, Models
from core.models.loading import fingerprint, load_folder
from core.precision import Lighter, compare, lighter, product_bytes
from core.runs import record, run
from core.settings import Settings
from tests import models as tiny

TEXT = "Two dogs run through the snow near a fence."


@pytest.fixture(scope="module")
def registry() -> Models:
    return Models({})


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("rows", [1, 4, 15, 70])
@pytest.mark.parametrize(("precision", "step"), [("bfloat16", 2**-8), ("int8", 1 / 127)])
@torch.inference_mode()
def test_a_product_is_off_by_what_rounding_can_do(precision, step, rows, bias):
    torch.manual_seed(rows)
    own, x = torch.nn.Linear(96, 64, bias=bias), torch.randn(rows, 1, 96)
    ours = Lighter(own, precision)
    found = ours(x)
    most = x.abs() @ own.weight.abs().T if precision == "bfloat16" else x.abs().sum(-1, keepdim=True) * own.weight.abs().amax(1)
    assert found.dtype is torch.float32 and found.shape == (rows, 1, 64)
    assert 0 < (found - own(x)).abs().max() and ((found - own(x)).abs() <= 3 * step * most).all()
    assert ours.stored == 96 * 64 * (2 if precision == "bfloat16" else 1) + (128 if precision == "int8" else 0)
    shared = ours(x[:1].expand(5, -1, -1))
    assert not shared.stride(0) and torch.allclose(shared[0], found[0], atol=1e-2)


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("family", tiny.FAMILIES)
def test_every_family_runs_lighter_and_its_full_weights_stay_as_they_are(family, precision):
    whole = tiny.shared(family)
    before = fingerprint(whole.model)
    light = lighter(whole, precision, f"{family}@{precision}")
    assert light.sites.of.keys() != whole.sites.of.keys() and light.cross_shape == whole.cross_shape
    assert not [one for one in light.model.modules() if isinstance(one, torch.nn.Linear)]
    assert light.fingerprint != whole.fingerprint and light.tokenizer is whole.tokenizer
    ids = torch.tensor([[4, 5, 6, 1]])
    with torch.inference_mode():
        own, found = (one.model(input_ids=ids, decoder_input_ids=ids).logits for one in (whole, light))
        assert torch.equal(own, whole.model(input_ids=ids, decoder_input_ids=ids).logits)
    assert 0 < (own - found).norm() < 0.5 * own.norm()  # random T5 weights amplify it: whole in bfloat16, 0.26
    assert fingerprint(whole.model) == before
    norms = {name: one.data_ptr() for name, one in whole.model.named_parameters() if one.ndim == 1
             and re.search("norm|ln_", name.lower())}
    kept = dict(light.model.named_parameters())
    assert norms and all(kept[name].data_ptr() == at for name, at in norms.items()), "shared, not copied"


def test_a_name_with_an_at_is_the_model_with_lighter_weights(registry):
    whole, light = registry.load("pocket-t5"), registry.load("pocket-t5@int8")
    assert registry.load("pocket-t5@int8") is light and light.name == "pocket-t5@int8"
    assert registry.tasks("pocket-t5@int8") == registry.tasks("pocket-t5")
    assert registry.about("pocket-t5@int8") == registry.about("pocket-t5")
    assert product_bytes(light.model) < 0.26 * product_bytes(whole.model)
    trace = record(Settings(TEXT, "pocket-t5@bfloat16"), registry)
    assert trace.settings.model == "pocket-t5@bfloat16" and trace.target


@pytest.mark.parametrize("name", ["pocket-t5@", "pocket-t5@int4", "pocket-t5@int8@int8", "@int8", "nothing@int8", "<b>@int8"])
def test_a_name_that_is_none_is_refused_with_a_sentence(name):
    with pytest.raises(ModelError, match="Behind @ stands|There is no model"):
        Models({}).load(name)


def test_weights_that_are_not_float32_are_not_made_lighter():
    whole = load_folder("pocket-t5", ASSETS / "pocket-t5")
    with pytest.raises(ModelError, match="not as 'int4'"):
        lighter(whole, "int4", "x")
    with pytest.raises(ModelError, match="only float32"):
        lighter(replace(whole, dtype=torch.bfloat16), "int8", "y")


def test_the_same_weights_beside_themselves_change_nothing(registry):
    full = run(Settings(TEXT), registry)
    found = [one for one in compare(full, [run(Settings(TEXT), registry)], 12) if one]
    assert len(found) == 12
    assert all([(change.difference, change.kl, change.id) for change in one.changes] == [(0, 0, one.id)] for one in found)
    written = [token.id for token in record(Settings(TEXT), registry).target]
    assert [one.id for one in found][:len(written)] == written[:12]


def test_what_cannot_be_compared_is_said(registry):
    full = run(Settings(TEXT), registry)
    for tokens in (1, 129, True, 2.5, "8", None):
        with pytest.raises(InputError, match="choose 2 to 128"):
            next(compare(full, [], tokens))
    with pytest.raises(ControlError, match="a token at a time"):
        next(compare(run(Settings(TEXT, masks=Masks(decoder=StackMask("bidirectional"))), registry), [], 8))


def test_the_section_measures_when_asked_and_says_how_to_run_lighter(registry):
    with gr.Blocks():
        part = PrecisionPart(Looks(Masked(Engine(registry))), lambda values: Settings(TEXT, values.get("model", "pocket-t5")))
    assert [one[part.told] for one in part.look({}, "one")] == [{"kind": "progress", "text": worded("told.precision.ask")}]
    (_, measured), = part.events()
    for model in ("pocket-t5", "pocket-t5@int8"):  # whatever runs above, the comparison is with the full weights
        found = [one[part.told] for one in measured({part.tokens: 12.0, "model": model}, "one", None)]
        json.dumps(found, allow_nan=False)
        last = found[-1]
        assert last["kind"] == "found" and [line["name"] for line in last["lines"]] == ["float32", *PRECISIONS]
        full, *light = ([text for text, _, _ in line["tokens"]] for line in last["lines"])
        for line, texts in zip(last["lines"][1:], light, strict=True):
            assert len(texts) == 12 and all(float(below) > 0 for _, _, below in line["tokens"])
            assert [mark == "moved" for _, mark, _ in line["tokens"]] == [a != b for a, b in zip(texts, full, strict=True)]
        assert "type pocket-t5@int8 as the model" in last["notes"][1] and "4.1 MB" in last["notes"][1]
    (refused,) = [one[part.told] for one in measured({part.tokens: 500}, "one", None)]
    assert refused["kind"] == "refused" and "choose 2 to 128" in refused["text"]
