"""The mask grid: which row of attention may read which column, drawn in the browser; every change comes back as an event.

The value is what `pack` builds. `assets/js/mask_grid/` draws it into the static template below, by `textContent` and on a
canvas only, because tokens are whatever a visitor typed. Gradio evaluates template and style as templates: keep both free
of `{{`, `${` and backticks.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from app.widgets.component import Component
from app.widgets.markup import EXPORTS, Markup
from app.widgets.scripts import script, styles
from core.fields import differences
from core.interventions import PRESETS, STACKS, Masks

_ui = Markup("mask_grid")
Label = tuple[str, bool]  # a token, and whether it is a special one that is written dimly


def _stack(name: str) -> str:
    return (
        f'<button type="button" class="mg-stack" data-ts="{name}" aria-pressed="false"><span {_ui.say(f"stack.{name}")}</span>'
        "<small></small></button>"
    )


def _presets() -> str:
    options = "".join(f'<option value="{name}" {_ui.say("preset." + (name or "own"))}</option>' for name in PRESETS)
    return _ui.labelled("preset", "preset", options)


def _key(name: str) -> str:
    return f'<span><i class="mg-key mg-key-{name}"></i><span {_ui.say(f"key.{name}")}</span></span>'


TEMPLATE = f"""
<div class="ts-root mg-root" data-ts="root" role="group" {_ui.attributes(aria_label="label")}>
  <div data-ts="tools">
    <div class="ts-head">
      <span class="mg-stacks" role="group" {_ui.attributes(aria_label="stacks")}>{"".join(_stack(name) for name in STACKS)}</span>
    </div>
    <div class="mg-reasons" data-ts="reasons"></div>
    <div class="ts-head mg-tools">
      {_presets()}
      <label class="ts-field" data-ts="sizing" hidden><span data-ts="sizename"></span>
        <input class="mg-size" data-ts="size" type="range" min="0" max="1" step="1" value="0"><b data-ts="sizevalue"></b></label>
      {_ui.labelled("layer", "layer", "")}
      <span class="ts-buttons">
        {_ui.icon("undo", "M9 4 3.500 9.500 9 15v-3.500h5a4 4 0 0 1 0 8H9V22h5a6.500 6.500 0 0 0 0-13H9z")}
        {_ui.icon("redo", "M15 4l5.500 5.500L15 15v-3.500h-5a4 4 0 0 0 0 8h5V22h-5a6.500 6.500 0 0 1 0-13h5z")}
        {_ui.button("reset")}
      </span>
      <span class="ts-exports">{EXPORTS}</span>
    </div>
    <div class="mg-ask" data-ts="ask" role="alert" hidden><span data-ts="question"></span>
      {_ui.button("keep")}{_ui.button("drop")}</div>
    <div class="mg-ask" data-ts="full" role="alert" hidden></div>
  </div>
  <div class="mg-body" data-ts="body">
    <div class="mg-stage">
      <div class="mg-scroll" data-ts="scroll"><div class="mg-sheet" data-ts="sheet">
        <div class="mg-top" data-ts="top">
          <div class="mg-corner" data-ts="corner"></div><div class="mg-cols" data-ts="cols"></div>
        </div>
        <div class="mg-mid">
          <div class="mg-rows" data-ts="rows"></div>
          <div class="mg-cells" data-ts="cells" tabindex="0" role="application" {_ui.attributes(aria_label="cells")}>
            <canvas data-ts="canvas" role="img"></canvas><div data-ts="dead"></div>
            <i class="mg-mark mg-hover" data-ts="hover" hidden></i><i class="mg-mark mg-focus" data-ts="focus" hidden></i>
          </div>
        </div>
      </div></div>
      <p class="mg-beyond" data-ts="beyond"></p>
    </div>
    <div class="mg-side">
      <p class="mg-wording" data-ts="wording"></p>
      <p class="mg-meaning" data-ts="meaning"></p>
      <div class="mg-formula" data-ts="formula" dir="ltr"></div>
      <div class="mg-keys">{_key("open")}{_key("closed")}{_key("drawn")}{_key("layer")}</div>
      <p class="mg-hint" {_ui.say("hint")}</p>
      <p class="mg-hint mg-touch" {_ui.say("hint.touch")}</p>
      <details class="mg-json"><summary {_ui.say("json")}</summary><pre data-ts="json"></pre></details>
    </div>
  </div>
  <p class="mg-empty" data-ts="empty" {_ui.say("empty")}</p>
  <p class="mg-live" data-ts="live" aria-live="polite"></p>
  <div class="ts-tip" data-ts="tip" aria-hidden="true"></div>
</div>
"""
# One function body in this order: each file uses only what the ones before it name, or what runs after all are read.
SCRIPTS = ("state", "text", "files", "pictures", "rules", "editing", "formula", "layout", "drawing", "pointing", "arriving",
           "exports", "theme", "wiring")


def pack(
    source: Sequence[Label], target: Sequence[Label], layers: Mapping[str, int], masks: Masks | None = None, *,
    writes: Sequence[str] | None = None, reached: Sequence[str] = STACKS, reasons: Mapping[str, str] | None = None,
    dead: Mapping[str, Mapping[int, Sequence[int]]] | None = None, pads: int = 0, drawn: int | None = None, take: bool = False,
) -> dict[str, Any]:
    """What the browser draws.

    target: what each decoder row is fed; writes: what it writes. masks: the first ones are drawn; later ones only where
    `take` says so (a replay, a link), since a person draws on while the server answers. dead: under `masks`, per stack, rows
    that see nothing and in which layers, as `core.masks.dead_rows` says. pads: pad tokens at the end of `source` that the
    padding mask hides. drawn: decoder rows that are drawn, all by default.
    """
    labels: dict[str, Any] = {"source": [[*label] for label in source], "target": [[*label] for label in target]}
    if writes is not None:
        labels["writes"] = list(writes)
    return {
        "kind": "grid", "labels": labels, "layers": dict(layers), "reached": list(reached), "reasons": dict(reasons or {}),
        "masks": None if masks is None else differences(masks), "take": take, "pads": pads,
        "drawn": len(target) if drawn is None else drawn,
        "dead": {stack: {str(row): list(which) for row, which in rows.items()} for stack, rows in (dead or {}).items()},
    }


class MaskGrid(Component):
    """A `gr.HTML` whose value is a pack (a dict) or None. After each change the event `edit` carries {"masks": {...}, "turn"}:
    what `core.fields.build(Masks, ...)` reads, and checks; and how many edits there were. It is not `change`, which Gradio
    itself fires with each new value.
    """

    KINDS = ("grid",)

    def __init__(self, value: dict[str, Any] | None = None, **settings: Any):
        super().__init__(value, html_template=TEMPLATE, css_template=styles("stepper", "mask_grid"),
                         js_on_load=script("mask_grid", SCRIPTS), **settings)
