"""From a toggle in the mask grid to the new output on the screen, in Chromium: median and 95th percentile of 20."""

from collections.abc import Iterator
from typing import Any

from playwright.sync_api import Error as BrowserError

from tests.bench import milliseconds
from tests.bench.painting import PATIENCE, browser, chromium, server

LIMIT = 150  # ms, median
TEXT = "A man rides a horse."  # 12 tokens with the task prefix and </s>
READY = "() => window.twoStacks.maskGrid && window.twoStacks.maskGrid.given() && window.twoStacks.maskGrid.geometry().cell > 0"

# One cell of the encoder's mask is closed by a key, another one each time, so that its run is not kept from before; then it is
# opened again.
MEASURE = """async (count) => {
  const part = (name) => document.querySelector('#ts-masks-grid [data-ts="' + name + '"]'), took = [];
  const said = document.querySelector("#ts-masks-told .fd-sentence");
  const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
  const until = (test) => new Promise((resolve) => {
    const look = new MutationObserver(() => { if (test(said.textContent)) { look.disconnect(); resolve(); } });
    look.observe(said, { childList: true, characterData: true, subtree: true });
  });
  const painted = () => new Promise((resolve) => requestAnimationFrame(() => {
    const channel = new MessageChannel();
    channel.port1.onmessage = () => { channel.port1.close(); resolve(performance.now()); };
    channel.port2.postMessage(0);
  }));
  const press = (key) => part("cells").dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
  part("encoder").click();
  press("ArrowRight");
  for (let i = 0; i < count; i++) {
    await wait(600);
    const shown = until((text) => text.includes("1 cell changed")), began = performance.now();
    press(" ");
    await Promise.race([shown, wait(20000)]);
    took.push(await painted() - began);
    await wait(600);
    const plain = until((text) => text.startsWith("Nothing is masked"));
    press(" ");
    await Promise.race([plain, wait(20000)]);
    press(i < 10 ? "ArrowRight" : "ArrowDown");
  }
  return took;
}"""


def lines(quick: bool) -> Iterator[str]:
    """One line; what fails is said, not raised."""
    if not chromium():
        return
    yield "Masks tab in headless Chromium: median / p95 in ms from a toggle until the frame with the new output is handed on."
    with browser() as chrome:
        try:
            yield toggles(chrome, 3 if quick else 20)
        except (BrowserError, RuntimeError) as error:
            yield f"NOT MEASURED: {str(error).strip()[:400]}"


def toggles(chrome: Any, count: int) -> str:
    with server("app") as (address, _):
        page = chrome.new_page(viewport={"width": 1400, "height": 1000})
        page.goto(address, timeout=1000 * PATIENCE)
        page.wait_for_selector("[data-ready]", timeout=1000 * PATIENCE)
        page.wait_for_function("document.querySelector('#ts-status').innerText.includes('ready')", timeout=1000 * PATIENCE)
        page.locator("#ts-text textarea").fill(TEXT)
        page.get_by_role("tab", name="Masks", exact=True).click()
        page.wait_for_function(READY, timeout=1000 * PATIENCE)
        page.locator("#ts-masks-both").click()
        page.wait_for_function("window.twoStacks.maskGrid.given().labels.source.length === 12", timeout=1000 * PATIENCE)
        took = page.evaluate(MEASURE, count)
        page.close()
    return f"12 source tokens: toggle to new output {milliseconds(took)}, limit {LIMIT}"
