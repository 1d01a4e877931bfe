"""The masks tab in Chromium: from a click on a cell to the sentence below it, quick edits, other texts, hostile tokens, phone."""

import json
import re

import pytest
from playwright.sync_api import expect

from tests.browser.first_tab import ready
from tests.browser.tabs import opened

HOOK = "window.twoStacks.maskGrid"
HOSTILE = "A dog <img src=x onerror=alert(1)> </s> <b>runs</b>."


def begun(open_page, address, **options):
    page = opened(open_page, address, "masks", **options)
    ready(page)
    page.wait_for_function(f"() => {HOOK} && {HOOK}.given() && {HOOK}.geometry().cell > 0")
    return page


@pytest.fixture(scope="module")
def page(open_page, address):
    return begun(open_page, address)


@pytest.fixture(autouse=True)
def nothing_drawn(request):
    """Each test of the shared page starts from the model's own masks."""
    if "page" in request.fixturenames:
        page = request.getfixturevalue("page")
        for stack in ("cross", "decoder", "encoder"):
            part(page, stack).click()
            page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
            if part(page, "reset").is_enabled():
                part(page, "reset").click()
        if "Nothing is masked yet" not in (sentence(page).text_content() if sentence(page).count() else ""):
            page.locator("#ts-masks-both").click()  # else no run of ours is under way when the test begins one
        expect(sentence(page)).to_contain_text("Nothing is masked yet")


def part(page, name: str):
    return page.locator(f'#ts-masks-grid [data-ts="{name}"]')


def sentence(page):
    return page.locator("#ts-masks-told .fd-sentence")


def click(page, row: int, column: int) -> None:
    canvas = part(page, "canvas")
    canvas.scroll_into_view_if_needed()
    box, cell = canvas.bounding_box(), page.evaluate(f"{HOOK}.geometry().cell")
    page.mouse.click(box["x"] + (column + 0.5) * cell, box["y"] + (row + 0.5) * cell)


def panels(page) -> list:
    return page.evaluate("document.querySelector('#ts-masks-maps [data-ts=root]').twoStacks.panels()")


def test_the_tab_shows_the_saved_run_before_anything_is_drawn(page):
    assert page.evaluate(f"{HOOK}.given().labels.source.length") > 5
    expect(page.locator("#ts-masks-told [data-line=before] .fd-token").first).to_be_visible()
    assert len(panels(page)) == 1


def test_a_preset_changes_sentence_tokens_and_heatmaps_together(page):
    part(page, "preset").select_option("causal")
    expect(sentence(page)).to_contain_text(re.compile(r"^Encoder causal instead of bidirectional: \d+ of \d+ tokens changed"))
    expect(sentence(page)).to_contain_text("the old output now has −")
    expect(page.locator("#ts-masks-told .fd-gone").first).to_be_visible()
    titles = [panel["title"] for panel in panels(page)]
    assert len(titles) == 3 and titles[2] == "after − before"
    writes = page.locator("#ts-masks-told [data-line=after] .fd-token bdi").all_inner_texts()
    assert page.evaluate(f"{HOOK}.given().labels.writes") == writes
    part(page, "undo").click()
    expect(sentence(page)).to_contain_text("Nothing is masked yet")
    part(page, "redo").click()
    expect(sentence(page)).to_contain_text("Encoder causal")


def test_a_drawn_cell_and_a_row_that_sees_nothing(page):
    part(page, "cross").click()
    click(page, 1, 2)
    expect(sentence(page)).to_contain_text("Cross padding only, 1 cell changed instead of padding only")
    part(page, "decoder").click()
    click(page, 0, 0)
    expect(sentence(page)).to_contain_text("Decoder causal, 1 cell changed instead of causal")
    expect(page.locator("#ts-masks-told .fd-notes")).to_contain_text("Nothing visible in target row 1")
    expect(part(page, "dead")).to_contain_text("nothing visible")
    assert "NaN" not in page.locator("#ts-tabs").inner_text()


def test_of_quick_edits_the_last_one_stays(page):
    for preset in ("causal", "diagonal", "window", "bidirectional", "causal", "diagonal"):
        part(page, "preset").select_option(preset)
    with page.expect_response(lambda r: "/queue/join" in r.url and '"diagonal"' in (r.request.post_data or "")):
        part(page, "preset").select_option("causal")
        part(page, "preset").select_option("diagonal")
    expect(sentence(page)).to_contain_text("Encoder diagonal instead of bidirectional")
    expect(sentence(page)).to_contain_text("the old output now has")
    assert page.evaluate(f"{HOOK}.masks()") == {"encoder": {"preset": "diagonal"}}


def test_a_run_elsewhere_is_followed_and_drawn_cells_are_asked_about(page):
    click(page, 0, 1)
    expect(sentence(page)).to_contain_text("1 cell changed")
    page.locator("#ts-text textarea").fill("Two cats sleep on a red sofa.")
    page.locator("#ts-run").click()
    expect(part(page, "ask")).to_be_visible()
    expect(part(page, "cols")).to_contain_text("sofa")
    part(page, "drop").click()
    expect(sentence(page)).to_contain_text("Nothing is masked yet, and the model writes: “Zwei")


def test_a_text_that_cannot_be_used_is_said_and_nothing_is_lost(page):
    box = page.locator("#ts-text textarea")
    kept = box.input_value()
    part(page, "preset").select_option("causal")
    expect(sentence(page)).to_contain_text("Encoder causal")
    box.fill(" ")
    page.locator("#ts-masks-both").click()
    expect(page.locator("#ts-masks-told .fd-refusal")).to_contain_text("empty")
    assert page.evaluate(f"{HOOK}.masks()") == {"encoder": {"preset": "causal"}}
    expect(page.locator("#ts-masks-told .fd-token").first).to_be_visible()
    box.fill(kept)
    page.locator("#ts-masks-both").click()
    expect(page.locator("#ts-masks-told .fd-refusal")).to_be_empty()


def test_tokens_are_text_and_never_markup(page):
    page.locator("#ts-text textarea").fill(HOSTILE)
    part(page, "preset").select_option("window")
    expect(part(page, "cols")).to_contain_text("ert")  # <img src=x onerror=alert(1)> in pieces
    expect(sentence(page)).to_contain_text("Encoder window 1")
    for where in ("#ts-masks-told", "#ts-masks-maps", "#ts-masks-grid [data-ts=cols]"):
        assert page.locator(f"{where} img, {where} b, {where} script").count() == 0
    page.locator("#ts-text textarea").fill("A man rides a brown horse near the old fence.")
    page.locator("#ts-masks-both").click()
    expect(part(page, "cols")).to_contain_text("horse")


def test_one_head_is_shown_in_numbers_and_follows_the_masks(page):
    page.locator("#ts-masks-look").click()
    titles = page.locator("#ts-masks-probe figcaption strong")
    expect(titles).to_have_text(["score", "bias", "mask", "weights"])
    expect(page.locator("#ts-masks-probe")).to_contain_text("does not divide by √d")
    assert head(page, "value(2, 0, 3)") == "0"
    part(page, "preset").select_option("causal")
    page.wait_for_function("document.querySelector('#ts-masks-probe [data-ts=root]').twoStacks.value(2, 0, 3) === '−∞'")
    assert head(page, "value(3, 0, 0)") == "1" and head(page, "value(3, 0, 3)") == "0"
    page.locator("#ts-masks-layer input").fill("9")
    page.locator("#ts-masks-look").click()
    expect(page.locator("#ts-masks-probe-told .fd-refusal")).to_contain_text("no layer 9")
    page.locator("#ts-masks-layer input").fill("2")
    page.locator("#ts-masks-look").click()
    expect(page.locator("#ts-masks-probe-told .fd-sentence")).to_contain_text("layer 2")


def head(page, call: str):
    return page.evaluate(f"document.querySelector('#ts-masks-probe [data-ts=root]').twoStacks.{call}")


def test_the_leak_test_marks_what_changed_and_says_exactly_0(page):
    part(page, "preset").select_option("causal")
    expect(sentence(page)).to_contain_text("the old output now has")
    page.locator("#ts-masks-perturb").click()
    leak = page.locator("#ts-masks-leak")
    expect(leak.locator(".fd-sentence")).to_contain_text("there the change is exactly 0")
    classes = leak.locator("[data-line=encoder] .fd-token").evaluate_all("all => all.map((one) => one.className)")
    here = classes.index("fd-token fd-here")
    assert leak.locator("[data-line=encoder] .fd-still").count() == here
    assert leak.locator("[data-line=encoder] small").all_inner_texts()[:here] == ["exactly 0"] * here
    assert leak.locator("[data-line=target] .fd-moved").count() > 0


def test_heads_are_measured_and_a_tick_switches_one_off(page):
    page.locator("#ts-masks-measure").click()
    expect(page.locator("#ts-masks-heads-told .fd-sentence")).to_contain_text("log P of this output changes by")
    page.locator("#ts-masks-heads .mx-cells").nth(2).click(position={"x": 5, "y": 5})
    expect(sentence(page)).to_contain_text("Cross head 1.1 off")
    assert page.evaluate("document.querySelector('#ts-masks-heads [data-ts=root]').twoStacks.value(2, 0, 0)")
    page.locator("#ts-masks-heads .mx-cells").nth(2).click(position={"x": 5, "y": 5})
    expect(sentence(page)).to_contain_text("Nothing is masked yet")


def test_it_fits_a_phone(open_page, address):
    page = begun(open_page, address, viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    part(page, "preset").select_option("causal")
    expect(sentence(page)).to_contain_text("Encoder causal")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.context.close()


def test_it_speaks_german(open_page, address):
    page = open_page(address, locale="de-DE")
    page.wait_for_selector("[data-ready]")
    page.get_by_role("tab", name="Masken").click()
    expect(page.locator("#ts-masks-both")).to_contain_text("Beide rechnen")
    expect(page.locator("#ts-masks-told .fd-name").first).to_have_text("vorher")
    page.context.close()


def test_what_the_page_sends_is_small(page):
    pack = page.evaluate("document.querySelector('#ts-masks-told [data-ts=root]').twoStacks.value()")
    assert len(json.dumps(pack)) < 10_000
