"""The training tab: teacher forcing, the learning bridge, distillation and fine-tuning in the page, budgets, kinds of model.

Each section's script comes when it opens. What is moved there moves in the browser; what asks the model waits for its turn.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import gradio as gr

from app.answers import slow, spoken
from app.controls import Controls
from app.engine import Engine
from app.masked import Masked
from app.relatives import ASKS, Relatives
from app.tab import Tab
from app.taught import Taught
from app.training import Trainings
from app.turns import MODEL_TURN
from app.widgets.late import Late, code
from app.words import said
from core.errors import InputError
from core.settings import Settings

TITLE = "page.train"
SECTIONS = ("teaching", "bridge", "distilling", "tuning", "budget", "kinds")
RUNS = ("distil", "tune")
SCRIPTS = {"distilling": ("running",), "tuning": ("running",), "kinds": ("relatives",)}  # beside what all sections share


def build(engine: Engine, controls: Controls) -> Tab:
    """The sections, the first open; the result connects the first one to the opening of the tab."""
    gr.Markdown(said("page.train.about"), elem_id="ts-train-about")
    taught = Taught(Masked(engine))
    trainings, relatives = Trainings(engine, taught), Relatives(engine)
    first: list[tuple[Late, Callable]] = []

    @spoken
    def ask(values: dict, event: gr.EventData, request: gr.Request) -> Iterator[dict]:
        data = getattr(event, "_data", None)
        yield from slow(lambda: answers(
            taught, trainings, relatives, controls.settings(values), data, str(request.session_hash)))

    def quit(request: gr.Request) -> None:
        for one in (trainings, relatives):
            one.stop(str(request.session_hash))

    for name in SECTIONS:
        with gr.Accordion(said(f"page.train.{name}"), open=name == SECTIONS[0], elem_id=f"ts-train-{name}",
                          elem_classes="ts-section") as part:
            gr.Markdown(said(f"page.train.{name}.about"), elem_classes="ts-masks-head")
            view = Late(elem_id=f"ts-train-{name}-view", elem_classes="ts-bare")

        def came(name: str = name) -> dict:
            return code("training", "text", "common", "charts", *SCRIPTS.get(name, ()), name)

        part.expand(came, None, view, queue=False, api_visibility="private", show_progress="hidden")
        view.ask(ask, controls.inputs(), view, **MODEL_TURN)
        view.quit(quit, None, None, queue=False, api_visibility="private", show_progress="hidden")
        first.append((view, came))

    def opened(event: Callable) -> None:
        view, came = first[0]
        event(came, None, view, queue=False, api_visibility="private", show_progress="hidden")

    return Tab(opens=opened)


def answers(
    taught: Taught, trainings: Trainings, relatives: Relatives, settings: Settings, data: object, visitor: str
) -> Iterator[dict[str, Any]]:
    """Messages for the section that asked."""
    if not isinstance(data, Mapping) or not isinstance(data.get("what"), str):
        raise InputError("A section asks with an object that says what it wants.")
    what = data["what"]
    yield from taught.engine.arriving(settings.model)
    if what in RUNS:
        yield from trainings.messages(what, settings, data, visitor)
    elif what in ASKS:
        yield from relatives.messages(what, settings, data, visitor)
    elif what == "bars":
        yield trainings.bars(settings, data, visitor)
    else:
        yield taught.answer(what, settings, data)
