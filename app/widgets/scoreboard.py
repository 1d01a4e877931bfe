"""Scores of a corpus, a row each with how it was made; BLEU's parts drawn; tests; and every text with its own scores.

The value is `app.score_packs.scored`, or {"kind": "refused", "text"}, {"kind": "progress", "share"}, {"kind": "waiting",
"texts"}, or None. Drawn by `assets/js/scoreboard/`, by `textContent`. A click on a text is the event `pick` with {"line": its
number}.
"""

from collections.abc import Sequence
from typing import Any

from app.widgets.component import Component
from app.widgets.markup import Markup
from app.widgets.scripts import script

_ui = Markup("scoreboard")
KINDS = ("scored", "refused", "progress", "waiting")
SCRIPTS = ("text", "state", "files", "sorting", "scores", "bleu", "texts", "wiring")
COLUMNS = ("name", "value", "unit", "interval", "tokenizer", "signature")


def said() -> str:
    """Where a refusal and the state are written."""
    return """<div class="sc-refusal" data-ts="refusal" role="alert"></div>
  <p class="sc-state" data-ts="state" aria-live="polite"></p>"""


def scores(ui: Markup, columns: Sequence[str], name: str = "") -> str:
    """The table of scores, with these columns, and the notes below it; name: of its frame, for a script."""
    head = "".join(f"<th {ui.say(f'column.{column}')}</th>" for column in columns)
    named = f' data-ts="{name}"' if name else ""
    return f"""<div class="sc-scroll" tabindex="0"{named} {ui.attributes(aria_label="scores")}><table class="sc-scores">
      <thead><tr>{head}</tr></thead><tbody data-ts="scores"></tbody></table></div>
    <ul class="sc-notes" data-ts="notes"></ul>"""


def texts(ui: Markup, before: str = "", beside: str = "") -> str:
    """The table of texts, with its filter, count and files; before, beside: more controls around the filter."""
    return f"""<div class="sc-tools">
      {before}
      <label class="ts-field"><span {ui.say("filter")}</span> <input type="search" class="sc-filter" data-ts="filter"></label>
      {beside}
      <span class="sc-count" data-ts="count"></span>
      {ui.button("csv")} {ui.button("json")}
    </div>
    <div class="sc-scroll" tabindex="0" {ui.attributes(aria_label="texts")}><table class="sc-texts">
      <thead><tr data-ts="heads"></tr></thead><tbody data-ts="texts"></tbody></table></div>
    {ui.button("more")}"""


TEMPLATE = f"""
<div class="sc-root" data-ts="root" hidden role="region" {_ui.attributes(aria_label="label")}>
  {said()}
  <div class="sc-body" data-ts="body">
    {scores(_ui, COLUMNS)}
    <div class="sc-bleu" data-ts="bleu"></div>
    <div data-ts="tests"></div>
    {texts(_ui)}
  </div>
</div>
"""


class ScoreBoard(Component):
    """A `gr.HTML` whose value is a report. A refusal and progress leave what was there before."""

    KINDS = KINDS

    def __init__(self, value: dict[str, Any] | None = None, **settings: Any):
        super().__init__(value, html_template=TEMPLATE, js_on_load=script("scoreboard", SCRIPTS),
                         **settings)
