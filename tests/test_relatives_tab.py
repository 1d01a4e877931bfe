"""What the relatives' section answers: cards, a training, refusals; whose turn it is, and what is overtaken."""

import json
import math
from types import SimpleNamespace

import gradio as gr
import pytest

from app.controls import Controls, model_picker, more, text_box
from app.engine import Engine
from app.masked import Masked
from app.relatives import ORDER, STEPS, Relatives
from app.taught import Taught
from app.training import Trainings
from app.views import train
from app.words import LANGUAGES
from core.errors import InputError
from core.examples import EXAMPLES
from core.models import Models
from core.relatives import RELATIVES
from core.settings import Settings

PLAIN = Settings(text=EXAMPLES[0].text)


@pytest.fixture(scope="module")
def relatives() -> Relatives:
    engine = Engine(Models())
    engine.models.load("pocket-t5")
    return Relatives(engine)


@pytest.fixture(scope="module")
def shown(relatives) -> dict:
    return list(relatives.messages("relatives", PLAIN, {}, "ann"))[-1]


def test_every_family_has_a_card(relatives, shown):
    assert sorted(ORDER) == list(RELATIVES) and [card["name"] for card in shown["cards"]] == list(ORDER)
    assert shown["own"] and shown["text"] == PLAIN.text
    json.dumps(shown, allow_nan=False)
    for card in shown["cards"]:
        n = len(card["tokens"])
        assert len(card["mask"]) == n == len(card["mask"][0]) and all(len(column) == n for column in card["columns"].values())
        assert sum(row[card["changed"]] for row in card["mask"]) == card["moved"]
        assert all(math.isfinite(loss) for loss in card["losses"].values()) and set(card["counts"]) == set(card["losses"])


def test_whatever_a_card_names_has_words(shown):
    words = LANGUAGES["en"]
    for card in shown["cards"]:
        losses = [key for key in card["losses"] if key != "total"]
        named = [f"loss.{key}" for key in losses] + [f"fact.{key}" for key, _ in card["facts"] if key != "decoder"]
        named += [f"part.{part[0]}" for part in card["parts"]] + [f"column.{key}" for key in card["columns"]]
        named += [f"{what}.{card['name']}" for what in ("name", "line", "note", "input", "total")]
        assert all(f"training.relatives.{key}" in words for key in named), card["name"]


def test_the_steps_say_how_far_they_are_and_a_typed_text_is_read(relatives):
    found = list(relatives.messages("relatives", PLAIN, {"text": "Ein Hund. <b>Eine Katze</b> schläft.", "seed": 2}, "ann"))
    assert [one["n"] for one in found[:-1]] == list(range(1, 7)) and {one["kind"] for one in found[:-1]} == {"making"}
    assert found[-1]["text"].startswith("Ein Hund") and not found[-1]["own"] and found[-1]["seed"] == 2
    assert found[-1]["cards"][0]["losses"] != list(relatives.messages("relatives", PLAIN, {}, "ann"))[-1]["cards"][0]["losses"]


@pytest.mark.parametrize("name", ["gpt", "electra"])
def test_a_training_is_told_as_it_goes(relatives, shown, name, monkeypatch):
    monkeypatch.setattr("app.relatives.INTERVAL", 0)
    found = list(relatives.messages("fall", PLAIN, {"name": name}, "ann"))
    assert len(found) > STEPS and len(found[-1]["points"]) == STEPS + 1
    start = next(card for card in shown["cards"] if card["name"] == name)["losses"]["total"]
    assert found[0]["points"] == [pytest.approx(start, abs=1e-3)] and found[-1]["points"][-1] < 0.5 * start
    assert list(relatives.messages("relatives", PLAIN, {}, "bob"))[-1]["cards"] == shown["cards"]  # the shared models stayed


def test_a_newer_ask_of_the_same_visitor_ends_the_older_and_the_turn_is_free_between(relatives, monkeypatch):
    monkeypatch.setattr("app.relatives.INTERVAL", 0)
    going = relatives.messages("fall", PLAIN, {"name": "gpt"}, "ann")
    next(going)
    assert not relatives.engine.turn._taken
    other = relatives.messages("fall", PLAIN, {"name": "bert"}, "bob")
    assert next(other)["name"] == "bert" and next(going)["name"] == "gpt"
    assert next(relatives.messages("relatives", PLAIN, {}, "ann"))["kind"] == "making"
    assert list(going) == [] and next(other)["name"] == "bert"
    relatives.stop("bob")
    assert [one["stopped"] for one in other] == [True]


def test_stop_ends_a_training_within_a_step_and_what_it_has_come_to_stays(relatives, monkeypatch):
    monkeypatch.setattr("app.relatives.INTERVAL", 0)
    going = relatives.messages("fall", PLAIN, {"name": "gpt"}, "ann")
    before = [next(going) for _ in range(5)][-1]
    assert len(before["points"]) == 5 and not before["over"]
    relatives.stop("ann")
    after = list(going)
    assert [one["kind"] for one in after] == ["fall"] and after[0]["over"] and after[0]["stopped"]
    assert after[0]["points"] == before["points"] and not relatives.engine.turn._taken
    whole = list(relatives.messages("fall", PLAIN, {"name": "gpt"}, "ann"))[-1]
    assert whole["over"] and not whole["stopped"] and whole["points"][:5] == before["points"]


def test_the_tabs_button_stops_it(relatives):
    """The event `quit` of a section: no other test holds that the tab passes it on to the families."""
    with gr.Blocks() as page:
        train.build(relatives.engine, Controls(text_box(""), *model_picker(relatives.engine.models, ""), **more()))
    quit = next(fn for fn in page.fns.values() if fn.fn.__name__ == "quit")
    going = relatives.messages("fall", PLAIN, {"name": "bert"}, "eve")
    next(going)
    quit.fn(SimpleNamespace(session_hash="eve"))
    assert [one["over"] for one in going][-1] is True and not relatives.engine.latest._runs.get("eve relatives")


@pytest.mark.parametrize(("what", "data", "said"), [
    ("relatives", {"text": 7}, "must be a text"),
    ("relatives", {"text": "x" * 5000}, "at most 4,000 characters"),
    ("relatives", {"text": "A"}, "at least two words"),
    ("relatives", {"seed": "1"}, "seed is '1'"),
    ("relatives", {"seed": -1}, "seed is -1"),
    ("fall", {"name": "llama"}, "no family 'llama'"),
    ("fall", {"name": ["bert"]}, "no family"),
])
def test_what_cannot_be_asked_is_refused(relatives, what, data, said):
    with pytest.raises(InputError, match=said):
        list(relatives.messages(what, PLAIN, data, "ann"))


def test_the_tab_passes_them_on(relatives):
    taught = Taught(Masked(relatives.engine))
    found = list(train.answers(taught, Trainings(relatives.engine, taught), relatives, PLAIN, {"what": "relatives"}, "ann"))
    assert found[-1]["kind"] == "relatives"
