"""Step to paint and server start to first picture, in Chromium. Without Chromium a line says so instead.

Times are taken inside the page. A step is measured beside an empty frame on the same page, because whatever is painted
waits for the next frame: only what lies above that floor is ours.
"""

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Error as BrowserError
from playwright.sync_api import sync_playwright

from tests.bench import Spread, milliseconds
from tests.browser.conftest import ARGUMENTS
from tests.visitors import free_port

ROOT = Path(__file__).resolve().parents[2]
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
# button of the stepper page -> source x target x (layers x heads)
PACKS = {"square": "12x12x18", "large": "128x128x48", "long": "512x128x18"}
STEPS = 120
PATIENCE = 300  # seconds to wait for a server or a page on a busy machine
LIMIT_SECONDS, LIMIT_BYTES = 6.0, 1.5e6
# What Gradio brings to every page; anything else that is transferred before the picture is ours.
GRADIO_PATHS = ("/assets/", "/static/", "/svelte/")

# Each step starts at a random moment of a frame and from a page at rest (plotly told); an empty frame goes before it.
# heatmap and bars: from the call until the frame with both is handed on; own work: the part of it after its frame began.
# whole step: until the frame with candidates, caption and chips is handed on, which is the next one.
# plotly alone: what plotly takes when stepping rests, after which nothing looks different.
MEASURE = """async (count) => {
  const hooks = window.twoStacks.stepper, last = hooks.steps(),
    out = { "empty frame": [], "heatmap and bars": [], "its own work": [], "whole step": [], "plotly alone": [] };
  const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
  const painted = () => new Promise((resolve) => requestAnimationFrame(() => {
    const channel = new MessageChannel();   // as the stepper's own clock: after the frame has been handed on
    channel.port1.onmessage = () => { channel.port1.close(); resolve(performance.now()); };
    channel.port2.postMessage(0);
  }));
  let step = 1, way = 1;
  await hooks.goto(1);
  await pause(500);
  for (let i = 0; i < count; i++) {
    const empty = performance.now();
    out["empty frame"].push(await painted() - empty);
    if (step + way < 1 || step + way > last) way = -way;
    step += way;
    await pause(20 + 20 * Math.random());
    const told = new Promise((resolve) => { hooks.bars.push = (ms) => resolve(out["plotly alone"].push(ms)); });
    const began = performance.now();
    out["heatmap and bars"].push(await hooks.goto(step));
    out["whole step"].push(performance.now() - began);
    out["its own work"].push(hooks.frames.at(-1));
    await Promise.race([told, pause(10000)]);
    await pause(20 + 20 * Math.random());
  }
  delete hooks.bars.push;   // the array's own again
  return out;
}"""

# Notes the moment when the stepper says that its first picture is on the screen.
WATCH = """new MutationObserver((_, me) => {
  if (document.querySelector('[data-ready="1"]')) { window.firstPicture = performance.now(); me.disconnect(); }
}).observe(document, { subtree: true, childList: true, attributes: true, attributeFilter: ["data-ready"] });"""

# What had arrived by then: [path, bytes on the wire].
ARRIVED = """() => performance.getEntries().filter((e) => e.responseEnd && e.responseEnd <= window.firstPicture)
  .map((e) => [new URL(e.name).pathname, e.transferSize || e.encodedBodySize])"""


def chromium() -> str | None:
    """Path of the browser: CHROMIUM, else the first known name on the path."""
    for name in (os.environ.get("CHROMIUM"), *BROWSERS):
        if name and (found := shutil.which(name)):
            return found
    return None


@contextmanager
def browser() -> Iterator[Any]:
    """A headless Chromium, the system's own."""
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=chromium(), args=list(ARGUMENTS))
        try:
            yield started
        finally:
            started.close()


@contextmanager
def server(module: str) -> Iterator[tuple[str, float]]:
    """`python -m module --port N` on a free port, as (address, time.time() just before it was started)."""
    port, log = free_port(), tempfile.TemporaryFile()
    command = [sys.executable, "-m", module, "--port", str(port)]
    began = time.time()
    process = subprocess.Popen(command, cwd=ROOT, stdout=log, stderr=subprocess.STDOUT)
    try:
        while not _listens(port):
            if process.poll() is not None:
                log.seek(0)
                raise RuntimeError(f"{module} ended before it served: {log.read().decode(errors='replace')[-400:]}")
            if time.time() - began > PATIENCE:
                raise RuntimeError(f"{module} did not answer within {PATIENCE} s")
            time.sleep(0.02)
        yield f"http://127.0.0.1:{port}", began
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        log.close()


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def steps(chrome: Any, count: int) -> Iterator[str]:
    """Step to paint for each pack, on one page."""
    with server("tests.browser.stepper_page") as (address, _):
        page = chrome.new_page(viewport={"width": 1400, "height": 1000})
        page.goto(address, timeout=1000 * PATIENCE)
        page.wait_for_selector('[data-plotly="ready"]', state="attached", timeout=1000 * PATIENCE)
        for button, size in PACKS.items():
            rows = int(size.split("x")[1])
            page.evaluate("window.twoStacks.stepper.arrivals.length = 0")
            clicked = time.perf_counter()
            page.click(f"#{button}")
            page.wait_for_function(
                "([run, rows]) => window.twoStacks.stepper.run() === run && window.twoStacks.stepper.steps() === rows",
                arg=[button, rows], timeout=1000 * PATIENCE,
            )
            page.wait_for_function("window.twoStacks.stepper.arrivals.length", timeout=1000 * PATIENCE)
            seconds, shown = time.perf_counter() - clicked, page.evaluate("window.twoStacks.stepper.arrivals[0]")
            yield f"{size:<12} run to first picture {shown:.0f} ms; with making and sending it {seconds:.1f} s"
            took = page.evaluate(MEASURE, count)
            if len(took["plotly alone"]) < count:
                yield f"{size}: only {len(took['plotly alone'])} of {count} coverage bars were told to plotly"
            for name, values in took.items():
                yield f"{size:<12} {name:<18} {milliseconds(values)}"
        page.close()


def first_picture(chrome: Any) -> tuple[float, int]:
    """(seconds from starting the server to the first picture, our own bytes that had arrived by then)."""
    with server("app") as (address, began):
        page = chrome.new_context().new_page()  # a context of its own: nothing is cached
        page.add_init_script(WATCH)
        page.goto(address, timeout=1000 * PATIENCE)
        page.wait_for_function("() => window.firstPicture", timeout=1000 * PATIENCE)
        seconds = page.evaluate("() => (performance.timeOrigin + window.firstPicture) / 1000") - began
        own = sum(size for path, size in page.evaluate(ARRIVED) if not path.startswith(GRADIO_PATHS))
        page.context.close()
    return seconds, own


def start(chrome: Any, repeats: int) -> Iterator[str]:
    """How soon the page shows something, beside the limits."""
    starts = [first_picture(chrome) for _ in range(repeats)]
    seconds = Spread.of([took for took, _ in starts])
    own = max(size for _, size in starts)
    yield (
        f"Server start (python -m app) to first picture: {seconds} s, limit {LIMIT_SECONDS:.0f} s\n"
        f"Our own bytes before it: {own / 1e6:.2f} MB, limit {LIMIT_BYTES / 1e6:.1f} MB\n"
        f"({repeats} starts; Chromium is open already, Gradio's own bundle is not counted)"
    )


def lines(repeats: int, quick: bool) -> Iterator[str]:
    """Everything that needs a browser, a line as soon as it is measured. What fails is said, not raised."""
    if not chromium():
        yield "No Chromium here (make chromium installs one where it may): step to paint and first picture are skipped."
        return
    yield (
        "Step to paint in headless Chromium: median / p95 in ms, from the call until its frame is handed on (the raster\n"
        "comes after that, on other threads). One step each, from any moment of a frame: an empty frame on the same page\n"
        "is the floor, half a frame at the median. Candidates and caption come with the next frame."
    )
    with browser() as chrome:
        for part in (steps(chrome, 10 if quick else STEPS), start(chrome, repeats)):
            try:
                yield from part
            except (BrowserError, RuntimeError) as error:
                yield f"NOT MEASURED: {str(error).strip()[:400]}"
            yield ""
