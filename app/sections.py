"""A section of a tab that is closed at first: it computes nothing before it opens, and follows each run while open."""

from collections.abc import Callable, Iterator
from typing import Any

import gradio as gr

from app.answers import slow, spoken
from app.mask_looks import Looks
from app.mask_sections import Asked
from app.turns import MODEL_TURN
from app.widgets.findings import Findings
from app.widgets.matrices import Matrices
from app.words import said

Event = tuple[Callable, Callable[[dict, str, object], Iterator[dict]]]  # a component's event, and its answers

class Section:
    """What sections share. One of them names itself, builds its controls, and answers what they ask for."""

    TAB, NAME = "masks", ""  # of its words and elements

    def __init__(self, looks: Looks, asked: Asked):
        self.looks, self.settings, self.open = looks, asked, gr.State(False)
        self.words, self.id = f"page.{self.TAB}.{self.NAME}", f"ts-{self.TAB}-{self.NAME}"
        with gr.Accordion(said(self.words), open=False, elem_id=self.id, elem_classes="ts-section") as self.part:
            gr.Markdown(said(f"{self.words}.about"), elem_classes="ts-masks-head")
            with gr.Row(elem_classes="ts-masks-row"):
                self.controls = self.build()
            self.told, *self.pictures = self.show()
        self.inputs, self.outputs = {self.open, *self.controls}, [self.open, self.told, *self.pictures]

    def build(self) -> list[gr.components.Component]:
        """The controls: a change of one of them asks again."""
        return []

    def show(self) -> list[gr.components.Component]:
        """What draws: first the one that also says what went wrong."""
        told = Findings(elem_id=f"{self.id}-told", elem_classes="ts-bare")
        self.maps = Matrices(elem_id=f"{self.id}-maps", elem_classes="ts-bare")
        return [told, self.maps]

    def answers(self, values: dict) -> Iterator[dict]:
        """Messages for `told`, or values by component, as they come."""
        raise NotImplementedError

    def events(self) -> list[Event]:
        """Events beside its opening and its controls, each with what answers it: (values, visitor, data of the event)."""
        return []

    def look(self, values: dict, visitor: str, answers: Callable[[dict], Iterator[dict]] | None = None) -> Iterator[dict]:
        """What is shown, as it comes; ended by a newer look. A refusal empties the picture, which was of another question."""
        latest, name = self.looks.engine.latest, f"{visitor} {self.NAME}"
        ticket = latest.begin(name)
        for found in slow(lambda: (answers or self.answers)(values)):
            if not latest.wants(name, ticket):
                return
            yield self._shown(found)

    def _shown(self, found: dict[Any, Any]) -> dict:
        if "kind" not in found:
            return found
        return {self.told: found} | (dict.fromkeys(self.pictures) if found["kind"] == "refused" else {})


def opens(section: Section, inputs: set) -> None:
    """A section works from its opening to its closing; a control of it asks again."""
    @spoken
    def look(values: dict, request: gr.Request) -> Iterator[dict]:
        for found in section.look(values, _who(request)):
            yield {section.open: True} | found

    asks = [section.part.expand, *(one.input for one in section.controls)]
    gr.on(asks, look, inputs | section.inputs, section.outputs, **MODEL_TURN | dict(trigger_mode="always_last"))
    for event, answers in section.events():
        @spoken
        def on(values: dict, data: gr.EventData, request: gr.Request, answers: Callable = answers) -> Iterator[dict]:
            yield from answers(values, _who(request), getattr(data, "_data", None))

        event(on, inputs | section.inputs, section.outputs, **MODEL_TURN)
    section.part.collapse(lambda: False, None, section.open, queue=False, api_visibility="private", show_progress="hidden")


def _who(request: gr.Request) -> str:
    return str(request.session_hash)
