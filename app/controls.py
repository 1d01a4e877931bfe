"""Settings fields <-> components. Help, ranges and defaults live on the field; nothing is said twice."""

import dataclasses
from collections.abc import Mapping
from typing import Any

import gradio as gr

from app.words import said
from core.models import DEFAULT, Models
from core.settings import Decoding, Settings


def _field(cls: type, name: str) -> dataclasses.Field:
    return next(item for item in dataclasses.fields(cls) if item.name == name)


def slider(name: str, step: float, value: float | None = None, low: float | None = None) -> gr.Slider:
    """A slider for a field of Decoding; value and low: where they are not the field's own."""
    item = _field(Decoding, name)
    low, value = item.metadata["low"] if low is None else low, item.default if value is None else value
    return gr.Slider(low, item.metadata["high"], value, step=step, label=said(f"page.{name}"), info=said(f"settings.{name}"),
                     min_width=220)


@dataclasses.dataclass
class Controls:
    """The components that together are one Settings, by its field names."""

    text: gr.Textbox
    model: gr.Dropdown
    task: gr.Dropdown
    source_language: gr.Textbox
    target_language: gr.Textbox
    max_new_tokens: gr.Slider
    repetition_penalty: gr.Slider
    no_repeat_ngram_size: gr.Slider

    def inputs(self) -> set:
        """All of them, as the inputs of one event."""
        return set(vars(self).values())

    def settings(self, values: Mapping[Any, Any]) -> Settings:
        """Settings from an event's values, whatever was sent; InputError says what cannot be used."""
        given = {name: values[component] for name, component in vars(self).items()}
        decoding = {}
        for item in dataclasses.fields(Decoding):
            if item.name in given:
                value = decoding[item.name] = given.pop(item.name)
                if type(item.default) is int and isinstance(value, float) and value.is_integer():
                    decoding[item.name] = int(value)  # sliders send 12 as 12.0 at times
        given = {name: "" if value is None else value for name, value in given.items()}
        if isinstance(given["model"], str):
            given["model"] = given["model"].strip()
        return Settings(**given, decoding=Decoding(**decoding))

    def again(self, settings: Settings) -> dict[Any, Any]:
        """Component -> its value as it was for these settings."""
        flat = vars(settings) | vars(settings.decoding)
        return {component: flat[name] for name, component in vars(self).items() if name in flat}


def text_box(value: str) -> gr.Textbox:
    return gr.Textbox(value, label=said("page.text"), lines=2, max_lines=6, elem_id="ts-text",
                      placeholder=said("page.text.placeholder"))


def model_picker(models: Models, chosen: str) -> tuple[gr.Dropdown, gr.Dropdown]:
    """The model list (a hub id can be typed where the host allows it) and its tasks, of which one is `chosen`."""
    model = gr.Dropdown(
        models.names(), value=DEFAULT, label=said("page.model"), allow_custom_value=True, elem_id="ts-model",
        info=said("page.model.info.hub" if models.allow_hub else "page.model.info"),
    )
    return model, task_picker(models, DEFAULT, chosen)


def task_picker(models: Models, name: str, chosen: str = "") -> gr.Dropdown:
    """The tasks of model `name`; its first one, or no prefix, is the default and travels as an empty text."""
    first, *others = models.tasks(name) or ["none"]
    # custom values, so that a stale choice reaches the handler, which answers with a sentence
    return gr.Dropdown([(first, ""), *others], value=chosen, label=said("page.task"), elem_id="ts-task",
                       allow_custom_value=True, info=said("page.task.info"))


def more() -> dict[str, Any]:
    """The settings few people change."""
    with gr.Accordion(said("page.more"), open=False, elem_id="ts-more"):
        with gr.Row():
            out = {
                "max_new_tokens": slider("max_new_tokens", 1),
                "repetition_penalty": slider("repetition_penalty", 0.1),
                "no_repeat_ngram_size": slider("no_repeat_ngram_size", 1),
            }
        with gr.Row():
            for name in ("source_language", "target_language"):
                out[name] = gr.Textbox("", label=said(f"page.{name}"), info=said(f"settings.{name}"), max_lines=1)
    return out
