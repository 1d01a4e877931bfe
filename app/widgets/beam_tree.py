"""The tree of a beam search, drawn while it runs; what each node's forward gave; hypotheses ranked anew as sliders move.

The value is what `app.tree_packs` makes, {"kind": "tree"} or {"kind": "levels"}, or {"kind": "refused" or "progress", "text"}, or
None. `assets/js/beam_tree/` draws it by `textContent` and SVG nodes only. "Go on from here" is the event `branch` with
{"ids": the tokens from the start to the node}; a penalty that was moved is the event `look`, for replays.
"""

from typing import Any

from app.widgets.component import Component
from app.widgets.markup import EXPORTS, Markup
from app.widgets.scripts import script, styles

_ui = Markup("beam_tree")
KINDS = ("tree", "levels", "refused", "progress")
KEYS = ("kept", "best", "ended", "pruned")
# One function body in this order: each file uses only what the ones before it name, or what runs after all are read.
SCRIPTS = ("state", "text", "files", "pictures", "layout", "drawing", "node", "ranking", "caches", "moving", "pointing",
           "arriving", "exports", "theme", "wiring")
_LEGEND = "".join(f'<span class="bt-key"><i class="bt-{name}"></i> <span {_ui.say(f"key.{name}")}</span></span>' for name in KEYS)
_SLIDERS = "".join(
    f'<label class="ts-field"><span {_ui.say(name)}</span> <input type="range" class="bt-range" data-ts="{name}"'
    f' min="{low}" max="2" step="0.05"> <output data-ts="{name}-value"></output></label>'
    for name, low in (("alpha", -2), ("beta", 0))
)
_BUTTONS = (("back", "M15 5v14L6 12z"), ("play", "M7 4v16l13-8z"), ("forward", "M9 5v14l9-7z"))
TEMPLATE = f"""
<div class="ts-root bt-root" data-ts="root" role="region" {_ui.attributes(aria_label="label")} hidden>
  <div class="bt-refusal" data-ts="refusal" role="alert"></div>
  <div class="bt-top"><span class="bt-legend">{_LEGEND}</span><span class="ts-about" data-ts="about"></span>
    <span class="ts-exports">{EXPORTS}</span></div>
  <div class="ts-controls">
    <span class="ts-buttons">{"".join(_ui.icon(*button) for button in _BUTTONS)}</span>
    <input type="range" class="ts-scrub" data-ts="scrub" min="1" max="1" value="1" {_ui.attributes(aria_label="scrub")}>
    <span class="bt-count" data-ts="count"></span>
  </div>
  <p class="bt-state" data-ts="state" aria-live="polite"></p>
  <div class="bt-stage" data-ts="stage">
    <svg data-ts="tree" tabindex="0" role="tree" {_ui.attributes(aria_label="tree")}></svg>
  </div>
  <div class="bt-body">
    <section class="bt-node" data-ts="node"></section>
    <section class="bt-ranking">
      <h4 {_ui.say("ranking")}</h4>
      <div class="bt-sliders">{_SLIDERS} {_ui.button("own")}</div>
      <p class="bt-flip" data-ts="flip" aria-live="polite"></p>
      <div class="bt-scroll" tabindex="0" {_ui.attributes(aria_label="ranking")}><table><thead data-ts="heads"></thead>
        <tbody data-ts="ranked"></tbody></table></div>
      <p class="bt-quiet" {_ui.say("formulas")}</p>
      <p class="bt-quiet" data-ts="beside"></p>
      <div data-ts="caches" hidden>
        <h4 class="bt-later" {_ui.say("caches")}</h4>
        <svg class="bt-curve" data-ts="curve" role="img" preserveAspectRatio="none" {_ui.attributes(aria_label="caches")}></svg>
        <div data-ts="bytes"></div>
        <p class="bt-quiet" {_ui.say("cache.formula")}</p>
      </div>
    </section>
  </div>
  <div class="ts-tip" data-ts="tip" aria-hidden="true"></div>
</div>
"""


class BeamTree(Component):
    """A `gr.HTML` whose value is a search. A refusal and progress leave what was there before."""

    KINDS = KINDS

    def __init__(self, value: dict[str, Any] | None = None, **settings: Any):
        super().__init__(value, html_template=TEMPLATE, css_template=styles("stepper", "beam_tree"),
                         js_on_load=script("beam_tree", SCRIPTS), **settings)
