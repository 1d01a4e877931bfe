"""The list of noises by family, with what the chosen one does and where it comes from; what a vocabulary cannot do is disabled.

The value is {"name": the first choice, "why": {noise: why it is impossible}}, `updates` what each choice sets on the page, as
JSON, `able` a model that can do every noise. Events: `pick`, for which `window.twoStacks.picked` has the updates of the chosen
noise and its name; `use` asks for the able model.
"""

from html import escape
from typing import Any

from app.widgets.component import Component
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
  <p class="nz-why"><span data-ts="why"></span> <button type="button" class="ts-text-button" data-ts="use" hidden></button></p>
</div>
"""


class NoisePicker(Component):
    """A `gr.HTML` with a button for each noise."""

    def __init__(self, value: dict[str, Any] | None = None, **settings: Any):
        super().__init__(value, html_template=TEMPLATE, js_on_load=script("noise_picker"), **settings)
