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
from app.stage import Stage
from app.tab import Tab
from app.turns import MODEL_TURN
from app.views import decoding, formulas, masks, noise, scores, sessions, train
from app.widgets.aids import Aids, sheet
from app.widgets.beats import Beats
from app.widgets.late import Late, code
from app.widgets.lecture import Lecture
from app.widgets.line import Line, line
from app.widgets.replay_bar import ReplayBar
from app.widgets.spelling import Spelling
from app.widgets.stepper import PLOTLY_FILE, Stepper
from app.words import said
from core.examples import EXAMPLES, Example, source_for
from core.models import BUNDLED

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
            with gr.Column(scale=7, min_width=300):
                text = text_box(first.settings.text if first else EXAMPLES[0].text)
                spelling = Spelling(box="ts-text")
            with gr.Column(scale=1, min_width=130, elem_id="ts-go"):
                go = gr.Button(said("page.run"), variant="primary", elem_id="ts-run", min_width=80)
                stop = gr.Button(said("page.stop"), elem_id="ts-stop", min_width=80)
            with gr.Column(scale=5, min_width=300, elem_id="ts-which"), gr.Row():
                model, task = model_picker(engine.models, first.settings.task if first else "")
        with gr.Row(elem_id="ts-chips"):
            chips = [gr.Button(said(f"page.example.{e.key}"), size="sm", variant="secondary", min_width=0) for e in EXAMPLES]
            surprise = gr.Button(said("page.surprise"), size="sm", min_width=0, elem_id="ts-surprise")
        with gr.Row(elem_id="ts-lines"):
            look = Line(line(f"look.{EXAMPLES[0].key}"), "ts-look")
            knows = Line(_knows(engine, model.value), "ts-knows")
            status = Line(engine.told, "ts-status")
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
                stepper = Stepper(value=engine.saved_pack(first) if first else None, elem_classes="ts-bare")
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
        choices[surprise] = lambda now, _: (source_for(str(now), np.random.default_rng()), now, line())
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
        text.input(None, None, look, js="() => null", queue=False, show_progress="hidden")  # what is typed is no example
        gr.on([text.change, model.change], lambda *typed: spelled(engine, *typed), [text, model], spelling, queue=False,
              api_visibility="private", show_progress="hidden", trigger_mode="always_last")
        timer = gr.Timer(1.0)
        timer.tick(lambda: told(engine), None, [status, timer], queue=False,
                   api_visibility="private", show_progress="hidden")
        page.load(lambda: code("minutes", "text", "minutes", "troubles"), None, minutes, queue=False, api_visibility="private",
                  show_progress="hidden")
        # The picture is on the page already; now there is time to load the model.
        page.load(engine.load_in_background, queue=False, api_visibility="private")
    page.engine = engine
    return page


def chosen_example(example: Example, task: object, tasks: Sequence[str]) -> tuple[str, object, dict]:
    """(text, task, what to look at) after a click: an example made for a task brings it where the model has it;
    a plain one leaves such a task."""
    made_for = {other.task for other in EXAMPLES}
    return example.text, example.task if example.task in tasks else "" if task in made_for else task, line(f"look.{example.key}")


def told(engine: Engine) -> tuple[dict, gr.Timer]:
    """The line on the default model, and the timer that asks for it, which ends with the last one."""
    settled = engine.settled  # first: what is told may become the last one meanwhile
    return engine.told, gr.Timer(active=not settled)


def _kept_task(engine: Engine, name: object, task: object) -> str:
    """The task that was chosen, where model `name` has it too; "" is its first."""
    return task if isinstance(task, str) and task in engine.models.tasks(str(name)) else ""


def _knows(engine: Engine, name: str) -> dict:
    """The line on what a model knows."""
    base = name.partition("@")[0]
    kind = base if base in BUNDLED else "registered" if base in engine.models.folders else "hub"
    return line(f"knows.{kind}", name=name[:100])
