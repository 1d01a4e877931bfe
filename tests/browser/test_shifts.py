"""Nothing jumps: Chromium's own measure of layout shifts while the page loads, while each tab opens, and during a run."""

import pytest

from tests.browser.first_tab import HOOK, text_box, until
from tests.browser.tabs import open_tab

TABS = ("Search", "Masks", "Noise", "Training", "Scores", "Formulas", "Sessions", "Attention")
MOST = 0.1  # cumulative layout shift that Web Vitals calls good; what a click itself moves counts here, too
WATCH = """window.shifts = [];
new PerformanceObserver((list) => { for (const entry of list.getEntries()) window.shifts.push(entry.value); })
  .observe({ type: "layout-shift", buffered: true });"""


def shift(page) -> float:
    """The sum since the last call."""
    page.wait_for_timeout(1500)
    return sum(page.evaluate("window.shifts.splice(0)"))


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("known", [False, True], ids=["newcomer", "known"])
def test_nothing_jumps(open_page, address, width, known):
    page = open_page("about:blank", viewport={"width": width, "height": 900})
    page.add_init_script(WATCH)
    if known:  # the strip for newcomers is away
        page.add_init_script("if (location.protocol !== 'about:') localStorage.setItem('two-stacks-minutes', 'off')")
    page.goto(address)
    page.wait_for_selector("[data-ready]")
    page.wait_for_function("document.querySelector('#ts-status').innerText.includes('ready')")
    found = {"load": shift(page)}
    for name in TABS if not known else ():
        open_tab(page, name)
        found[name] = shift(page)
    text_box(page).fill("A man in a blue shirt is standing on a ladder cleaning a window.")
    before = page.evaluate(f"{HOOK}.run()")
    page.evaluate("window.shifts.splice(0)")
    page.locator("#ts-run").click()
    until(page, f"s.run() !== {before!r} && s.done()")
    found["run"] = shift(page)
    print(width, {name: round(value, 3) for name, value in found.items()})
    page.context.close()
    assert found and max(found.values()) < MOST, found
