"""The whole page in Chromium: the first screen, a run of one's own, hostile and useless input, what is not served."""

import re
import urllib.error
import urllib.request
from pathlib import Path

import pytest
from playwright.sync_api import expect

from core.examples import EXAMPLES, OWN, saved
from tests.browser.first_tab import HOOK, run, shown, text_box, until

ROOT = Path(__file__).resolve().parents[2]
ABOVE = """() => { const [a, b] = ["#ts-text textarea", ".ts-underlines"].map((s) => document.querySelector(s));
  return +getComputedStyle(b).zIndex > (+getComputedStyle(a).zIndex || 0); }"""
HOSTILE = "A dog <img src=x onerror=alert(1)> </s> <script>alert(2)</script> runs."


def test_the_first_screen_shows_a_saved_run_without_a_click(page):
    first = saved()[0]
    until(page, f"s.run() === {first.id!r}")
    assert page.evaluate(f"{HOOK}.steps()") == len(first.steps)
    expect(text_box(page)).to_have_value(EXAMPLES[0].text)
    expect(page.locator("#ts-knows")).to_contain_text("photo captions")


def test_a_chip_runs_at_once(page):
    trace = saved()[1]
    page.get_by_role("button", name=EXAMPLES[1].name).click()
    until(page, f"s.run() === {trace.id!r}")
    expect(text_box(page)).to_have_value(EXAMPLES[1].text)
    expect(page.locator("#ts-look")).to_have_text(EXAMPLES[1].look)
    text_box(page).press_sequentially("!")
    expect(page.locator("#ts-look")).to_have_text("")


def test_a_sentence_of_ones_own_is_translated_and_stepped_by_key(page):
    run(page, "A man is reading a newspaper on a bench.")
    page.locator(".ts-root").focus()
    page.keyboard.press("Home")
    until(page, "s.step() === 1")
    page.keyboard.press("ArrowRight")
    until(page, "s.step() === 2")
    page.keyboard.press("End")
    until(page, "s.step() === s.steps()")
    expect(shown(page)).to_contain_text("Mann")
    expect(page.locator("#ts-status")).to_contain_text("float32")


def test_hostile_text_is_shown_as_text(page):
    run(page, HOSTILE)
    assert page.locator("img[src=x]").count() == 0
    expect(page.locator('[data-ts="source"]')).to_contain_text("</s>")
    expect(text_box(page)).to_have_value(HOSTILE)


@pytest.mark.parametrize(("text", "said"), [("   ", "empty"), ("x" * 5000, "5,000 characters"), ("<extra_id_0>", "special")])
def test_bad_input_says_what_is_wrong_and_keeps_text_and_picture(page, text, said):
    before = page.evaluate(f"{HOOK}.run()")
    text_box(page).fill(text)
    page.locator("#ts-run").click()
    expect(page.locator("#ts-notice")).to_contain_text(said)
    expect(text_box(page)).to_have_value(text)
    assert page.evaluate(f"{HOOK}.run()") == before


def test_stop_stops_and_the_next_run_starts(page):
    text_box(page).fill("many " * 100)
    page.locator("#ts-run").click()
    page.locator("#ts-stop").click()
    run(page, "Two women are dancing.")
    expect(page.locator("#ts-notice")).not_to_contain_text("failed")


def test_phone_and_dark(open_page, address):
    page = open_page(f"{address}/?__theme=dark", viewport={"width": 390, "height": 844})
    page.wait_for_selector("[data-ready]")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert page.evaluate("document.body.classList.contains('dark')")
    page.context.close()


@pytest.mark.parametrize("path", [
    "/gradio_api/runs", "/monitoring", f"/gradio_api/file={ROOT}/app/page.py", "/gradio_api/file=/etc/passwd",
    f"/gradio_api/file={ROOT}/assets/models/pocket-t5/config.json", "/gradio_api/file=https://example.org/",
])
def test_nothing_of_the_host_is_served(address, path):
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(address + path, timeout=20)
    assert refused.value.code in (401, 403, 404, 405)


def test_input_x_gradient_beside_attention(page):
    """The numbers of the page are those of the core; the rank correlation is numpy's of the ranks."""
    import numpy as np

    from core import record
    from core.attribution import input_x_gradient
    from core.models import models
    from core.settings import Settings

    text = "A woman rides a white horse."
    run(page, text)
    page.locator("[data-ts=explain]").click()
    page.wait_for_function(f"() => {HOOK}.gradient(0)", timeout=60_000)
    trace = record(Settings(text=text))
    source, target = ([t.id for t in tokens] for tokens in (trace.source, trace.target))
    expected = input_x_gradient(models().load("pocket-t5"), source, trace.start.id, target)
    found = page.evaluate(f"{HOOK}.gradient(2)")
    assert found["row"] == pytest.approx(expected[2].tolist(), abs=1e-4)
    until(page, "s.picture().values.length === s.steps()")
    attention = np.array(page.evaluate(f"{HOOK}.picture().values[2]"))
    ranks = [np.argsort(np.argsort(row)) for row in (attention, np.abs(np.array(found["row"])))]
    assert found["correlation"] == pytest.approx(np.corrcoef(*ranks)[0, 1], abs=1e-6)
    expect(page.locator("[data-ts=contrast]")).to_contain_text("not why it wrote this token")
    page.locator("[data-ts=contrast] button").click()  # to the heads that can be switched off
    expect(page.locator("#ts-masks-heads")).to_be_in_viewport()
    page.get_by_role("tab", name="Attention").click()
    assert page.evaluate(f"{HOOK}.done()") and page.locator("[data-ts=shares]").is_visible()


def test_a_german_browser_reads_german(open_page, address):
    page = open_page(address, locale="de-AT")
    page.wait_for_selector("[data-ready]")
    expect(page.locator("#ts-run")).to_have_text("Los")
    expect(page.locator("#ts-head")).to_contain_text("Satz eingeben")
    page.get_by_role("button", name="Weitere Einstellungen").click()
    expect(page.get_by_text("Nach so vielen Token aufhören")).to_be_visible()
    expect(page.locator("[data-ts=map] option").nth(2)).to_have_text("Encoder-Self-Attention")
    expect(page.locator("[data-ts=caption]")).to_contain_text("schaut am meisten auf")
    expect(page.locator("[data-ts=speed] option").nth(1)).to_have_text("3 Schritte/s")
    assert page.locator("[data-ts=play]").get_attribute("title") in ("Abspielen", "Anhalten")
    page.context.close()


def test_rare_and_unknown_words_are_underlined_while_typing(page):
    page.wait_for_function("document.querySelector('#ts-status').innerText.includes('ready')", timeout=120_000)
    text_box(page).fill("A <b>dog</b> 😀 eats Zwrkqvxlmpf")
    rare = page.locator(".ts-underlines .ts-rare")
    expect(rare.last).to_have_text("Zwrkqvxlmpf")
    expect(page.locator("#ts-spelling")).to_contain_text("Zwrkqvxlmpf (")
    text_box(page).press_sequentially(" today")
    expect(rare.last).to_have_text("Zwrkqvxlmpf")  # what stands before the place that changed stays underlined
    assert page.evaluate(ABOVE)  # the text box itself has a z-index
    boxes = [page.locator(s).bounding_box() for s in ("#ts-text textarea", ".ts-underlines")]
    assert all(abs(boxes[0][side] - boxes[1][side]) <= 1 for side in boxes[0])


def test_surprise_me_runs_one_of_our_own_sentences(page):
    before = page.evaluate(f"{HOOK}.run()")
    page.locator("#ts-surprise").click()
    until(page, f"s.run() !== {before!r} && s.done()")
    assert text_box(page).input_value() in {row["en"] for row in OWN}


def test_words_of_a_saved_run_have_a_gloss_under_them(page):
    page.get_by_role("button", name=EXAMPLES[0].name).click()
    until(page, f"s.run() === {saved()[0].id!r}")
    expect(page.locator("[data-ts=output] .ts-gloss").nth(1)).to_have_text("girl")
    expect(page.locator("[data-ts=rows] [data-group='1']")).to_have_attribute("title", re.compile("in English: girl"))
