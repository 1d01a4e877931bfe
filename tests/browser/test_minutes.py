"""The first five minutes of someone who knows nothing: only what is seen is used, from the first picture to a link that
was shared; the strip that shows the way, and how it goes away."""

import json
from pathlib import Path

import pytest
from playwright.sync_api import expect

ROOT = Path(__file__).resolve().parents[2]
WORDS = {language: json.loads((ROOT / f"assets/words/{language}.json").read_text("utf-8")) for language in ("en", "de")}
STRIP = "#ts-minutes .ms-root"


def step(page, name: str):
    return page.locator(f"{STRIP} [data-step={name}]")


def checked(page, name: str) -> None:
    expect(step(page, name).locator(".ms-mark")).to_have_text("✓")


def follow(page, name: str, place: str):
    """Click the step; its place is in sight."""
    step(page, name).click()
    expect(page.locator(place)).to_be_in_viewport()
    return page.locator(place)


@pytest.mark.parametrize(("language", "width", "theme"), [("en", 1280, "light"), ("de", 390, "dark")])
def test_from_the_first_picture_to_a_shared_link(open_page, address, language, width, theme):
    words = WORDS[language]
    page = open_page(f"{address}/?__theme={theme}", viewport={"width": width, "height": 844}, locale=language)
    # a translation is drawn, without a click
    expect(page.locator(".ts-root [data-ts=output]").first).to_contain_text("Mädchen")
    expect(page.locator(".ts-root [data-ts=canvas]").first).to_be_visible()
    checked(page, "drawn")
    expect(step(page, "mask")).to_have_attribute("aria-current", "step")
    expect(page.locator(f"{STRIP} .ms-hint")).to_contain_text(words["minutes.hint.mask"])
    # a mask is moved: a token of the source is hidden
    grid = follow(page, "mask", "#ts-masks-grid")
    told = page.locator("#ts-masks-told")
    expect(told).to_contain_text("Ein Mädchen mit einem gelben Schirm")
    before = told.inner_text()
    grid.locator("[data-ts=cross]").click()
    grid.locator("[data-ts=cols] [data-at]", has_text="umbrella").click()
    expect(told).not_to_have_text(before)
    expect(told.locator("[data-line=after]")).to_contain_text("Oberteil")  # what it writes for an umbrella that it does not see
    checked(page, "mask")
    expect(page.locator("#ts-minutes .ms-told")).to_contain_text(words["minutes.step.noise"])  # the strip itself is out of sight
    # a text is corrupted: the word at the edge of the window shows the way
    page.locator("#ts-minutes .ms-told button").click()
    expect(page.locator("#ts-noise-controls")).to_be_in_viewport()
    view = page.locator("#ts-noise-view")
    first = view.locator("[data-ts=corrupted]").inner_text()
    view.locator("[data-source='4']").click()
    expect(view.locator("[data-ts=corrupted]")).not_to_have_text(first)
    checked(page, "noise")
    # a beam dies, and one reads why
    follow(page, "beam", "#ts-search-tree")
    page.locator("#ts-search-tree svg g.bt-pruned").nth(1).click()
    expect(page.locator("#ts-search-tree [data-ts=node]")).to_contain_text(words["beam_tree.fate.rank"])
    checked(page, "beam")
    # a link is shared, and shows the same elsewhere
    sessions = follow(page, "share", "#ts-sessions-list")
    sessions.locator(".sl-card").first.click()
    sessions.get_by_role("button", name=words["session_list.share"]).click()
    link = sessions.locator("[data-ts=address]")
    expect(link).to_be_visible()
    checked(page, "share")
    expect(page.locator(f"{STRIP} .ms-hint")).to_have_text(words["minutes.all"])
    other = open_page(link.input_value(), locale=language)
    expect(other.locator(".rb-root")).to_be_visible()
    other.context.close()
    # done once, it does not come again
    page.reload()
    page.wait_for_selector("[data-ready]")
    expect(page.locator("#ts-minutes")).to_be_hidden()
    page.context.close()


def test_it_remembers_what_was_done_and_goes_when_it_is_told_to(open_page, address):
    page = open_page(address)
    follow(page, "noise", "#ts-noise-controls")
    page.locator("#ts-noise-view [data-source='2']").click()
    checked(page, "noise")
    page.reload()
    checked(page, "noise")
    expect(step(page, "mask").locator(".ms-mark")).to_have_text("2")
    page.get_by_role("button", name=WORDS["en"]["minutes.away"]).click()
    expect(page.locator("#ts-minutes")).to_be_hidden()
    page.reload()
    page.wait_for_selector("[data-ready]")
    expect(page.locator("#ts-minutes")).to_be_hidden()
    page.context.close()


def test_looking_at_a_tab_is_not_doing_it(open_page, address):
    """A step is checked for what the person did, not for where the page has been."""
    page = open_page(address)
    for name, place in (("mask", "#ts-masks-grid"), ("noise", "#ts-noise-controls"), ("beam", "#ts-search-tree"),
                        ("share", "#ts-sessions-list")):
        follow(page, name, place)
        page.wait_for_timeout(700)  # two looks
    marks = page.locator(f"{STRIP} .ms-mark").all_text_contents()
    assert marks == ["✓", "2", "3", "4", "5"]
    page.context.close()


def test_by_keyboard_a_step_takes_the_focus_to_its_place(open_page, address):
    page = open_page(address)
    step(page, "beam").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#ts-search-tree")).to_be_focused()
    page.context.close()
