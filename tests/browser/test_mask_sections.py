"""The closed sections of the masks tab in Chromium: they open, answer, follow another run, close; German, phone."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.first_tab import ready
from tests.browser.tabs import open_tab
from tests.browser.test_masks_tab import begun, part, sentence


@pytest.fixture(scope="module")
def page(open_page, address):
    return begun(open_page, address)


def toggle(page, name: str) -> None:
    page.locator(f"#ts-masks-{name} > button").first.click()


def told(page, name: str):
    return page.locator(f"#ts-masks-{name}-told .fd-sentence")


def titles(page, name: str):
    return page.locator(f"#ts-masks-{name}-maps figcaption strong")


def value(page, name: str, call: str):
    return page.evaluate(f"document.querySelector('#ts-masks-{name}-maps [data-ts=root]').twoStacks.{call}")


def choose(page, name: str, option: str) -> None:
    page.locator(f"#ts-masks-{name} input").click()
    page.get_by_role("option", name=option, exact=True).click()


def test_a_closed_section_has_computed_nothing(page):
    for name in ("unmasked", "row", "relative", "padding", "prefix"):
        expect(page.locator(f"#ts-masks-{name} > button").first).to_be_visible()
        expect(page.locator(f"#ts-masks-{name}-maps canvas:visible")).to_have_count(0)


def test_the_relative_bias_opens_and_another_site_answers(page):
    toggle(page, "relative")
    expect(titles(page, "relative")).to_have_text(["bias by distance", "bias by bucket"])
    expect(page.locator("#ts-masks-relative-told .fd-notes")).to_contain_text("key − query = −3")
    choose(page, "relative-site", "decoder self-attention")
    expect(told(page, "relative")).to_contain_text("decoder self-attention")
    choose(page, "relative-site", "cross-attention")
    expect(page.locator("#ts-masks-relative-told .fd-refusal")).to_contain_text("no relative position bias")
    expect(titles(page, "relative")).to_have_count(0)
    toggle(page, "relative")


def test_the_padding_mask_is_a_switch(page):
    toggle(page, "padding")
    expect(told(page, "padding")).to_contain_text("8 pad tokens: with the padding mask no logit moves by more than")
    page.locator("#ts-masks-padding-mask input").click()
    expect(page.locator("#ts-masks-padding-told .fd-notes")).to_contain_text("in sight")
    page.locator("#ts-masks-padding-pads input[type=number]").fill("32")
    page.locator("#ts-masks-padding-pads input[type=number]").press("Enter")
    expect(told(page, "padding")).to_contain_text("32 pad tokens")
    assert float(value(page, "padding", "value(0, 1, 0)")) > 0.01
    toggle(page, "padding")


def test_the_prefix_slider_goes_from_causal_to_bidirectional(page):
    toggle(page, "prefix")
    expect(titles(page, "prefix")).to_have_text(["mask", "weights", "distance to causal"])
    assert value(page, "prefix", "value(0, 0, 7)") == "0" and value(page, "prefix", "value(0, 0, 8)") == "−∞"
    number = page.locator("#ts-masks-prefix-length input[type=number]")
    for length, said in (("1", "p = 1 is causal"), ("", "bidirectional")):
        number.fill(length or number.get_attribute("max"))
        number.press("Enter")
        expect(told(page, "prefix")).to_contain_text(said)
    toggle(page, "prefix")


def test_an_unmasked_decoder_stands_beside_the_cheat(page):
    toggle(page, "unmasked")
    expect(titles(page, "unmasked")).to_have_text(["pocket-t5", "pocket-cheat"])
    expect(told(page, "unmasked")).to_have_text(re.compile(r"pocket-t5, .*: loss 0\.\d\d .* pocket-cheat, .*: loss 0\.\d\d"))
    expect(page.locator("#ts-masks-unmasked-told .fd-moved").first).to_be_visible()
    toggle(page, "unmasked")


def test_a_row_is_set_and_taken_back_and_follows_another_mask(page):
    toggle(page, "row")
    expect(told(page, "row")).to_contain_text("Choose a row")
    choose(page, "row-query", "2 Mädchen")
    page.locator("#ts-masks-row-maps .mx-cells").click(position={"x": 5, "y": 5})  # the first column
    expect(page.locator("#ts-masks-row-key input")).to_have_value(re.compile("^1 "))
    page.locator("#ts-masks-row-set").click()
    expect(told(page, "row")).to_contain_text(re.compile("^Row 2 of cross-attention, all layers, all heads, looks at .* changed"))
    expect(page.locator("#ts-masks-row-told [data-line=after] .fd-token").first).to_have_text("Ein")
    part(page, "preset").select_option("causal")
    expect(sentence(page)).to_contain_text("Encoder causal")
    expect(told(page, "row")).to_contain_text("of the run before")
    page.locator("#ts-masks-row-set").click()
    expect(told(page, "row")).to_contain_text("Row 2 of cross-attention")
    page.locator("#ts-masks-row-back").click()
    expect(told(page, "row")).to_contain_text("Choose a row")
    part(page, "preset").select_option("bidirectional")
    toggle(page, "row")


def test_a_bar_of_the_row_is_dragged_and_the_model_writes_on(page):
    toggle(page, "row")
    expect(titles(page, "row")).to_contain_text("row 2, which writes")
    choose(page, "row-query", "3 mit")
    expect(titles(page, "row")).to_contain_text("row 3, which writes")
    cells = page.locator("#ts-masks-row-maps .mx-cells")
    cells.scroll_into_view_if_needed()
    size = value(page, "row", "panels()")[0]
    was = float(value(page, "row", "value(0, 1, 3)"))
    frame = cells.bounding_box()
    x, y = frame["x"] + 3.5 * size["cw"], frame["y"] + 1.5 * size["ch"]
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x, y - 400, steps=4)
    page.mouse.up()
    expect(told(page, "row")).to_contain_text("all heads, looks at “German” with 1.00")
    expect(page.locator("#ts-masks-row-key input")).to_have_value("4 German")
    expect(page.locator("#ts-masks-row-share input[type=number]")).to_have_value("1")
    assert was < 1
    page.locator("#ts-masks-row-back").click()
    expect(told(page, "row")).to_contain_text("Choose a row")
    toggle(page, "row")


def test_the_leak_test_takes_a_target_token(page):
    choose(page, "token", "target 3 Mädchen")
    page.locator("#ts-masks-perturb").click()
    leak = page.locator("#ts-masks-leak")
    expect(leak.locator(".fd-sentence")).to_contain_text("“Mädchen”, which target row 3 reads, was perturbed")
    assert leak.locator("[data-line=target] small").all_inner_texts()[:2] == ["exactly 0"] * 2
    assert leak.locator("[data-line=encoder]").count() == 0


def test_they_speak_german_and_fit_a_phone(open_page, address):
    page = open_page(address, locale="de-DE", viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    ready(page)
    open_tab(page, "Masken")
    expect(page.locator("#ts-masks-row > button").first).to_contain_text("Eine Zeile der Attention")
    for name in ("row", "relative"):
        toggle(page, name)
        expect(page.locator(f"#ts-masks-{name}-maps canvas").first).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.context.close()
