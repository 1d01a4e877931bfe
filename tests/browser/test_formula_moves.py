"""Sheets 003 and 004 on the formulas tab in Chromium: choice, search, notes, "Move it" by mouse and key, theme, German, phone."""

import re
import statistics

import pytest
from playwright.sync_api import expect

from app.experiments import EXPERIMENTS
from core.formulas.sheets import ALL, SHEETS
from tests.browser.tabs import opened
from tests.browser.test_formulas_tab import ROOT, card

CARDS = f"{ROOT} .fc-cards .fc-card"
PLOT = ".fc-slot.fc-drawn .js-plotly-plot"
DATA = f"document.querySelector('{PLOT}').data"
# Milliseconds from a dial's own event until a frame was painted with the new picture.
TIMED = """async (count) => {
    const out = [], input = document.querySelector(".fc-panel input");
    const gd = () => document.querySelector(".fc-slot .js-plotly-plot");
    for (let k = 0; k < count; k++) {
        const old = gd().data, began = performance.now();
        input.value = +input.min + (1 + k % 7) * 10 * +input.step;
        const drawn = new Promise((resolve, reject) => { const look = () => {
            if (gd() && gd().data && gd().data !== old) setTimeout(() => resolve(performance.now() - began));
            else if (performance.now() - began > 20000) reject(new Error("no picture")); else requestAnimationFrame(look); };
            requestAnimationFrame(look); });
        input.dispatchEvent(new Event("input"));
        out.push(await drawn);
        await new Promise((resolve) => setTimeout(resolve, 100));
    }
    return out;
}"""


@pytest.fixture(scope="module")
def page(open_page, address):
    return opened(open_page, address, "formulas")


def sheet(page, name: str) -> None:
    page.locator(f"{ROOT} .fc-sheets").get_by_role("button", name=name).click()


def begin(page, id: str) -> None:
    card(page, id).get_by_role("button", name=re.compile("Move it|Bewegen")).click()
    expect(page.locator(f"[data-card='{id}'] {PLOT} .main-svg").first).to_be_visible()


def dial(page, name: str, value: float) -> None:
    page.locator(f"{ROOT} .fc-panel input[data-dial='{name}']").evaluate(
        "(node, x) => { node.value = x; node.dispatchEvent(new Event('input')); }", value)


def ids(page) -> list[str]:
    return page.locator(CARDS).evaluate_all("nodes => nodes.map((node) => node.dataset.card)")


def test_gradios_plotly_comes_with_the_first_card_that_is_moved(open_page, address):
    page = opened(open_page, address, "formulas")
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    sheet(page, "003")
    expect(card(page, "temperature")).to_be_visible()
    loaded = page.evaluate("performance.getEntriesByType('resource').map((one) => one.name)")
    assert not [url for url in loaded + asked if "PlotlyPlot" in url or "/Plot-" in url]
    begin(page, "temperature")
    assert [url for url in asked if "PlotlyPlot" in url]
    page.context.close()


@pytest.mark.parametrize("name", ["003", "004"])
def test_a_sheet_shows_its_cards_in_its_order(page, name):
    sheet(page, name)
    wanted = list(dict.fromkeys(id for ids in SHEETS[name].values() for id in ids))
    assert ids(page) == wanted
    expect(page.locator(f"{ROOT} .fc-cards .fc-lesson")).to_have_count(len(SHEETS[name]))
    sizes = page.locator(f"{CARDS} .fc-math:not(.fc-numbers) math").evaluate_all(
        "nodes => nodes.map((node) => [node.getBoundingClientRect().width, node.getBoundingClientRect().height])")
    assert len(sizes) == len(wanted) and all(width > 60 and height > 10 for width, height in sizes)
    for id in wanted:
        assert card(page, id).locator("h4").inner_text() and "." not in card(page, id).locator("h4").inner_text()[:6]


def test_all_has_every_card_once_and_says_where_it_stands_else(page):
    sheet(page, "all")
    assert sorted(ids(page)) == sorted(ALL)
    expect(page.locator(f"{ROOT} .fc-cards .fc-sheet")).to_have_count(3)
    expect(card(page, "softmax")).to_contain_text("Stands in: sheet 003, lesson 5 · sheet 004, section 1 · sheet 004, section 10")
    page.locator(f"{ROOT} .fc-above").get_by_role("button", name="RMSNorm").click()
    expect(card(page, "rmsnorm").locator("h4")).to_be_focused()


def test_a_misprint_stands_in_a_box_that_is_seen(page):
    sheet(page, "004")
    box = card(page, "causal_attention").locator(".fc-clash")
    expect(box).to_be_visible()
    expect(box).to_have_text(f"In the sheets: {ALL['causal_attention'].note}")
    assert page.locator(f"{CARDS} .fc-clash:visible").count() == len([id for id in ids(page) if ALL[id].note])


def test_a_search_goes_over_all_sheets_and_ends_where_it_began(page):
    sheet(page, "003")
    box = page.get_by_label("Search all sheets")
    box.fill("generator")
    assert {"generator_loss", "electra_loss"} <= set(page.locator(f"{CARDS}:visible").evaluate_all(
        "nodes => nodes.map((node) => node.dataset.card)"))
    assert page.locator(f"{ROOT} .fc-sheet:visible").all_inner_texts()[-1].startswith("004")
    box.fill("")
    assert ids(page)[0] == "model_map"


def test_a_dial_moves_the_picture_as_the_formula_has_it(page):
    sheet(page, "003")
    begin(page, "temperature")
    panel = page.locator(f"{ROOT} .fc-panel")
    assert panel.locator(".fc-tag").all_inner_texts() == ["CONFIG"] * len(EXPERIMENTS["temperature"].dials)
    expect(panel.locator("input").first).to_be_focused()
    name = EXPERIMENTS["temperature"].dials[0].name
    before = page.evaluate(f"JSON.stringify({DATA})")
    dial(page, name, 5)
    page.wait_for_function(f"(old) => {{ const one = document.querySelector('{PLOT}'); return one && one.data && "
                           "JSON.stringify(one.data) !== old; }", arg=before)
    expect(panel.locator(".fc-how")).to_contain_text("5")
    panel.get_by_role("button", name="as it was").click()
    page.wait_for_function(f"(old) => {{ const one = document.querySelector('{PLOT}'); return one && one.data && "
                           "JSON.stringify(one.data) === old; }", arg=before)


def test_the_newest_value_wins(page):
    """Forty values in one go: what is drawn in the end is the last."""
    sheet(page, "003")
    if page.evaluate("!twoStacks.formulaCards.panel.card"):
        begin(page, "temperature")
    questions = page.evaluate("""async () => {
        const input = document.querySelector(".fc-panel input"), began = twoStacks.formulaCards.panel.turn;
        for (let k = 1; k <= 40; k++) { input.value = +input.min + k * +input.step; input.dispatchEvent(new Event("input"));
            await new Promise((resolve) => setTimeout(resolve, 5)); }
        return began; }""")
    page.wait_for_function("!twoStacks.formulaCards.panel.busy && !twoStacks.formulaCards.panel.again")
    value = page.locator(f"{ROOT} .fc-panel output").first.inner_text()
    expect(page.locator(f"{ROOT} .fc-how")).to_contain_text(f"{float(value):g}")
    assert page.evaluate("twoStacks.formulaCards.panel.turn") - questions < 40  # those in between were left out


def test_one_panel_goes_from_card_to_card_by_key(page):
    sheet(page, "003")
    if page.evaluate("!!twoStacks.formulaCards.panel.card"):
        page.locator(f"{ROOT} .fc-panel input").first.press("Escape")
    expect(page.locator(f"{ROOT} .fc-panel")).to_have_count(0)
    mover = card(page, "rope").locator(".fc-mover")
    mover.focus()
    page.keyboard.press("Enter")
    expect(page.locator(f"[data-card=rope] {PLOT} .main-svg").first).to_be_visible()
    expect(mover).to_have_attribute("aria-expanded", "true")
    value = page.locator(f"{ROOT} .fc-panel output").first
    before = value.inner_text()
    page.keyboard.press("ArrowRight")
    expect(value).not_to_have_text(before)
    begin(page, "layernorm")
    expect(page.locator(f"{ROOT} .fc-panel")).to_have_count(1)
    expect(mover).to_have_attribute("aria-expanded", "false")
    page.locator(f"{ROOT} .fc-panel input").first.press("Escape")
    expect(page.locator(f"{ROOT} .fc-panel")).to_have_count(0)
    expect(card(page, "layernorm").locator(".fc-mover")).to_be_focused()


def test_a_refusal_is_said_and_the_picture_stays(page):
    sheet(page, "003")
    begin(page, "temperature")
    page.locator(f"{ROOT} .fc-panel input").first.evaluate(
        "(node) => { node.max = 99; node.value = 50; node.dispatchEvent(new Event('input')); }")
    expect(page.locator(f"{ROOT} .fc-panel .fc-refused")).to_contain_text("must be a number from")
    expect(page.locator(f"{PLOT} .main-svg").first).to_be_visible()
    page.locator(f"{ROOT} .fc-panel").get_by_role("button", name="as it was").click()
    expect(page.locator(f"{ROOT} .fc-panel .fc-refused")).to_have_count(0)
    page.locator(f"{ROOT} .fc-panel input").first.press("Escape")


def test_a_picture_answers_at_once(page):
    sheet(page, "003")
    begin(page, "temperature")
    took = page.evaluate(TIMED, 20)
    print(f"slider to picture: median {statistics.median(took):.0f} ms of 20, most {max(took):.0f} ms")
    assert statistics.median(took) < 1500  # on a busy machine; alone about a tenth of it
    page.locator(f"{ROOT} .fc-panel input").first.press("Escape")


def test_a_picture_follows_the_theme(page):
    sheet(page, "003")
    begin(page, "temperature")
    ink = f"getComputedStyle(document.querySelector('{PLOT} .xtick text')).fill"
    light = page.evaluate(ink)
    page.evaluate("document.body.classList.add('dark')")
    page.wait_for_function(f"(old) => document.querySelector('{PLOT} .xtick text') && {ink} !== old", arg=light)
    page.evaluate("document.body.classList.remove('dark')")
    page.wait_for_function(f"(old) => document.querySelector('{PLOT} .xtick text') && {ink} === old", arg=light)
    page.locator(f"{ROOT} .fc-panel input").first.press("Escape")


def test_german_dark_and_a_phone(open_page, address):
    page = opened(open_page, address, "formulas", viewport={"width": 390, "height": 844}, locale="de-DE", color_scheme="dark")
    page.locator(f"{ROOT} .fc-sheets").get_by_role("button", name="003").click()
    expect(page.locator(f"{ROOT} .fc-cards .fc-lesson").first).to_have_text("Lektion 1 — Das große Bild")
    begin(page, "temperature")
    expect(card(page, "temperature")).to_contain_text("Steht in: Blatt 003, Lektion 10")
    width = page.evaluate(f"document.querySelector('{PLOT} .main-svg').getBoundingClientRect().width")
    assert 250 < width <= 390
    page.locator(f"{ROOT} .fc-sheets").get_by_role("button", name="alle").click()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.context.close()
