"""The formulas tab: every formula of three sheets, those of the course with the numbers of a run; a tour, a glossary.

Nothing of it is sent before it opens. What moves with a run's numbers moves in the browser, other numbers wait for the model; an
experiment's picture waits for nothing.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import gradio as gr

from app.answers import refused, sentence, slow, spoken
from app.controls import Controls
from app.engine import Engine
from app.formula_looks import REFERENCE, FormulaLooks
from app.formula_moves import moved, named
from app.formula_packs import course
from app.tab import Tab
from app.turns import MODEL_TURN
from app.widgets.formula_cards import FormulaCards, opening
from app.words import said
from core.formulas.moment import SAVED, Moment

TITLE = "page.formulas"
AT_ONCE = dict(queue=False, api_visibility="private", show_progress="hidden", trigger_mode="multiple")
OTHER = {"kind": "progress", "key": "other"}


class Parts:
    """The components of the tab. opened: whether this visitor has been sent the course."""

    def __init__(self, controls: Controls):
        self.controls = controls
        first = Moment.from_bytes(SAVED.read_bytes()) if SAVED.is_file() else None
        at = (first.step + 1, first.layer + 1, first.head + 1) if first else (1, 1, 1)
        gr.Markdown(said("page.formulas.about"), elem_id="ts-formulas-about")
        with gr.Row(elem_id="ts-formulas-row"):
            self.place = [gr.Number(value, minimum=1, step=1, precision=0, label=said(f"page.formulas.{name}"), min_width=90,
                                    elem_id=f"ts-formulas-{name}") for name, value in zip(("step", "layer", "head"), at,
                                                                                          strict=True)]
            self.reference = gr.Textbox(REFERENCE, label=said("page.formulas.reference"), max_lines=1, min_width=240, scale=6,
                                        elem_id="ts-formulas-reference")
            self.go = gr.Button(said("page.formulas.go"), size="sm", min_width=140, elem_id="ts-formulas-go")
        self.cards = FormulaCards(elem_classes="ts-bare")
        # It comes with the first picture; the script of the cards takes it into the card that is moved.
        self.plot = gr.Plot(visible=False, show_label=False, container=False, buttons=[], elem_id="ts-formulas-plot")
        self.opened = gr.State(False)
        self.inputs = controls.inputs() | {*self.place, self.reference, self.opened}
        self.outputs = [self.cards, self.opened]


def build(engine: Engine, controls: Controls) -> Tab:
    """The components of the tab and their events; how it follows a run, and how it opens."""
    looks, parts = FormulaLooks(engine), Parts(controls)

    @spoken
    def look(values: dict, request: gr.Request) -> Iterator[dict]:
        yield from looked(looks, parts, values, str(request.session_hash))

    @spoken
    def ask(values: dict, event: gr.EventData, request: gr.Request) -> Iterator[dict]:
        yield from asked(looks, parts, values, getattr(event, "_data", None), str(request.session_hash))

    @spoken
    def follow(values: dict, request: gr.Request) -> Iterator[dict]:
        yield from followed(looks, parts, values, str(request.session_hash))

    @spoken
    def show(values: dict, request: gr.Request) -> Iterator[dict]:
        yield from opens(looks, parts, values, str(request.session_hash))

    gr.on([parts.go.click, *(one.submit for one in (*parts.place, parts.reference))], look, parts.inputs, parts.outputs,
          **MODEL_TURN)
    def move(event: gr.EventData) -> dict:
        return experiment(parts, getattr(event, "_data", None))

    parts.cards.move(move, None, [parts.cards, parts.plot], **AT_ONCE)
    parts.cards.ask(ask, parts.inputs, parts.outputs, **MODEL_TURN)  # an event of our own script

    def following(on: Callable) -> None:
        on(follow, parts.inputs, parts.outputs, **MODEL_TURN)

    return Tab(following, opens=lambda on: on(show, parts.inputs, parts.outputs, **MODEL_TURN))


def opens(looks: FormulaLooks, parts: Parts, values: Mapping[Any, Any], visitor: str) -> Iterator[dict]:
    """The code, once; it then asks for the rest. Each time the tab opens again, the numbers of a run that is there."""
    if values[parts.opened]:
        yield from followed(looks, parts, values, visitor)
    else:
        yield {parts.cards: opening(), parts.opened: True}


def asked(looks: FormulaLooks, parts: Parts, values: Mapping[Any, Any], data: object, visitor: str) -> Iterator[dict]:
    """The course with the saved numbers, then those of a run that is there; or the tour's, of the model that is chosen."""
    what = data.get("what") if isinstance(data, dict) else None
    if what == "course":
        yield {parts.cards: {"kind": "course", "course": course()} | looks.first()}
        yield from followed(looks, parts, {**values, parts.opened: True}, visitor)
    elif what == "tour":
        for found in slow(lambda: looks.tour(parts.controls.settings(values), visitor)):
            yield {parts.cards: found}
    else:
        yield {parts.cards: refused("The cards ask for the course or for the tour.")}


def experiment(parts: Parts, data: object) -> dict:
    """The picture for where the dials stand; a refusal leaves the one that is there."""
    try:
        message, picture = moved(data)
        return {parts.cards: message, parts.plot: gr.Plot(picture, visible=True)}
    except Exception as error:
        id, turn = named(data)
        return {parts.cards: {"kind": "moved", "id": id, "turn": turn, "text": sentence(error)}, parts.plot: gr.skip()}


def followed(looks: FormulaLooks, parts: Parts, values: Mapping[Any, Any], visitor: str) -> Iterator[dict]:
    """After a run elsewhere: its numbers, where the tab has been opened; nothing is run for it."""
    if not values[parts.opened]:
        yield {parts.opened: False}
        return

    def answers() -> Iterator[dict]:
        settings = parts.controls.settings(values)
        if looks.is_first(settings):
            return
        if looks.made_already(settings):
            place = [values[one] for one in parts.place]
            yield from looks.messages(settings, place, values[parts.reference], visitor, fitted=True)
        else:
            yield OTHER

    shown = False
    for found in slow(answers):
        shown = True
        yield {parts.cards: found}
    if not shown:
        yield {parts.opened: True}


def looked(looks: FormulaLooks, parts: Parts, values: Mapping[Any, Any], visitor: str) -> Iterator[dict]:
    """The numbers of the settings above at the chosen place; a run is made where there is none."""
    def answers() -> Iterator[dict]:
        place = [values[one] for one in parts.place]
        yield from looks.messages(parts.controls.settings(values), place, values[parts.reference], visitor)

    for found in slow(answers):
        yield {parts.cards: found}
