"""The closed sections of the search tab without a browser: copying beside generating, and what the caches save."""

import base64
import json

import gradio as gr
import numpy as np
import pytest

from app.engine import Engine
from app.mask_looks import Looks
from app.masked import Masked
from app.search_sections import CachePart, CopyPart
from app.words import worded
from core.budget import cache_shape, kv_bytes
from core.cache_cost import with_and_without
from core.errors import ControlError, InputError
from core.interventions import Masks, StackMask
from core.models import Models
from core.pointer import mixture
from core.runs import run
from core.settings import Settings
from tests import models as tiny

TEXT = "Two dogs and two cats sit next to Ω and Ω ."


@pytest.fixture(scope="module")
def looks(tmp_path_factory) -> Looks:
    folder = tmp_path_factory.mktemp("models")
    engine = Engine(Models({"bart": tiny.saved(tiny.noisy("bart"), folder / "bart")}))
    engine.models.load("pocket-t5")
    return Looks(Masked(engine))


def section(looks, kind):
    """A section as the page builds it; its settings are those that a test sends."""
    with gr.Blocks():
        return kind(looks, lambda values: Settings(values.get("text", TEXT), values.get("model", "pocket-t5")))


def answers(part, visitor="one", **values) -> list[dict]:
    """What the picture is given; all of it must be JSON."""
    found = [each[part.told] for each in part.look(dict.fromkeys(part.controls) | values, visitor)]
    json.dumps(found, allow_nan=False)
    return found


def weights_of(pack: dict) -> np.ndarray:
    raw = np.frombuffer(base64.b64decode(pack["weights"]), "<f4")
    return raw.reshape(len(pack["heads"]), len(pack["target"]), len(pack["source"]))


# Pointer-generator

@pytest.mark.parametrize("model", ["pocket-t5", "bart"])
def test_the_mixture_that_the_page_draws_is_the_cores(looks, model):
    part = section(looks, CopyPart)
    pack = answers(part, model=model)[-1]
    assert pack["kind"] == "pointer" and len(pack["rows"]) == len(pack["target"])
    weights = weights_of(pack)
    np.testing.assert_allclose(weights.sum(-1), 1, atol=1e-5)  # means of heads are distributions, a maximum would not be
    for step, row in enumerate(pack["rows"]):
        generated = np.zeros(pack["vocab"])
        for id, _, made in row:
            assert 0 <= made <= 1 and (made == 0 or id < pack["vocab"])
            generated[min(id, pack["vocab"] - 1)] += made if id < pack["vocab"] else 0
        for p_gen in (0.0, 0.3, 1.0):
            whole = mixture(generated, weights[0, step], pack["ids"], p_gen)
            for id, _, made in row:
                copied = sum(weight for weight, other in zip(weights[0, step], pack["ids"]) if other == id)
                assert whole[id] == pytest.approx(p_gen * made + (1 - p_gen) * copied, abs=1e-6)
        assert {id for id, _, _ in row} >= set(pack["ids"]), "every word of the source can be copied"


def test_p_vocab_is_what_the_run_ranked(looks):
    part = section(looks, CopyPart)
    pack = answers(part)[-1]
    trace = looks.made.trace(Settings(TEXT))
    for row, place, token in zip(pack["rows"], trace.line(), trace.target, strict=True):
        assert row[0][0] == token.id, "greedy: the likeliest word is the one that was written"
        assert row[0][2] == pytest.approx(np.exp(place.logprob), abs=1e-4)


def test_words_that_the_vocabulary_lacks_get_extended_ids(looks):
    pack = answers(section(looks, CopyPart))[-1]
    assert pack["unknown"] == ["Ω"] and pack["ids"].count(pack["vocab"]) == 2
    assert all([pack["vocab"], "Ω", 0.0] in row for row in pack["rows"])
    assert answers(section(looks, CopyPart), text="A dog runs.")[-1]["unknown"] == []


def test_what_cannot_be_read_is_refused_with_a_sentence(looks):
    assert "empty" in answers(section(looks, CopyPart), text=" ")[-1]["text"]
    assert "no model" in answers(section(looks, CopyPart), model="nothing")[-1]["text"]


# Caches

@pytest.mark.parametrize("model", ["pocket-t5", "bart"])
def test_tokens_are_equal_with_and_without_caches_and_bytes_follow_the_formula(looks, model):
    going = run(Settings(TEXT, model), looks.engine.models)
    costs = [cost for cost in with_and_without(going, 16) if cost]
    assert len(costs) == 16 and all(cost.same for cost in costs)
    assert 0 < max(cost.difference for cost in costs) < 1e-3, "two ways to the same logits, which differ by rounding alone"
    shape = cache_shape(going.loaded.model.config.to_dict())
    for at, cost in enumerate(costs, 1):
        assert cost.self_bytes == kv_bytes(*shape, length=at) and cost.cross_bytes == kv_bytes(*shape, length=len(going.source))
        assert min(cost.seconds) > 0


def test_a_cache_that_is_not_true_is_found(looks):
    """The check can fail: keys of the step before are spoilt."""
    going = run(Settings(TEXT), looks.engine.models)
    steps = with_and_without(going, 8)
    found = []
    for cost in steps:
        if cost:
            found.append(cost)
        if len(found) == 4:
            for layer in steps.gi_frame.f_locals["cache"].self_attention_cache.layers:
                layer.keys = -3 * layer.keys
    assert max(cost.difference for cost in found[:4]) < 1e-3 < max(cost.difference for cost in found[4:])


def test_what_cannot_be_measured_is_said(looks):
    going = run(Settings(TEXT), looks.engine.models)
    for tokens in (1, 129, True, 2.5, "8"):
        with pytest.raises(InputError, match="choose 2 to 128"):
            next(with_and_without(going, tokens))
    seeing = run(Settings(TEXT, masks=Masks(decoder=StackMask("bidirectional"))), looks.engine.models)
    with pytest.raises(ControlError, match="nothing to compare"):
        next(with_and_without(seeing, 8))


def test_the_section_measures_when_asked_and_not_before(looks):
    part = section(looks, CachePart)
    assert answers(part) == [{"kind": "progress", "text": worded("told.caches.ask")}]
    (_, measured), = part.events()
    found = [each[part.told] for each in measured({part.tokens: 12.0}, "one", None)]
    json.dumps(found, allow_nan=False)
    last = found[-1]
    assert last["kind"] == "costs" and len(last["steps"]) == last["asked"] == 12
    assert [one[4:] for one in last["steps"]] == last["formula"]
    (refused,) = [each[part.told] for each in measured({part.tokens: 500}, "one", None)]
    assert refused["kind"] == "refused" and "choose 2 to 128" in refused["text"]


def test_a_measurement_takes_a_turn_for_each_forward_and_stops(looks):
    engine, forwards, held = looks.engine, [], []
    hook = engine.models.load("pocket-t5").model.decoder.register_forward_hook(lambda *found: forwards.append(1))

    class Counted:
        def __enter__(self):
            forwards.clear()

        def __exit__(self, *error):
            held.append(len(forwards))
            if len(held) == 6:
                engine.latest.stop("one")

    before, engine.turn = engine.turn, Counted()
    try:
        part = section(looks, CachePart)
        (_, measured), = part.events()
        found = [each[part.told] for each in measured({part.tokens: 64}, "one", None)]
    finally:
        engine.turn = before
        hook.remove()
    assert held[0] == 2 and held[1:] == [1] * 5, "the warm-up, then one forward a turn"
    assert found[-1]["kind"] == "costs" and len(found[-1]["steps"]) == 2
