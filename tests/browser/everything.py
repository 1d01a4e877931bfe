"""The whole page, opened: every tab with its sections, what they ask for, and what lies above them, one place after the other."""

from collections.abc import Iterator, Sequence

from playwright.sync_api import Page, expect

from tests.browser.first_tab import HOOK
from tests.browser.tabs import show

TABS = ("attention", "search", "masks", "noise", "train", "scores", "formulas", "sessions")
SHOWN = "#ts-tabs > [role=tabpanel]:visible"


def sections(page: Page) -> None:
    """What is closed in the tab, open."""
    for _ in range(2):
        for closed in page.locator(f"{SHOWN} button.label-wrap:not(.open)").all():
            if closed.is_visible():
                closed.click()
        page.locator(f"{SHOWN} details:not([open]) > summary").evaluate_all("all => all.forEach((one) => one.click())")
        page.wait_for_timeout(600)


def attention(page: Page) -> Iterator[str]:
    page.evaluate(f"{HOOK}.goto(4)")
    yield "attention"
    root = page.locator(".ts-root[role=application]").first
    root.locator("[data-ts=keep]").click()
    if not page.locator("#ts-more input[type=number]").first.is_visible():
        page.locator("#ts-more > button").click()
    for _ in range(2):  # Gradio sets a field once more that has only just been mounted, faster than a person types
        page.locator("#ts-more input[type=number]").first.fill("8")  # the same source, a shorter output
        page.wait_for_timeout(200)
    page.locator("#ts-run").click()
    page.wait_for_function(f"{HOOK}.steps() === 8 && {HOOK}.done()")
    root.locator("[data-ts=compare]").select_option("beside")
    root.locator("[data-ts=multiples]").check()
    root.locator("[data-ts=explain]").click()
    expect(root.locator("[data-ts=shares]")).to_be_visible()
    yield "attention, compared"
    root.locator("[data-ts=compare]").select_option("off")
    root.locator("[data-ts=multiples]").uncheck()


def search(page: Page) -> Iterator[str]:
    sections(page)
    expect(page.locator("#ts-search-tree .bt-box.bt-best")).not_to_have_count(0)
    page.locator("#ts-search-tree svg[role=tree]").press("Home")
    page.locator("#ts-search-table [data-ts=compare]").click()
    expect(page.locator("#ts-search-maps canvas")).not_to_have_count(0)
    expect(page.locator("#ts-search-pointer-view [data-ts=root]")).to_have_attribute("data-kind", "pointer")
    page.locator("#ts-search-caches-tokens input[type=number]").fill("8")
    page.locator("#ts-search-caches-tokens input[type=number]").press("Tab")
    page.locator("#ts-search-caches-go").click()
    expect(page.locator("#ts-search-caches-view svg polyline, #ts-search-caches-view svg path")).not_to_have_count(0)
    yield "search"


def masks(page: Page) -> Iterator[str]:
    sections(page)
    page.locator("#ts-masks-measure").click()
    expect(page.locator(f"{SHOWN} .mx-panel canvas")).not_to_have_count(0)
    page.wait_for_timeout(2500)
    yield "masks"


def noise(page: Page) -> Iterator[str]:
    sections(page)
    page.locator("#ts-noise-rebuild").click()
    expect(page.locator("#ts-noise-rebuilding .nz-strip, #ts-noise-rebuilding .nz-refusal")).not_to_have_count(0)
    page.locator("#ts-noise-all").click()
    expect(page.locator("#ts-noise-table tbody tr")).not_to_have_count(0)
    yield "noise"


def train(page: Page) -> Iterator[str]:
    expect(page.locator("#ts-train-teaching-view .tr-step")).not_to_have_count(0)
    sections(page)
    page.locator("#ts-train-kinds-view button[data-kind='encoder-decoder']").click()
    expect(page.locator("#ts-train-kinds-view .tr-live canvas")).to_have_count(3)
    expect(page.locator("#ts-train-bridge-view canvas")).not_to_have_count(0)
    sections(page)  # the relatives lie in another
    expect(page.locator("#ts-train-kinds-view section[data-family]")).to_have_count(6)
    page.locator("section[data-family=bert] > .tr-row button:not([hidden])").click()
    expect(page.locator("section[data-family=bert] .tr-fall svg")).to_have_count(1)
    sections(page)
    yield "training"


def scores(page: Page) -> Iterator[str]:
    sections(page)
    page.locator("#ts-corpus-sources textarea").fill("A dog runs.\nTwo cats sleep.")
    page.locator("#ts-corpus-references textarea").fill("Ein Hund rennt.\nZwei Katzen schlafen.")
    page.locator("#ts-corpus-go").click()
    expect(page.locator("#ts-corpus-table [data-ts=root]")).to_have_attribute("data-kind", "corpus")
    sections(page)
    yield "scores"


def formulas(page: Page) -> Iterator[str]:
    root = page.locator("#ts-formulas-cards .fc-root")
    expect(root.locator(".fc-cards canvas")).not_to_have_count(0)
    yield "formulas"
    for sheet, id in (("003", "sinusoids"), ("004", "relative_keys")):
        root.locator(".fc-sheets button", has_text=sheet).click()
        root.locator(f"[data-card={id}] .fc-mover").click()
        expect(root.locator(f"[data-card={id}] .fc-slot.fc-drawn .js-plotly-plot .main-svg").first).to_be_visible()
        page.wait_for_timeout(600)
        yield f"formulas, sheet {sheet}"
        page.keyboard.press("Escape")
    for number, view in ((1, "tour"), (2, "glossary")):
        root.locator(".fc-view").nth(number).click()
        if view == "tour":
            expect(root.locator(".fc-tour .fc-items .fc-math").first).to_be_visible()
            page.wait_for_timeout(1500)
        yield f"formulas, {view}"
    root.locator(".fc-view").first.click()


def sessions(page: Page) -> Iterator[str]:
    page.locator("#ts-sessions-list [data-ready]").first.wait_for()
    page.locator("#ts-sessions-list .sl-card").first.click()
    expect(page.locator(".sl-entry")).not_to_have_count(0)
    sections(page)
    yield "sessions"


def places(page: Page, tabs: Sequence[str] = TABS) -> Iterator[str]:
    """Each place of these tabs in turn, named, while the page stands there; last the sheet of keys. Sessions need the run that
    attention makes."""
    for name in tabs:
        show(page, name)
        page.wait_for_timeout(500)
        yield from globals()[name](page)
    page.keyboard.press("Escape")
    page.locator("[data-ts=keys]").click()
    expect(page.locator("dialog.hs-dialog")).to_be_visible()
    yield "the sheet of keys"
    page.locator("dialog.hs-dialog .hs-close").click()
