"""What a person does above the tabs and on the first one: type, run, wait for the picture."""

from playwright.sync_api import Locator, Page

HOOK = "window.twoStacks.stepper"
PATIENCE = 120_000  # milliseconds for a run on a busy machine


def ready(page: Page) -> None:
    """The first picture is there, if perhaps behind another tab, and the model is loaded."""
    page.wait_for_selector("[data-ready]", state="attached")
    page.wait_for_function("document.querySelector('#ts-status').innerText.match(/ready|bereit/)", timeout=PATIENCE)


def text_box(page: Page) -> Locator:
    return page.locator("#ts-text textarea")


def shown(page: Page) -> Locator:
    """The output, as the attention view writes it."""
    return page.locator('[data-ts="text"]')


def until(page: Page, condition: str) -> None:
    """condition: JavaScript over `s`, the stepper's hook."""
    page.wait_for_function(f"() => {{ const s = {HOOK}; return {condition}; }}", timeout=PATIENCE)


def run(page: Page, text: str) -> None:
    """Type and run, and wait until the whole trace is there."""
    ready(page)
    before = page.evaluate(f"{HOOK}.run()")
    text_box(page).fill(text)
    page.locator("#ts-run").click()
    until(page, f"s.run() !== {before!r} && s.done()")
