"""The course as cards: each formula with its numbers, small heatmaps and what moves; a tour of the foundations; the glossary.

The first message, `opening`, brings the script, the styles, the words and the course itself: nothing of it is in the page
before the tab opens. `assets/js/formula_cards/` draws it by `textContent`, canvas and MathML parsed as XML. Later ones are
{"kind": "numbers" or "tour", ...} of app/formula_packs.py, {"kind": "progress", "key"} or {"kind": "refused", "text"}. The
event `tour` asks for the numbers of the tour.
"""

import json
from functools import cache
from typing import Any

from app.formula_packs import course, meanings
from app.widgets.component import Component
from app.widgets.scripts import ASSETS, script, styles

KINDS = ("course", "numbers", "tour", "progress", "refused")
TEMPLATE = '<div class="ts-root fc-root" data-ts="root" role="region"></div>'
ID = "ts-formulas-cards"
# One function body in this order: each file uses only what the ones before it name, or what runs after all are read.
SCRIPTS = ("text", "state", "colour", "math", "lighting", "pictures", "moving", "cards", "glossary", "tour", "searching",
           "arriving", "theme", "wiring")


@cache
def opening() -> dict[str, Any]:
    """What the first message holds beside numbers."""
    return {
        "kind": "course", "script": script("formula_cards", SCRIPTS),
            "style": f"#{ID} {{ {styles('stepper', 'formula_cards')} }}",
        "words": words(), "course": course(),
    }


def words() -> dict[str, dict[str, str]]:
    """Language -> key -> text, without the component's prefix. English meanings live on the registries of core/formulas."""
    files = {path.stem: json.loads(path.read_text("utf-8")) for path in sorted((ASSETS / "course").glob("*.json"))}
    files["en"] |= meanings()
    return files


class FormulaCards(Component):
    """A `gr.HTML` whose value is a message. A refusal and progress leave what was there before."""

    KINDS = KINDS

    def __init__(self, value: dict[str, Any] | None = None, **settings: Any):
        super().__init__(value, html_template=TEMPLATE, elem_id=ID,
                         js_on_load=(ASSETS / "js" / "formula_cards" / "loader.js").read_text("utf-8"), **settings)
