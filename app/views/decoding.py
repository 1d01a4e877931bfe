"""The search tab: a beam search as a tree, drawn while it runs; its hypotheses ranked anew; branches; settings compared.

Sliders of the ranking and every step are answered in the browser. A search, and a branch, wait for the model.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import gradio as gr

from app.answers import quick, slow, spoken
from app.controls import Controls, slider
from app.engine import Engine
from app.mask_looks import Looks
from app.masked import Masked
from app.search_sections import CachePart, CopyPart, PrecisionPart
from app.searches import Searches, branch
from app.sections import opens
from app.tab import Tab
from app.trials import Trials, betas_of, settings_of
from app.turns import MODEL_TURN
from app.widgets.beam_tree import BeamTree
from app.widgets.findings import Findings
from app.widgets.matrices import Matrices
from app.widgets.trial_table import TrialTable
from app.words import said
from core.errors import InputError
from core.examples import SEARCHED
from core.settings import EARLY_STOPPING, Settings

TITLE = "page.search"
MAIN = {"beams": (1, 2), "length_penalty": (0.1, -2)}  # field of Decoding -> step and least of its slider
SECTIONS = (CopyPart, CachePart, PrecisionPart)  # closed at first
MORE = {"encoder_no_repeat_ngram_size": 1, "min_new_tokens": 1}


class Parts:
    """The components of the tab, and the settings that they make with the page's own."""

    def __init__(self, searches: Searches, trials: Trials, controls: Controls):
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
        gr.Markdown(said("page.search.compare"), elem_classes="ts-masks-head")
        self.reference = gr.Textbox("", label=said("page.search.reference"), info=said("page.search.reference.info"), max_lines=1,
                                    elem_id="ts-search-reference")
        self.table = TrialTable(trials.first(first), elem_id="ts-search-table", elem_classes="ts-bare")
        self.told = Findings(elem_id="ts-search-told", elem_classes="ts-bare")
        self.maps = Matrices(elem_id="ts-search-maps", elem_classes="ts-bare")
        looks = Looks(Masked(searches.engine))
        self.sections = [kind(looks, controls.settings) for kind in SECTIONS]  # of the run above, as the first tab shows it
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

    def again(self, settings: Settings) -> dict:
        """The controls as they were for a search; none of another run."""
        if settings.decoding.beams < 2:
            return {}
        out = {component: getattr(settings.decoding, name) for name, component in self.numbers.items()}
        return out | {self.early: settings.decoding.early_stopping,
                      self.beginning: self.searches.text_of(settings.model, settings.edits.forced)}


def build(engine: Engine, controls: Controls) -> Tab:
    """The components of the tab and their events; its open sections follow other events.

    The first picture is a saved search; no model is loaded for it.
    """
    searches, trials = Searches(engine), Trials(engine)
    parts = Parts(searches, trials, controls)

    @spoken
    def search(values: dict, request: gr.Request) -> Iterator[dict]:
        yield from slow(lambda: searched(parts, values, str(request.session_hash)))

    @spoken
    def go_on(values: dict, event: gr.EventData, request: gr.Request) -> Iterator[dict]:
        data = getattr(event, "_data", None)
        yield from slow(lambda: branched(parts, values, data, str(request.session_hash)))

    @spoken
    def compare(values: dict, event: gr.EventData, request: gr.Request) -> Iterator[dict]:
        data = getattr(event, "_data", None)
        yield from slow(lambda: compared(trials, parts, values, data, str(request.session_hash)))

    def two(event: gr.EventData) -> dict:
        return chosen(parts, trials, getattr(event, "_data", None))

    ran = [
        gr.on([parts.go.click, parts.beginning.submit], search, parts.inputs, parts.tree, **MODEL_TURN),
        # events of our own scripts
        parts.tree.branch(go_on, parts.inputs, parts.tree, **MODEL_TURN),
        parts.table.compare(compare, parts.inputs | {parts.reference}, parts.table, **MODEL_TURN),
    ]
    parts.table.two(two, None, [parts.told, parts.maps], queue=False, api_visibility="private", show_progress="hidden",
                    trigger_mode="multiple")
    for section in parts.sections:
        opens(section, controls.inputs())

    @spoken
    def look_again(values: dict, request: gr.Request) -> Iterator[dict]:
        for section in parts.sections:
            if values[section.open]:
                yield from section.look(values, str(request.session_hash))

    everything = set().union(controls.inputs(), *(section.inputs for section in parts.sections))
    shown = [component for section in parts.sections for component in section.outputs]

    def following(on: Callable) -> None:
        on(look_again, everything, shown, **MODEL_TURN | dict(show_progress_on=parts.go))

    return Tab(following, {"tree": parts.tree}, parts.again, [*parts.numbers.values(), parts.early, parts.beginning], ran=ran)


def searched(parts: Parts, values: Mapping[Any, Any], visitor: str) -> Iterator[dict]:
    """A search, after the typed beginning where there is one."""
    settings = parts.settings(values)
    ids = parts.searches.beginning(settings.model, values[parts.beginning])
    yield from parts.searches.messages(branch(settings, ids), visitor)


def branched(parts: Parts, values: Mapping[Any, Any], data: object, visitor: str) -> Iterator[dict]:
    """The same search after the tokens that lead to a node."""
    ids = data.get("ids") if isinstance(data, dict) else None
    yield from parts.searches.messages(branch(parts.settings(values), ids), visitor)


def compared(trials: Trials, parts: Parts, values: Mapping[Any, Any], data: object, visitor: str) -> Iterator[dict]:
    """All rows of the table on the source above, in one batch."""
    settings = settings_of(parts.controls.settings(values), data)
    yield from trials.messages(settings, values[parts.reference], visitor, betas_of(data))


def chosen(parts: Parts, trials: Trials, data: object) -> dict:
    """The token diff and the heatmaps of two rows; a refusal empties them, they were of other rows."""
    found = quick(lambda: dict(zip((parts.told, parts.maps), trials.two(data), strict=True)))
    return found if "kind" not in found else {parts.told: found, parts.maps: None}
