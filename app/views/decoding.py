"""The search tab: a beam search as a tree, drawn while it runs; its hypotheses ranked anew; branches from any node.

Sliders of the ranking and every step are answered in the browser. A search, and a branch, wait for the model.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import gradio as gr

from app.answers import slow
from app.controls import Controls, slider
from app.engine import Engine
from app.searches import Searches, branch
from app.turns import MODEL_TURN
from app.widgets.beam_tree import BeamTree
from app.words import said
from core.errors import InputError
from core.examples import SEARCHED
from core.settings import EARLY_STOPPING, Settings

TITLE = "page.search"
MAIN = {"beams": (1, 2), "length_penalty": (0.1, -2)}  # field of Decoding -> step and least of its slider
MORE = {"encoder_no_repeat_ngram_size": 1, "min_new_tokens": 1}


class Parts:
    """The components of the tab, and the settings that they make with the page's own."""

    def __init__(self, searches: Searches, controls: Controls):
        self.searches, self.controls = searches, controls
        gr.Markdown(said("page.search.about"), elem_id="ts-search-about")
        with gr.Row(elem_id="ts-search-row"):
            self.numbers = {name: slider(name, step, getattr(SEARCHED, name), low) for name, (step, low) in MAIN.items()}
            self.beginning = gr.Textbox("", label=said("page.search.beginning"), info=said("page.search.beginning.info"),
                                        max_lines=1, min_width=240, elem_id="ts-search-beginning")
            self.go = gr.Button(said("page.search.go"), variant="primary", min_width=140, elem_id="ts-search-go")
        with gr.Accordion(said("page.search.more"), open=False), gr.Row():
            self.numbers |= {name: slider(name, step) for name, step in MORE.items()}
            self.early = gr.Dropdown(list(EARLY_STOPPING), value=SEARCHED.early_stopping, label=said("page.early_stopping"),
                                     info=said("settings.early_stopping"), min_width=220)
        first = searches.first
        self.tree = BeamTree(searches.drawn(first) if first else None, elem_id="ts-search-tree", elem_classes="ts-bare")
        self.inputs = controls.inputs() | {*self.numbers.values(), self.early, self.beginning}

    def settings(self, values: Mapping[Any, Any]) -> Settings:
        """Checked settings, whatever was sent; InputError says what cannot be used."""
        plain = self.controls.settings(values)
        found = {name: values[component] for name, component in self.numbers.items()}
        for name, value in found.items():
            whole = isinstance(getattr(SEARCHED, name), int)
            if isinstance(value, bool) or not isinstance(value, int | float):
                raise InputError(f"{name} is {str(value)[:40]}; it must be a number.")
            found[name] = int(value) if whole and value == int(value) else value if whole else float(value)
        if found["beams"] == 1:
            raise InputError("A single beam has no tree. Choose at least 2 beams; Run above shows a single one.")
        return replace(plain, decoding=replace(plain.decoding, **found, early_stopping=values[self.early]))


def build(engine: Engine, controls: Controls) -> None:
    """The components of the tab and their events. The first picture is a saved search; no model is loaded for it."""
    searches = Searches(engine)
    parts = Parts(searches, controls)

    def search(values: dict, request: gr.Request) -> Iterator[dict]:
        yield from slow(lambda: searched(parts, values, str(request.session_hash)))

    def go_on(values: dict, event: gr.EventData, request: gr.Request) -> Iterator[dict]:
        data = getattr(event, "_data", None)
        yield from slow(lambda: branched(parts, values, data, str(request.session_hash)))

    gr.on([parts.go.click, parts.beginning.submit], search, parts.inputs, parts.tree, **MODEL_TURN)
    parts.tree.branch(go_on, parts.inputs, parts.tree, **MODEL_TURN)  # an event of our own script


def searched(parts: Parts, values: Mapping[Any, Any], visitor: str) -> Iterator[dict]:
    """A search, after the typed beginning where there is one."""
    settings = parts.settings(values)
    ids = parts.searches.beginning(settings.model, values[parts.beginning])
    yield from parts.searches.messages(branch(settings, ids), visitor)


def branched(parts: Parts, values: Mapping[Any, Any], data: object, visitor: str) -> Iterator[dict]:
    """The same search after the tokens that lead to a node."""
    ids = data.get("ids") if isinstance(data, dict) else None
    yield from parts.searches.messages(branch(parts.settings(values), ids), visitor)
