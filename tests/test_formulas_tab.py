"""The formulas tab without a browser: the file of MathML, numbers of every card, moments, what is refused, what is sent when."""

import json
import re
import subprocess
import sys
from xml.etree import ElementTree as Tree

import gradio as gr
import numpy as np
import pytest
import torch

from app import formula_markup, formula_packs
from app.config import AppConfig
from app.controls import Controls, model_picker, more, text_box
from app.engine import Engine
from app.formula_lines import ITEM_LINES, LINES
from app.formula_looks import REFERENCE, FormulaLooks
from app.formula_shown import listing, number
from app.page import build
from app.views.formulas import Parts, asked, followed, looked, opens
from app.widgets.formula_cards import FormulaCards, opening, words
from core import Settings, record
from core.errors import RecordError
from core.examples import EXAMPLES
from core.formulas import FORMULAS, GLOSSARY, ITEMS, LOCAL
from core.formulas.moment import SAVED, TOUR, TOUR_TEXT, Moment
from core.formulas.moments import moment
from core.formulas.sheets import ALL
from core.models import Models
from core.runs import Run, run
from tests import models


@pytest.fixture(scope="module")
def looks() -> FormulaLooks:
    engine = Engine(AppConfig().registry())
    engine.models.load("pocket-t5")
    return FormulaLooks(engine)


@pytest.fixture(scope="module")
def parts(looks) -> Parts:
    with gr.Blocks():
        return Parts(Controls(text_box(""), *model_picker(looks.engine.models, ""), **more()))


def values(parts: Parts, text: str = TOUR_TEXT, opened: bool = True, place: tuple = (1, 1, 1), reference: object = "", **own,
           ) -> dict:
    found = {component: component.value for component in parts.inputs}
    found |= dict(zip(parts.place, place, strict=True))
    found |= {parts.reference: reference, parts.opened: opened, parts.controls.text: text}
    return found | {getattr(parts.controls, name): value for name, value in own.items()}


def moments(text: str = TOUR_TEXT, model: str = "pocket-t5", step: int = 1) -> Moment:
    registry, settings = Models(), Settings(text=text, model=model)
    *early, found = moment(run(settings, registry), record(settings, registry), step, 1, 4)
    assert all(one is None for one in early) and len(early) == 6  # others may use the model between the forwards
    return found


@pytest.fixture(scope="module")
def saved() -> Moment:
    return Moment.from_bytes(SAVED.read_bytes())


# Markup

def test_the_file_of_mathml_is_what_the_converter_makes():
    assert json.loads(formula_markup.FILE.read_text("utf-8")) == json.loads(json.dumps(formula_markup.made()))


@pytest.mark.parametrize("id", [*ALL, *(f"item.{number}" for number in ITEMS)])
def test_markup_is_mathml_without_latex_and_its_symbols_are_known(id):
    one = json.loads(formula_markup.FILE.read_text("utf-8"))[id]
    known = set(GLOSSARY) | {f"{where}:{form}" for where, forms in LOCAL.items() for form in forms}
    for text in one.values():
        root = Tree.fromstring(text)
        assert root.tag == "math" and {node.tag for node in root.iter()} <= {
            "math", "mrow", "mi", "mo", "mn", "mtext", "mspace", "msub", "msup", "msubsup", "munder", "mover", "munderover",
            "mfrac", "msqrt", "mtable", "mtr", "mtd", "mstyle"}
        assert "\\" not in "".join(root.itertext())
        assert all(node.get("mathvariant") in (None, "normal") for node in root.iter())
    terms = [node.get("data-term") for node in Tree.fromstring(one["math"]).iter() if node.get("data-term")]
    assert (terms or id not in FORMULAS) and set(terms) <= known


def test_every_letter_of_the_course_says_what_it_is():
    """What is left has no meaning of its own: names of functions, signs, the real numbers, Euler's e."""
    for id, one in json.loads(formula_markup.FILE.read_text("utf-8")).items():
        bare: list[str] = []

        def walk(node: Tree.Element, bare: list[str] = bare) -> None:
            if node.get("data-term"):
                return
            if node.tag == "mi" and (node.text or "").strip():
                bare.append(node.text)
            for child in node:
                walk(child)

        if id in FORMULAS or id.startswith("item."):
            walk(Tree.fromstring(one["math"]))
            assert set(bare) <= {"e", "ℝ", "log", "exp", ":", "⟨", "⟩", "min", "max"}, id


def test_every_term_of_the_glossary_has_words_and_every_symbol_a_picture():
    markup, said = json.loads(formula_markup.FILE.read_text("utf-8")), words()["en"]
    for name, term in GLOSSARY.items():
        assert said[f"term.{name}"] == term.meaning
        assert (f"term.{name}" in markup) == bool(term.latex)


# Numbers

@pytest.mark.parametrize("name", ["pocket-t5", "pocket-bart"])
def test_every_card_has_numbers_for_every_place_or_says_why_not(name):
    found = moments(model=name)
    cards = {**formula_packs.numbers(found, REFERENCE)["cards"], **formula_packs.tour(found)["cards"]}
    said = words()["en"]
    assert set(cards) == {*FORMULAS, *(f"item.{number}" for number in ITEMS)}
    without = set()
    for id, card in cards.items():
        line = LINES[id] if id in LINES else ITEM_LINES[int(id.removeprefix("item."))]
        if card["values"]:
            assert formula_markup.places(line) <= set(card["values"]), id
        else:
            without.add(id)
            assert card["note"], id
        if card["note"]:
            assert set(re.findall(r"{(\w+)}", said["note." + card["note"][0]])) <= set(card["note"][1]), id
        for panel in card["panels"]:
            size = len(panel["rows"]) * len(panel["columns"])
            assert size and len(panel["values"]) == 4 * -(-2 * size // 3)
    assert without == (set() if name == "pocket-t5" else {"encoder_block", "decoder_block", "t5_bias"})
    json.dumps(cards, allow_nan=False)


# pictures of what the course names in words only
UNLIT = {("item.4", "v"), ("encoder_attention", "SelfAttn")}


def test_what_is_lit_is_a_symbol_of_the_card(saved):
    markup = json.loads(formula_markup.FILE.read_text("utf-8"))
    short = Moment.from_bytes(TOUR.read_bytes())
    cards = {**formula_packs.numbers(saved, REFERENCE)["cards"], **formula_packs.tour(short)["cards"]}
    for id, card in cards.items():
        forms = {node.get("data-form") for node in Tree.fromstring(markup[id]["math"]).iter()}
        for panel in card["panels"]:
            lit = [form for form in panel["lights"] if form in forms]
            assert lit or (id, panel["title"]) in UNLIT, (id, panel["title"], panel["lights"], forms)


def test_numbers_of_a_moment_are_the_models_own(saved):
    """Against another way to the same: logits of a plain forward, the loss of transformers, autograd, hidden states."""
    registry = Models()
    loaded = registry.load("pocket-t5")
    source = torch.tensor([[token.id for token in saved.source]])
    labels = torch.tensor([[token.id for token in saved.target]])
    out = loaded.model(input_ids=source, labels=labels, output_hidden_states=True)
    np.testing.assert_allclose(-saved.arrays["logprobs"].mean(), float(out.loss), atol=1e-4)
    np.testing.assert_allclose(saved.arrays["logits"], out.logits[0, saved.step].sort(descending=True).values, atol=1e-3)
    layer = saved.layer
    np.testing.assert_allclose(saved.arrays["encoder.block_in_cut"], out.encoder_hidden_states[layer][0, :, :16], atol=1e-3)
    np.testing.assert_allclose(saved.arrays["encoder.after_ffn_cut"], out.encoder_hidden_states[layer + 1][0, :, :16], atol=1e-3)
    np.testing.assert_allclose(saved.arrays["decoder.after_ffn_cut"], out.decoder_hidden_states[layer + 1][0, :, :16], atol=1e-3)
    assert saved.facts["bridge.off"] < 1e-6 and saved.facts["P"] == loaded.model.num_parameters()
    assert saved.settings.text == EXAMPLES[0].text and Moment.from_bytes(TOUR.read_bytes()).settings.text == TOUR_TEXT


@pytest.mark.parametrize("family", ["t5", "bart", "marian", "t5gemma"])
def test_a_moment_of_any_family_is_a_record(family):
    loaded = models.loaded(family)
    going = Run(Settings(text=models.TEXT), loaded)
    for _ in going:
        pass
    *_, found = moment(Run(Settings(text=models.TEXT), loaded), going.trace(), 0, 9, 9)
    again = Moment.from_bytes(found.to_bytes())
    assert again.id == found.id and again.facts == found.facts
    assert all(np.array_equal(again.arrays[name], array, equal_nan=True) for name, array in found.arrays.items())
    assert found.facts.get("bridge.off", 0.0) < 1e-5
    assert set(formula_packs.numbers(found)["cards"]) == set(FORMULAS)
    with pytest.raises(RecordError, match="moment"):
        Moment.from_bytes(found.to_bytes()[:-40])


def test_numbers_are_written_with_a_true_minus_and_never_as_nothing():
    assert [number(x) for x in (-0.5, 0, 0.0004, 3e-7, 2e41, -np.inf)] == ["−0.500", "0.000", "0.0004", "3e−7", "2.0e41", "−∞"]
    assert listing([1, -2, 3], most=2) == "1.00,\u2009−2.00,\u2009…"


# What is sent when

def test_the_page_holds_nothing_of_the_course_before_the_tab_opens():
    sent = str(build(AppConfig()).get_config_file())
    assert "ts-formulas-cards" in sent and "softmax(scores)" not in sent and FORMULAS["bridge"].meaning not in sent
    assert len(FormulaCards().js_on_load) < 1000
    assert FORMULAS["bridge"].meaning in str(opening()["words"]["en"].values())


def test_the_first_opening_brings_the_code_which_asks_for_the_rest(looks, parts):
    (first,) = opens(looks, parts, values(parts, EXAMPLES[0].text, opened=False), "v")
    assert first[parts.opened] is True and first[parts.cards]["kind"] == "code" and first[parts.cards]["script"]
    rest, end = asked(looks, parts, values(parts, EXAMPLES[0].text), {"what": "course"}, "v")
    message = rest[parts.cards]
    assert set(message["numbers"]["cards"]) == set(FORMULAS) and len(message["course"]["terms"]) == len(GLOSSARY)
    assert end == {parts.opened: True}  # the saved numbers are those of this text: nothing else comes
    assert list(opens(looks, parts, values(parts, EXAMPLES[0].text), "v")) == [{parts.opened: True}]
    assert len(json.dumps([first[parts.cards], message])) < 600_000


@pytest.mark.parametrize("data", [None, 7, {}, {"what": "weights"}, {"what": ["course"]}])
def test_what_a_browser_may_not_ask_for_is_refused(looks, parts, data):
    (told,) = asked(looks, parts, values(parts), data, "v")
    assert told[parts.cards]["kind"] == "refused"


def test_the_first_numbers_need_no_torch():
    code = """
import sys
from app.engine import Engine
from app.formula_looks import FormulaLooks
from core.models import Models
made = FormulaLooks(Engine(Models())).first()
print(len(made["numbers"]["cards"]), "torch" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=formula_markup.FILE.parents[1], capture_output=True, text=True)
    assert done.stdout.split() == [str(len(FORMULAS)), "False"], done.stderr


def test_a_run_is_followed_only_where_the_tab_was_opened(looks, parts):
    assert list(followed(looks, parts, values(parts, opened=False), "v")) == [{parts.opened: False}]
    (told,) = followed(looks, parts, values(parts, "A man eats."), "v")
    assert told[parts.cards] == {"kind": "progress", "key": "other"}
    settings = Settings(text="A man eats.", task="en-de")
    looks.engine.recent.add(record(settings, looks.engine.models))
    *_, told = followed(looks, parts, values(parts, "A man eats.", place=(99, 99, 99), reference=REFERENCE, task="en-de"), "v")
    message = told[parts.cards]
    assert message["kind"] == "numbers" and message["numbers"]["place"][1:] == [3, 6]  # the nearest that there is
    assert message["numbers"]["cards"]["bleu"]["note"][0] == "no_reference"  # the first example's is not this text's


def test_a_look_runs_what_is_not_there_and_takes_the_reference(looks, parts):
    *_, told = looked(looks, parts, values(parts, place=(2, 1, 3), reference="Drei Hunde rennen."), "v")
    numbers = told[parts.cards]["numbers"]
    assert numbers["place"] == [2, 1, 3] and numbers["about"]["text"] == "Drei Hunde rennen."
    assert numbers["cards"]["bleu"]["values"]["bleu"].startswith("1.000") and numbers["cards"]["rouge"]["values"]["F"] == "1.000"


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"place": (99, 1, 1)}, "There is no step 99; this output has steps 1 to"),
        ({"place": (1, 0, 1)}, "There is no layer 0; pocket-t5 has layers 1 to 3"),
        ({"place": (1, 1, "x")}, "There is no head 'x'"),
        ({"place": (None, 1, 1)}, "There is no step None"),
        ({"reference": 7}, "The reference must be a text"),
        ({"reference": "x" * 3000}, "at most 2,000 characters"),
        ({"text": ""}, "empty"),
        ({"model": "../assets"}, "There is no model"),
    ],
)
def test_bad_input_is_answered_with_a_sentence(looks, parts, changed, said):
    *_, told = looked(looks, parts, values(parts, **changed), "v")
    assert told[parts.cards]["kind"] == "refused" and said in told[parts.cards]["text"]


def test_the_tour_has_the_numbers_of_the_model_that_is_chosen(looks, parts):
    (told,) = asked(looks, parts, values(parts, "anything"), {"what": "tour"}, "v")
    assert told[parts.cards]["tour"]["about"]["text"] == "Drei Hunde rennen."
    *_, told = asked(looks, parts, values(parts, "anything", model="pocket-bart"), {"what": "tour"}, "v")
    assert "pocket-bart" in told[parts.cards]["tour"]["about"]["how"]


def test_a_newer_look_ends_an_older_one_and_stop_says_so(looks, parts):
    """Both while their runs are being made: with no patience the first message comes after the first step."""
    latest = looks.engine.latest
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("app.formula_looks.PATIENCE", -1.0)
        older = looked(looks, parts, values(parts, "A girl sings a song in the park."), "w")
        assert next(older)[parts.cards] == {"kind": "progress", "key": "running", "n": 1}
        latest.begin("w")
        assert list(older) == []
        stopped = looked(looks, parts, values(parts, "A boy sings a song in the park."), "w")
        next(stopped)
        latest.stop("w")
        assert [told[parts.cards]["key"] for told in stopped] == ["stopped"]


def test_a_long_text_has_its_numbers_and_stays_small(looks, parts):
    text = " ".join(["A dog and a cat are running through the park."] * 18)
    *_, told = looked(looks, parts, values(parts, text, task="summary"), "v")
    numbers = told[parts.cards]["numbers"]
    assert numbers["sizes"]["source"] > 150 and len(json.dumps(numbers)) < 300_000
    cards = numbers["cards"]
    assert "scores" not in cards["encoder_attention"]["data"] and len(cards["coverage"]["panels"][0]["columns"]) == 24
