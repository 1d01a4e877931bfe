"""The noise tab: a text under any noise, drawn anew at each move of a slider, rebuilt by the model; and all noises in a table.

Moves of a slider are answered without the queue and by the tokenizer alone; only Rebuild and All noises wait for the model.
"""

import random
from collections.abc import Iterator
from typing import Any

import gradio as gr

from app.answers import quick, refused, slow
from app.controls import Controls
from app.corruptions import Corruptions
from app.engine import Engine
from app.noise_controls import FIRST, SEEDS, START, NoiseControls, chosen, noise_controls
from app.turns import MODEL_TURN
from app.widgets.corruption import CorruptionView
from app.widgets.noise_picker import NoisePicker
from app.widgets.noise_table import NoiseTable
from app.widgets.rebuilding import RebuildingView
from app.words import said
from core.errors import TwoStacksError
from core.noise import NOISES
from core.settings import Decoding, Settings

TITLE = "page.noise"
QUICK = dict(queue=False, api_visibility="private", show_progress="hidden", trigger_mode="always_last")
TOLD = QUICK | dict(trigger_mode="multiple")  # events with data: Gradio 6 repeats a deferred one with the data of the one before


def build(engine: Engine, controls: Controls) -> None:
    """The components of the tab and their events. The first picture is there before any model has loaded."""
    made = Corruptions(engine)
    first = Settings(controls.text.value, controls.model.value, noise=NOISES[FIRST].usual(**START))
    gr.Markdown(said("page.noise.about"), elem_id="ts-noise-about")
    picker = NoisePicker({"name": FIRST, "why": made.impossible(first.model)}, elem_id="ts-noise-picker")
    noise = noise_controls()
    with gr.Row(elem_id="ts-noise-buttons"):
        fresh = gr.Button(said("page.noise.fresh"), size="sm", min_width=110, elem_id="ts-noise-fresh")
        rebuild = gr.Button(said("page.noise.rebuild"), variant="primary", size="sm", min_width=140, elem_id="ts-noise-rebuild")
        every = gr.Button(said("page.noise.all"), size="sm", min_width=140, elem_id="ts-noise-all")
    view = CorruptionView(made.counted(first), elem_id="ts-noise-view")
    rebuilding, table = RebuildingView(elem_id="ts-noise-rebuilding"), NoiseTable(elem_id="ts-noise-table")
    inputs = noise.inputs() | {controls.text, controls.model}

    def asked(values: dict) -> Settings:
        return settings_of(noise, controls, values)

    def offered(values: dict) -> dict:
        return {picker: offer(made, values[controls.model], values[noise.name]), view: redraw(values)}

    def redraw(values: dict) -> dict:
        return quick(lambda: made.shown(asked(values)))

    def count(values: dict) -> dict:
        answer = quick(lambda: made.counted(asked(values)))
        # The drawing before it has said so already, and by now there may be another drawing.
        return gr.skip() if isinstance(answer, dict) and answer.get("kind") == "refused" else answer

    def pick(values: dict, event: gr.EventData) -> dict:
        return picked(made, noise, controls, values, event, view)

    def edit(values: dict, event: gr.EventData) -> dict:
        edits = edits_of(getattr(event, "_data", None), values[controls.model], values[controls.text])
        return {noise.edits: edits, view: redraw(values | {noise.edits: edits})}

    moves = [component.input for component in noise.fields.values()]
    drawn = gr.on([*moves, controls.text.change], redraw, inputs, view, **QUICK)
    seeded = fresh.click(lambda: random.randrange(SEEDS), None, noise.fields["seed"], **QUICK)
    renewed = seeded.then(redraw, inputs, view, **QUICK)
    # `pick` and `edit` are events of our own scripts, by the names that they trigger
    picking = picker.pick(pick, inputs, [*noise.fields.values(), noise.name, picker, view], **TOLD)
    editing = view.edit(edit, inputs, [noise.edits, view], **TOLD)
    other = controls.model.change(offered, inputs, [picker, view], **QUICK)
    for event in (drawn, renewed, picking, editing, other):
        event.then(count, inputs, view, **QUICK)

    def rebuilt(values: dict, request: gr.Request) -> Iterator[dict]:
        yield from slow(lambda: made.rebuilt(asked(values), str(request.session_hash)))

    def listed(values: dict, request: gr.Request) -> Iterator[dict]:
        yield from slow(lambda: made.table(asked(values), str(request.session_hash)))

    rebuild.click(rebuilt, inputs, rebuilding, **MODEL_TURN)
    every.click(listed, inputs, table, **MODEL_TURN)


def settings_of(noise: NoiseControls, controls: Controls, values: dict) -> Settings:
    """Checked settings, whatever was sent; InputError says what cannot be used."""
    model, text = values[controls.model], values[controls.text]
    model = model.strip() if isinstance(model, str) else model
    text = "" if text is None else text
    return Settings(text, model, noise=noise.settings(values, values[controls.model], values[controls.text]),
                    decoding=Decoding())


def edits_of(data: object, model: object, text: object) -> dict | None:
    """Edits as they are kept: for this text and this model only. NoiseSettings checks what the lists hold."""
    data = data if isinstance(data, dict) else {}
    lists = {name: data[name][:4000] if isinstance(data.get(name), list) else [] for name in ("hide", "show")}
    if not any(lists.values()) or not isinstance(model, str) or not isinstance(text, str):
        return None
    return lists | {"of": [model, text]}


def picked(made: Corruptions, noise: NoiseControls, controls: Controls, values: dict, event: Any, view: Any) -> dict:
    """Another noise: its controls at its usual values, and the text under it. An unknown name is refused."""
    data = getattr(event, "_data", None)
    name = data.get("name") if isinstance(data, dict) else None
    if not isinstance(name, str) or name not in NOISES:
        return {view: refused("There is no such noise; pick one of the list.")}
    usual = NOISES[name].usual()
    start = {component: getattr(usual, field) for field, component in noise.fields.items() if field not in ("seed", "mode")}
    now = values | start | {noise.name: name}
    return chosen(noise, NOISES[name]) | {
        noise.name: name, view: quick(lambda: made.shown(settings_of(noise, controls, now))),
    }


def offer(made: Corruptions, model: object, name: object) -> dict:
    """What the picker shows for a model."""
    try:
        return {"name": name, "why": made.impossible(str(model).strip())}
    except TwoStacksError:  # the view says why
        return {"name": name, "why": {}}

