"""Help beside a field, and numbers in words: said in German too, and as the component or the code has them."""

import ast
import dataclasses
import json
import re
from pathlib import Path

import gradio as gr
import pytest

from app.calls import NAME
from app.config import AppConfig
from app.endpoints import MOST_TEXTS, NAMES
from app.page import build
from app.words import LANGUAGES, WORDS
from core.examples import OWN
from core.metrics.corpus import MAX_BYTES, MAX_LINES
from core.relatives.reading import MOST_PIECES
from core.sessions.retention import SESSION_BYTES
from core.settings import MAX_BEAMS, MAX_CHARACTERS, Decoding
from core.train.tuning import BATCH, EVERY
from tests.test_words import numbers

ROOT = Path(__file__).resolve().parents[1]
ENGLISH, GERMAN = LANGUAGES["en"], json.loads((WORDS / "de.json").read_text("utf-8"))


def added(component: str) -> int:
    """Rows that a press of "Show ... more" adds to a table."""
    state, wiring = ((ROOT / f"assets/js/{component}/{name}.js").read_text("utf-8") for name in ("state", "wiring"))
    return int(re.search(r"PAGE = (\d+)", state)[1]) * int(re.search(r"shown \+= (\d+) \* PAGE", wiring)[1])


# What these words say of a limit or a size; the names of the code stand for the numbers.
LIMITS = {
    "page.scores.corpus.sources.info": [MAX_LINES],
    "session_list.limits": [SESSION_BYTES / 2**20, 400],  # usual runs, as the comment beside the constant says
    "training.distilling.run.about": [len(OWN), BATCH],
    "training.relatives.cut": [MOST_PIECES],
    "scoreboard.more.title": [added("scoreboard")],
    "corpus_table.more.title": [added("corpus_table")],
    "door.tab": [1, 64],
    "door.upload": [MAX_BYTES / 10**6],
    "door.number": [64],
}
NAMES_A_LIMIT = re.compile(r"(at most|(?<!adds )up to|the first|no more than|of more than|batches of|Show) \d")


@pytest.fixture(scope="module")
def fields() -> list[tuple[gr.Component, str]]:
    """Every component of the page that has help beside it, with the help's key."""
    found = [(block, block.info.key) for block in build(AppConfig()).blocks.values() if getattr(block, "info", None)]
    assert len(found) > 30
    return found


def test_help_is_said_in_german(fields):
    assert {key for _, key in fields} <= set(GERMAN)
    assert {block.label.key for block, _ in fields} <= set(GERMAN)


def test_numbers_in_help_are_within_the_range_of_the_component(fields):
    ranged = [(block, key) for block, key in fields if getattr(block, "maximum", None) is not None]
    assert len(ranged) > 10
    for block, key in ranged:
        assert all(block.minimum <= number <= block.maximum for number in numbers(ENGLISH[key], "en")), key


def test_limits_in_words_are_those_of_the_code():
    assert {key: numbers(ENGLISH[key], "en") for key in LIMITS} == {key: sorted(told) for key, told in LIMITS.items()}
    assert {key for key, text in ENGLISH.items() if NAMES_A_LIMIT.search(text) and key != "settings.text"} <= set(LIMITS)
    assert numbers(ENGLISH["settings.text"], "en") == [MAX_CHARACTERS]  # made of the constant, where the field is
    assert NAME.pattern.endswith("{1,64}") and EVERY == 5 and "every fifth" in ENGLISH["training.distilling.run.about"]


def test_the_endpoints_tell_clients_the_limits_of_the_code():
    tree = ast.parse((ROOT / "app/endpoints.py").read_text("utf-8"))
    told = {node.name: text for node in ast.walk(tree)
            if isinstance(node, ast.FunctionDef) and (text := ast.get_docstring(node)) and "Args:" in text}
    assert set(told) == set(NAMES)
    penalty = next(item for item in dataclasses.fields(Decoding) if item.name == "length_penalty").metadata
    text = f"at most {MAX_CHARACTERS:,} characters"
    for name, sentence in (("trace", text), ("search", text), ("corrupt", text), ("score", f"at most {MOST_TEXTS}."),
                           ("search", f"2 to {MAX_BEAMS}."), ("search", f"{penalty['low']:g} to {penalty['high']:g}.")):
        assert sentence in told[name], (name, sentence)
