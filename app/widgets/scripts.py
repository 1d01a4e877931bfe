"""The script of a custom component: its files in assets/js, joined in order, behind the words that it says."""

from collections.abc import Sequence
from pathlib import Path

ASSETS = Path(__file__).resolve().parents[2] / "assets"


def script(component: str, names: Sequence[str] = ()) -> str:
    """One function body: `PREFIX`, words.js, then assets/js/COMPONENT.js or, where there are names, COMPONENT/NAME.js each.

    A name with a slash is another component's file, by its path in assets/js.
    """
    folder = ASSETS / "js"
    files = [folder / f"{name if '/' in name else f'{component}/{name}'}.js" for name in names] or [folder / f"{component}.js"]
    texts = [file.read_text(encoding="utf-8") for file in (folder / "words.js", *files)]
    return f'"use strict";\nconst PREFIX = "{component}.";\n' + "\n".join(texts)
