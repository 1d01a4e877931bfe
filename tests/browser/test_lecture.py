"""Lectures in Chromium: by arrow keys alone, in a hall and on a phone; what is hidden stays hidden; a playlist made by hand."""

import pytest
from playwright.sync_api import expect

from core.lectures import LESSONS, run_of
from tests.browser.first_tab import run, until

CHIPS = "[...document.querySelectorAll('.ts-output .ts-chip')]"
SEEN = f"{CHIPS}.filter((node) => getComputedStyle(node).visibility === 'visible').length"


def open_lesson(open_page, address, number, **options):
    page = open_page(f"{address}/?lecture={number}{options.pop('query', '')}", **options)
    page.wait_for_selector("[data-ready]")
    expect(page.locator(".lc-root")).to_be_visible()
    until(page, f"s.run() === {run_of(LESSONS[number - 1][0].run).id!r} && s.done()")
    return page


@pytest.mark.parametrize("query, viewport", [("", (1920, 1080)), ("&__theme=dark", (1920, 1080)), ("", (390, 844))])
def test_nothing_but_the_run_is_on_the_page_and_it_fits(open_page, address, query, viewport):
    width, height = viewport
    page = open_lesson(open_page, address, 4, query=query, viewport={"width": width, "height": height})
    for hidden in ("#ts-controls", "#ts-head", "#ts-more", ".ts-controls", ".ts-exports", "#ts-tabs [role=tab] >> nth=0"):
        expect(page.locator(hidden).first).to_be_hidden()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    if width == 1920:
        page.wait_for_function("document.documentElement.scrollHeight <= innerHeight")
        assert page.evaluate("parseFloat(getComputedStyle(document.querySelector('.lc-note')).fontSize)") >= 24
    page.context.close()


def test_a_token_stays_hidden_until_a_key_is_pressed(open_page, address):
    page, trace = open_lesson(open_page, address, 1, viewport={"width": 1920, "height": 1080}), run_of("example-0")
    until(page, "s.step() === 1")
    expect(page.locator(".lc-ask")).to_have_text("Which token comes next?")
    for step in range(2, len(trace.steps) + 1):
        page.wait_for_function(f"{SEEN} === {step - 1}")
        assert step == len(trace.steps) or page.locator(".ts-text").inner_text() != trace.text  # only the end is left
        page.keyboard.press("ArrowRight")
        until(page, f"s.step() === {step} && s.picture().values.length === {step}")
    expect(page.locator(".lc-ask")).to_be_empty()
    expect(page.locator(".ts-text")).to_have_text(trace.text)
    page.keyboard.press("ArrowRight")
    until(page, f"s.run() === {run_of('example-1').id!r} && s.step() === 1")
    expect(page.locator(".lc-count")).to_have_text("2 of 3")
    page.keyboard.press("ArrowLeft")  # back: as it was when it had been gone through
    until(page, f"s.run() === {trace.id!r} && s.step() === {len(trace.steps)}")
    page.context.close()


def test_a_row_and_what_a_mask_does_are_asked_first(open_page, address):
    page = open_lesson(open_page, address, 4, viewport={"width": 1920, "height": 1080})
    tokens = [token.text for token in run_of("coat").target]
    expect(page.locator(".lc-ask")).to_contain_text(tokens[1])
    page.keyboard.press("ArrowRight")
    expect(page.locator(".lc-ask")).to_contain_text(tokens[2])
    page.keyboard.press("ArrowDown")
    expect(page.locator(".lc-ask")).to_have_text("What will change?")
    expect(page.locator(".lc-before")).to_be_empty()
    page.keyboard.press("ArrowRight")
    until(page, f"s.run() === {run_of('coat-hidden').id!r}")
    expect(page.locator(".lc-before")).to_contain_text(run_of("coat").text)
    expect(page.locator(".ts-text")).to_have_text(run_of("coat-hidden").text)
    page.keyboard.press("Escape")
    expect(page.locator(".lc-root")).to_be_hidden()
    expect(page.get_by_label("Source text")).to_have_value(run_of("coat").settings.text)  # and the controls go on from there
    expect(page.locator(".ts-controls").first).to_be_visible()
    page.context.close()


def test_every_slide_of_every_lesson_comes_by_the_down_key(open_page, address):
    for number, slides in enumerate(LESSONS, 1):
        page = open_lesson(open_page, address, number)
        for at, one in enumerate(slides):
            if at:
                page.keyboard.press("ArrowDown")
            expect(page.locator(".lc-count")).to_have_text(f"{at + 1} of {len(slides)}")
            until(page, f"s.run() === {run_of(one.run).id!r} && s.look().map === {one.view.get('map', 'cross')!r}")
            expect(page.locator(".lc-note")).not_to_have_text("")
        page.context.close()


def test_a_playlist_is_made_by_hand_and_presented(open_page, address):
    page = open_page(address)
    page.wait_for_selector("[data-ready]")
    hostile = "A <img src=x onerror=alert(1)> dog."
    run(page, hostile)
    page.get_by_role("tab", name="Sessions").click()
    page.locator(".sl-card").first.click()
    page.get_by_label("Arrange a lecture").check()
    page.get_by_label("What the lecture says of this run").fill("<b>look</b>")
    page.get_by_label("What the lecture says of this run").blur()
    page.get_by_label("Hidden until a key is pressed").select_option("token")
    page.get_by_label("Copy to").select_option("new")
    expect(page.locator(".sl-card")).to_have_count(2)
    expect(page.locator(".sl-root [data-ts=name]")).to_have_value("Playlist")
    expect(page.get_by_label("What the lecture says of this run")).to_have_value("<b>look</b>")
    page.get_by_role("button", name="Present").click()
    expect(page.locator(".lc-note")).to_have_text("<b>look</b>")
    expect(page.locator(".lc-ask")).to_have_text("Which token comes next?")
    assert page.locator("img").count() == 0
    page.keyboard.press("Escape")
    expect(page.get_by_label("Source text")).to_have_value(hostile)
    page.context.close()


def test_a_lesson_that_is_not_there_says_so(open_page, address):
    page = open_page(f"{address}/?lecture=99")
    expect(page.locator("#ts-notice")).to_contain_text("it must be 1 to 10")
    expect(page.locator(".lc-root")).to_be_hidden()
    page.context.close()
