"""Above the tabs while a session is replayed: which of its moments is in view, back, forward, play all, any of them, the end.

The value is the bar of app.replays.Replay, or None. Events: `go` ({"id", "row" or "event"}, checked in app/shelf.py) and `done`.
"""

from typing import Any

from app.widgets.component import Component
from app.widgets.markup import Markup, speeds
from app.widgets.scripts import script

_ui = Markup("replay_bar")
TEMPLATE = f"""
<div class="rb-root" data-ts="root" hidden role="region" tabindex="-1" {_ui.attributes(aria_label="label")}>
  <span class="rb-name"><b {_ui.say("replay")}</b> <bdi data-ts="name" dir="auto"></bdi></span>
  {_ui.icon("back", "M16.5 5v14L7 12z")}
  <select class="ts-select rb-pick" data-ts="pick" {_ui.attributes(aria_label="pick")}></select>
  {_ui.icon("forward", "M7.5 5v14L17 12z")}
  <button type="button" class="ts-text-button" data-ts="all" aria-pressed="false" {_ui.say("all")}</button>
  {speeds(_ui, 1, 3, 6, 12, chosen=3)}
  <span class="rb-count" data-ts="count"></span>
  <button type="button" class="ts-text-button" data-ts="done" {_ui.say("done")}</button>
  <span class="rb-hint" {_ui.say("hint")}</span>
</div>
"""


class ReplayBar(Component):
    """A `gr.HTML` whose value is a bar; None hides it."""

    KINDS = ("replay",)

    def __init__(self, value: dict[str, Any] | None = None, **settings: Any):
        super().__init__(value, html_template=TEMPLATE,
                         js_on_load=script("replay_bar", ("text", "bar")), **settings)
