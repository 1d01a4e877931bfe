"""A section of the masks tab that is closed at first: it computes nothing before it opens, and follows each run while open."""

from collections.abc import Callable, Iterator
from typing import Any

import gradio as gr

from app.answers import slow
from app.mask_looks import Looks
from app.mask_sections import Asked
from app.widgets.findings import Findings
from app.widgets.matrices import Matrices
from app.words import said

Event = tuple[Callable, Callable[[dict, str, object], Iterator[dict]]]  # a component's event, and its answers

class Section:
    """What sections share. One of them names itself, builds its controls, and answers what they ask for."""

    NAME = ""  # of its words and elements

    def __init__(self, looks: Looks, asked: Asked):
        self.looks, self.settings, self.open = looks, asked, gr.State(False)
        title = said(f"page.masks.{self.NAME}")
        with gr.Accordion(title, open=False, elem_id=f"ts-masks-{self.NAME}", elem_classes="ts-section") as self.part:
            gr.Markdown(said(f"page.masks.{self.NAME}.about"), elem_classes="ts-masks-head")
            with gr.Row(elem_classes="ts-masks-row"):
                self.controls = self.build()
            self.told = Findings(elem_id=f"ts-masks-{self.NAME}-told", elem_classes="ts-bare")
            self.maps = Matrices(elem_id=f"ts-masks-{self.NAME}-maps", elem_classes="ts-bare")
        self.inputs, self.outputs = {self.open, *self.controls}, [self.open, self.told, self.maps]

    def build(self) -> list[gr.components.Component]:
        """The controls: a change of one of them asks again."""
        return []

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
        return {self.told: found} | ({self.maps: None} if found["kind"] == "refused" else {})
