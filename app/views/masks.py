"""The masks tab: draw what attention may see; the same weights run with and without it, and what changed stands below.

Every change of the grid is one event with all masks. The plain run is kept by its settings, so that only the drawn one is made.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import gradio as gr

from app import mask_packs
from app.answers import refused, slow
from app.controls import Controls
from app.engine import Engine
from app.masked import Masked, Pair, plain
from app.turns import MODEL_TURN
from app.widgets.findings import Findings
from app.widgets.mask_grid import MaskGrid
from app.widgets.matrices import Matrices
from app.words import said
from core.errors import InputError
from core.fields import build as built
from core.interventions import Edits, Masks
from core.settings import Settings

TITLE = "page.masks"
OTHER = "The text or the settings above are others now: press Run both, or draw on, and this tab shows them."
Follow = Callable[[Callable], None]


class Parts:
    """The components of the tab, and what each event of it sends: all controls and the masks and edits of this visitor."""

    def __init__(self, engine: Engine, controls: Controls):
        first = next(iter(engine.saved.values()), None)
        pair = Pair(first, first) if first else None
        self.controls = controls
        self.masks, self.edits = gr.State(Masks()), gr.State(Edits())
        gr.Markdown(said("page.masks.about"), elem_id="ts-masks-about")
        self.grid = MaskGrid(mask_packs.grid(first, masks=Masks()) if first else None, elem_id="ts-masks-grid",
                             elem_classes="ts-bare")
        self.both = gr.Button(said("page.masks.both"), size="sm", elem_id="ts-masks-both")
        self.told = Findings(mask_packs.told(pair) if pair else None, elem_id="ts-masks-told", elem_classes="ts-bare")
        self.maps = Matrices(mask_packs.heatmaps(pair) if pair else None, elem_id="ts-masks-maps", elem_classes="ts-bare")
        self.inputs = controls.inputs() | {self.masks, self.edits}
        self.drawn = [self.grid, self.told, self.maps]

    def settings(self, values: dict) -> Settings:
        """Checked settings, whatever was sent; InputError says what cannot be used."""
        return replace(self.controls.settings(values), masks=values[self.masks], edits=values[self.edits])


def build(engine: Engine, controls: Controls) -> Follow:
    """The components of the tab and their events; returns how it follows other events, such as its own opening."""
    made, parts = Masked(engine), Parts(engine, controls)

    def edit(values: dict, event: gr.EventData, request: gr.Request) -> Iterator[dict]:
        yield from edited(made, parts, values, getattr(event, "_data", None), str(request.session_hash))

    def both(values: dict, request: gr.Request) -> Iterator[dict]:
        yield from pictures(made, parts, values, str(request.session_hash))

    def follow(values: dict, request: gr.Request) -> Iterator[dict]:
        yield from followed(made, parts, values, str(request.session_hash))

    # `edit` is an event of our own script; a deferred one would come with the data of the one before, so none is
    parts.grid.edit(edit, parts.inputs, [parts.masks, *parts.drawn], **MODEL_TURN)
    parts.both.click(both, parts.inputs, parts.drawn, **MODEL_TURN)
    return lambda on: on(follow, parts.inputs, parts.drawn, **MODEL_TURN)


def edited(made: Masked, parts: Parts, values: dict, data: object, visitor: str) -> Iterator[dict]:
    """The masks that the grid tells are kept at once, then both runs are shown."""
    try:
        masks = masks_of(data)
    except InputError as error:
        yield {parts.told: refused(str(error))}
        return
    yield {parts.masks: masks}
    yield from pictures(made, parts, values | {parts.masks: masks}, visitor)


def masks_of(data: object) -> Masks:
    """Masks as the grid tells them: types, ranges and counts are checked, unknown keys dropped."""
    if not isinstance(data, dict):
        raise InputError(f"masks must be an object, not {type(data).__name__}.")
    return built(Masks, data.get("masks"), "masks.", [])


def pictures(made: Masked, parts: Parts, values: dict, visitor: str) -> Iterator[dict]:
    """What the components show, as it comes; what goes wrong is said and the pictures stay."""
    for found in slow(lambda: made.pair(parts.settings(values), visitor)):
        yield shown(made, parts, values, found)


def shown(made: Masked, parts: Parts, values: dict, found: Any) -> dict:
    """One message: progress or a refusal, both runs, or what is known about the old output by now."""
    if not isinstance(found, Pair):
        return {parts.told: found}
    told = {parts.told: mask_packs.told(found)}
    if found.scored:
        return told
    loaded = made.engine.models.loaded(found.new.settings.model)
    return told | {parts.grid: mask_packs.grid(found.new, loaded, values[parts.masks]), parts.maps: mask_packs.heatmaps(found)}


def followed(made: Masked, parts: Parts, values: dict, visitor: str) -> Iterator[dict]:
    """After a run elsewhere, or when the tab opens: shown if the plain run is there already; else the button runs it."""
    for there in slow(lambda: iter([made.kept(plain(parts.settings(values))) is not None])):
        if there is True:
            yield from pictures(made, parts, values, visitor)
        else:
            yield {parts.told: there or {"kind": "progress", "text": OTHER}}
