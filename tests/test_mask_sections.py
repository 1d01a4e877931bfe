"""The closed sections of the masks tab without a browser: relative positions, padding, the prefix slider."""

import base64
import json

import gradio as gr
import numpy as np
import pytest

from app import stack_looks, stack_packs
from app.engine import Engine
from app.mask_looks import Looks
from app.masked import Drawn, Masked
from app.stack_packs import size
from app.stack_sections import BiasPart, PaddingPart, PrefixPart
from app.views import masks as tab
from core.evaluate import translate
from core.interventions import Edits, Masks, StackMask
from core.leaks import padding_effect
from core.masks import prefix
from core.models import ASSETS, Models
from core.positions import relative_bias
from core.prefix import PrefixLM
from core.prefix_model import load_prefix
from core.runs import run
from core.settings import Decoding, Settings
from tests import models as tiny

TEXT = "A man rides a brown horse near the old fence."
CAUSAL = Masks(encoder=StackMask("causal"))


@pytest.fixture(scope="module")
def looks(tmp_path_factory) -> Looks:
    """pocket-t5, a tiny BART, which has no relative bias, and a tiny UMT5, which has one a layer."""
    folder = tmp_path_factory.mktemp("models")
    engine = Engine(Models({name: tiny.saved(tiny.noisy(name), folder / name) for name in ("bart", "umt5")}))
    engine.models.load("pocket-t5")
    return Looks(Masked(engine))


def section(looks, kind):
    """A section as the page builds it; its settings are those that a test sends."""
    def settings(values):
        return Settings(values.get("text", TEXT), values.get("model", "pocket-t5"), masks=values.get("masks", Masks()))

    with gr.Blocks():
        return kind(looks, settings)


def answer(part, *controls, visitor="one", **values) -> dict:
    """The last answer to these values of the controls; what it holds must be JSON."""
    *_, last = part.look(dict(zip(part.controls, controls, strict=True)) | values, visitor)
    json.dumps([last.get(part.told), last.get(part.maps)], allow_nan=False)
    return last


def numbers(panel) -> np.ndarray:
    raw = np.frombuffer(base64.b64decode(panel["values"]), "<f4")
    return raw.reshape(len(panel["rows"]), len(panel["columns"]))


def notes(part, found: dict) -> str:
    return " ".join(found[part.told]["notes"])


# Relative positions

def test_the_bias_on_screen_is_the_models_and_is_named_by_position(looks):
    part = section(looks, BiasPart)
    found = answer(part, "encoder", 1)
    near, buckets = found[part.maps]["panels"]
    bias = relative_bias(looks.engine.models.load("pocket-t5"), "encoder", reach=2).bias
    assert near["columns"][14:19] == ["2 left", "1 left", "itself", "1 right", "2 right"]
    assert np.array_equal(numbers(near)[:, 14:19], bias) and len(near["rows"]) == len(bias)
    assert buckets["columns"][0] == "0: itself" and "10: 16–22 left" in buckets["columns"]
    assert buckets["columns"][15] == "15: ≥ 91 left" and buckets["columns"][-1] == "31: ≥ 91 right"
    assert "31 of 32 buckets" in buckets["note"] and "key − query = −3" in notes(part, found)


def test_a_decoder_has_all_buckets_to_the_left(looks):
    part = section(looks, BiasPart)
    near, buckets = answer(part, "decoder", 2)[part.maps]["panels"]
    assert near["columns"][-1] == "itself" and not any("right" in name for name in near["columns"])
    assert len(buckets["columns"]) == 32 and buckets["columns"][0] == "0: itself, and all right"
    assert buckets["columns"][-1].startswith("31: ≥ ") and buckets["columns"][-1].endswith("left")


def test_layers_share_a_table_or_have_their_own(looks):
    part = section(looks, BiasPart)
    shared = [answer(part, "encoder", layer) for layer in (1, 2)]
    assert "one table for all layers" in shared[0][part.told]["sentence"]
    assert shared[0][part.maps] == shared[1][part.maps]
    own = [answer(part, "encoder", layer, model="umt5") for layer in (1, 2)]
    assert "in layer 2; each layer has its own" in own[1][part.told]["sentence"] and own[0][part.maps] != own[1][part.maps]


@pytest.mark.parametrize(("model", "place", "said"), [
    ("bart", ("encoder", 1), "bart adds no relative position bias to its encoder attention; T5-like models do"),
    ("pocket-t5", ("cross", 1), "no relative position bias to its cross attention"),
    ("pocket-t5", ("encoder", 4), "no layer 4"), ("pocket-t5", ("brain", 1), "no site 'brain'"),
    ("pocket-t5", (["encoder"], 1), "no site"), ("pocket-t5", ("encoder", "<b>"), "no layer '<b>'"),
])
def test_a_bias_that_is_not_there_is_refused_with_the_reason_and_no_picture(looks, model, place, said):
    part = section(looks, BiasPart)
    found = answer(part, *place, model=model)
    assert said in found[part.told]["text"] and found[part.maps] is None


# Padding

@pytest.mark.parametrize("masks", [Masks(), CAUSAL])
def test_hidden_pads_move_nothing_and_seen_ones_a_lot(looks, masks):
    part = section(looks, PaddingPart)
    going = run(Settings(TEXT, masks=masks), looks.engine.models)
    ids = [int(step.token[0]) for step in going]
    for pads in (1, 8, 32):
        wanted = padding_effect(going, ids, pads)
        found = answer(part, pads, True, masks=masks)
        (panel,) = found[part.maps]["panels"]
        hidden, seen = numbers(panel)
        assert hidden.max() <= 1e-4 and abs(hidden.max() - wanted.hidden) <= 1e-4
        assert np.allclose(seen, wanted.seen_rows, atol=1e-3) and seen.max() > 0.1
        said = found[part.told]["sentence"]
        assert f"{pads} pad tokens" in said and f"by up to {size(float(seen.max()))}." in said
        assert "pad tokens hidden: 0 of" in notes(part, found)


def test_without_the_padding_mask_the_model_writes_something_else(looks):
    part = section(looks, PaddingPart)
    found = answer(part, 32, False)
    trace = looks.made.trace(Settings(TEXT, edits=Edits(pads=32, padding_mask=False)))
    before, after = found[part.told]["lines"]
    assert after["text"] == trace.text and [t[0] for t in after["tokens"]] == [t.text for t in trace.target]
    assert "pad tokens in sight: " in notes(part, found)
    assert "No pad tokens" in answer(part, 0, False)[part.told]["sentence"]


@pytest.mark.parametrize(("pads", "mask", "said"), [
    (33, True, "between 0 and 32"), (-1, True, "between 0 and 32"), (1.5, True, "is 1.5"), ("8", True, "'8'"),
    (None, True, "is None"), (True, True, "is True"), (8, "yes", "must be on or off"), (8, None, "must be on or off"),
])
def test_pads_that_cannot_be_are_a_sentence(looks, pads, mask, said):
    part = section(looks, PaddingPart)
    assert said in answer(part, pads, mask)[part.told]["text"]


def test_too_many_numbers_for_padding_are_refused(looks, monkeypatch):
    monkeypatch.setattr("app.mask_looks.MOST_BYTES", 1000)
    part = section(looks, PaddingPart)
    assert "too much memory" in answer(part, 8, True)[part.told]["text"]


# The prefix slider

def test_the_slider_shows_mask_weights_and_distance_of_the_same_weights(looks):
    part = section(looks, PrefixPart)
    found = answer(part, 4, False)
    mask, weights, distance = found[part.maps]["panels"]
    n = len(mask["rows"])
    assert mask["rows"][:2] == ["1 translate", "2 English"] and mask["rows"][-1] == f"{n} ."
    assert (np.isfinite(numbers(mask)) == prefix(n, n, 4)).all() and (numbers(weights)[~prefix(n, n, 4)] == 0).all()
    assert np.allclose(numbers(weights).sum(1), 1, atol=1e-5)
    far = numbers(distance)
    assert (far[:2] == 0).all() and (far[2:].max(1) > 0).all() and far[-1].min() > 0
    assert distance["rows"][4] == "p = 4 ←" and (found[part.length].maximum, found[part.length].value) == (n, 4)
    assert f"{(far[4] > 0).sum()} positions differ" in found[part.told]["sentence"]
    assert "p = 0 and p = 1 are the same mask" in notes(part, found)


def test_distances_are_those_of_the_stack_in_single_precision(looks):
    part = section(looks, PrefixPart)
    far = numbers(answer(part, 0, False)[part.maps]["panels"][2])
    loaded = load_prefix("pocket-prefix", ASSETS / "pocket-prefix")
    ids, plain = [[token.id for token in stack_looks.pieces_of(Settings(TEXT), loaded)[0]]], PrefixLM(loaded.model)
    for p in (2, 5, len(ids[0])):
        change = abs(plain.logits(ids, p) - plain.logits(ids, 0))[0].max(-1)
        assert np.allclose(far[p], change, atol=1e-4)


@pytest.mark.parametrize(("p", "said"), [(0, "is causal"), (1, "is causal"), (36, "bidirectional"), (30, "bidirectional")])
def test_the_ends_of_the_slider(looks, p, said):
    part = section(looks, PrefixPart)
    assert said in answer(part, p, False)[part.told]["sentence"]


@pytest.mark.parametrize("text", ["Dog", "a b", TEXT, "w " * 60])
def test_a_cache_changes_at_most_a_hundred_thousandth_whatever_the_text(looks, text):
    for p in (0, 3, 7, 36):
        found = stack_looks.prefix(looks, Settings(text), p)
        assert found.cached <= 1e-5 and found.distance.shape == (len(found.pieces) + 1, len(found.pieces)), (text, p)


def test_what_it_writes_is_what_the_trained_model_writes(looks):
    """Read whole, and read causally, a batch of one of the scoring's own search."""
    loaded = load_prefix("pocket-prefix", ASSETS / "pocket-prefix")
    found = stack_looks.prefix(looks, Settings(TEXT), 5)
    assert list(found.written) == [0, 5, len(found.pieces)]
    for reader, p in ((loaded, len(found.pieces)), (loaded.causal(), 0)):
        assert translate(reader, [TEXT], next(iter(loaded.tasks.values())), 1) == [found.written[p]]


def test_b18_the_penalty_counts_the_prompt_only_where_it_is_asked_to_and_says_which(looks):
    def shown(text: str, penalty: float, prompt: bool):
        settings = Settings(text, decoding=Decoding(repetition_penalty=penalty))
        found = stack_looks.prefix(looks, settings, 36, prompt)
        return found.written, " ".join(stack_packs.prefix_said(found)["notes"])

    for text in ("no no", "A man in a T-shirt."):
        plain, off = shown(text, 1.0, False)
        assert "is 1, so nothing is penalised" in off and shown(text, 1.0, True)[0] == plain
        written, said = shown(text, 2.0, False)
        assert "Repetition penalty 2: it counts what this stack wrote and nothing that it read" in said
        both, said = shown(text, 2.0, True)
        assert "Repetition penalty 2: it counts what this stack read and what it wrote" in said
        assert both != written or text == "no no"  # a T-shirt becomes a Hemd; German has no "no" to write again
    part = section(looks, PrefixPart)
    assert "it must be on or off" in answer(part, 4, "yes")[part.told]["text"]


@pytest.mark.parametrize("p", [-1, 37, None, "3", 2.5, [1]])
def test_lengths_that_cannot_be_are_a_sentence(looks, p):
    part = section(looks, PrefixPart)
    assert "between 0 and 36" in answer(part, p, False)[part.told]["text"]


# All of them

def test_open_sections_follow_and_closed_ones_do_nothing(looks):
    class Probe:
        used = "used"

        @staticmethod
        def look(values, visitor, used):
            return {"used": False}

    sections = [section(looks, kind) for kind in (PaddingPart, PrefixPart)]
    parts = type("Parts", (), {"probe": Probe, "sections": sections})
    pad, slide = sections
    asked = {pad.pads: 8, pad.mask: True, slide.length: 2, slide.prompt: False}
    values = {pad.open: False, slide.open: True, **asked, "drawn": Drawn()}
    first, *rest = tab.looked_again(parts, values, "one")
    assert first == {"used": False} and [slide.told in found for found in rest] == [True]


def test_a_newer_look_silences_an_older_one(looks):
    part = section(looks, PrefixPart)
    older = part.look({part.length: 2}, "one")
    looks.engine.latest.begin("one prefix")  # what a newer look does first
    inner = part.answers

    def answers(values):
        looks.engine.latest.begin("one prefix")
        yield from inner(values)

    part.answers = answers
    assert list(older) == []


def test_a_text_that_cannot_be_read_is_a_sentence(looks):
    for kind, controls in ((PaddingPart, (8, True)), (PrefixPart, (2, False))):
        part = section(looks, kind)
        assert "empty" in answer(part, *controls, text="  ")[part.told]["text"]
