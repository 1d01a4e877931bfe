"""Settings to compare, a row each, and what came of them: texts, scores, repetition, coverage; any two picked for a closer look.

The value is what `app.trial_packs.rows` makes, {"kind": "first", "rows"} with the settings to start from, {"kind": "refused" or
"progress", "text"}, or None. Events: `compare` with {"rows": [fields of Decoding]}, `two` with {"old", "new"}: ids of runs.
`assets/js/trial_table/` draws it by `textContent` only.
"""

from typing import Any

from app.widgets.component import Component
from app.widgets.markup import Markup
from app.widgets.scripts import script, styles

_ui = Markup("trial_table")
KINDS = ("first", "compared", "refused", "progress")
COLUMNS = ("how", "beams", "length_penalty", "beta", "no_repeat_ngram_size", "temperature", "top_p", "seed", "remove")
SCRIPTS = ("state", "text", "files", "settings", "results", "wiring")
_HEAD = "".join(f'<th {_ui.attributes(title=f"set.{name}.title")} {_ui.say(f"set.{name}")}</th>' for name in COLUMNS)
TEMPLATE = f"""
<div class="ts-root tt-root" data-ts="root" role="region" {_ui.attributes(aria_label="label")}>
  <div class="tt-scroll" tabindex="0" {_ui.attributes(aria_label="settings")}><table class="tt-settings">
    <thead><tr><th>#</th>{_HEAD}</tr></thead><tbody data-ts="settings"></tbody></table></div>
  <div class="tt-buttons">{_ui.button("add")} {_ui.button("compare")}
    <span class="tt-quiet" data-ts="state" aria-live="polite"></span></div>
  <div class="tt-refusal" data-ts="refusal" role="alert"></div>
  <div data-ts="found" hidden>
    <p class="tt-sentence" data-ts="sentence"></p>
    <div class="tt-scroll" tabindex="0" {_ui.attributes(aria_label="results")}><table class="tt-results">
      <thead><tr data-ts="heads"></tr></thead><tbody data-ts="results"></tbody></table></div>
    <p class="tt-quiet" data-ts="notes"></p>
    <details class="tt-quiet"><summary {_ui.say("signatures")}</summary><ul data-ts="signatures"></ul></details>
    {_ui.button("csv")}
  </div>
</div>
"""


class TrialTable(Component):
    """A `gr.HTML` whose value is a comparison. A refusal and progress leave what was there before."""

    KINDS = KINDS

    def __init__(self, value: dict[str, Any] | None = None, **settings: Any):
        super().__init__(value, html_template=TEMPLATE, css_template=styles("stepper", "trial_table"),
                         js_on_load=script("trial_table", SCRIPTS), **settings)
