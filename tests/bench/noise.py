"""From a move of a slider of the noise tab to its text, and to its histogram, in Chromium: median and 95th percentile of 20."""

from collections.abc import Iterator
from typing import Any

from playwright.sync_api import Error as BrowserError

from tests.bench import milliseconds
from tests.bench.painting import PATIENCE, browser, chromium, server

LIMITS = {"text": 100, "shares": 400}  # ms, medians
NAMES = {"text": "text", "shares": "histogram"}
SENTENCES = {"short": "", "long": "A girl with a yellow umbrella is waiting for the bus in the rain. " * 9}

LONG = "() => { const p = window.twoStacks.corruption.pack(); return p.source.length > 100 && p.shares; }"

# The slider's own box is moved as a person moves it; each frame is awaited before the next move.
MEASURE = """async (count) => {
  const hook = window.twoStacks.corruption, out = { text: [], shares: [] };
  const box = document.querySelector("#ts-noise-rate input[type=range]");
  const set = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value").set;
  const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
  for (let i = 0; i < count; i++) {
    await wait(150);
    const text = hook.next("text"), shares = hook.next("shares"), began = performance.now();
    set.call(box, String(0.1 + 0.02 * i));
    box.dispatchEvent(new Event("input", { bubbles: true }));
    out.text.push(await text - began);
    out.shares.push(await Promise.race([shares, wait(20000).then(() => NaN)]) - began);
  }
  return out;
}"""


def lines(quick: bool) -> Iterator[str]:
    """Both times for a short and a long text; what fails is said, not raised."""
    if not chromium():
        return
    yield "Noise tab in headless Chromium: median / p95 in ms from a move of the rate until the frame is handed on."
    with browser() as chrome:
        try:
            yield from moves(chrome, 3 if quick else 20)
        except (BrowserError, RuntimeError) as error:
            yield f"NOT MEASURED: {str(error).strip()[:400]}"


def moves(chrome: Any, count: int) -> Iterator[str]:
    """A line for each time, on one page."""
    with server("app") as (address, _):
        page = chrome.new_page(viewport={"width": 1400, "height": 1000})
        page.goto(address, timeout=1000 * PATIENCE)
        page.wait_for_selector("[data-ready]", timeout=1000 * PATIENCE)
        page.get_by_role("tab", name="Noise").click()
        page.wait_for_selector("#ts-noise-view [data-source]", timeout=1000 * PATIENCE)
        page.wait_for_function("document.querySelector('#ts-status').innerText.includes('ready')", timeout=1000 * PATIENCE)
        for length, text in SENTENCES.items():
            if text:
                page.locator("#ts-text textarea").fill(text)
                page.wait_for_function(LONG)
            tokens = page.evaluate("window.twoStacks.corruption.pack().source.length")
            took = page.evaluate(MEASURE, count)
            for what, limit in LIMITS.items():
                yield f"{length}, {tokens} tokens: slider to {NAMES[what]:<10} {milliseconds(took[what])}, limit {limit}"
        page.close()
