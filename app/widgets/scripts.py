"""The script of a custom component: its files in assets/js, joined in order, behind the words that it says; and its styles."""

import re
from collections.abc import Sequence
from pathlib import Path

from app.palette import constant

ASSETS = Path(__file__).resolve().parents[2] / "assets"


def script(component: str, names: Sequence[str] = ()) -> str:
    """One function body: `PREFIX`, `PALETTE` (app/palette.py) where it is named, words.js, sent.js, then assets/js/COMPONENT.js
    or, where there are names, each COMPONENT/NAME.js.

    A name that the component's folder does not have is a file of assets/js/shared/.
    """
    folder = ASSETS / "js"
    files = [_file(folder, component, name) for name in names] or [folder / f"{component}.js"]
    texts = [file.read_text(encoding="utf-8") for file in (folder / "words.js", folder / "sent.js", *files)]
    joined = "\n".join(map(_travelling, texts))
    return f'"use strict";\nconst PREFIX = "{component}.";\n' + (constant() if "PALETTE" in joined else "") + joined


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
