"""The noise tab: a text under any noise, drawn anew at each move of a slider, rebuilt by the model; and all noises in a table.

A choice of noise, a new seed and edits by hand reach the controls in the browser, so that no answer can set back what has
been moved meanwhile. Moves are answered without the queue and by the tokenizer alone; only Rebuild and All noises wait for
the model.
"""

import json
import random
import time
from collections.abc import Callable, Iterator
from contextlib import suppress

import gradio as gr

from app.answers import quick, slow, spoken
from app.controls import Controls
from app.corruptions import Corruptions
from app.engine import Engine
from app.noise_controls import FIRST, SEEDS, START, NoiseControls, noise_controls, turn_of, updates
from app.tab import Tab
from app.turns import MODEL_TURN
from app.widgets.corruption import CorruptionView
from app.widgets.noise_picker import NoisePicker
from app.widgets.noise_table import NoiseTable
from app.widgets.rebuilding import RebuildingView
from app.words import said
from core.errors import TwoStacksError
from core.examples import SUMMARIES
from core.models import BUNDLED
from core.noise import NOISES
from core.settings import Decoding, Settings

TITLE = "page.noise"
QUICK = dict(queue=False, api_visibility="private", show_progress="hidden", trigger_mode="always_last")
HERE = dict(queue=False, show_progress="hidden", trigger_mode="multiple")  # events without a round trip
# What our own scripts hold for these events; assets/js/noise_picker.js and assets/js/corruption/ write it.
PICKED = "() => window.twoStacks.picked"
EDITED = "(model, text) => ({ ...window.twoStacks.edited, of: [model, text] })"
# After the frame with the text, or where none is painted, after 50 ms: asking for the histogram would hold the text up.
PAINTED = "() => new Promise((go) => { requestAnimationFrame(() => setTimeout(go)); setTimeout(go, 50); })"
FRESH = f"() => Math.floor({SEEDS} * Math.random())"


def build(engine: Engine, controls: Controls) -> Tab:
    """The components of the tab and their events. The first picture is there before any model has loaded."""
    made = Corruptions(engine)
    first = Settings(controls.text.value, controls.model.value, noise=NOISES[FIRST].usual(**START))
    gr.Markdown(said("page.noise.about"), elem_id="ts-noise-about")
    able = next((name for name in BUNDLED if not made.impossible(name)), "")
    picker = NoisePicker({"name": FIRST, "why": made.impossible(first.model)}, updates=json.dumps(updates()), able=able,
                         elem_id="ts-noise-picker")
    noise = noise_controls()
    with gr.Row(elem_id="ts-noise-buttons"):
        captions = gr.Button(said("page.noise.captions"), size="sm", min_width=110, elem_id="ts-noise-captions")
        fresh = gr.Button(said("page.noise.fresh"), size="sm", min_width=110, elem_id="ts-noise-fresh")
        rebuild = gr.Button(said("page.noise.rebuild"), variant="primary", size="sm", min_width=140, elem_id="ts-noise-rebuild")
        every = gr.Button(said("page.noise.all"), size="sm", min_width=140, elem_id="ts-noise-all")
    view = CorruptionView(made.counted(first), elem_id="ts-noise-view")
    rebuilding, table = RebuildingView(elem_id="ts-noise-rebuilding"), NoiseTable(elem_id="ts-noise-table")
    inputs = noise.inputs() | {controls.text, controls.model}

    def asked(values: dict) -> Settings:
        return settings_of(noise, controls, values)

    def offered(values: dict) -> dict:
        return {picker: offer(made, values[controls.model]), view: redraw(values)}

    def redraw(values: dict) -> dict:
        return dated(values[noise.edits], lambda: made.shown(asked(values)))

    def count(values: dict) -> dict:
        return dated(values[noise.edits], lambda: made.counted(asked(values)))

    moves = [component.input for component in noise.fields.values()]
    drawn = gr.on([*moves, controls.text.change], redraw, inputs, view, **QUICK)
    # `pick` and `edit` are events of our own scripts, by the names that they trigger
    here = (
        fresh.click(None, None, noise.fields["seed"], js=FRESH, **HERE),
        picker.pick(None, None, [*noise.picked(), noise.name], js=PICKED, **HERE),
        view.edit(None, [controls.model, controls.text], noise.edits, js=EDITED, **HERE),
    )
    picker.use(None, None, controls.model, js=f"() => {json.dumps(able)}", **HERE)
    captions.click(lambda: " ".join(random.choice(SUMMARIES)), None, controls.text, **QUICK)
    other = controls.model.change(offered, inputs, [picker, view], **QUICK)
    for event in (drawn, other, *(one.then(redraw, inputs, view, **QUICK) for one in here)):
        event.then(None, None, None, js=PAINTED, **HERE).then(count, inputs, view, **QUICK)

    @spoken
    def rebuilt(values: dict, request: gr.Request) -> Iterator[dict]:
        yield from slow(lambda: made.rebuilt(asked(values), str(request.session_hash)))

    @spoken
    def listed(values: dict, request: gr.Request) -> Iterator[dict]:
        yield from slow(lambda: made.table(asked(values), str(request.session_hash)))

    def moved(values: dict, request: gr.Request) -> None:
        with suppress(TwoStacksError):  # the view says what cannot be used
            engine.keeper.moved(str(request.session_hash), asked(values))

    def again(settings: Settings) -> dict:
        """The controls as they were for a text under a noise; none of another run."""
        return noise.again(settings) if settings.noise.name else {}

    # What a slider passes on its way is drawn, and only where it was let go is kept.
    settled = [component.release if isinstance(component, gr.Slider) else component.input for component in noise.fields.values()]
    kept = gr.on(settled, moved, inputs, None, **QUICK | dict(trigger_mode="multiple"))
    for event in here:
        event.then(moved, inputs, None, **QUICK | dict(trigger_mode="multiple"))
    ran = [kept, rebuild.click(rebuilt, inputs, rebuilding, **MODEL_TURN)]
    every.click(listed, inputs, table, **MODEL_TURN)
    return Tab(None, {"corruption": view}, again, list(noise.inputs()), ran=ran)


def settings_of(noise: NoiseControls, controls: Controls, values: dict) -> Settings:
    """Checked settings, whatever was sent; InputError says what cannot be used."""
    model, text = values[controls.model], values[controls.text]
    model = model.strip() if isinstance(model, str) else model
    text = "" if text is None else text
    return Settings(text, model, noise=noise.settings(values, values[controls.model], values[controls.text]),
                    decoding=Decoding())


def dated(edits: object, answer: Callable[[], dict]) -> dict:
    """An answer or a refusal for the view, with what tells the view an answer that comes late: when it was asked, in
    seconds of this machine, and after which edit."""
    asked = time.monotonic()
    return quick(answer) | {"asked": asked, "turn": turn_of(edits)}


def offer(made: Corruptions, model: object) -> dict:
    """What the picker shows for a model."""
    try:
        return {"why": made.impossible(str(model).strip())}
    except TwoStacksError:  # the view says why
        return {"why": {}}

