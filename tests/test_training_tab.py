"""What the training tab answers: a pair, a wrong token, the bridge, budgets, kinds; trainings that share the model and stop."""

import base64
import json
import time
from dataclasses import replace

import gradio as gr
import numpy as np
import pytest

from app.config import AppConfig
from app.engine import Engine
from app.masked import Masked
from app.page import build
from app.relatives import Relatives
from app.taught import Taught, reference
from app.training import Trainings
from app.views import train
from app.widgets.late import Late, code
from core.errors import InputError
from core.examples import EXAMPLES, OWN
from core.models import Models
from core.models.loading import fingerprint
from core.settings import Settings
from core.train.teaching import RULES
from core.zoo import ZOO

TEXT = EXAMPLES[0].text
PLAIN = Settings(text=TEXT)


@pytest.fixture(scope="module")
def taught() -> Taught:
    engine = Engine(Models())
    engine.models.load("pocket-t5")
    return Taught(Masked(engine))


@pytest.fixture(scope="module")
def trainings(taught) -> Trainings:
    return Trainings(taught.engine, taught)


def floats(text: str) -> np.ndarray:
    return np.frombuffer(base64.b64decode(text), "<f4")


def test_a_pair_is_told_position_by_position(taught):
    found = taught.answer("teach", PLAIN, {"target": "", "suggest": True})
    assert found["target"] == EXAMPLES[0].reference and not found["own"]
    nll = floats(found["nll"])
    assert len(nll) == len(found["labels"]) == len(found["fed"]) == len(found["best"]) and found["labels"][-1] == "</s>"
    assert found["fed"][1:] == found["labels"][:-1] and found["fed"][0] == "<pad>"
    at = found["free"]["diverges"]
    assert found["ids"][:at] == found["free"]["ids"][:at] and found["ids"][at] != found["free"]["ids"][at]
    assert [rule["family"] for rule in found["rules"]] == list(RULES)
    own = taught.answer("teach", PLAIN, {"target": ""})
    assert own["own"] and own["free"]["diverges"] is None and floats(own["nll"]).mean() < nll.mean()


def test_one_wrong_token_moves_the_loss_after_it_and_what_is_written(taught):
    found = taught.answer("teach", PLAIN, {"target": EXAMPLES[0].reference})
    other = found["best"][1][1][0]
    wrong = taught.answer("wrong", PLAIN, {"target": EXAMPLES[0].reference, "at": 2, "id": other})
    before, after = floats(found["nll"]), floats(wrong["nll"])
    assert (before[:2] == after[:2]).all() and (before[2:] != after[2:]).any()
    assert wrong["tokens"][:2] == [found["labels"][0], wrong["token"]] == wrong["fed"][1:3]


def test_the_bridge_is_told_by_path_and_is_nothing_when_cut(taught):
    found = taught.answer("bridge", PLAIN, {"target": EXAMPLES[0].reference})
    n, c, layers = len(found["source"]), found["columns"], found["layers"]
    paths = floats(found["paths"]).reshape(2, layers, n, c)
    assert np.allclose(paths.sum((0, 1)), floats(found["whole"]).reshape(n, c), atol=1e-5)
    assert found["gap"] < 1e-5 and not found["zero"]
    cut = taught.answer("bridge", PLAIN, {"target": EXAMPLES[0].reference, "cut": True})
    assert cut["zero"] and not floats(cut["whole"]).any() and cut["loss"] > found["loss"]


def test_the_budget_counts_what_is_loaded(taught):
    for name in ("pocket-t5", "pocket-bart"):
        found = taught.answer("budget", replace(PLAIN, model=name), {})
        assert sum(row[3] for row in found["rows"]) == found["exact"] == sum(found["blocks"].values())
    assert [one["name"] for one in found["zoo"]] == [one.name for one in ZOO]


@pytest.mark.parametrize("kind", ["encoder-only", "decoder-only", "prefix-lm", "encoder-decoder"])
def test_every_kind_runs_on_the_text(taught, kind):
    found = taught.answer("kind", PLAIN, {"name": kind, "target": EXAMPLES[0].reference})
    for one in found["maps"]:
        values = floats(one["values"]).reshape(len(one["rows"]), len(one["columns"]))
        assert np.allclose(values.sum(-1), 1, atol=1e-4)
    assert all(found["source_moved"]) == (kind != "decoder-only")


def test_two_families_are_measured_side_by_side(taught):
    found = taught.answer("dressed", PLAIN, {})["models"]
    assert [one["family"] for one in found] == ["t5", "bart"]
    assert found[0]["mean"] > 1e-3 > found[1]["mean"] and found[0]["below"] == 0 < found[1]["below"]


@pytest.mark.parametrize(("what", "data", "said"), [
    ("sing", {}, "no question 'sing'"),
    ("teach", {"target": 7}, "target must be a text"),
    ("teach", {"target": "x" * 5000}, "at most 4,000 characters"),
    ("wrong", {"target": "Ein Hund.", "at": "1", "id": 5}, "an id at a position"),
    ("wrong", {"target": "Ein Hund.", "at": 99, "id": 5}, "cannot stand at position 100"),
    ("wrong", {"target": "Ein Hund.", "at": 1, "id": -1}, "cannot stand"),
    ("kind", {"name": "both"}, "no kind 'both'"),
])
def test_what_cannot_be_asked_is_refused(taught, what, data, said):
    with pytest.raises(InputError, match=said):
        taught.answer(what, PLAIN, data)


def test_a_translation_by_hand_is_offered_for_our_own_sentences():
    assert reference(PLAIN) == EXAMPLES[0].reference and reference(Settings(text="A shark.")) == ""
    assert reference(Settings(text=OWN[3]["en"], task="en-fr")) == OWN[3]["fr"]
    assert reference(Settings(text=OWN[3]["en"])) == OWN[3]["de"]


# Trainings

def test_a_distillation_streams_its_curve_and_ends_with_outputs(trainings, monkeypatch):
    monkeypatch.setattr("app.training.INTERVAL", 0)
    before = fingerprint(trainings.engine.models.load("pocket-t5").model)
    found = list(trainings.messages("distil", PLAIN, {"student": "half", "steps": 12.0, "rate": 1e-3}, "ann"))
    curves = [one for one in found if one["kind"] == "curve"]
    points: list = []
    for one in curves:  # as the browser keeps them
        points[one["from"]:] = one["points"]
    assert [point[0] for point in points] == list(range(13)) == [point[0] for point in curves[-1]["points"]]
    assert len(curves) > 3 and points[-1][4] < 0.9 * points[0][4]
    outcome = found[-1]
    assert outcome["kind"] == "outcome" and len(outcome["rows"]) == 3 and not outcome["stopped"]
    assert all(row["before"] and row["after"] for row in outcome["rows"])
    assert fingerprint(trainings.engine.models.load("pocket-t5").model) == before
    asked = {"target": OWN[4]["de"], "student": "trained"}  # it is kept for whoever trained it
    trained = trainings.bars(Settings(text=OWN[4]["en"]), asked, "ann")
    plain = trainings.bars(Settings(text=OWN[4]["en"]), asked | {"student": "half"}, "ann")
    assert trained["students"][-1] == "trained" and trained["student"] != plain["student"]


def test_typed_pairs_are_learned_and_another_visitors_weights_stay(trainings):
    loaded = trainings.engine.models.load("pocket-t5")
    before, truth = fingerprint(loaded.model), trainings.taught.made.trace(Settings(text="A robot is cooking soup.")).text
    found = list(trainings.messages("tune", PLAIN, {"pairs": "A robot is cooking soup. = Ein Roboter kocht Suppe.",
                                                    "steps": 25, "rate": 1e-3}, "ann"))
    row = found[-1]["rows"][0]
    assert row["before"] == truth != row["after"] == "Ein Roboter kocht Suppe."
    assert trainings.taught.made.trace(Settings(text="A robot is cooking soup. ")).text == truth
    assert fingerprint(loaded.model) == before


def test_stop_ends_a_training_with_what_was_learned(trainings, monkeypatch):
    monkeypatch.setattr("app.training.INTERVAL", 0)
    going, seen = trainings.messages("distil", PLAIN, {"student": "half", "steps": 500}, "ann"), []
    for message in going:
        seen.append(message)
        if message["kind"] == "curve" and message["points"] and message["points"][-1][0] >= 2:
            trainings.engine.latest.stop("ann training")
    assert seen[-1]["kind"] == "outcome" and seen[-1]["stopped"] and 2 <= seen[-1]["step"] < 10
    going = trainings.messages("distil", PLAIN, {"student": "fresh"}, "ann")  # stopped before it began: nothing is shown
    next(going)
    trainings.engine.latest.stop("ann training")
    assert list(going)[-1] == {"kind": "outcome", "rows": [], "stopped": True, "step": 0}


def test_others_run_between_the_pieces_of_a_training(trainings, monkeypatch):
    """The turn is free after each piece, and no piece is a whole step of the batch."""
    monkeypatch.setattr("app.training.INTERVAL", 0)
    held, enter = [], trainings.engine.turn.__class__.__enter__
    began = []

    def entering(turn):
        began.append(time.monotonic())
        return enter(turn)

    monkeypatch.setattr(trainings.engine.turn.__class__, "__enter__", entering)
    for message in trainings.messages("tune", PLAIN, {"pairs": "a = b\nc = d", "steps": 3}, "bob"):
        assert not trainings.engine.turn._taken
        held.append(message["kind"])
    assert len(began) > 3 * 2 + 10 and "outcome" in held


def test_only_so_many_train_at_once_and_the_room_is_given_back(trainings):
    goings = [trainings.messages("distil", PLAIN, {"student": "half"}, name) for name in "ab"]
    for going in goings:
        next(going)
    with pytest.raises(InputError, match="2 trainings are going on"):
        next(trainings.messages("distil", PLAIN, {"student": "half"}, "c"))
    for going in goings:
        going.close()
    assert next(trainings.messages("distil", PLAIN, {"student": "half"}, "c"))["kind"] == "progress"


@pytest.mark.parametrize(("what", "data", "said"), [
    ("distil", {"student": "pocket-bart"}, "no student 'pocket-bart' with the vocabulary of pocket-t5; .* pocket-cheat"),
    ("distil", {"student": "half", "steps": "x"}, "steps is 'x'"),
    ("distil", {"student": "half", "mix": 2}, "mix is 2"),
    ("tune", {"pairs": 3}, "must be a text"),
    ("tune", {"pairs": "no pair here"}, "Line 1"),
    ("tune", {"pairs": "a = b", "rate": 5}, "rate is 5"),
])
def test_a_training_that_cannot_be_is_refused_and_leaves_room(trainings, what, data, said):
    for _ in range(3):
        with pytest.raises(InputError, match=said):
            list(trainings.messages(what, PLAIN, data, "ann"))


@pytest.mark.parametrize("student", ["half", "fresh", "pocket-cheat"])
def test_both_sides_of_a_distillation_have_one_vocabulary(trainings, student):
    found = trainings.bars(PLAIN, {"target": "Ein Mädchen wartet.", "at": 1, "student": student})
    teacher, other = floats(found["teacher"]), floats(found["student"])
    assert teacher.shape == other.shape == (8000,) and not np.allclose(teacher, other)
    assert str(int(teacher.argmax())) in found["names"] and str(found["label"]) in found["names"]
    assert found["students"] == ["half", "fresh", "pocket-cheat"]
    with pytest.raises(InputError, match="no student 'trained'"):
        trainings.bars(PLAIN, {"target": "Ein Hund.", "student": "trained"}, "nobody")
    with pytest.raises(InputError, match="no position 99"):
        trainings.bars(PLAIN, {"target": "Ein Hund.", "at": 99, "student": student})


# The page

def test_a_section_costs_the_first_load_almost_nothing():
    page = build(AppConfig())
    late = [block for block in page.blocks.values() if isinstance(block, Late) and block.elem_id.startswith("ts-train-")]
    assert len(late) == len(train.SECTIONS) and all(block.value is None for block in late)


@pytest.mark.parametrize("name", train.SECTIONS)
def test_a_sections_code_has_its_words_in_every_language(name):
    found = code("training", "text", "common", "charts", *train.SCRIPTS.get(name, ()), name)
    assert found["words"]["en"].keys() == found["words"]["de"].keys()
    assert all(key.startswith("training.") for key in found["words"]["en"]) and "receive({" in found["script"]
    assert json.loads(Late().postprocess(found)) == found


@pytest.mark.parametrize("data", [None, [], {}, {"what": 3}, {"what": "sing"}])
def test_a_strange_event_is_a_sentence(taught, trainings, data):
    with pytest.raises(InputError):
        list(train.answers(taught, trainings, Relatives(taught.engine), PLAIN, data, "ann"))


def test_a_late_component_shows_only_messages():
    with gr.Blocks(), pytest.raises(ValueError, match="Late shows a dict, or None"):
        Late().postprocess("<b>x</b>")
