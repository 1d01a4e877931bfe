"""What the server says in another language: sentences of errors, each found again by what stands around its values."""

import ast
import json
import string
from contextvars import copy_context
from pathlib import Path

import pytest

from app.answers import sentence
from app.sentences import FOLDER, translated
from app.words import LANGUAGES, asked, speak, worded
from core import errors
from core.errors import InputError
from core.models import BUNDLED
from core.settings import Settings

ROOT = Path(__file__).resolve().parents[1]
GERMAN = json.loads((FOLDER / "de.json").read_text("utf-8"))
# What no visitor of the page is told: a host's set-up, programs, functions that the page gives only what it has checked.
ELSEWHERE = (
    "app/config.py", "app/endpoints.py", "app/endpoint_packs.py", "app/endpoint_values.py", "app/processes.py",
    "core/engines/options.py", "core/sweeps/", "core/formulas/", "core/metrics/rouge.py", "core/metrics/coverage.py",
    "core/sessions/backup.py", "core/sessions/place.py", "core/sessions/arrays.py", "core/decode/rescoring.py",
    "core/decode/warpers.py", "core/decode/processors.py", "core/pointer.py", "core/probes.py", "core/leaks.py", "core/prefix.py",
    "core/train/criteria.py", "core/noise/corruption.py", "core/positions.py", "core/trace.py", "core/records.py",
)
# beginnings of more of them
ALSO = ("There is no kind", "There is no record of kind", "Weights can be read as", "{1} is {2}; it must be a number of bytes")


def shape(node: ast.AST, names: dict[str, str], count: list[int]) -> str | None:
    """A sentence of the code with places, counted from 1, for its values; None for what is put together otherwise."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.Name):
        return names.get(node.id)
    if isinstance(node, ast.JoinedStr):
        pieces = []
        for piece in node.values:
            count[0] += not isinstance(piece, ast.Constant)
            pieces.append(piece.value if isinstance(piece, ast.Constant) else f"{{{count[0]}}}")
        return "".join(pieces)
    return None


def raised() -> dict[str, str]:
    """Sentence -> where it is raised."""
    kinds = {name for name, one in vars(errors).items() if isinstance(one, type)}
    found = {}
    for path in sorted([*(ROOT / "app").rglob("*.py"), *(ROOT / "core").rglob("*.py")]):
        name = path.relative_to(ROOT).as_posix()
        if name.startswith(ELSEWHERE):
            continue
        tree = ast.parse(path.read_text("utf-8"))
        names = {one.targets[0].id: one.value.value for one in tree.body
                 if isinstance(one, ast.Assign) and isinstance(one.targets[0], ast.Name) and isinstance(one.value, ast.Constant)}
        for call in ast.walk(tree):
            if isinstance(call, ast.Call) and getattr(call.func, "id", "") in kinds and call.args:
                if text := shape(call.args[0], names, [0]):
                    found[text] = f"{name}:{call.lineno}"
    return found


def test_every_error_that_a_visitor_may_read_is_said_in_german():
    missing = {text: at for text, at in raised().items() if text not in GERMAN and not text.startswith(ALSO)}
    assert len(raised()) > 200 and not missing


def test_german_has_no_place_that_english_lacks():
    def places(text: str) -> set[str]:
        return {name for _, name, _, _ in string.Formatter().parse(text) if name}

    for english, german in GERMAN.items():
        assert places(german) <= places(english), english


def in_german(call, *args):
    context = copy_context()
    context.run(speak, "de")
    return context.run(call, *args)


@pytest.mark.parametrize(("settings", "said"), [
    ({"text": "x" * 4001}, "Der Text hat 4.001 Zeichen; höchstens 4.000 sind erlaubt. Bitte kürzen."),
    ({"text": "A", "task": 7}, "task muss str sein, nicht int (7)."),
])
def test_an_error_is_told_in_the_language_of_who_is_answered(settings, said):
    with pytest.raises(InputError) as error:
        Settings(**settings)
    assert sentence(error.value) == str(error.value)  # nobody is answered: English
    assert in_german(sentence, error.value) == said.replace("4.001", "4,001").replace("4.000", "4,000")


def test_a_value_may_be_a_sentence_or_a_word_of_the_list():
    full = "The disk of this host is full."
    told = in_german(translated, f"Sessions cannot be kept on this host now. {full} Runs go on.")
    assert told == f"Sitzungen lassen sich auf diesem Rechner gerade nicht aufheben. {GERMAN[full]} Läufe gehen weiter."
    assert in_german(translated, "There is no head 9; this output has heads 1 to 4.") == (
        "Kopf 9 gibt es hier nicht; diese Ausgabe hat 1 bis 4.")
    hostile = "The text has {x} {1} <b>; at most"
    assert in_german(translated, f"{hostile} is {{0}}; it must be a number.") == f"{hostile} ist {{0}}; es muss eine Zahl sein."
    assert in_german(translated, "No such sentence is known.") == "No such sentence is known."


def test_what_a_model_knows_is_said_in_german():
    assert all(in_german(translated, about) != about for about in BUNDLED.values())


@pytest.mark.parametrize(("accepted", "language"), [
    ("de-AT,de;q=0.9", "de"), ("", "en"), ("fr, de", "en"), ("EN-us", "en"), (";,", "en")])
def test_the_first_language_that_is_asked_for_counts(accepted, language):
    assert asked(accepted) == language


def test_words_of_the_server_do_not_travel_with_the_page():
    from app.words import FIRST

    assert in_german(worded, "told.loading") == LANGUAGES["de"]["told.loading"] != worded("told.loading")
    assert not any(key.startswith("told.") for key in FIRST["en"])
