"""What is seen when there is nothing, not yet, no more, or something wrong: in every tab and section a sentence that says what to
do, and nowhere Gradio's own "Error" or a spinner over what is there."""

import json
import os
import re
import signal
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.first_tab import HOOK, shown, text_box, until
from tests.browser.tabs import open_tab
from tests.visitors import free_port

ROOT = Path(__file__).resolve().parents[2]
WORDS = {language: json.loads((ROOT / f"assets/words/{language}.json").read_text("utf-8")) for language in ("en", "de")}
# What Gradio would say, and anything that turns or dims over a component.
RAW = """() => {
  const seen = (node) => node.checkVisibility({ opacityProperty: true, visibilityProperty: true });
  return [...document.querySelectorAll(".toast-body, [data-testid=status-tracker], .error, .progress-text, .eta-bar")]
    .filter(seen).map((node) => node.className + ": " + node.innerText.trim()).filter((text) => !text.startsWith("ms-"));
}"""
# Tab, what is pressed there, where the sentence stands.
ASKED = [
    ("Attention", "#ts-run", "#ts-notice"),
    ("Search", "#ts-search-go", "#ts-search-tree [data-ts=refusal]"),
    ("Search", "#ts-search-table [data-ts=compare]", "#ts-search-table [data-ts=refusal]"),
    ("Masks", "#ts-masks-both", "#ts-masks-told [data-ts=refusal]"),
    ("Masks", "#ts-masks-look", "#ts-masks-probe-told [data-ts=refusal]"),
    ("Masks", "#ts-masks-perturb", "#ts-masks-leak [data-ts=refusal]"),
    ("Masks", "#ts-masks-measure", "#ts-masks-heads-told [data-ts=refusal]"),
]
SECTIONS = [  # that ask when they open
    ("Search", "search-pointer", "#ts-search-pointer-view [data-ts=refusal]"),
    ("Masks", "masks-unmasked", "#ts-masks-unmasked-told [data-ts=refusal]"),
    ("Masks", "masks-padding", "#ts-masks-padding-told [data-ts=refusal]"),
    ("Masks", "masks-prefix", "#ts-masks-prefix-told [data-ts=refusal]"),
    ("Training", "train-bridge", "#ts-train-bridge-view .tr-refusal"),
]


def plain(page) -> None:
    """Nothing of Gradio's own is in sight."""
    assert page.evaluate(RAW) == []


def sentence(page, where: str, words: str | re.Pattern) -> None:
    expect(page.locator(where)).to_contain_text(words)
    expect(page.locator(where)).to_contain_text(re.compile(r"[.!?]\s*$"))
    plain(page)


# Nothing yet

def test_nothing_has_been_run(open_page, address):
    page = open_page(address)
    open_tab(page, "Sessions")
    sentence(page, ".sl-root", "Press Run or an example above")
    open_tab(page, "Masks")
    sentence(page, "#ts-masks-told [data-ts=sentence]", "Click a cell, hide a token or choose a preset")
    sentence(page, "#ts-masks-probe [data-ts=empty]", "Press Look inside")
    open_tab(page, "Search")
    page.locator("#ts-search-caches > button.label-wrap").click()
    expect(page.locator("#ts-search-caches-view")).to_contain_text("Press Measure")
    expect(page.locator("#ts-search-maps [data-ts=empty]")).to_be_hidden()  # an empty box says nothing
    plain(page)
    page.context.close()


@pytest.mark.parametrize(("tab", "button", "where"), ASKED, ids=lambda one: one.split(" ")[0].strip("#"))
def test_nothing_is_typed(page, tab, button, where):
    open_tab(page, tab)
    text_box(page).fill("")
    page.locator(button).click()
    sentence(page, where, "at least one word")
    assert text_box(page).input_value() == ""


@pytest.mark.parametrize(("tab", "name", "where"), SECTIONS, ids=lambda one: one.split(" ")[0].strip("#"))
def test_nothing_is_typed_and_a_section_opens(page, tab, name, where):
    open_tab(page, tab)
    text_box(page).fill("")
    page.locator(f"#ts-{name} > button.label-wrap").click()
    sentence(page, where, "at least one word")


def test_nothing_to_score(page):
    open_tab(page, "Scores")
    page.locator("#ts-scores-outputs textarea").fill("")
    expect(page.locator("#ts-scores-board [data-ts=refusal]")).not_to_be_empty()
    plain(page)


def test_a_model_that_is_not_there(page):
    open_tab(page, "Attention")
    text_box(page).fill("A dog runs.")
    page.locator("#ts-model input").fill("nobody/nothing")
    page.locator("#ts-model input").press("Enter")
    page.locator("#ts-run").click()
    sentence(page, "#ts-notice", "nobody/nothing")
    page.locator("#ts-model input").fill("pocket-t5")
    page.locator("#ts-model input").press("Enter")


# Running and stopped

def test_running_shows_rows_not_a_spinner(page):
    open_tab(page, "Attention")
    text_box(page).fill("many dogs and " * 60)
    before = page.evaluate(f"{HOOK}.run()")
    page.locator("#ts-run").click()
    until(page, f"s.run() !== {before!r} && s.steps() > 2")
    plain(page)
    until(page, "s.done()")
    plain(page)


def test_the_model_is_still_loading(open_page, serve):
    """A page of a host that has just begun: a run is taken at once, and answered once the model is there."""
    page = open_page(serve("app"))
    page.wait_for_selector("[data-ready]")
    text_box(page).fill("A cat sleeps on a chair.")
    page.locator("#ts-run").click()
    plain(page)
    expect(shown(page).first).to_contain_text("Katze")
    expect(page.locator("#ts-notice")).to_be_hidden()
    page.context.close()


# The host

@pytest.mark.parametrize("language", ["en", "de"])
def test_the_line_is_full(open_page, address, language):
    page = open_page(address, viewport={"width": 390, "height": 844}, locale=language)
    page.wait_for_selector("body.ts-spoken", state="attached")
    page.route("**/queue/join*", lambda route: route.fulfill(
        status=503, content_type="application/json", body='{"detail": "Queue is full. Max size is 64 and size is 64."}'))
    text_box(page).fill("A dog runs.")
    page.locator("#ts-run").click()
    sentence(page, ".ms-trouble", WORDS[language]["minutes.trouble.busy"])
    expect(text_box(page)).to_have_value("A dog runs.")
    page.unroute("**/queue/join*")
    before = page.evaluate(f"{HOOK}.run()")
    page.locator("#ts-run").click()
    until(page, f"s.run() !== {before!r} && s.done()")
    page.context.close()


def test_the_host_goes_and_comes_back(open_page, tmp_path):
    """What was typed while it was gone is there when it is back."""
    port = free_port()

    def start() -> subprocess.Popen:
        process = subprocess.Popen([sys.executable, "-m", "app", "--port", str(port)], cwd=ROOT, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL, env=os.environ | {"SESSIONS_DIR": str(tmp_path)})
        until_ = time.monotonic() + 90
        while time.monotonic() < until_:
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz", timeout=5).close()
                return process
            except OSError:
                time.sleep(0.2)
        process.kill()
        pytest.fail("the page does not start")

    process = start()
    try:
        page = open_page(f"http://127.0.0.1:{port}")
        page.wait_for_selector("body.ts-spoken", state="attached")
        until(page, "s.steps() > 0 && s.step() === s.steps()")  # the first picture has been written to its end
        output = shown(page).first.inner_text()
        process.send_signal(signal.SIGKILL)
        process.wait()
        text_box(page).fill("A dog runs along the beach.")
        page.locator("#ts-run").click()
        sentence(page, ".ms-trouble", WORDS["en"]["minutes.trouble.gone"])
        expect(shown(page).first).to_have_text(output)  # what is there stays
        process = start()
        expect(page.locator(".ms-trouble")).to_have_text(WORDS["en"]["minutes.trouble.back"])
        expect(text_box(page)).to_have_value("A dog runs along the beach.")
        page.context.close()
    finally:
        process.kill()
        process.wait()
