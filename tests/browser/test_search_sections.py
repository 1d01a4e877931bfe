"""The closed sections of the search tab in Chromium: the dial and the step of the pointer-generator, caches on and off."""

import base64

import numpy as np
import pytest
from playwright.sync_api import expect

from core.pointer import mixture
from tests.browser.tabs import open_tab
from tests.browser.test_hostile import PAYLOADS, calm

TEXT = "Two dogs and two cats sit next to Ω and Ω ."
READS = """text => document.querySelector("#ts-search-pointer-view [data-ts=root]").twoStacks.run().source
    .map(([piece]) => piece.replaceAll("▁", "")).join("").includes(text)"""
POINTER, CACHES = "#ts-search-pointer", "#ts-search-caches"


@pytest.fixture(scope="module")
def page(page):
    open_tab(page, "Search")
    return page


def value(page, place: str, call: str):
    return page.evaluate(f"document.querySelector('{place}-view [data-ts=root]').twoStacks.{call}")


def toggle(page, place: str) -> None:
    page.locator(f"{place} > button").first.click()


def test_a_closed_section_has_asked_nothing(page):
    for place in (POINTER, CACHES):
        expect(page.locator(f"{place} > button").first).to_be_visible()
        expect(page.locator(f"{place}-view [data-ts=root]")).to_be_hidden()


def test_the_dial_and_the_step_move_without_a_request_to_what_the_core_says(page):
    toggle(page, POINTER)
    expect(page.locator(f"{POINTER} .sc-part").first).to_be_visible()
    page.locator("#ts-text textarea").fill(TEXT)
    page.locator("#ts-run").click()
    expect(page.locator(f"{POINTER} .pg-source")).to_contain_text("Ω")  # it follows the run
    sent = []
    page.on("request", lambda request: sent.append(request.url) if "queue/join" in request.url else None)
    pack = value(page, POINTER, "run()")
    weights = np.frombuffer(base64.b64decode(pack["weights"]), "<f4").reshape(len(pack["heads"]), len(pack["target"]), -1)
    for step, p_gen, heads in ((4, 0.3, 0), (2, 0.0, 1), (len(pack["target"]), 0.85, 2)):
        page.locator(f"{POINTER} [data-ts=step]").fill(str(step))
        page.locator(f"{POINTER} [data-ts=dial]").fill(str(p_gen))
        page.locator(f"{POINTER} [data-ts=heads]").select_option(str(heads))
        found = value(page, POINTER, "mixed()")
        generated = np.zeros(pack["vocab"])
        for id, _, made in pack["rows"][step - 1]:
            if id < pack["vocab"]:
                generated[id] = made
        whole = mixture(generated, weights[heads, step - 1], pack["ids"], p_gen)
        assert [one["share"] for one in found] == pytest.approx([whole[one["id"]] for one in found], abs=1e-6)
        assert found[0]["share"] == pytest.approx(whole.max(), abs=1e-6)
        expect(page.locator(f"{POINTER} .sc-part .pg-word").first).to_contain_text(found[0]["text"].replace("▁", ""))
        expect(page.locator(f"{POINTER} [data-ts=sum]")).to_contain_text("= 1.000")
    assert not sent


def test_repeated_words_are_added_and_unknown_ones_are_copied(page):
    notes = page.locator(f"{POINTER} .sc-notes")
    expect(notes).to_contain_text("4 words stand more than once in the source")
    expect(notes).to_contain_text("The vocabulary of 8,000 lacks Ω")
    found = next(one for one in value(page, POINTER, "mixed(1, 0)") if one["text"] == "Ω")
    assert found["id"] == 8000 and found["made"] == 0 and len(found["parts"]) == 2
    assert found["share"] == pytest.approx(sum(found["parts"])) and found["share"] > max(found["parts"])
    turn = value(page, POINTER, "turning(4)")
    below, above = (value(page, POINTER, f"mixed(4, {turn['dial'] + by})")[0]["id"] for by in (-0.01, 0.01))
    assert (below, above) == (turn["word"]["id"], turn["made"]["id"])


def test_hostile_tokens_are_only_text(page):
    for payload in PAYLOADS[:3]:
        page.locator("#ts-text textarea").fill(payload)
        page.locator("#ts-run").click()
        page.wait_for_function(READS, arg=payload.replace(" ", ""))
        calm(page)
    page.locator("#ts-text textarea").fill(TEXT)
    page.locator("#ts-run").click()
    expect(page.locator(f"{POINTER} .pg-source")).to_contain_text("Ω")


def test_the_step_has_a_keyboard(page):
    page.locator(f"{POINTER} [data-ts=step]").fill("3")
    page.locator(f"{POINTER} [data-ts=step]").press("ArrowRight")
    expect(page.locator(f"{POINTER} [data-ts=sentence]")).to_contain_text("Step 4 of the run")
    toggle(page, POINTER)


def test_caches_are_measured_when_asked(page):
    toggle(page, CACHES)
    expect(page.locator(f"{CACHES}-view [data-ts=state]")).to_contain_text("Press Measure")
    number, slider = (page.locator(f"#ts-search-caches-tokens input[type={kind}]") for kind in ("number", "range"))
    page.wait_for_timeout(500)   # what the section opens with has been set by then
    number.fill("24")
    number.press("Enter")
    expect(slider).to_have_value("24")
    page.wait_for_timeout(300)
    page.locator("#ts-search-caches-go").click()
    expect(page.locator(f"{CACHES}-view [data-ts=sentence]")).to_contain_text("24 tokens took")
    expect(page.locator(f"{CACHES}-view [data-ts=equal]")).to_contain_text("all 24 tokens are equal; the largest difference")
    expect(page.locator(f"{CACHES}-view [data-ts=state]")).to_be_empty()
    for name in ("own", "cross"):
        expect(page.locator(f"{CACHES}-view [data-ts={name}]")).to_contain_text("as the formula")
    page.locator(f"{CACHES}-view [data-ts=step]").fill("10")
    expect(page.locator(f"{CACHES}-view [data-ts=here]")).to_contain_text("Step 10:")
    expect(page.locator(f"{CACHES}-view [data-ts=own]")).to_contain_text("2 · 3 · 6 · 32 · 10 · 4")


def test_on_a_phone_in_german_nothing_is_cut(open_page, address):
    page = open_page(address, viewport={"width": 390, "height": 844}, locale="de-DE", color_scheme="dark")
    page.wait_for_selector("[data-ready]")
    open_tab(page, "Suche")
    toggle(page, POINTER)
    toggle(page, CACHES)
    page.locator("#ts-search-caches-go").click()
    expect(page.locator(f"{POINTER} .sc-part").first).to_be_visible()
    expect(page.locator(f"{CACHES}-view [data-ts=sentence]")).to_contain_text("Token brauchten mit den Caches")
    for node in page.locator(f"{POINTER}-view, {CACHES}-view").all():
        assert node.evaluate("node => node.scrollWidth <= node.clientWidth + 1")
    page.context.close()
