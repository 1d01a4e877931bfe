"""Closed sections of the search tab: copying beside generating, and what the caches save."""

import time
from collections.abc import Iterator

import gradio as gr

from app import cache_packs, copy_packs
from app.engine import INTERVAL
from app.mask_looks import fits
from app.sections import Event, Section
from app.widgets.cache_curves import CacheCurves
from app.widgets.pointer import Pointer
from app.words import said
from core.errors import InputError
from core.settings import MAX_TOKENS


class CopyPart(Section):
    """A pointer-generator over the run's own cross-attention: what is generated, what is copied, by a dial."""

    TAB, NAME = "search", "pointer"

    def show(self) -> list[gr.components.Component]:
        return [Pointer(elem_id=f"{self.id}-view", elem_classes="ts-bare")]

    def answers(self, values: dict) -> Iterator[dict]:
        """The run of the controls, kept or made now; P_vocab of every step comes from one forward over what was written."""
        settings, engine = self.settings(values), self.looks.engine
        yield from engine.arriving(settings.model)
        going, ids = self.looks.ready(settings)
        trace = self.looks.made.trace(settings)
        fits(going, len(ids), 1, "copy of log-probabilities")
        from core.likelihood import logits_of

        with engine.turn:
            generated = logits_of(going, ids)[0].float().softmax(-1).cpu().numpy()
        yield copy_packs.pack(trace, generated, going.loaded.tokenizer, engine.models.alignment_head(settings.model))


class CachePart(Section):
    """The same tokens with the caches and without: whether anything differs, and what a step takes."""

    TAB, NAME = "search", "caches"
    ASK = {"kind": "progress", "text": "Press Measure: the model writes the text above twice, with its caches and without."}

    def build(self) -> list[gr.components.Component]:
        self.tokens = gr.Slider(2, MAX_TOKENS, 64, step=1, label=said("page.search.caches.tokens"), min_width=240,
                                elem_id="ts-search-caches-tokens")
        self.go = gr.Button(said("page.search.caches.go"), variant="primary", size="sm", min_width=120,
                            elem_id="ts-search-caches-go")
        return [self.tokens]

    def show(self) -> list[gr.components.Component]:
        return [CacheCurves(elem_id=f"{self.id}-view", elem_classes="ts-bare")]

    def events(self) -> list[Event]:
        def measured(values: dict, visitor: str, data: object) -> Iterator[dict]:
            yield from self.look(values, visitor, lambda values: self.measure(values, visitor))

        return [(self.go.click, measured)]

    def answers(self, values: dict) -> Iterator[dict]:
        """Nothing is measured before the button: what stands there is of the run that it names."""
        yield self.ASK

    def measure(self, values: dict, visitor: str) -> Iterator[dict]:
        """The curves while they grow; ended by a newer look, or by Stop."""
        settings, engine, tokens = self.settings(values), self.looks.engine, values[self.tokens]
        yield from engine.arriving(settings.model)
        from core.cache_cost import with_and_without
        from core.runs import run

        going, ticket = run(settings, engine.models), engine.latest.begin(visitor)
        tokens = int(tokens) if isinstance(tokens, float) and tokens.is_integer() else tokens
        steps, costs, last = with_and_without(going, tokens), [], time.monotonic()
        shape = engine.models.cache_shape(settings.model)
        while engine.latest.wants(visitor, ticket):
            with engine.turn:
                cost = next(steps, steps)
            if cost is steps:
                break
            costs += [cost] if cost else []
            if cost and time.monotonic() - last > INTERVAL and len(costs) < tokens:
                last = time.monotonic()
                yield cache_packs.pack(going, costs, tokens, shape)
        if not costs:
            raise InputError("This was stopped before a step was made. Press Measure once more.")
        yield cache_packs.pack(going, costs, tokens, shape)
