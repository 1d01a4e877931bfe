"""The one page: controls on top, tabs below with the attention view as the first, one Run event."""

import logging
import os
import threading
from collections.abc import Iterator, Sequence
from types import SimpleNamespace

import gradio as gr
import numpy as np
from starlette.middleware import Middleware

from app import endpoints, health, processes, shutdown, zero
from app.answers import sentence, spoken
from app.config import AppConfig
from app.controls import Controls, model_picker, more, task_picker, text_box
from app.corpus_packs import line_of
from app.door import REFUSALS, Door
from app.engine import LOADING, LOADS, Engine
from app.guarded import Guarded
from app.tab import Tab
from app.theme import CSS, theme
from app.turns import MODEL_TURN
from app.views import decoding, formulas, masks, noise, scores, sessions, train
from app.widgets.aids import Aids, sheet
from app.widgets.beats import Beats
from app.widgets.late import Late, code
from app.widgets.lecture import Lecture
from app.widgets.line import Line, line
from app.widgets.replay_bar import ReplayBar
from app.widgets.scripts import head
from app.widgets.spelling import Spelling, pack
from app.widgets.stepper import PLOTLY_FILE, Stepper
from app.words import TRANSLATIONS, said
from core.errors import InputError, TwoStacksError
from core.examples import EXAMPLES, Example, source_for
from core.models import BUNDLED
from core.settings import MAX_CHARACTERS, MAX_SOURCE
from core.spelling import marks
from core.text import usable

log = logging.getLogger("two-stacks")
LOOKS = 0.008  # seconds between two looks at the queue
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
                stage = sessions.Stage(tabs, stepper, notice, bar, lecture, key, unkept, others, beats)
                kept = sessions.build(engine, controls, stage, page, tab)

        @spoken
        def answer(values: dict, request: gr.Request) -> Iterator[tuple]:
            yield from _answer(engine, controls, values, str(request.session_hash))

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
            return _explain(engine, getattr(event, "_data", None))

        stepper.explain(explain, None, [stepper, notice], **MODEL_TURN | dict(trigger_mode="once"))

        @spoken
        def show(event: gr.EventData, request: gr.Request) -> Iterator[dict]:
            for found in _opened(engine, controls, getattr(event, "_data", None), str(request.session_hash)):
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
        gr.on([text.change, model.change], lambda *typed: _spelling(engine, *typed), [text, model], spelling, queue=False,
              api_visibility="private", show_progress="hidden", trigger_mode="always_last")
        timer = gr.Timer(1.0)
        timer.tick(lambda: _told(engine.told), None, [status, timer], queue=False,
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


def _answer(engine: Engine, controls: Controls, values: dict, visitor: str = "") -> Iterator[tuple]:
    """(stepper, notice) of one run. What goes wrong is said in the notice; the picture and the text stay."""
    try:
        settings = controls.settings(values)
        usable(settings.text)
        engine.models.check(settings.model)
        if not engine.ready and settings.to_json() not in engine.saved:
            yield gr.skip(), LOADING
        for message in engine.messages(settings, visitor):
            yield message, ""
    except Exception as error:
        yield gr.skip(), sentence(error, "This run failed for a reason we did not foresee; the host's log has it. Text kept.")


def _opened(engine: Engine, controls: Controls, data: object, visitor: str) -> Iterator[dict]:
    """One text of a corpus, run in the attention view, with the controls as it was run; what goes wrong is said in the notice."""
    try:
        settings = line_of(data)
    except Exception as error:
        yield {"notice": sentence(error)}
        return
    yield {"tabs": gr.Tabs(selected="attention")} | controls.again(settings)
    for picture, notice in _answer(engine, SimpleNamespace(settings=line_of), data, visitor):
        yield {"stepper": picture, "notice": notice}


def _explain(engine: Engine, asked: object) -> tuple:
    """(stepper, notice): input × gradient of the run that the stepper names."""
    try:
        return engine.attribution(str(asked.get("run", ""))[:64] if isinstance(asked, dict) else ""), ""
    except Exception as error:
        return gr.skip(), sentence(error, "Input × gradient could not be computed for this run; the host's log says why.")


def _spelling(engine: Engine, text: object, model: object) -> dict | None:
    """The words of `text` that a loaded model hardly knows; None where there is nothing to say."""
    if not isinstance(text, str) or len(text) > MAX_CHARACTERS or not isinstance(model, str):
        return None
    loaded = engine.models.loaded(model)
    try:
        return pack(text, marks(loaded.tokenizer, usable(text), MAX_SOURCE)) if loaded else None
    except TwoStacksError:  # a text that cannot be read yet: Run says why
        return None


def _kept_task(engine: Engine, name: object, task: object) -> str:
    """The task that was chosen, where model `name` has it too; "" is its first."""
    return task if isinstance(task, str) and task in engine.models.tasks(str(name)) else ""


def _told(told: dict) -> tuple[dict, gr.Timer]:
    """The line on how far the default model has loaded, and the timer that asks for it until nothing more will be told."""
    return told, gr.Timer(active=told["key"] in LOADS)


def _knows(engine: Engine, name: str) -> dict:
    """The line on what a model knows."""
    base = name.partition("@")[0]
    kind = base if base in BUNDLED else "registered" if base in engine.models.folders else "hub"
    return line(f"knows.{kind}", name=name[:100])


def launch(page: gr.Blocks, config: AppConfig) -> None:
    """Serve until interrupted. InputError where the port is taken, SessionError where another process has the sessions' mount."""
    if said_so := processes.ignored():
        log.warning(said_so)
        del os.environ["WEB_CONCURRENCY"]  # uvicorn would read it, too, and stumble over a word
    claimed = page.engine.keeper.claim(config.port)
    try:
        serve(page, config)
    except OSError:
        raise InputError(f"Port {config.port} of {config.host} cannot be used: another program has it, or it is not allowed. "
                         "Set PORT, or --port.") from None
    print(f"Two Stacks on http://{config.host}:{config.port}", flush=True)
    # A host that no one visits loads too, so that its first visitor does not wait.
    loading = threading.Timer(20, page.engine.load_in_background)
    loading.daemon = True
    loading.start()
    shutdown.wait()
    shutdown.end(page)
    del claimed  # until here the sessions were ours


def serve(page: gr.Blocks, config: AppConfig) -> None:
    """Answer from threads of its own.

    Off: run history (slows every update, and 6.27-6.31 can leak a host's token through it with SSR), SSR (Spaces turns
    it on), monitoring, PWA, error details. MCP: where the host asks for it. Uploads are open even without a file component,
    so they are kept small; every session keeps the last value of each component, so few sessions are kept.
    """
    page.queue(max_size=config.queue_size, default_concurrency_limit=20)
    page._queue.sleep_when_free = LOOKS  # Gradio's own millisecond takes a twentieth of a core from an idle page
    page._queue.compute_analytics_summary = lambda records: None  # a table of the last 10,000 events, made anew after each one
    page.launch(
        i18n=TRANSLATIONS, server_name=config.host, server_port=config.port, theme=theme(), css=CSS, head=head(), footer_links=[],
        run_history=False, ssr_mode=False, enable_monitoring=False, pwa=False, mcp_server=config.mcp, share=False,
        max_file_size="1mb", blocked_paths=page.engine.keeper.places(), show_error=False, root_path=config.root_path,
        state_session_capacity=200, prevent_thread_lock=True, quiet=True, app_kwargs={
            "routes": [health.route(page), page.presence.route()], "middleware": [Middleware(Door, page=page)],
            "exception_handlers": dict(REFUSALS)},
        _frontend=False,  # else Gradio asks itself for the page, and ends where a busy machine takes more than 3 s for it
    )
