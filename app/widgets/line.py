"""A quiet line of words in the language of whoever looks: what to look at in an example, what a model knows, how
far it has loaded.

The value is `line(key, **values)`: a key under `line.` in assets/words, and what stands in its places.
"""

from typing import Any

from app.widgets.component import Component
from app.widgets.scripts import once

TEMPLATE = '<div class="ts-fact" data-ts="line"></div>'


def line(key: str = "", **values: str) -> dict[str, Any]:
    """A line that says the words of `key`; without a key it says nothing."""
    return {"key": key, "values": values}


class Line(Component):
    """A `gr.HTML` that says one line."""

    def __init__(self, value: dict[str, Any], elem_id: str):
        super().__init__(value, html_template=TEMPLATE, js_on_load=once("line", ("line",)), elem_id=elem_id)
