"""Closed sections of the search tab: copying beside generating, and what the caches save."""

from collections.abc import Iterator

import gradio as gr

from app import copy_packs
from app.mask_looks import fits
from app.sections import Section
from app.widgets.pointer import Pointer


class CopyPart(Section):
    """A pointer-generator over the run's own cross-attention: what is generated, what is copied, by a dial."""

    TAB, NAME = "search", "pointer"

    def show(self) -> list[gr.components.Component]:
        return [Pointer(elem_id=f"{self.id}-view", elem_classes="ts-bare")]

    def answers(self, values: dict) -> Iterator[dict]:
        """The run of the controls, kept or made now; P_vocab of every step comes from one forward over what was written."""
        settings, engine = self.settings(values), self.looks.engine
        if not engine.models.is_loaded(settings.model):
            yield {"kind": "progress", "text": "The model is still loading; this starts as soon as it is there."}
        going, ids = self.looks.ready(settings)
        trace = self.looks.made.trace(settings)
        fits(going, len(ids), 1, "copy of log-probabilities")
        from core.likelihood import logits_of

        with engine.turn:
            generated = logits_of(going, ids)[0].float().softmax(-1).cpu().numpy()
        yield copy_packs.pack(trace, generated, going.loaded.tokenizer, engine.models.alignment_head(settings.model))
