"""Own sessions, and one that is open: its name and note, its runs in order, and what can be done with it.

The value is a pack of app/shelf.py, or {"kind": "refused", "text"}, or None. `assets/js/session_list/` draws it by `textContent`
only. The one event is `act`: {"do", ...}, checked in app/shelf.py.
"""

from typing import Any

from app.widgets.component import Component
from app.widgets.markup import Markup
from app.widgets.scripts import script

_ui = Markup("session_list")
MOST_FILE = 32 * 2**20  # bytes of a session file; core.sessions.exchange refuses more, and a test holds the two equal
DEEDS = ("replay", "present", "share", "unshare", "export", "page", "delete")
KINDS = ("sessions", "refused")


def _button(name: str) -> str:
    return f'<button type="button" class="sl-button" data-ts="{name}" {_ui.say(name)}</button>'


TEMPLATE = f"""
<div class="sl-root" data-ts="root" data-most="{MOST_FILE}" role="region" {_ui.attributes(aria_label="label")}>
  <div class="sl-refusal" data-ts="refusal" role="alert"></div>
  <p class="sl-quiet" data-ts="ends" hidden {_ui.say("ends")}</p>
  <div class="sl-columns">
    <div class="sl-own">
      <h3 {_ui.say("own")}</h3>
      <p class="sl-quiet" data-ts="none" {_ui.say("none")}</p>
      <ul class="sl-list" data-ts="list"></ul>
      <div class="sl-buttons">
        <label class="sl-button sl-file"><span {_ui.say("import")}</span>
          <input type="file" accept=".zip,application/zip" data-ts="import"></label>
        {_button("forget")}
      </div>
      <p class="sl-quiet" {_ui.say("private")}</p>
      <p class="sl-quiet" {_ui.say("limits")}</p>
    </div>
    <div class="sl-open" data-ts="open" hidden>
      <div class="sl-buttons sl-top">{"".join(map(_button, DEEDS))}</div>
      <div class="sl-link" data-ts="link" hidden><label><span {_ui.say("link")}</span>
        <input type="text" readonly data-ts="address"></label>{_button("copy")}</div>
      <label class="sl-field"><span {_ui.say("name")}</span><input type="text" maxlength="120" data-ts="name"></label>
      <label class="sl-field"><span {_ui.say("note")}</span><textarea rows="2" maxlength="2000" data-ts="note"></textarea></label>
      <label class="sl-check" data-ts="editline"><input type="checkbox" data-ts="edit"> <span {_ui.say("edit")}</span></label>
      <p class="sl-quiet" data-ts="notmine" hidden {_ui.say("notmine")}</p>
      <ol class="sl-entries" data-ts="entries"></ol>
      <p class="sl-quiet" data-ts="more"></p>
    </div>
  </div>
</div>
"""


class SessionList(Component):
    """A `gr.HTML` whose value is a pack of sessions. A refusal leaves what was there before."""

    KINDS = KINDS

    def __init__(self, value: dict[str, Any] | None = None, **settings: Any):
        super().__init__(value, html_template=TEMPLATE,
                         js_on_load=script("session_list", ("text", "files", "drawing", "wiring")), **settings)
