"""Sections of the masks tab about a stack: relative positions, padding, one stack from causal to bidirectional."""

from collections.abc import Iterator

import gradio as gr

from app import stack_looks, stack_packs
from app.mask_looks import Looks
from app.mask_sections import Asked
from app.sections import Section
from app.words import said
from core.interventions import STACKS


class BiasPart(Section):
    """T5's relative position bias: a row a head, over where the key stands; and its buckets."""

    NAME = "relative"

    def build(self) -> list[gr.components.Component]:
        self.stack = gr.Dropdown([(said(f"page.masks.{stack}"), stack) for stack in STACKS], value="encoder",
                                 label=said("page.masks.site"), min_width=250, elem_id="ts-masks-relative-site")
        self.layer = gr.Number(1, minimum=1, maximum=256, step=1, precision=0, label=said("page.masks.layer"), min_width=90,
                               elem_id="ts-masks-relative-layer")
        return [self.stack, self.layer]

    def answers(self, values: dict) -> Iterator[dict]:
        settings = self.settings(values)
        found = stack_looks.bias(self.looks, settings, values[self.stack], values[self.layer])
        yield {self.told: stack_packs.bias_said(found, settings.model), self.maps: stack_packs.bias(found)}


class PaddingPart(Section):
    """Pad tokens after the source: what they move while they are hidden, and when they are not."""

    NAME = "padding"

    def build(self) -> list[gr.components.Component]:
        self.pads = gr.Slider(0, stack_looks.MOST_PADS, 8, step=1, label=said("page.masks.padding.pads"), min_width=250,
                              elem_id="ts-masks-padding-pads")
        self.mask = gr.Checkbox(True, label=said("page.masks.padding.mask"), min_width=180, elem_id="ts-masks-padding-mask")
        return [self.pads, self.mask]

    def answers(self, values: dict) -> Iterator[dict]:
        found = stack_looks.padding(self.looks, self.settings(values), values[self.pads], values[self.mask])
        yield {self.told: stack_packs.padding_said(found), self.maps: stack_packs.padding(found)}


class PrefixPart(Section):
    """Encoder-only, prefix and causal as one slider over the same weights."""

    NAME = "prefix"

    def __init__(self, looks: Looks, asked: Asked):
        super().__init__(looks, asked)
        self.outputs.append(self.length)

    def build(self) -> list[gr.components.Component]:
        self.length = gr.Slider(0, stack_looks.MOST_PIECES, 8, step=1, label=said("page.masks.prefix.length"), min_width=250,
                                elem_id="ts-masks-prefix-length")
        self.prompt = gr.Checkbox(False, label=said("page.masks.prefix.prompt"), min_width=250, elem_id="ts-masks-prefix-prompt")
        return [self.length, self.prompt]

    def answers(self, values: dict) -> Iterator[dict]:
        found = stack_looks.prefix(self.looks, self.settings(values), values[self.length], values[self.prompt])
        yield {self.told: stack_packs.prefix_said(found), self.maps: stack_packs.prefix(found),
               self.length: gr.Slider(maximum=len(found.pieces), value=found.p)}
