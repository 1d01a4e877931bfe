"""The closer looks of the masks tab as components and what their events answer: one head, the leak test, heads switched off."""

from collections.abc import Callable, Iterator
from typing import Any

import gradio as gr

from app import look_packs
from app.answers import slow
from app.mask_looks import TARGET, Looks, maps, sizes
from app.widgets.findings import Findings
from app.widgets.matrices import Matrices
from app.words import said
from core.interventions import STACKS, Edits
from core.settings import Settings
from core.trace import Trace

Asked = Callable[[dict], Settings]  # checked settings from an event's values


def _head(name: str) -> None:
    gr.Markdown(said(f"page.masks.{name}"), elem_classes="ts-masks-head")


class ProbePart:
    """Score → + mask → softmax of a chosen head. Once it has been asked for, it follows every edit."""

    def __init__(self, looks: Looks, asked: Asked):
        self.looks, self.settings, self.used = looks, asked, gr.State(False)
        _head("probe")
        with gr.Row(elem_classes="ts-masks-row"):
            self.stack = gr.Dropdown([(said(f"page.masks.{stack}"), stack) for stack in STACKS], value="encoder",
                                     label=said("page.masks.site"), min_width=250, elem_id="ts-masks-site")
            self.layer, self.head = (
                gr.Number(1, minimum=1, maximum=256, step=1, precision=0, label=said(f"page.masks.{name}"), min_width=90,
                          elem_id=f"ts-masks-{name}") for name in ("layer", "head"))
            self.go = gr.Button(said("page.masks.look"), size="sm", min_width=140, elem_id="ts-masks-look")
        self.told = Findings(elem_id="ts-masks-probe-told", elem_classes="ts-bare")
        self.maps = Matrices(elem_id="ts-masks-probe", elem_classes="ts-bare")
        self.inputs, self.outputs = {self.stack, self.layer, self.head, self.used}, [self.used, self.told, self.maps]

    def look(self, values: dict, visitor: str, used: bool = True) -> dict:
        """The matrices of one head; nothing before they have been asked for, or where a newer look has begun."""
        if not (used or values[self.used]):
            return {self.used: gr.skip()}  # never False: a click meanwhile has set it
        latest, name = self.looks.engine.latest, f"{visitor} probe"
        ticket = latest.begin(name)
        place = [values[one] for one in (self.stack, self.layer, self.head)]
        (found,) = slow(lambda: iter([self.looks.probe(self.settings(values), *place, visitor)]))
        if not latest.wants(name, ticket):
            return {self.used: True}
        if isinstance(found, dict):
            return {self.used: True, self.told: found}
        return {self.used: True, self.told: look_packs.probe_said(found), self.maps: look_packs.probe(found)}


class LeakPart:
    """Perturb one token of source or target: what changes, and what is exactly as before."""

    def __init__(self, looks: Looks, asked: Asked, first: Trace | None):
        self.looks, self.settings = looks, asked
        _head("leak")
        with gr.Row(elem_classes="ts-masks-row"):
            tokens = token_choices(first) if first else []
            self.token = gr.Dropdown(tokens, value=min(7, len(first.source)) if first else 1,
                                     label=said("page.masks.token"), min_width=160, allow_custom_value=True,
                                     elem_id="ts-masks-token")  # a stale one gets a sentence
            self.go = gr.Button(said("page.masks.perturb"), size="sm", min_width=140, elem_id="ts-masks-perturb")
        self.told = Findings(elem_id="ts-masks-leak", elem_classes="ts-bare")
        self.inputs, self.outputs = {self.token}, [self.told]

    def perturb(self, values: dict) -> dict:
        (found,) = slow(lambda: iter([self.looks.leak(self.settings(values), values[self.token])]))
        return {self.told: found if isinstance(found, dict) else look_packs.leak(*found)}

    def offer(self, trace: Trace, chosen: object) -> dict:
        """The tokens of this source; the choice stays where there is such a token."""
        choices = token_choices(trace)
        there = any(value == chosen for _, value in choices)
        return {self.token: gr.Dropdown(choices, value=chosen if there else len(trace.source))}


def token_choices(trace: Trace) -> list[tuple[str, int | str]]:
    """Tokens of the source, then those that the decoder reads, each with the row that reads it."""
    source = [(f"{at} {token.text}", at) for at, token in enumerate(trace.source, 1)]
    fed = (trace.start, *trace.target[:-1]) if trace.target else ()
    return source + [(f"{TARGET}{at} {token.text}", f"{TARGET}{at}") for at, token in enumerate(fed, 1)]


class HeadsPart:
    """A map of layers × heads for each stack: what each is worth by log P; a tick switches it off."""

    def __init__(self, looks: Looks, asked: Asked, first: Trace | None):
        self.looks, self.settings = looks, asked
        _head("heads")
        self.go = gr.Button(said("page.masks.measure"), size="sm", elem_id="ts-masks-measure")
        self.told = Findings(elem_id="ts-masks-heads-told", elem_classes="ts-bare")
        empty = look_packs.heads(maps(sizes(first), []), Edits()) if first else None
        self.maps = Matrices(empty, elem_id="ts-masks-heads", elem_classes="ts-bare")
        self.outputs = [self.told, self.maps]

    def measure(self, values: dict, visitor: str) -> Iterator[dict]:
        """The maps as they fill."""
        size = {}

        def answers() -> Iterator[Any]:
            settings = self.settings(values)
            for measured in self.looks.heads(settings, visitor):
                loaded = self.looks.engine.models.loaded(settings.model)
                size.update(sizes(None, loaded))
                yield settings.edits, measured

        for found in slow(answers):
            if isinstance(found, dict):
                yield {self.told: found}
            else:
                edits, measured = found
                yield {self.told: look_packs.heads_said(measured), self.maps: look_packs.heads(maps(size, measured), edits)}

    def emptied(self, trace: Trace, edits: Edits) -> dict:
        """The maps of another run: not measured yet, ticks as they are."""
        loaded = self.looks.engine.models.loaded(trace.settings.model)
        return {self.maps: look_packs.heads(maps(sizes(trace, loaded), []), edits), self.told: None}
