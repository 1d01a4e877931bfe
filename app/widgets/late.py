"""A component that comes late: its script, style and words travel when its section opens, not with the page.

`code(...)` is its first value, {"kind": "code"}; after that a value is whatever its script draws. The script runs once, with
`element, props, trigger, watch` as any component's, builds its own nodes by `textContent` only, and asks the server by events:
`ask` with a dict that names in "what" what is wanted, `quit` to stop what is running, `move` with what a dial is set to, for an
answer that waits in no line.
"""

from typing import Any

from app.widgets.component import Component
from app.widgets.scripts import script, styles
from app.words import late

LOADER = """
const EVENTS = ["ask", "quit", "move"];  // Gradio knows only events that are named in this text
let begun = false;
function arrive() {
  const value = props.value ? JSON.parse(props.value) : null;
  if (begun || !value || value.kind !== "code") return;
  begun = true;
  const style = document.createElement("style");
  style.textContent = value.style;
  element.prepend(style);
  new Function("element", "props", "trigger", "watch", "LATE", value.script)(element, props, trigger, watch, value.words);
}
arrive();
watch("value", arrive);
"""


class Late(Component):
    """A `gr.HTML` whose value is code, then data: a dict with a `kind`."""

    def __init__(self, **settings: Any):
        super().__init__(None, html_template="<div class='tr-root' data-ts='root'></div>",
                         js_on_load=LOADER, **settings)


def code(folder: str, *names: str) -> dict[str, Any]:
    """The first value: files of assets/js/FOLDER (or shared/) in order, assets/css/FOLDER.css, words under `FOLDER.`."""
    return {"kind": "code", "script": script(folder, names), "style": styles(folder), "words": late(f"{folder}.")}
