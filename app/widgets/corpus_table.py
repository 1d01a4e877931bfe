"""A corpus under one to three settings: progress, scores of the whole with tests, and every text, sorted, filtered, opened.

The value is what `app.corpus_packs.pack` makes, {"kind": "progress", ..} of `app.corpora`, {"kind": "refused", "text"}, or None.
Drawn by `assets/js/corpus_table/` by `textContent`, in the styles of the score board. A text that is opened is the event `open`
with {"settings": JSON, "text"}.
"""

from typing import Any

from app.widgets import scoreboard
from app.widgets.component import Component
from app.widgets.markup import Markup
from app.widgets.scripts import script

_ui = Markup("corpus_table")
KINDS = ("corpus", "refused", "progress")
SCRIPTS = ("state", "text", "files", "sorting", "scores", "texts", "exports", "wiring")
COLUMNS = ("name", "how", "score", "value", "unit", "interval", "verdict", "signature")
TEMPLATE = f"""
<div class="sc-root ct-root" data-ts="root" hidden role="region" {_ui.attributes(aria_label="label")}>
  {scoreboard.said()}
  <progress class="ct-progress" data-ts="progress" max="1" hidden {_ui.attributes(aria_label="progress")}></progress>
  <div data-ts="body" hidden>
    <p class="sc-about" data-ts="sentence"></p>
    {scoreboard.scores(_ui, COLUMNS, "board")}
    {scoreboard.texts(_ui, _ui.labelled("measure", "measure", ""), _ui.check("differs"))}
  </div>
</div>
"""


class CorpusTable(Component):
    """A `gr.HTML` whose value is a corpus. A refusal leaves what was there before."""

    KINDS = KINDS

    def __init__(self, value: dict[str, Any] | None = None, **settings: Any):
        super().__init__(value, html_template=TEMPLATE, js_on_load=script("corpus_table", SCRIPTS), **settings)
