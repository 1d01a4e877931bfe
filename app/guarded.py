"""Blocks whose events never answer with Gradio's own errors: what was sent is checked, and what goes wrong is one sentence."""

import logging
import math
from typing import Any

import gradio as gr
from gradio.components.api_component import Api
from gradio_client.utils import is_http_url_like

from app.answers import sentence
from app.calls import holds_file
from app.words import LANGUAGES, asked, speak, speaking
from core.errors import InputError

log = logging.getLogger("two-stacks")
MOST_TYPED = 400_000  # characters of one text: two thousand texts that are scored
UNUSABLE = "One of the values that were sent cannot be used. Reload the page and try again; what you typed is kept until then."


class Guarded(gr.Blocks):
    """`gr.Blocks`; a value that does not fit its component is refused with the component's name and what it takes."""

    def get_config_file(self) -> Any:
        """Without Gradio's heartbeat: app/presence.py."""
        return super().get_config_file() | {"connect_heartbeat": False}

    async def preprocess_data(self, block_fn: Any, inputs: list[Any], state: Any, explicit_call: bool = False) -> list[Any]:
        for block, value in zip(block_fn.inputs, inputs, strict=False):
            if not getattr(block, "stateful", False):
                fits(state[block._id] if state and block._id in state else block, value)
        try:
            return await super().preprocess_data(block_fn, inputs, state, explicit_call)
        except Exception as error:  # Gradio's own checks, such as a file that was not uploaded here
            log.warning("an event was sent what it cannot use: %s", type(error).__name__)
            raise InputError(UNUSABLE) from None

    async def process_api(self, *args: Any, **more: Any) -> dict[str, Any]:
        headers = getattr(more.get("request"), "headers", None) or {}
        speak(asked(headers.get("accept-language") or ""))
        try:
            return await super().process_api(*args, **more)
        except gr.Error as error:
            if not error.print_exception:
                raise  # a sentence of ours
            told = sentence(error)
        except Exception as error:
            told = sentence(error)
        raise gr.Error(told, print_exception=False)


def fits(block: Any, value: Any) -> None:
    """InputError where a component cannot have this value. What HTML components and endpoints get is for who uses it to check."""
    if isinstance(block, gr.UploadButton):
        if value is not None and not _uploaded(value):
            raise _wrong(block, value, "a file that was uploaded here")
        return
    if holds_file(value):
        raise _wrong(block, value, "no file")
    if value is None or isinstance(block, Api):
        return
    if isinstance(block, gr.Textbox):
        if not isinstance(value, str) or len(value) > MOST_TYPED:
            raise _wrong(block, value, f"a text of at most {MOST_TYPED:,} characters")
    elif isinstance(block, gr.Slider | gr.Number):
        low = -math.inf if block.minimum is None else block.minimum
        high = math.inf if block.maximum is None else block.maximum
        if type(value) not in (int, float) or not math.isfinite(value) or not low <= value <= high:
            raise _wrong(block, value, f"a number from {low:g} to {high:g}" if math.isfinite(low + high) else "a number")
    elif isinstance(block, gr.Checkbox):
        if not isinstance(value, bool):
            raise _wrong(block, value, "true or false")
    elif isinstance(block, gr.Dropdown | gr.Radio | gr.CheckboxGroup):
        several = isinstance(block, gr.CheckboxGroup) or getattr(block, "multiselect", False)
        for one in value if several and isinstance(value, list) else [value]:
            _chosen(block, one, several and not isinstance(value, list))


def _chosen(block: Any, one: Any, alone: Any) -> None:
    choices = [value for _, value in block.choices]
    custom = getattr(block, "allow_custom_value", False)
    if alone or type(one) not in (str, int, float, bool) or not (custom or one in choices):
        raise _wrong(block, one, f"one of: {', '.join(map(str, choices))[:200]}")


def _uploaded(value: Any) -> bool:
    """Whether this names a file of an upload; that it is one is checked by Gradio. A url would be fetched."""
    path = value.get("path") if isinstance(value, dict) else None
    return isinstance(path, str) and "\0" not in path and len(path) < 1000 and not (
        is_http_url_like(path) or value.get("is_stream"))


def _wrong(block: Any, value: Any, allowed: str) -> InputError:
    label = getattr(block, "label", None)
    name = LANGUAGES[speaking()].get(getattr(label, "key", ""), label if isinstance(label, str) else "") or block.get_block_name()
    shown = value if isinstance(value, str) else repr(value)
    shown = "".join(c if c.isprintable() else " " for c in shown[:60]) + ("…" if len(shown) > 60 else "")
    return InputError(f"{name} was sent {shown!r}; it takes {allowed}.")
