"""What is measured of a page where it stands: barriers by axe, and what measures.js finds: pictures without a table, what is
too wide, small targets, small letters, motion."""

import json
from pathlib import Path

import axe_playwright_python
from playwright.sync_api import Page

AXE = (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text("utf-8")
SCRIPT = Path(__file__).with_name("measures.js").read_text("utf-8").split("*/", 1)[1].strip()
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]

FOUND, WITHOUT, SMALL, WIDER, LETTERS, LONGEST = (
    f"({SCRIPT}).{name}" for name in ("found", "without", "small", "wider", "letters", "longest"))


def barriers(page: Page) -> list:
    """Serious and critical ones of WCAG 2.2 A and AA, Gradio's own markup included: [rule, selector, what to do]."""
    if not page.evaluate("!!window.axe"):
        page.evaluate(AXE)
    page.wait_for_timeout(500)  # what fades in has its colour
    return page.evaluate(FOUND, [RULES])


def told(found: dict) -> str:
    return json.dumps(found, indent=1, ensure_ascii=False)
