"""What the first tab answers: a run, a text of a corpus opened there, input × gradient; and which words are hardly known."""

from collections.abc import Iterator
from types import SimpleNamespace

import gradio as gr

from app.answers import sentence
from app.controls import Controls
from app.corpus_packs import line_of
from app.engine import Engine
from app.widgets.spelling import pack
from app.words import worded
from core.errors import TwoStacksError
from core.settings import MAX_CHARACTERS, MAX_SOURCE
from core.spelling import marks
from core.text import usable


def answered(engine: Engine, controls: Controls, values: dict, visitor: str = "") -> Iterator[tuple]:
    """(stepper, notice) of one run. What goes wrong is said in the notice; the picture and the text stay."""
    try:
        settings = controls.settings(values)
        usable(settings.text)
        engine.models.check(settings.model)
        if not engine.ready and settings.to_json() not in engine.saved:
            yield gr.skip(), worded("told.loading")
        for message in engine.messages(settings, visitor):
            yield message, ""
    except Exception as error:
        yield gr.skip(), sentence(error, "This run failed for a reason we did not foresee; the host's log has it. Text kept.")


def opened(engine: Engine, controls: Controls, data: object, visitor: str) -> Iterator[dict]:
    """One text of a corpus, run in the attention view, with the controls as it was run; what goes wrong is said in the notice."""
    try:
        settings = line_of(data)
    except Exception as error:
        yield {"notice": sentence(error)}
        return
    yield {"tabs": gr.Tabs(selected="attention")} | controls.again(settings)
    for picture, notice in answered(engine, SimpleNamespace(settings=line_of), data, visitor):
        yield {"stepper": picture, "notice": notice}


def explained(engine: Engine, asked: object) -> tuple:
    """(stepper, notice): input × gradient of the run that the stepper names."""
    try:
        return engine.attribution(str(asked.get("run", ""))[:64] if isinstance(asked, dict) else ""), ""
    except Exception as error:
        return gr.skip(), sentence(error, "Input × gradient could not be computed for this run; the host's log says why.")


def spelled(engine: Engine, text: object, model: object) -> dict | None:
    """The words of `text` that a loaded model hardly knows; None where there is nothing to say."""
    if not isinstance(text, str) or len(text) > MAX_CHARACTERS or not isinstance(model, str):
        return None
    loaded = engine.models.loaded(model)
    try:
        return pack(text, marks(loaded.tokenizer, usable(text), MAX_SOURCE)) if loaded else None
    except TwoStacksError:  # a text that cannot be read yet: Run says why
        return None
