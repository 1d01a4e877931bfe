"""A dial between writing from the vocabulary and copying from the source; dial, step and heads move in the browser.

The value is what `app.copy_packs.pack` makes, {"kind": "refused" or "progress", "text"}, or None. Drawn by
`assets/js/pointer/`, by `textContent`, in the styles of the score board.
"""

from typing import Any

from app.widgets.component import Component
from app.widgets.markup import Markup
from app.widgets.scripts import script

_ui = Markup("pointer")
KINDS = ("pointer", "refused", "progress")
SCRIPTS = ("state", "text", "drawing", "wiring")
_RANGES = "".join(
    f'<label class="ts-field"><span {_ui.say(name)}</span> <input type="range" data-ts="{name}" min="{low}" max="1" step="{step}"'
    f' value="{value}"> <output data-ts="{name}-value"></output></label>'
    for name, low, step, value in (("step", 1, 1, 1), ("dial", 0, 0.01, 0.8))
)
TEMPLATE = f"""
<div class="sc-root pg-root" data-ts="root" hidden role="region" {_ui.attributes(aria_label="label")}>
  <div class="sc-refusal" data-ts="refusal" role="alert"></div>
  <p class="sc-state" data-ts="state" aria-live="polite"></p>
  <div data-ts="body" hidden>
    <div class="pg-controls">{_RANGES} {_ui.labelled("heads", "heads", "")}</div>
    <p class="sc-about" data-ts="sentence" aria-live="polite"></p>
    <p class="pg-source" data-ts="source"></p>
    <div class="pg-legend"><i class="pg-made"></i> <span {_ui.say("made")}</span> <i class="pg-copied"></i>
      <span {_ui.say("copied")}</span></div>
    <div data-ts="bars"></div>
    <p class="sc-quiet" data-ts="sum"></p>
    <ul class="sc-notes" data-ts="notes"></ul>
    <p class="sc-quiet" data-ts="about"></p>
  </div>
</div>
"""


class Pointer(Component):
    """A `gr.HTML` whose value is a run as a pointer-generator. A refusal empties the picture, progress leaves it."""

    KINDS = KINDS

    def __init__(self, value: dict[str, Any] | None = None, **settings: Any):
        super().__init__(value, html_template=TEMPLATE, js_on_load=script("pointer", SCRIPTS), **settings)
