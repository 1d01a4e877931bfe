"""Fields of NoiseSettings <-> components of the noise tab. Only what a noise reads is shown."""

import dataclasses
from collections.abc import Mapping
from typing import Any

import gradio as gr

from app.words import said
from core.noise import NOISES, Noise
from core.noising import BART_STEPS, MODES, NoiseSettings
from core.settings import Settings

FIRST = "spans"  # what the tab shows before anyone has chosen
START = {"rate": 0.3, "mean_span": 2.0}  # on a short text the usual 15 % hide its last tokens only
SEEDS, EPOCHS = 1000, 4  # that the sliders reach
_STEPS = {
    "rate": 0.01, "mean_span": 0.5, "poisson": 0.1, "random_share": 0.05, "keep_share": 0.05, "permute_rate": 0.05,
    "rotate_rate": 0.05, "insert_rate": 0.01, "seed": 1, "epoch": 1,
}
_TOPS = {"seed": SEEDS - 1, "epoch": EPOCHS - 1}
_CHECKS = ("whole_words", "each_piece", "roll")
_SLIDERS = ("rate", "permute_rate", "rotate_rate", "insert_rate", "mean_span", "poisson", "random_share", "keep_share", "epoch")
_ALWAYS = ("seed", "mode")
_PICKED = (*_SLIDERS, "combined", *_CHECKS)  # what a choice of noise sets
_FIELDS = {item.name: item for item in dataclasses.fields(NoiseSettings)}


@dataclasses.dataclass
class NoiseControls:
    """The components by field name.

    `name` holds the chosen noise, `edits` what a person hid and showed by hand; neither is shown, and the server keeps no state.
    """

    fields: dict[str, gr.components.Component]
    name: gr.Textbox
    edits: gr.JSON

    def inputs(self) -> set:
        return {*self.fields.values(), self.name, self.edits}

    def picked(self) -> list[gr.components.Component]:
        """What a choice of noise sets, in the order of `updates`."""
        return [self.fields[name] for name in _PICKED]

    def settings(self, values: Mapping[Any, Any], model: object, text: object) -> NoiseSettings:
        """NoiseSettings from an event's values, whatever was sent. Edits are of one text and one vocabulary."""
        given = {name: values[component] for name, component in self.fields.items()}
        for name in ("seed", "epoch"):  # sliders send 12 as 12.0 at times
            if isinstance(given[name], float) and given[name].is_integer():
                given[name] = int(given[name])
        edits = values[self.edits]
        if isinstance(edits, dict) and edits.get("of") == [model, text]:
            given |= {"hide": edits.get("hide", ()), "show": edits.get("show", ())}
        name = values[self.name]
        used = NOISES[name].settings if isinstance(name, str) and name in NOISES else ()
        return NoiseSettings(name=name, **{k: v for k, v in given.items() if k in used or k in (*_ALWAYS, "hide", "show")})


    def again(self, settings: Settings) -> dict:
        """Values of all components: what `settings` had of a noise. The browser counts its edits anew."""
        given, shown = settings.noise, visible(NOISES[settings.noise.name])
        out = {component: gr.update(value=_plain(getattr(given, name)), visible=name in shown)
               for name, component in self.fields.items()}
        edits = {"hide": list(given.hide), "show": list(given.show), "of": [settings.model, settings.text], "turn": 0}
        return out | {self.name: given.name, self.edits: edits}


def noise_controls() -> NoiseControls:
    """All components, those that the first noise does not read out of sight."""
    shown = visible(NOISES[FIRST])
    fields: dict[str, gr.components.Component] = {}
    with gr.Row(elem_id="ts-noise-controls", equal_height=False):
        for name in (*_SLIDERS, "seed"):
            fields[name] = _slider(name, name in shown)
        fields["combined"] = gr.CheckboxGroup(
            [(said(f"page.noise.{step}"), step) for step in BART_STEPS], value=list(_FIELDS["combined"].default),
            visible="combined" in shown, min_width=620, **_said("combined"),
        )
        for name in _CHECKS:
            fields[name] = gr.Checkbox(False, visible=name in shown, min_width=180, **_said(name))
        fields["mode"] = gr.Radio([(said(f"page.noise.{mode}"), mode) for mode in MODES], value=MODES[0], min_width=260,
                                  **_said("mode"))
    return NoiseControls(fields, gr.Textbox(FIRST, visible=False), gr.JSON(None, visible=False))


def visible(noise: Noise) -> set[str]:
    """The fields that a noise reads."""
    return {*noise.settings, *_ALWAYS}


def updates() -> dict[str, list[dict]]:
    """Noise -> what its choice sets on the page, a Gradio update each: its own controls, at its usual values."""
    return {name: [_update(noise, field) for field in _PICKED] for name, noise in NOISES.items()}


def turn_of(edits: object) -> int:
    """How many edits the browser had counted when it sent these; 0 where it says nothing usable."""
    turn = edits.get("turn") if isinstance(edits, dict) else 0
    return turn if type(turn) is int and 0 <= turn < 2**53 else 0


def _update(noise: Noise, field: str) -> dict:
    value = getattr(noise.usual(), field)
    return gr.update(visible=field in visible(noise), value=_plain(value))


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def _slider(name: str, shown: bool) -> gr.Slider:
    item = _FIELDS[name]
    high = _TOPS.get(name, item.metadata["high"])
    return gr.Slider(item.metadata["low"], high, START.get(name, item.default), step=_STEPS[name], visible=shown, min_width=240,
                     elem_id=f"ts-noise-{name}", **_said(name))


def _said(name: str) -> dict[str, Any]:
    return {"label": said(f"page.noise.{name}"), "info": said(f"noise.{name}")}
