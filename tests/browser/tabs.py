"""Tabs as a person finds them: a narrow page keeps its last ones in a menu."""

from playwright.sync_api import expect


def open_tab(page, name: str) -> None:
    """Click the tab of that name, in the bar or in its menu."""
    tab, menu = page.get_by_role("tab", name=name, exact=True), page.locator("#ts-tabs > .tab-wrapper .overflow-menu")
    expect(tab.or_(menu.locator("> button")).filter(visible=True).first).to_be_visible()
    if not tab.is_visible():
        menu.locator("> button").click()
        tab = menu.locator(".overflow-dropdown button", has_text=name)
    tab.click()
