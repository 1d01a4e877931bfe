"""The n-grams of one output: those that its references have, and where each stands in both texts.

The value is `app.score_packs.matched`, or None. Drawn by `assets/js/ngrams/ngrams.js`, by `textContent`.
"""

from typing import Any

from app.widgets.component import Component
from app.widgets.markup import Markup
from app.widgets.scripts import script

_ui = Markup("ngrams")
KINDS = ("matched", "refused")
TEMPLATE = f"""
<div class="sc-root" data-ts="root" hidden role="region" {_ui.attributes(aria_label="label")}>
  <div class="sc-refusal" data-ts="refusal" role="alert"></div>
  <p class="sc-about" data-ts="about"></p>
  <div data-ts="texts"></div>
  <p class="sc-state" data-ts="said" aria-live="polite"></p>
  <div data-ts="orders"></div>
</div>
"""


class Ngrams(Component):
    """A `gr.HTML` whose value is one text's matches."""

    KINDS = KINDS

    def __init__(self, value: dict[str, Any] | None = None, **settings: Any):
        super().__init__(value, html_template=TEMPLATE, js_on_load=script("ngrams", ("text", "ngrams")),
                         **settings)
