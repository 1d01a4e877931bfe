"""Scores of a corpus, a row each with how it was made; BLEU's parts drawn; tests; and every text with its own scores.

The value is `app.score_packs.scored`, or {"kind": "refused", "text"}, {"kind": "progress", "share"}, {"kind": "waiting",
"texts"}, or None. Drawn by `assets/js/scoreboard/`, by `textContent`. A click on a text is the event `pick` with {"line": its
number}.
"""

from typing import Any

from app.widgets.component import Component
from app.widgets.markup import Markup
from app.widgets.scripts import script

_ui = Markup("scoreboard")
KINDS = ("scored", "refused", "progress", "waiting")
SCRIPTS = ("text", "state", "files", "sorting", "scores", "bleu", "texts", "wiring")
COLUMNS = ("name", "value", "unit", "interval", "tokenizer", "signature")
_HEAD = "".join(f"<th {_ui.say(f'column.{name}')}</th>" for name in COLUMNS)
TEMPLATE = f"""
<div class="sc-root" data-ts="root" hidden role="region" {_ui.attributes(aria_label="label")}>
  <div class="sc-refusal" data-ts="refusal" role="alert"></div>
  <p class="sc-state" data-ts="state" aria-live="polite"></p>
  <div class="sc-body" data-ts="body">
    <div class="sc-scroll" tabindex="0" {_ui.attributes(aria_label="scores")}><table class="sc-scores">
      <thead><tr>{_HEAD}</tr></thead><tbody data-ts="scores"></tbody></table></div>
    <ul class="sc-notes" data-ts="notes"></ul>
    <div class="sc-bleu" data-ts="bleu"></div>
    <div data-ts="tests"></div>
    <div class="sc-tools">
      <label class="ts-field"><span {_ui.say("filter")}</span> <input type="search" class="sc-filter" data-ts="filter"></label>
      <span class="sc-count" data-ts="count"></span>
      {_ui.button("csv")} {_ui.button("json")}
    </div>
    <div class="sc-scroll" tabindex="0" {_ui.attributes(aria_label="texts")}><table class="sc-texts">
      <thead><tr data-ts="heads"></tr></thead><tbody data-ts="texts"></tbody></table></div>
    {_ui.button("more")}
  </div>
</div>
"""


class ScoreBoard(Component):
    """A `gr.HTML` whose value is a report. A refusal and progress leave what was there before."""

    KINDS = KINDS

    def __init__(self, value: dict[str, Any] | None = None, **settings: Any):
        super().__init__(value, html_template=TEMPLATE, js_on_load=script("scoreboard", SCRIPTS),
                         **settings)
