"""Closed sections of the search tab: copying beside generating, what the caches save, and what weights in fewer bits change."""

from collections.abc import Callable, Iterator
from dataclasses import replace

import gradio as gr

from app import cache_packs, copy_packs, precision_packs
from app.mask_looks import fits
from app.sections import Event, Section
from app.widgets.cache_curves import CacheCurves
from app.widgets.findings import Findings
from app.widgets.pointer import Pointer
from app.words import said, worded
from core.errors import InputError
from core.models import PRECISIONS
from core.settings import MAX_TOKENS, Settings


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


class Measured(Section):
    """What is measured of so many tokens of the run, forward by forward, once a button asks for it."""

    TAB = "search"

    def build(self) -> list[gr.components.Component]:
        self.tokens = gr.Slider(2, MAX_TOKENS, 64, step=1, label=said("page.search.caches.tokens"), min_width=240,
                                elem_id=f"{self.id}-tokens")
        self.go = gr.Button(said("page.search.caches.go"), variant="primary", size="sm", min_width=120, elem_id=f"{self.id}-go")
        return [self.tokens]

    def events(self) -> list[Event]:
        def measured(values: dict, visitor: str, data: object) -> Iterator[dict]:
            yield from self.look(values, visitor, lambda values: self.measure(values, visitor))

        return [(self.go.click, measured)]

    def answers(self, values: dict) -> Iterator[dict]:
        """Nothing is measured before the button: what stands there is of the run that it names."""
        yield {"kind": "progress", "text": worded(f"told.{self.NAME}.ask")}

    def measure(self, values: dict, visitor: str) -> Iterator[dict]:
        """What is shown while it grows; ended by a newer look, or by Stop."""
        settings, engine, tokens = self.settings(values), self.looks.engine, values[self.tokens]
        yield from engine.arriving(settings.model)
        tokens = int(tokens) if isinstance(tokens, float) and tokens.is_integer() else tokens
        ticket, found = engine.latest.begin(visitor), []
        work, pack = self.steps(settings, tokens)
        steps = engine.steps(work, visitor, ticket)
        for one in steps:
            found += [one] if one else []
            if one and len(found) < tokens and steps.due():
                yield pack(found)
        if not found:
            raise InputError("This was stopped before a step was made. Press Measure once more.")
        yield pack(found)

    def steps(self, settings: Settings, tokens: int) -> tuple[Iterator, Callable[[list], dict]]:
        """What is found after each forward, or None between two that belong together; and how it is shown."""
        raise NotImplementedError


class CachePart(Measured):
    """The same tokens with the caches and without: whether anything differs, and what a step takes."""

    NAME = "caches"

    def show(self) -> list[gr.components.Component]:
        return [CacheCurves(elem_id=f"{self.id}-view", elem_classes="ts-bare")]

    def steps(self, settings: Settings, tokens: int) -> tuple[Iterator, Callable[[list], dict]]:
        from core.cache_cost import with_and_without
        from core.runs import run

        going, shape = run(settings, self.looks.engine.models), self.looks.engine.models.cache_shape(settings.model)
        return with_and_without(going, tokens), lambda found: cache_packs.pack(going, found, tokens, shape)


class PrecisionPart(Measured):
    """The same tokens with weights in fewer bits: what changes in the logits, what a step takes, and how to run with them."""

    NAME = "precision"

    def show(self) -> list[gr.components.Component]:
        return [Findings(elem_id=f"{self.id}-told", elem_classes="ts-bare")]

    def steps(self, settings: Settings, tokens: int) -> tuple[Iterator, Callable[[list], dict]]:
        from core.precision import compare, product_bytes
        from core.runs import run

        models, base = self.looks.engine.models, settings.model.partition("@")[0]
        full, *lights = (run(replace(settings, model=base + at), models) for at in ("", *(f"@{name}" for name in PRECISIONS)))
        sizes = [product_bytes(one.loaded.model) for one in (full, *lights)]
        return compare(full, lights, tokens), lambda found: precision_packs.pack(full, found, tokens, sizes)
