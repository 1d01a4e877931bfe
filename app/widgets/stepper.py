"""The stepper: one run of a decoder, stepped, played and scrubbed in the browser without a request per step.

The value is the browser pack that `core.records` builds: a whole trace, the start or some rows of a run that is still
being written, or a message. `assets/js/stepper/` draws everything into the static template below, by `textContent`
and on a canvas only, because tokens are whatever a visitor typed. Gradio evaluates template and style as templates:
keep both free of `{{`, `${` and backticks.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

from app.widgets.component import Component
from app.widgets.markup import EXPORTS, Markup, speeds
from app.widgets.scripts import script, styles

# plotly.py carries its own plotly.min.js. The page must give this path to `gr.set_static_paths`, or Gradio refuses it.
PLOTLY_FILE = Path(find_spec("plotly").origin).parent / "package_data" / "plotly.min.js"

_ui = Markup("stepper")


def _line(name: str) -> str:
    """A titled line of token chips."""
    named = _ui.attributes(aria_label=name)
    chips = f'<span class="ts-chips" data-ts="{name}" dir="auto" tabindex="0" role="group" {named}></span>'
    return f'<div class="ts-line"><span class="ts-name" {_ui.say(name)}</span>{chips}</div>'


TEMPLATE = f"""
<div class="ts-root" data-ts="root" role="application" tabindex="0" {_ui.attributes(aria_label="label")}>
  <div class="ts-line ts-written"><span class="ts-name" {_ui.say("text")}</span>
    <bdi class="ts-text" data-ts="text" dir="auto"></bdi></div>
  <div class="ts-controls">
    <span class="ts-buttons">
      {_ui.icon("first", "M6 5h2.4v14H6zM19 5v14L9.5 12z")}
      {_ui.icon("back", "M16.5 5v14L7 12z")}
      {_ui.icon("play", "M7.5 4.5v15L20 12z")}
      {_ui.icon("forward", "M7.5 5v14L17 12z")}
      {_ui.icon("last", "M5 5v14l9.500-7zM15.600 5H18v14h-2.400z")}
    </span>
    <input class="ts-scrub" data-ts="scrub" type="range" min="1" max="1" value="1" step="1" {_ui.attributes(aria_label="scrub")}>
    <span class="ts-count" data-ts="count"></span>
    {speeds(_ui, 1, 3, 6, 12, chosen=3)}
  </div>
  <div class="ts-head">
    {_ui.select("map", "cross", "decoder", "encoder")}
    {_ui.select("layer")}
    {_ui.select("head")}
    <span class="ts-reduction" data-ts="reduction"></span>
    <span class="ts-legend" aria-hidden="true">0 <i class="ts-ramp" data-ts="ramp"></i>
      <span data-ts="scale">1</span></span>
    <button type="button" class="ts-text-button ts-unfold" data-ts="unfold" aria-expanded="false" {_ui.say("unfold")}</button>
  </div>
  <div class="ts-head ts-options">
    {_ui.select("cover", "weights", "sum", "overlap", say="show")}
    {_ui.check("hard")}
    {_ui.check("words")}
    {_ui.check("specials", True)}
    <label class="ts-field" data-ts="pages" hidden><span {_ui.say("pages")}</span>
      <select class="ts-select" data-ts="page"></select></label>
    {_ui.check("multiples")}
    {_ui.button("keep")}
    {_ui.select("compare", "off", "beside", "under", "difference")}
    {_ui.button("explain")}
  </div>
  <div class="ts-notes" data-ts="notes"></div>
  <p class="ts-caption" data-ts="caption" aria-live="polite"></p>
  <p class="ts-hidden" data-ts="kept"></p>
  <p class="ts-hidden" data-ts="hidden"></p>
  <p class="ts-hidden" data-ts="contrast"></p>
  <div class="ts-many" data-ts="many" hidden></div>
  <div class="ts-body" data-ts="body">
    <div class="ts-stage" data-ts="stage">
      <div class="ts-scroll" data-ts="scroll" tabindex="0"><div class="ts-sheet" data-ts="sheet">
        <div class="ts-top">
          <div class="ts-corner" data-ts="corner"></div><div class="ts-cols" data-ts="cols"></div>
          <div class="ts-cols" data-ts="twincols" hidden></div>
        </div>
        <div class="ts-mid">
          <div class="ts-rows" data-ts="rows"></div>
          <div class="ts-cells" data-ts="cells">
            <canvas data-ts="canvas" role="img"></canvas>
            <i class="ts-mark ts-column" data-ts="column"></i><i class="ts-mark ts-row" data-ts="current"></i>
            <i class="ts-mark ts-cell" data-ts="hovered"></i><i class="ts-mark ts-cell" data-ts="linked"></i>
          </div>
          <div class="ts-twin" data-ts="twin" hidden>
            <div class="ts-rows" data-ts="twinrows"></div>
            <div class="ts-cells" data-ts="twincells">
              <canvas data-ts="twincanvas" aria-hidden="true"></canvas><i class="ts-mark ts-cell" data-ts="twinhovered"></i>
            </div>
          </div>
        </div>
        <div class="ts-foot" data-ts="foot">
          <div class="ts-gradient" data-ts="gradient" hidden>
            <div class="ts-barline"><div class="ts-axis ts-graxis" {_ui.say("gradient.axis")}</div>
              <canvas data-ts="shares" role="img" {_ui.attributes(aria_label="gradient.canvas")}></canvas></div>
          </div>
          <div class="ts-unit" data-ts="unit"></div>
          <div class="ts-barline">
            <div class="ts-axis" data-ts="axis"></div>
            <div class="ts-bars" data-ts="bars">
              <canvas data-ts="plain" aria-hidden="true"></canvas><div data-ts="plot"></div>
            </div>
          </div>
          <div class="ts-marks" data-ts="marks" hidden>
            <label><span {_ui.say("under")}</span> <input type="number" data-ts="under" value="0.5" min="0" step="0.1">
              <b></b></label>
            <label><span {_ui.say("over")}</span> <input type="number" data-ts="over" value="1.5" min="0" step="0.1">
              <b></b></label>
          </div>
        </div>
      </div></div>
      <div class="ts-message" data-ts="message" role="status" dir="auto"></div>
    </div>
    <div class="ts-side" data-ts="side"></div>
  </div>
  <div class="ts-tokens">
    {_line("source")}
    {_line("output")}
  </div>
  <div class="ts-line ts-taking"><span class="ts-about" data-ts="about"></span>
    <span class="ts-exports">{EXPORTS}
      <button type="button" class="ts-text-button" data-ts="pairs" {_ui.attributes(title="pairs.title")}>i-j</button>
    </span>
  </div>
  <div class="ts-tip" data-ts="tip" aria-hidden="true"></div>
</div>
"""
KINDS = ("trace", "start", "rows", "attribution", "message")
# One function body in this order: each file uses only what the ones before it name, or what runs after all are read.
SCRIPTS = (
    "state", "text", "files", "pictures", "weights", "axes", "compare", "colour", "layout", "labels", "side", "sentence",
    "cells", "beside", "drawing", "following", "multiples", "gradient", "bars", "painting", "moving", "pointing", "exports",
    "arriving", "theme", "wiring",
)


class Stepper(Component):
    """A `gr.HTML` whose value is a browser pack (a dict) or None. Two events flow back:
    `explain` names the run whose input × gradient is wanted, `look` says that another map, layer or head was chosen.

    `plotly_url` is where the page serves `PLOTLY_FILE`; it is resolved against the page's own root path.
    Use it as an output with `show_progress="hidden"`, or Gradio fades the picture while a run streams into it.
    """

    KINDS = KINDS

    def __init__(self, value: dict[str, Any] | None = None, *, plotly_url: str | None = None, **settings: Any):
        super().__init__(
            value,
            html_template=TEMPLATE,
            css_template=styles("stepper"),
            js_on_load=script("stepper", SCRIPTS),
            plotly_url=plotly_url or f"/gradio_api/file={PLOTLY_FILE}",
            **settings,
        )
