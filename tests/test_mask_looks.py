"""The closer looks of the masks tab without a browser: one head, the leak test, heads switched off."""

import base64
import json
from types import SimpleNamespace

import gradio as gr
import numpy as np
import pytest

from app import look_packs
from app.engine import Engine
from app.mask_looks import Looks, edits_of, maps, sizes
from app.mask_sections import HeadsPart, LeakPart, ProbePart
from app.masked import Drawn, Masked, Pair
from app.views import masks as tab
from core.errors import ControlError, InputError
from core.fields import differences
from core.importance import head_importance, importance_maps
from core.interventions import STACKS, Cell, Edits, Head, Masks, StackMask
from core.masks import softmax
from core.models import Models
from core.runs import Run
from core.settings import Settings
from tests import models as tiny

TEXT = "A man rides a brown horse near the old fence."
CAUSAL = Masks(encoder=StackMask("causal"))


@pytest.fixture(scope="module")
def looks(tmp_path_factory) -> Looks:
    """pocket-t5, and a tiny BART that divides by √d."""
    folder = tiny.saved(tiny.noisy("bart"), tmp_path_factory.mktemp("models") / "tiny")
    engine = Engine(Models({"tiny": folder}))
    engine.models.load("pocket-t5")
    return Looks(Masked(engine))


@pytest.fixture
def settings():
    """What the page's controls would give: text, model and what has been drawn."""
    return lambda values: Settings(values.get("text", TEXT), values.get("model", "pocket-t5"), masks=values["drawn"].masks,
                                   edits=values["drawn"].edits)


def numbers(panel) -> np.ndarray:
    raw = np.frombuffer(base64.b64decode(panel["values"]), "<f4")
    return raw.reshape(len(panel["rows"]), len(panel["columns"]))


@pytest.mark.parametrize("model", ["pocket-t5", "tiny"])
@pytest.mark.parametrize("stack", STACKS)
def test_score_bias_and_mask_on_screen_give_the_weights_on_screen(looks, model, stack):
    blind = StackMask("causal", exceptions=tuple(Cell(2, at) for at in range(3)))
    masks = Masks(blind, StackMask("window", 2), StackMask(hidden=(1,)))
    found = looks.probe(Settings(TEXT, model, masks=masks), stack, 2, 1)
    drawn = look_packs.probe(found)
    *added, mask, weights = map(numbers, drawn["panels"])
    assert np.allclose(softmax(sum(added), np.isfinite(mask)), weights, atol=1e-5)
    assert len(added) == (2 if model == "pocket-t5" and stack != "cross" else 1)
    assert len(drawn["operators"]) == len(drawn["panels"]) - 1
    divides = "does not divide" if model == "pocket-t5" else "/ √"
    assert divides in drawn["panels"][0]["note"]
    if stack == "encoder":
        assert drawn["panels"][-1]["dead"] == [2] and "nothing visible" in look_packs.probe_said(found)["notes"][0]


def test_a_switched_off_head_shows_what_is_used(looks):
    found = looks.probe(Settings(TEXT, edits=Edits((Head("cross", 0, 1),))), "cross", 1, 2)
    *_, weights, used = map(numbers, look_packs.probe(found)["panels"])
    assert weights.any() and not used.any()


@pytest.mark.parametrize(("place", "said"), [
    (("cross", 9, 1), "no layer 9; pocket-t5 in its cross attention has layers 1 to 3"), (("cross", 1, 0), "heads 1 to 6"),
    (("cross", None, 1), "no layer None"), (("cross", 1.5, 1), "no layer 1.5"), (("brain", 1, 1), "no site 'brain'"),
    ((["cross"], 1, 1), "no site"), (("cross", 1, "<b>"), "no head '<b>'"),
])
def test_places_that_are_not_there_are_a_sentence(looks, settings, place, said):
    with gr.Blocks():
        part = ProbePart(looks, settings)
    values = dict(zip((part.stack, part.layer, part.head), place, strict=True)) | {"drawn": Drawn(), part.used: True}
    answer = part.look(values, "one")
    assert said in answer[part.told]["text"] and part.maps not in answer


def test_a_look_that_was_not_asked_for_does_nothing_and_then_follows(looks, settings):
    with gr.Blocks():
        part = ProbePart(looks, settings)
    values = {part.stack: "cross", part.layer: 1, part.head: 1, part.used: False, "drawn": Drawn(CAUSAL)}
    # It says nothing rather than False: where the answer comes behind that of a click, it would undo it.
    assert part.look(values, "one", used=False) == {part.used: gr.skip()}
    answer = part.look(values, "one")
    assert answer[part.used] is True and answer[part.maps]["kind"] == "matrices"


def test_the_leak_is_exactly_0_where_the_mask_hides_the_token(looks, settings):
    with gr.Blocks():
        part = LeakPart(looks, settings, None)
    told = part.perturb({part.token: 8, "drawn": Drawn(CAUSAL)})[part.told]
    encoder = told["lines"][0]["tokens"]
    assert [below == "exactly 0" for _, _, below in encoder] == [at < 7 for at in range(len(encoder))]
    assert [mark for _, mark, _ in encoder[:8]] == ["still"] * 7 + ["here"]
    assert "The masks keep 7 positions apart from it; there the change is exactly 0." in told["sentence"]
    free = part.perturb({part.token: 8, "drawn": Drawn()})[part.told]
    assert "No mask keeps any position apart" in free["sentence"] and all(m != "still" for _, m, _ in free["lines"][0]["tokens"])
    everywhere = StackMask(hidden=(7,))
    gone = part.perturb({part.token: 8, "drawn": Drawn(Masks(everywhere, cross=everywhere))})[part.told]
    assert {below for _, _, below in gone["lines"][1]["tokens"]} == {"exactly 0"}


@pytest.mark.parametrize("token", [0, 99, None, "horse", -1, 10**30])
def test_tokens_that_are_not_there_are_a_sentence(looks, settings, token):
    with gr.Blocks():
        part = LeakPart(looks, settings, None)
    assert "There is no source token" in part.perturb({part.token: token, "drawn": Drawn()})[part.told]["text"]


def test_heads_are_measured_as_the_core_does(looks, settings):
    with gr.Blocks():
        part = HeadsPart(looks, settings, next(iter(looks.engine.saved.values())))
    empty = json.loads(part.maps.value)["panels"]
    assert np.isnan(numbers(empty[0])).all() and len(empty) == 3
    *_, last = part.measure({"drawn": Drawn(CAUSAL)}, "one")
    trace = looks.made.trace(Settings(TEXT, masks=CAUSAL))
    wanted = importance_maps(list(head_importance(Run(trace.settings, looks.engine.models.load("pocket-t5")),
                                                  [token.id for token in trace.target])))
    for panel, stack in zip(last[part.maps]["panels"], STACKS, strict=True):
        assert np.allclose(numbers(panel), wanted[stack], atol=1e-4) and panel["checked"] == []
    low = min((float(by), stack, *at) for stack, one in wanted.items() for at, by in np.ndenumerate(one))
    assert f"{low[1]} head {low[2] + 1}.{low[3] + 1} alone" in last[part.told]["sentence"]
    json.dumps(last[part.told], allow_nan=False)


def test_a_newer_run_ends_the_measurement(looks):
    going = looks.heads(Settings(TEXT), "one")
    before = looks.engine.latest.begin
    forwards = []

    def begin(visitor):
        ticket = before(visitor)
        forwards.append(visitor)
        return object() if len(forwards) == 1 else ticket  # as if a newer one had begun at once

    looks.engine.latest.begin = begin
    try:
        assert list(going) == []
    finally:
        del looks.engine.latest.begin


def test_too_many_numbers_at_once_are_refused(looks, monkeypatch):
    monkeypatch.setattr("app.mask_looks.MOST_BYTES", 1000)
    with pytest.raises(InputError, match="too much memory"):
        list(looks.heads(Settings(TEXT), "one"))


def test_ticks_are_edits_and_bad_ones_are_refused():
    edits = Edits((Head("encoder", 0, 1), Head("cross", 2, 2)))
    assert edits_of({"panel": 2, "checked": [[1, 3]]}, edits, list(STACKS)).heads == (Head("cross", 1, 3), Head("encoder", 0, 1))
    for data in (None, {}, {"panel": 3, "checked": []}, {"panel": True, "checked": []}, {"panel": 0, "checked": [[1]]},
                 {"panel": 0, "checked": [["a", 1]]}, {"panel": 0, "checked": [[-1, 1]]},
                 {"panel": 0, "checked": [[0, 0]] * 2000}):
        with pytest.raises(InputError):
            edits_of(data, edits, list(STACKS))


def test_a_tick_switches_the_head_off_in_both_runs_and_keeps_the_numbers(looks):
    parts = SimpleNamespace(drawn="drawn", told="told", grid="grid", maps="maps")
    parts.settings = lambda values: Settings(TEXT, masks=values["drawn"].masks, edits=values["drawn"].edits)
    drawn = Drawn(CAUSAL)
    answers = list(tab.ticked(looks.made, parts, {"drawn": drawn}, {"panel": 2, "checked": [[1, 2]]}, "one"))
    assert drawn.edits.heads == (Head("cross", 1, 2),)
    assert answers[-1]["told"]["sentence"].startswith("Encoder causal instead of bidirectional; cross head 2.3 off: ")
    (answer,) = tab.ticked(looks.made, parts, {"drawn": drawn}, {"panel": 9}, "one")
    assert "no heads of this model" in answer["told"]["text"] and len(drawn.edits.heads) == 1
    *_, answer = tab.ticked(looks.made, parts, {"drawn": drawn}, {"panel": 2, "checked": [[77, 2]]}, "one")
    assert "names layer 77" in answer["told"]["text"]


def test_sizes_of_a_saved_trace_are_those_of_the_model(looks):
    trace = next(iter(looks.engine.saved.values()))
    loaded = looks.engine.models.load("pocket-t5")
    assert sizes(trace) == sizes(None, loaded) == dict.fromkeys(STACKS, (3, 6))
    empty = maps(sizes(trace), [])
    assert len(empty) == len(STACKS) and all(np.isnan(one).all() for one in empty.values())


def test_a_site_out_of_reach_is_refused_with_its_reason(looks, monkeypatch):
    loaded = looks.engine.models.load("tiny")
    for key in [key for key, (stack, _) in loaded.sites.of.items() if stack == "encoder"]:
        monkeypatch.delitem(loaded.sites.of, key)
    with pytest.raises(ControlError, match="encoder attention of tiny cannot be reached"):
        looks.probe(Settings(TEXT, "tiny"), "encoder", 1, 1)
    answers = list(looks_pair(looks, Settings(TEXT, "tiny", masks=CAUSAL)))
    assert "encoder mask cannot be changed" in answers[-1]["told"]["text"]


def looks_pair(looks, settings):
    parts = SimpleNamespace(drawn="drawn", told="told", grid="grid", maps="maps", settings=lambda values: settings)
    return tab.edited(looks.made, parts, {"drawn": Drawn()}, {"masks": differences(settings.masks)}, "one")


def test_pairs_are_what_the_looks_are_at(looks):
    *_, pair = looks.made.pair(Settings(TEXT, masks=CAUSAL))
    assert isinstance(pair, Pair) and looks.made.trace(Settings(TEXT, masks=CAUSAL)) is pair.new
