"""Aids for everyone: the keys of every view as a sheet, projector mode, each picture as a table; a way past the controls.

The page holds three small buttons and what listens for `?` and `P`. The sheet, its words and what writes tables come as its
value, {"kind": "code"}, when the event `ask` says that something is to be opened.
"""

from typing import Any

from app.widgets.component import Component
from app.widgets.late import code
from app.widgets.markup import Markup
from app.widgets.scripts import script

_ui = Markup("aids")
TEMPLATE = f"""
<div class="ai-root" data-ts="root" role="group" {_ui.attributes(aria_label="label")}>
  <button type="button" class="ai-skip" data-ts="skip" {_ui.say("skip")}</button>
  <button type="button" data-ts="keys" aria-haspopup="dialog"><span {_ui.say("keys")}</span><kbd>?</kbd></button>
  <button type="button" data-ts="projector" aria-pressed="false" {_ui.attributes(title="projector.title")}><span
    {_ui.say("projector")}</span><kbd>P</kbd></button>
</div>
"""


class Aids(Component):
    """A `gr.HTML` whose value is the code of the sheet, once it was asked for."""

    KINDS = ("code",)

    def __init__(self, **settings: Any):
        super().__init__(None, html_template=TEMPLATE, js_on_load=script("aids", ("buttons",)), **settings)


def sheet() -> dict[str, Any]:
    """The value that answers `ask`."""
    return code("help_sheet", "text", "sheet")
