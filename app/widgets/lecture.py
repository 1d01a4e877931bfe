"""A lecture: on top of a page that shows nothing else but a run, the slide's note, and what waits for a key.

The value is the bar of app.lectures.Shown, or None. Events: `go` ({"id", "at", "last"}) and `done` ({"id", "at"}), checked in
app/lectures.py. While there is a value the arrow keys are the lecture's, wherever the focus is.
"""

from typing import Any

from app.widgets.component import Component
from app.widgets.markup import Markup
from app.widgets.scripts import script

_ui = Markup("lecture")
TEMPLATE = f"""
<div class="lc-root" data-ts="root" hidden role="region" {_ui.attributes(aria_label="label")}>
  <div class="lc-head"><span data-ts="title"></span><span class="lc-count" data-ts="count"></span>
    <span class="lc-keys" {_ui.say("keys")}</span>
    <button type="button" class="lc-end" data-ts="end" {_ui.say("end")}</button></div>
  <p class="lc-note" data-ts="note" dir="auto"></p>
  <p class="lc-before" data-ts="before"></p>
  <p class="lc-ask" data-ts="ask" aria-live="polite"></p>
</div>
"""


class Lecture(Component):
    """A `gr.HTML` whose value is one slide's bar; None ends the lecture."""

    KINDS = ("lecture",)

    def __init__(self, value: dict[str, Any] | None = None, **settings: Any):
        super().__init__(value, html_template=TEMPLATE,
                         js_on_load=script("lecture", ("text", "lecture")), **settings)
