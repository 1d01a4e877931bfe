"""Three sheets as cards: each formula, with numbers, small heatmaps or an experiment; a tour of the foundations; the glossary.

A late component: its script, styles and words come when the tab opens; then it asks for {"what": "course"}, and later for
{"what": "tour"}; a dial that is moved sends `move` with {"id", "values", "dark", "turn"}. Messages are {"kind": "course",
"course", "numbers"}, {"kind": "numbers" or "tour", ...} of app/formula_packs.py, {"kind": "moved", "id", "turn"} with the
"title" of a picture or a refusal's "text", {"kind": "progress", "key"} or {"kind": "refused", "text"}.
`assets/js/formula_cards/` draws them by `textContent`, canvas and MathML parsed as XML.
"""

import json
from functools import cache
from typing import Any

from app.formula_packs import meanings
from app.widgets.late import Late, code
from app.widgets.scripts import ASSETS, styles

ID = "ts-formulas-cards"
PREFIX = "formula_cards."
# One function body in this order: each file uses only what the ones before it name, or what runs after all are read.
SCRIPTS = ("text", "state", "colour", "math", "lighting", "pictures", "moving", "figures", "dials", "cards", "sheets",
           "glossary", "tour", "searching", "arriving", "theme", "wiring")


class FormulaCards(Late):
    """Its value is the code, then messages. A refusal and progress leave what was there before."""

    def __init__(self, **settings: Any):
        super().__init__(elem_id=ID, **settings)


@cache
def opening() -> dict[str, Any]:
    """The code; its styles hold inside this component alone, its words are those of assets/course/ and of the registries."""
    said = {language: {PREFIX + key: text for key, text in texts.items()} for language, texts in words().items()}
    return code("formula_cards", *SCRIPTS) | {"style": f"#{ID} {{ {styles('stepper', 'formula_cards')} }}", "words": said}


def words() -> dict[str, dict[str, str]]:
    """Language -> key -> text, without the prefix. English meanings live on the registries of core/formulas."""
    files = {path.stem: json.loads(path.read_text("utf-8")) for path in sorted((ASSETS / "course").glob("*.json"))}
    files["en"] |= meanings()
    return {language: files["en"] | texts for language, texts in files.items()}
