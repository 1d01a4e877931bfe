"""What was found: a sentence, lines of tokens with their marks and numbers, notes; or a refusal, or how far it is.

The value is {"kind": "found", "sentence", "lines": [{"name", "text", "tokens": [[text, mark, below]]}], "notes"}, or
{"kind": "refused" or "progress", "text"}, or None. `assets/js/findings/findings.js` draws it by `textContent` only. A mark is
one of MARKS; `name` is a word of the component.
"""

from typing import Any

from app.widgets.component import Component
from app.widgets.markup import Markup
from app.widgets.scripts import once

_ui = Markup("findings")
KINDS = ("found", "refused", "progress")
MARKS = ("", "gone", "new", "moved", "still", "here")
TEMPLATE = f"""
<div class="fd-root" data-ts="root" hidden role="region" {_ui.attributes(aria_label="label")}>
  <div class="fd-refusal" data-ts="refusal" role="alert"></div>
  <p class="fd-sentence" data-ts="sentence" aria-live="polite"></p>
  <div data-ts="lines"></div>
  <ul class="fd-notes" data-ts="notes"></ul>
</div>
"""


class Findings(Component):
    """A `gr.HTML` whose value is what was found. A refusal and progress leave what was there before."""

    KINDS = KINDS

    def __init__(self, value: dict[str, Any] | None = None, **settings: Any):
        super().__init__(value, html_template=TEMPLATE, js_on_load=once("findings"), **settings)
