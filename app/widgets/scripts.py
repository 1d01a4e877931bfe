"""The script of a custom component: its files in assets/js, joined in order, behind the words that it says; and its styles."""

import re
from collections.abc import Sequence
from pathlib import Path

from app.palette import constant

ASSETS = Path(__file__).resolve().parents[2] / "assets"
# Components that a page holds many times, whose scripts travel once: their files, in an order in which each uses only what the
# ones before it name, or what runs after all are read; and the events that they trigger.
ONCE: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "corruption": (("text", "state", "drawing", "pointing", "wiring"), ("edit",)),
    "line": (("line",), ()),
    "findings": (("text", "findings"), ()),
    "matrices": (("state", "text", "files", "colour", "building", "layout", "drawing", "dragging", "pointing", "arriving",
                  "theme", "wiring"), ("edit", "select")),
}


def script(component: str, names: Sequence[str] = (), silent: bool = False) -> str:
    """One function body: `PREFIX`, `PALETTE` (app/palette.py) where it is named, words.js, sent.js, then assets/js/COMPONENT.js
    or, where there are names, each COMPONENT/NAME.js. silent: it says nothing, and goes without words.js.

    A name that the component's folder does not have is a file of assets/js/shared/.
    """
    folder = ASSETS / "js"
    files = [_file(folder, component, name) for name in names] or [folder / f"{component}.js"]
    first = [folder / name for name in ("words.js", "sent.js")][silent:]
    joined = "\n".join(_travelling(file.read_text(encoding="utf-8")) for file in (*first, *files))
    return f'"use strict";\nconst PREFIX = "{component}.";\n' + (constant() if "PALETTE" in joined else "") + joined


def once(component: str) -> str:
    """The same for a component of ONCE: it calls the body that stands in `head()`. Gradio knows no other events than these."""
    named = " ".join(f'trigger("{event}")' for event in ONCE[component][1])
    return f"// {named}\nwindow.twoStacks.scripts.{component}(element, props, trigger, watch);"


def head() -> str:
    """What stands in the page's head before any component: the bodies that `once` calls."""
    bodies = ",\n".join(
        f"{name}(element, props, trigger, watch) {{\n{script(name, files)}\n}}" for name, (files, _) in ONCE.items())
    return f"<script>\n(window.twoStacks ||= {{}}).scripts = {{\n{bodies}\n}};\n</script>"


def _travelling(text: str) -> str:
    """Without comments that begin a line, or end one behind three spaces, and without indentation: a page holds some of them
    ten times from the start."""
    text = re.sub(r" {3}// [^\n]*$", "", text, flags=re.M)
    return re.sub(r"^[ \t]+", "", re.sub(r"^[ \t]*/\*(?:(?!\*/).)*\*/\n", "", text, flags=re.M | re.S), flags=re.M)


def _file(folder: Path, component: str, name: str) -> Path:
    own = folder / component / f"{name}.js"
    return own if own.is_file() else folder / "shared" / f"{name}.js"


def styles(*names: str) -> str:
    """Files of assets/css, joined in order."""
    return "\n".join(_travelling((ASSETS / "css" / f"{name}.css").read_text(encoding="utf-8")) for name in names)
