"""Time of each step with the caches and without, whether anything differs, and bytes beside the formula.

The value is what `app.cache_packs.pack` makes, {"kind": "refused" or "progress", "text"}, or None. Drawn by
`assets/js/cache_curves/`, by `textContent` and SVG nodes, in the styles of the score board.
"""

from typing import Any

from app.widgets.component import Component
from app.widgets.markup import Markup
from app.widgets.scripts import script

_ui = Markup("cache_curves")
KINDS = ("costs", "refused", "progress")
SCRIPTS = ("text", "curves")
TEMPLATE = f"""
<div class="sc-root cc-root" data-ts="root" hidden role="region" {_ui.attributes(aria_label="label")}>
  <div class="sc-refusal" data-ts="refusal" role="alert"></div>
  <p class="sc-state" data-ts="state" aria-live="polite"></p>
  <div data-ts="body" hidden>
    <p class="sc-about" data-ts="sentence" aria-live="polite"></p>
    <p data-ts="equal"></p>
    <div class="pg-legend"><i class="cc-with"></i> <span {_ui.say("with")}</span> <i class="cc-without"></i>
      <span {_ui.say("without")}</span></div>
    <div class="cc-plot"><span class="sc-quiet" data-ts="top"></span>
      <svg data-ts="curve" role="img" viewBox="0 0 600 160" preserveAspectRatio="none" {_ui.attributes(aria_label="curve")}></svg>
      <span class="sc-quiet" data-ts="ends"></span></div>
    <div class="pg-controls"><label class="ts-field"><span {_ui.say("step")}</span>
      <input type="range" data-ts="step" min="1" max="1" step="1"> <output data-ts="step-value"></output></label></div>
    <p data-ts="here"></p>
    <p data-ts="own"></p>
    <p data-ts="cross"></p>
    <p class="sc-quiet" data-ts="about"></p>
  </div>
</div>
"""


class CacheCurves(Component):
    """A `gr.HTML` whose value is a measurement. A refusal and progress leave what was there before."""

    KINDS = KINDS

    def __init__(self, value: dict[str, Any] | None = None, **settings: Any):
        super().__init__(value, html_template=TEMPLATE, js_on_load=script("cache_curves", SCRIPTS), **settings)
