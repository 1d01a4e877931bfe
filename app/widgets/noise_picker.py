"""The list of noises by family, with what the chosen one does and where it comes from; what a vocabulary cannot do is disabled.

The value is {"name": the first choice, "why": {noise: why it is impossible}}, `updates` what each choice sets on the page. The
one event is `pick`: `window.twoStacks.picked` has the updates of the chosen noise, and its name.
"""

from html import escape
from typing import Any

import gradio as gr

from app.widgets.markup import Markup
from app.widgets.scripts import script
from core.noise import NOISES, Noise
from core.noising import NOISE_NAMES

FAMILIES = ("T5", "BART", "BERT")
_ui = Markup("noise_picker")


def _button(noise: Noise) -> str:
    title = _ui.attributes(title=f"{noise.name}.help")
    return (f'<button type="button" class="nz-pick" data-noise="{noise.name}" aria-pressed="false" {title} '
            f'data-source="{escape(noise.source)}" {_ui.say(f"{noise.name}.title")}</button>')


def _family(name: str) -> str:
    buttons = "".join(_button(noise) for noise in map(NOISES.get, NOISE_NAMES) if noise.family == name)
    return f'<div class="nz-family"><span class="nz-name">{name}</span><div class="nz-picks">{buttons}</div></div>'


TEMPLATE = f"""
<div class="nz-picker" data-ts="root" role="group" {_ui.attributes(aria_label="label")}>
  {"".join(map(_family, FAMILIES))}
  <p class="nz-about" data-ts="about" aria-live="polite"></p>
  <p class="nz-why" data-ts="why"></p>
</div>
"""


class NoisePicker(gr.HTML):
    """A `gr.HTML` with a button for each noise."""

    def __init__(self, value: dict[str, Any] | None = None, **settings: Any):
        super().__init__(value, html_template=TEMPLATE, js_on_load=script("noise_picker"),
                         apply_default_css=False, **settings)

    def preprocess(self, payload: Any) -> None:
        """Whatever a browser sends back is dropped."""
        return None

    def postprocess(self, value: dict[str, Any] | None) -> dict[str, Any] | None:
        return value

    def api_info(self) -> dict[str, Any]:
        return {"type": "object", "description": "the chosen noise, and why others are impossible"}
