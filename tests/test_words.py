"""What the page says: every key that is used exists, every translation keeps the places, nothing is said outside the files."""

import json
import re
import string
from pathlib import Path

import pytest

from app.widgets.formula_cards import words
from app.words import LANGUAGES, WORDS, read, said

ROOT = Path(__file__).resolve().parents[1]
COURSE = {f"formula_cards.{key}": text for key, text in words()["en"].items()}
ENGLISH = LANGUAGES["en"]
LITERAL = ("term.", "local.", "meaning.", "clash.")  # no places: what stands in braces there is LaTeX
SCRIPTS = "\n".join(path.read_text("utf-8") for path in sorted((ROOT / "assets/js").rglob("*.js")))


def places(text: str) -> list[str]:
    return sorted({name for _, name, _, _ in string.Formatter().parse(text) if name})


@pytest.mark.parametrize("language", [language for language in LANGUAGES if language != "en"])
def test_a_translation_has_no_strange_keys_and_keeps_every_place(language):
    own = json.loads((WORDS / f"{language}.json").read_text("utf-8"))
    assert set(own) <= set(ENGLISH)
    for key, text in own.items():
        assert places(text) == places(ENGLISH[key]) or key.startswith("stepper.reduced"), key
        assert set(places(text)) <= set(places(ENGLISH[key])), key


def test_german_is_whole():
    own = json.loads((WORDS / "de.json").read_text("utf-8"))
    whole = ("stepper.", "page.", "noise.", "noise_picker.", "corruption.", "rebuilding.", "noise_table.",
             "mask_grid.", "matrices.", "scoreboard.", "ngrams.", "session_list.", "replay_bar.", "beam_tree.", "trial_table.",
             "lecture.", "line.", "pointer.", "cache_curves.", "corpus_table.", "training.", "aids.",
             "help_sheet.", "minutes.", "door.")
    assert {key for key in ENGLISH if key.startswith(whole)} <= set(own)


def test_the_course_is_said_in_german_as_in_english():
    """Its words travel with the cards, when their tab opens, and not with the page."""
    course = words()
    assert set(course["de"]) == set(course["en"])
    assert all(places(course["de"][key]) == places(text) for key, text in course["en"].items() if not key.startswith(LITERAL))


def test_components_use_keys_that_exist():
    components = {path.stem: path for path in (ROOT / "assets/js").glob("*.js") if path.stem != "words"}
    components |= {path.name: path for path in (ROOT / "assets/js").iterdir() if path.is_dir()}
    for name, path in components.items():
        script = "\n".join(file.read_text("utf-8") for file in ([path] if path.is_file() else sorted(path.glob("*.js"))))
        used = set(re.findall(r'\b(?:word|phrase)\("([\w.]+)"[,)]', script))
        used |= {f"{key}.{end}" for key in re.findall(r'\bplural\("([\w.]+)"', script) for end in ("one", "other")}
        assert {f"{name}.{key}" for key in used} <= set(ENGLISH | COURSE)


def test_the_page_uses_keys_that_exist():
    python = "\n".join(path.read_text("utf-8") for path in sorted((ROOT / "app").rglob("*.py")))
    used = set(re.findall(r'\bsaid\("([\w.]+)"\)', python))
    assert used and used <= set(ENGLISH)


def test_no_sentence_stands_in_a_script():
    """Texts of the stepper are in the files: no string literal of several words but errors, ids and code."""
    literals = re.findall(r'"((?:[^"\\\n]|\\.)*)"', re.sub(r"/\*.*?\*/|(?<=\s)//.*", "", SCRIPTS, flags=re.S))
    allowed = (
        "root map", "forward last", "plain plot", "use strict", "the encoder's weights", "row ", " does not fit",
        "input × gradient does",
    )
    spoken = [s for s in literals if re.search(r"[a-z]{3,} [a-z]{3,}", s) and not s.startswith(allowed) and "ts-" not in s]
    assert not spoken


def test_a_missing_key_falls_back_to_english_and_an_unknown_one_is_refused(tmp_path):
    (tmp_path / "en.json").write_text('{"a": "A", "b": "B"}')
    (tmp_path / "xx.json").write_text('{"a": "Ä"}')
    words = read(tmp_path)
    assert (words["xx"]["a"], words["xx"]["b"]) == ("Ä", "B")
    with pytest.raises(KeyError, match=r"en\.json has no 'page\.nothing'"):
        said("page.nothing")
