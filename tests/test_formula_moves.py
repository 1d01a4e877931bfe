"""Sheets and experiments of the formulas tab without a browser: order, places, every picture, what a dial may not be."""

import json
import math
import re
from contextvars import copy_context
from pathlib import Path

import gradio as gr
import pytest

from app.controls import Controls, model_picker, more, text_box
from app.engine import Engine
from app.experiments import EXPERIMENTS
from app.formula_moves import MOST, checked, dials, look, moved, plain
from app.formula_packs import course
from app.views.formulas import Parts, experiment
from app.widgets.formula_cards import words
from app.words import LANGUAGES, speak
from core.errors import InputError
from core.formulas.sheets import ALL, SHEETS, places
from core.models import Models

COURSE = Path(__file__).parent / "course"
FAR = [math.nan, math.inf, -math.inf, True, None, "1", [1], 10**400, -1e300, 1e300]


@pytest.fixture(scope="module")
def parts() -> Parts:
    models = Models()
    with gr.Blocks():
        return Parts(Controls(text_box(""), *model_picker(Engine(models).models, ""), **more()))


def first(id: str, **other: object) -> dict:
    """What a browser asks for where no dial was moved."""
    return {"id": id, "values": {dial.name: dial.first for dial in EXPERIMENTS[id].dials} | other, "dark": False, "turn": 1}


# Sheets

@pytest.mark.parametrize(("sheet", "count"), [("003", 48), ("004", 70)])
def test_a_sheet_has_every_displayed_formula_in_the_order_of_its_document(sheet, count):
    listed = json.loads((COURSE / f"{sheet}.json").read_text("utf-8"))
    assert len(listed) == count
    wanted: dict[int, dict[str, None]] = {}
    for one in listed:
        wanted.setdefault(int(one["place"].partition(".")[0]), {})[one["id"]] = None
    assert SHEETS[sheet] == {number: tuple(ids) for number, ids in wanted.items()}


def test_every_entry_stands_somewhere_and_first_of_all_where_it_says():
    assert {id for sections in SHEETS.values() for ids in sections.values() for id in ids} == set(ALL)
    for id, formula in ALL.items():
        assert places(id)[0] == (formula.sheet, formula.lesson)
        assert {tuple(place.split(".")) for place in formula.also} <= {(sheet, str(n)) for sheet, n in places(id)}, id


def test_every_card_has_a_title_a_meaning_and_its_note_and_every_section_a_title():
    said = words()["en"]
    for one in course()["cards"]:
        assert {f"title.{one['id']}", f"meaning.{one['id']}"} <= set(said), one["id"]
        assert not one["note"] or said[f"clash.{one['id']}"] == ALL[one["id"]].note
    for sheet, sections in SHEETS.items():
        assert {f"lesson.{'' if sheet == '000' else sheet + '.'}{number}" for number in sections} <= set(said)


# Experiments

def test_every_formula_of_003_and_004_has_something_to_move():
    assert set(EXPERIMENTS) == {id for sheet in ("003", "004") for ids in SHEETS[sheet].values() for id in ids}


@pytest.mark.parametrize("id", EXPERIMENTS)
def test_dials_have_a_range_that_holds_where_they_begin(id):
    assert id in ALL and EXPERIMENTS[id].dials
    for dial in EXPERIMENTS[id].dials:
        assert dial.lowest <= dial.first <= dial.highest and 0 < dial.step <= dial.highest - dial.lowest
    assert checked(id, first(id)["values"]) == pytest.approx(first(id)["values"])
    assert [one[0] for one in dials(id)] == [dial.name for dial in EXPERIMENTS[id].dials]


@pytest.mark.parametrize("id", EXPERIMENTS)
def test_every_picture_is_small_says_how_it_was_made_and_is_another_at_each_end(id):
    pictures = set()
    for dial in EXPERIMENTS[id].dials:
        for end in (dial.lowest, dial.first, dial.highest):
            message, picture = moved(first(id, **{dial.name: end}))
            assert message["kind"] == "moved" and message["turn"] == 1 and len(message["title"]) > 8, id
            sent = json.loads(picture.plot, parse_constant=lambda name: pytest.fail(f"{id}: {name} is no JSON"))
            assert picture.type == "plotly" and sent["data"] and "text" not in sent["layout"].get("title", {})
            assert len(picture.plot) < MOST
            pictures.add(json.dumps(sent["data"]) + message["title"])
    assert len(pictures) > 1


@pytest.mark.parametrize("wrong", FAR, ids=str)
def test_a_dial_takes_no_other_kind_of_value_and_none_out_of_its_range(wrong):
    with pytest.raises(InputError, match="T must be a number from 0.1 to 5"):
        moved(first("temperature", T=wrong))


@pytest.mark.parametrize("data", [
    None, 7, [], {}, {"id": "dpo?"}, {"id": ["temperature"]}, {"id": "temperature"}, {"id": "temperature", "values": [1]},
    {"id": "temperature", "values": {}}, {"id": "temperature", "values": {"T": 1, "p": 1}}, {"id": "bleu", "values": {}},
    {"id": "<img src=x>" * 20, "values": {}, "turn": "x"}, first("temperature") | {"turn": True, "values": {"T": 9}},
], ids=str)
def test_what_cannot_be_moved_is_answered_in_words_and_the_picture_stays(parts, data):
    told = experiment(parts, data)
    message = told[parts.cards]
    assert message["kind"] == "moved" and message["text"].endswith(".") and "Traceback" not in message["text"]
    assert len(message["text"]) < 300 and message["turn"] == 0 and told[parts.plot] == gr.skip()


def test_an_answer_names_its_question_and_brings_the_plot(parts):
    told = experiment(parts, first("temperature") | {"turn": 12})
    assert told[parts.cards]["turn"] == 12 and told[parts.cards]["id"] == "temperature"
    assert told[parts.plot].visible is True


def test_values_fall_on_the_steps_of_a_dial():
    assert checked("temperature", {"T": 1.0001}) == {"T": 1.0}
    found = checked("factorized_embedding", {"E": 33, "V": 31000.0})
    assert found == {"E": 32, "V": 30000} and all(isinstance(value, int) for value in found.values())


def test_a_picture_has_the_colours_of_the_page_and_no_ground():
    figures = [json.loads(moved(first("temperature") | {"dark": dark})[1].plot) for dark in (False, True)]
    light, dark = (one["layout"]["template"]["layout"] for one in figures)
    assert light["font"]["color"] != dark["font"]["color"] and light["paper_bgcolor"] == dark["paper_bgcolor"] == "rgba(0,0,0,0)"
    assert look(True)["layout"]["font"]["color"] == dark["font"]["color"]
    assert figures[0]["config"] == {"displayModeBar": False}


def test_a_title_is_plain_text():
    assert plain("p<sub>T</sub> of<br>&lt;s&gt;, <b>seed 1</b>") == "pT of <s>, seed 1"
    assert plain(None) == ""


# Words

WORDS = {key.removeprefix("told.figure."): text for key, text in LANGUAGES["en"].items() if key.startswith("told.figure.")}
# English that is no symbol, a name or an international word: whatever of it is drawn goes through `word`
PLAIN = re.compile(r"\b(?:seeds?|nats|mean|weights|output|input|similarity|number|step|loss|words?|rate|and|the|with)\b", re.I)


def drawn_words(picture: dict, title: str) -> list[str]:
    """All texts of a picture: title, axes, names of traces, headings, ticks that are words."""
    layout = picture["layout"]
    axes = [axis.get("title", {}).get("text") or "" for name, axis in layout.items() if name[1:5] == "axis"]
    names = [trace.get("name") or "" for trace in picture["data"]]
    ticks = [str(one) for trace in picture["data"] for one in (*trace.get("x", ()), *trace.get("y", ())) if isinstance(one, str)]
    return [title, *axes, *names, *ticks, *(one["text"] for one in layout.get("annotations", ()))]


@pytest.mark.parametrize("id", EXPERIMENTS)
def test_a_picture_says_nothing_in_english_on_the_german_page(id):
    context = copy_context()
    context.run(speak, "de")
    for dial in EXPERIMENTS[id].dials:
        for end in (dial.lowest, dial.highest):
            message, picture = context.run(moved, first(id, **{dial.name: end}))
            for text in drawn_words(json.loads(picture.plot), message["title"]):
                assert not PLAIN.search(text.replace("POOL = mean", "")), text


def test_words_of_pictures_are_all_used():
    source = "".join(path.read_text("utf-8") for path in sorted((COURSE.parents[1] / "app/experiments").glob("*.py")))
    assert WORDS and all(f'"{name}"' in source or f"'{name}'" in source for name in WORDS)
