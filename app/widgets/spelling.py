"""Underlines in the text box under words that the model hardly knows, and a line that says what they are.

The value is `pack(text, marks)` or None. `assets/js/spelling.js` lays the underlines over the text box; words of visitors
reach the page by `textContent` only.
"""

from typing import Any

from app.widgets.component import Component
from app.widgets.scripts import script
from core.spelling import Mark

TEMPLATE = '<div class="ts-spelling" data-ts="spelling" aria-live="polite"></div>'


def pack(text: str, marks: list[Mark]) -> dict[str, Any]:
    """What the browser draws: [start, end, kind, pieces] for each word, offsets in characters of `text`."""
    return {"text": text, "marks": [[mark.start, mark.end, mark.kind, list(mark.pieces)] for mark in marks]}


class Spelling(Component):
    """A `gr.HTML` beside the text box with the id `box`."""

    def __init__(self, box: str):
        super().__init__(None, html_template=TEMPLATE, js_on_load=script("spelling"), box=box, elem_id="ts-spelling")
