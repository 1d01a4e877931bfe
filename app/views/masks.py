"""The masks tab: draw what attention may see; the same weights run with and without it, and what changed stands below.

Every change of the grid is one event with all masks. The plain run is kept by its settings, so that only the drawn one is made.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import gradio as gr

from app import mask_packs
from app.answers import quick, refused, sentence, slow, spoken
from app.controls import Controls
from app.decoder_sections import RowPart, UnmaskedPart
from app.engine import Engine
from app.mask_looks import Looks, edits_of, sizes
from app.mask_sections import HeadsPart, LeakPart, ProbePart
from app.masked import Drawn, Masked, Pair, plain
from app.sections import opens
from app.stack_sections import BiasPart, PaddingPart, PrefixPart
from app.tab import Tab
from app.turns import MODEL_TURN
from app.widgets.findings import Findings
from app.widgets.mask_grid import MaskGrid
from app.widgets.matrices import Matrices
from app.words import said, worded
from core.errors import InputError
from core.fields import build as built
from core.interventions import Masks
from core.settings import Settings

TITLE = "page.masks"
SECTIONS = (UnmaskedPart, RowPart, BiasPart, PaddingPart, PrefixPart)  # closed at first, in this order below the rest


class Parts:
    """The components of the tab, and what its events send: all controls, and what this visitor has drawn."""

    def __init__(self, engine: Engine, controls: Controls):
        first = next(iter(engine.saved.values()), None)
        pair = Pair(first, first) if first else None
        self.controls, self.drawn = controls, gr.State(Drawn())
        gr.Markdown(said("page.masks.about"), elem_id="ts-masks-about")
        self.grid = MaskGrid(mask_packs.grid(first, masks=Masks()) if first else None, elem_id="ts-masks-grid",
                             elem_classes="ts-bare")
        self.both = gr.Button(said("page.masks.both"), size="sm", elem_id="ts-masks-both")
        self.told = Findings(mask_packs.told(pair) if pair else None, elem_id="ts-masks-told", elem_classes="ts-bare")
        self.maps = Matrices(mask_packs.heatmaps(pair) if pair else None, elem_id="ts-masks-maps", elem_classes="ts-bare")
        looks = Looks(Masked(engine))
        self.probe = ProbePart(looks, self.settings)
        self.leak = LeakPart(looks, self.settings, first)
        self.heads = HeadsPart(looks, self.settings, first)
        self.sections = [section(looks, self.settings) for section in SECTIONS]
        self.inputs = controls.inputs() | {self.drawn, *self.leak.inputs}
        self.everything = self.inputs.union(self.probe.inputs, *(section.inputs for section in self.sections))
        self.shown = [self.grid, self.told, self.maps, *self.heads.outputs, *self.leak.inputs]

    def settings(self, values: dict) -> Settings:
        """Checked settings, whatever was sent; InputError says what cannot be used."""
        drawn = values[self.drawn]
        return replace(self.controls.settings(values), masks=drawn.masks, edits=drawn.edits)


def build(engine: Engine, controls: Controls) -> Tab:
    """The components of the tab and their events; it follows other events, such as its own opening."""
    made, parts = Masked(engine), Parts(engine, controls)
    probe, leak, heads = parts.probe, parts.leak, parts.heads

    @spoken
    def edit(values: dict, event: gr.EventData, request: gr.Request) -> Iterator[dict]:
        yield from edited(made, parts, values, getattr(event, "_data", None), _who(request))

    @spoken
    def tick(values: dict, event: gr.EventData, request: gr.Request) -> Iterator[dict]:
        yield from ticked(made, parts, values, getattr(event, "_data", None), _who(request))

    @spoken
    def both(values: dict, request: gr.Request) -> Iterator[dict]:
        yield from pictures(made, parts, values, _who(request))

    @spoken
    def follow(values: dict, request: gr.Request) -> Iterator[dict]:
        yield from followed(made, parts, values, _who(request))

    @spoken
    def opened(values: dict, request: gr.Request) -> Iterator[dict]:
        if not values[parts.drawn].again:
            yield from followed(made, parts, values, _who(request))

    def look(values: dict, request: gr.Request) -> dict:
        return probe.look(values, _who(request))

    def look_into(values: dict, request: gr.Request) -> dict:
        return probe.look(values, _who(request), used=False)

    @spoken
    def look_again(values: dict, request: gr.Request) -> Iterator[dict]:
        yield from looked_again(parts, values, _who(request))

    @spoken
    def measure(values: dict, request: gr.Request) -> Iterator[dict]:
        yield from heads.measure(values, _who(request))

    def again(event: Any) -> Any:
        event.then(look_again, parts.everything, looked, **turn)
        return event

    turn = MODEL_TURN | dict(show_progress_on=parts.both)  # a small one: it is read anew with every message
    looked = [*probe.outputs, *(one for section in parts.sections for one in section.outputs)]
    # `edit` is an event of our own scripts; a deferred one would come with the data of the one before, so none is deferred
    ran = [again(parts.grid.edit(edit, parts.inputs, parts.shown, **turn)),
           again(heads.maps.edit(tick, parts.inputs, parts.shown, **turn)),
           again(parts.both.click(both, parts.inputs, parts.shown, **turn))]
    probe.go.click(look, parts.inputs | probe.inputs, probe.outputs, **turn)
    gr.on([one.input for one in (probe.stack, probe.layer, probe.head)], look_into, parts.inputs | probe.inputs,
          probe.outputs, **turn)
    for section in parts.sections:
        opens(section, parts.inputs)
    leak.go.click(leak.perturb, parts.inputs, leak.outputs, **turn)
    heads.go.click(measure, parts.inputs, heads.outputs, **turn)

    def following(on: Callable) -> None:
        again(on(follow, parts.inputs, parts.shown, **turn))

    def opening(on: Callable) -> None:
        again(on(opened, parts.inputs, parts.shown, **turn))

    return Tab(following, {"drawn": parts.drawn, "grid": parts.grid, "pair": parts.told, "pair_maps": parts.maps},
               opens=opening, ran=ran)


def looked_again(parts: "Parts", values: dict, visitor: str) -> Iterator[dict]:
    """After another run, model or mask: the head that was looked into, and the sections that are open."""
    yield parts.probe.look(values, visitor, used=False)
    for section in parts.sections:
        if values[section.open]:
            yield from section.look(values, visitor)


def _who(request: gr.Request) -> str:
    return str(request.session_hash)


def edited(made: Masked, parts: Parts, values: dict, data: object, visitor: str) -> Iterator[dict]:
    """The masks that the grid tells are kept at once, for any event that comes behind; then both runs are shown.

    The state is changed in place and is no output, so that an older edit whose answer comes late cannot set a newer one back.
    """
    try:
        values[parts.drawn].take("masks", masks_of(data), data.get("turn"))
    except InputError as error:
        yield {parts.told: refused(sentence(error))}
        return
    yield from pictures(made, parts, values, visitor)


def ticked(made: Masked, parts: Parts, values: dict, data: object, visitor: str) -> Iterator[dict]:
    """The same for heads that are switched off or on; the numbers of the map stay."""
    drawn = values[parts.drawn]

    def kept() -> dict:
        loaded = made.engine.models.load(parts.settings(values).model)
        drawn.take("edits", edits_of(data, drawn.edits, list(sizes(None, loaded))), data.get("turn"))
        return {}

    if problem := quick(kept):
        yield {parts.told: problem}
        return
    yield from pictures(made, parts, values, visitor, emptied=False)


def masks_of(data: object) -> Masks:
    """Masks as the grid tells them: types, ranges and counts are checked, unknown keys dropped."""
    if not isinstance(data, dict):
        raise InputError(f"masks must be an object, not {type(data).__name__}.")
    return built(Masks, data.get("masks"), "masks.", [])


def pictures(made: Masked, parts: Parts, values: dict, visitor: str, emptied: bool = True) -> Iterator[dict]:
    """What the components show, as it comes; what goes wrong is said and the pictures stay."""
    values[parts.drawn].again = False
    ticket = made.engine.latest.begin(visitor)  # before the masks are read: whichever event begins last shows the newest
    for found in slow(lambda: made.pair(parts.settings(values), visitor, ticket=ticket)):
        answer = shown(made, parts, values, found, emptied)
        if made.engine.latest.overtaken(visitor, ticket):
            return  # what the newer one shows may be on its way already
        yield answer


def shown(made: Masked, parts: Parts, values: dict, found: Any, emptied: bool) -> dict:
    """One message: progress or a refusal, both runs, or what is known about the old output by now."""
    if not isinstance(found, Pair):
        return {parts.told: found}
    told = {parts.told: mask_packs.told(found)}
    if found.scored:
        return told
    new, drawn = found.new, values[parts.drawn]
    told |= {parts.grid: mask_packs.grid(new, made.engine.models.loaded(new.settings.model), drawn.masks),
             parts.maps: mask_packs.heatmaps(found)}
    if emptied:  # another run: what was measured of the one before does not hold
        told |= parts.leak.offer(new, values[parts.leak.token]) | parts.heads.emptied(new, drawn.edits)
    return told


def followed(made: Masked, parts: Parts, values: dict, visitor: str) -> Iterator[dict]:
    """After a run elsewhere, or when the tab opens: shown if the plain run is there already; else the button runs it."""
    for there in slow(lambda: iter([made.kept(plain(parts.settings(values))) is not None])):
        if there is True:
            yield from pictures(made, parts, values, visitor)
        else:
            yield {parts.told: there or {"kind": "progress", "text": worded("told.masks.other")}}
