"""The one page: controls on top, tabs below with the attention view as the first, one Run event."""

from collections.abc import Iterator, Sequence

import gradio as gr
import numpy as np

from app import endpoints, zero
from app.answers import spoken
from app.attention import answered, explained, opened, spelled
from app.config import AppConfig
from app.controls import Controls, model_picker, more, task_picker, text_box
from app.engine import Engine
from app.guarded import Guarded
from app.sentences import translated
from app.stage import Stage
from app.tab import Tab
from app.turns import MODEL_TURN
from app.views import decoding, formulas, masks, noise, scores, sessions, train
from app.widgets.aids import Aids, sheet
from app.widgets.beats import Beats
from app.widgets.late import Late, code
from app.widgets.lecture import Lecture
from app.widgets.replay_bar import ReplayBar
from app.widgets.spelling import Spelling
from app.widgets.stepper import PLOTLY_FILE, Stepper
from app.words import said
from core.examples import EXAMPLES, Example, source_for

VIEWS = (decoding, masks, noise, train, scores, formulas)  # the tabs beside the first


def build(config: AppConfig) -> gr.Blocks:
    """The page. No model is loaded and torch is not imported: the first picture comes from a saved trace."""
    engine = Engine(config.registry(), elsewhere=zero.lend() if config.zero else None, options=config.engine)
    first = next(iter(engine.saved.values()), None)
    gr.set_static_paths([str(PLOTLY_FILE)])
    with Guarded(title="Two Stacks", analytics_enabled=False, delete_cache=(3600, 3600)) as page:
        endpoints.build(engine)  # first: a name that an event of the page took before would be changed
        gr.Markdown(said("page.head"), elem_id="ts-head")
        aids = Aids(elem_id="ts-aids", elem_classes="ts-bare")
        aids.ask(sheet, None, aids, queue=False, api_visibility="private", show_progress="hidden")
        with gr.Row(elem_id="ts-controls"):
            with gr.Column(scale=3, min_width=300):
                text = text_box(first.settings.text if first else EXAMPLES[0].text)
                spelling = Spelling(box="ts-text")
                with gr.Row(elem_id="ts-chips"):
                    chips = [gr.Button(e.name, size="sm", variant="secondary", min_width=0) for e in EXAMPLES]
                    surprise = gr.Button(said("page.surprise"), size="sm", min_width=0, elem_id="ts-surprise")
                look = _line(EXAMPLES[0].look, "ts-look")
            with gr.Column(scale=2, min_width=300):
                with gr.Row():
                    model, task = model_picker(engine.models, first.settings.task if first else "")
                with gr.Row():
                    go = gr.Button(said("page.run"), variant="primary", elem_id="ts-run", scale=2, min_width=120)
                    stop = gr.Button(said("page.stop"), elem_id="ts-stop", scale=1, min_width=80)
                knows = _line(_knows(engine, model.value), "ts-knows")
                status = _line(engine.status, "ts-status")
        controls = Controls(text, model, task, **more())
        notice = gr.HTML("", html_template="<div class='ts-notice' role='alert'>{{value}}</div>", elem_id="ts-notice")
        unkept = gr.HTML("", html_template="<div class='ts-notice' role='status'>{{value}}</div>", elem_id="ts-unkept")
        key = gr.BrowserState("", storage_key="two-stacks", secret="two-stacks")  # what it holds is signed by the host
        beats = Beats()  # here, as what lies in a closed tab is not in the page
        bar = ReplayBar(elem_id="ts-replay", elem_classes="ts-bare")
        lecture = Lecture(elem_id="ts-lecture", elem_classes="ts-bare")
        minutes = Late(elem_id="ts-minutes", elem_classes="ts-bare")
        with gr.Tabs(elem_id="ts-tabs") as tabs:
            with gr.Tab(said("page.attention"), id="attention"):
                stepper = Stepper(value=engine.saved_pack(first) if first else None)
            others: list[Tab] = []
            for view in VIEWS:
                name = view.TITLE.rpartition(".")[2]
                with gr.Tab(said(view.TITLE), id=name, elem_id=f"ts-tab-{name}") as tab:
                    others.append(view.build(engine, controls))
                    if show_tab := others[-1].opens or others[-1].follow:
                        show_tab(tab.select)
            with gr.Tab(said(sessions.TITLE), id="sessions", elem_id="ts-tab-sessions") as tab:
                stage = Stage(tabs, stepper, notice, bar, lecture, key, unkept, others, beats)
                kept = sessions.build(engine, controls, stage, page, tab)

        @spoken
        def answer(values: dict, request: gr.Request) -> Iterator[tuple]:
            yield from answered(engine, controls, values, str(request.session_hash))

        ran = [gr.on([go.click, text.submit], answer, controls.inputs(), [stepper, notice], **MODEL_TURN)]
        choices = {chip: lambda now, name, chosen=example: chosen_example(chosen, now, engine.models.tasks(str(name)))
                   for chip, example in zip(chips, EXAMPLES, strict=True)}
        choices[surprise] = lambda now, _: (source_for(str(now), np.random.default_rng()), now, "")
        for chip, choose in choices.items():
            filled = chip.click(choose, [task, model], [text, task, look], queue=False, api_visibility="private",
                                trigger_mode="multiple")
            ran.append(filled.then(answer, controls.inputs(), [stepper, notice], **MODEL_TURN))
        for run in ran:
            kept(run.then)
            for one in others:
                if one.follow:
                    one.follow(run.then)
        for run in (run for one in others for run in one.ran):
            kept(run.then)

        def explain(event: gr.EventData) -> tuple:
            return explained(engine, getattr(event, "_data", None))

        stepper.explain(explain, None, [stepper, notice], **MODEL_TURN | dict(trigger_mode="once"))

        @spoken
        def show(event: gr.EventData, request: gr.Request) -> Iterator[dict]:
            for found in opened(engine, controls, getattr(event, "_data", None), str(request.session_hash)):
                yield {{"stepper": stepper, "notice": notice, "tabs": tabs}.get(name, name): one for name, one in found.items()}

        text_opens = next(one.text for one in others if one.text)
        text_opens(show, None, [stepper, notice, tabs, *controls.inputs()], **MODEL_TURN | dict(show_progress_on=notice))

        def halt(request: gr.Request) -> None:
            engine.latest.stop(str(request.session_hash))

        stop.click(halt, queue=False, api_visibility="private", show_progress="hidden")
        model.change(
            lambda name, now: (task_picker(engine.models, str(name), _kept_task(engine, name, now)), _knows(engine, str(name))),
            [model, task], [task, knows], queue=False, api_visibility="private", show_progress="hidden",
        )
        text.input(None, None, look, js="() => ''", queue=False, show_progress="hidden")  # what is typed is no example
        gr.on([text.change, model.change], lambda *typed: spelled(engine, *typed), [text, model], spelling, queue=False,
              api_visibility="private", show_progress="hidden", trigger_mode="always_last")
        timer = gr.Timer(1.0)
        timer.tick(lambda: (engine.status, gr.Timer(active=not engine.ready)), None, [status, timer], queue=False,
                   api_visibility="private", show_progress="hidden")
        page.load(lambda: code("minutes", "text", "minutes", "troubles"), None, minutes, queue=False, api_visibility="private",
                  show_progress="hidden")
        # The picture is on the page already; now there is time to load the model.
        page.load(engine.load_in_background, queue=False, api_visibility="private")
    page.engine = engine
    return page


def chosen_example(example: Example, task: object, tasks: Sequence[str]) -> tuple[str, object, str]:
    """(text, task, what to look at) after a click: an example made for a task brings it where the model has it;
    a plain one leaves such a task."""
    made_for = {other.task for other in EXAMPLES}
    return example.text, example.task if example.task in tasks else "" if task in made_for else task, example.look


def _kept_task(engine: Engine, name: object, task: object) -> str:
    """The task that was chosen, where model `name` has it too; "" is its first."""
    return task if isinstance(task, str) and task in engine.models.tasks(str(name)) else ""


def _knows(engine: Engine, name: str) -> str:
    return f"{name[:100]}: {translated(engine.models.about(name))}"


def _line(value: str, elem_id: str) -> gr.HTML:
    return gr.HTML(value, html_template="<div class='ts-fact'>{{value}}</div>", elem_id=elem_id)
