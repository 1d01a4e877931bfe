"""Tabs as a person finds them: a narrow page keeps its last ones in a menu."""

import json
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Page, expect

WORDS = Path(__file__).resolve().parents[2] / "assets" / "words"
# What is there once a tab can be used.
FIRST = {
    "search": "#ts-search-tree .bt-root .bt-box.bt-best",
    "masks": "#ts-masks-grid canvas:visible",
    "noise": "#ts-noise-view [data-source]:visible",
    "scores": "#ts-scores-board .sc-scores tbody tr:visible",
    "formulas": "#ts-formulas-cards .fc-cards canvas",
}


def open_tab(page: Page, name: str) -> None:
    """Click the tab of that name, in the bar or in its menu."""
    tab, menu = page.get_by_role("tab", name=name, exact=True), page.locator("#ts-tabs > .tab-wrapper .overflow-menu")
    expect(tab.or_(menu.locator("> button")).filter(visible=True).first).to_be_visible()
    if not tab.is_visible():
        menu.locator("> button").click()
        tab = menu.locator(".overflow-dropdown button", has_text=name)
    tab.click()


def show(page: Page, name: str) -> None:
    """The tab of that id, by its name in the language of the browser."""
    language = page.evaluate("navigator.language.slice(0, 2)")
    open_tab(page, json.loads((WORDS / f"{language}.json").read_text("utf-8"))[f"page.{name}"])


def opened(open_page: Callable[..., Page], address: str, name: str, **options: object) -> Page:
    """A page of its own with that tab open and its first picture there."""
    page = open_page(address, **options)
    page.wait_for_selector("[data-ready]")
    show(page, name)
    expect(page.locator(FIRST[name])).not_to_have_count(0)
    return page
