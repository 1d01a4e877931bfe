"""Pictures as tables: the numbers of the map, the mask, matrices, heatmaps, and of every figure that "Move it" draws."""

import json
import math
import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

from app.experiments import EXPERIMENTS
from app.formula_moves import moved
from tests.browser.first_tab import HOOK
from tests.browser.tabs import open_tab

WORDS = json.loads((Path(__file__).resolve().parents[2] / "assets/words/en.json").read_text("utf-8"))
pytestmark = pytest.mark.usefixtures("nothing_open")


def sheet(page):
    return page.locator("dialog.hs-dialog")


def table(page, region: str):
    """The table of the first picture of a region, opened by its button."""
    page.locator(f"{region} .ai-table").first.press("Enter")
    expect(sheet(page)).to_be_visible()
    return sheet(page).locator("table.hs-table")


def test_the_map_is_a_table_with_headers_too(page):
    open_tab(page, "Attention")
    page.evaluate(f"{HOOK}.goto(4)")
    shown = page.evaluate(f"{HOOK}.picture()")
    one = table(page, ".ts-stage")
    assert one.locator("thead th[scope=col]").all_text_contents()[1:] == shown["columns"]
    rows = one.locator("tbody tr")
    assert rows.locator("th[scope=row]").all_text_contents() == [*shown["rows"][:4], WORDS["stepper.table.received"]]
    third, total = ([float(x.replace("< 0.001", "0")) for x in rows.nth(n).locator("td").all_text_contents()] for n in (2, 4))
    assert third == pytest.approx(shown["values"][2], abs=1.1e-3)
    sums = [sum(column) for column in zip(*shown["values"][:4], strict=True)]
    assert total == pytest.approx(sums, abs=2e-3)
    page.keyboard.press("Escape")
    expect(page.locator(".ts-stage .ai-table").first).to_be_focused()
    course = table(page, ".ts-side")
    expect(course.locator("tbody tr")).to_have_count(page.evaluate(f"{HOOK}.steps()"))
    page.keyboard.press("Escape")


def test_the_mask_is_a_table_too(page):
    open_tab(page, "Masks")
    page.wait_for_function("window.twoStacks.maskGrid && window.twoStacks.maskGrid.geometry().rows > 2")
    grid = page.evaluate("""() => { const hook = window.twoStacks.maskGrid, { stack, layer } = hook.view();
      return hook.effective(stack, layer); }""")
    one = table(page, ".mg-root")
    cells = [row.locator("td").all_text_contents() for row in one.locator("tbody tr").all()]
    said = [WORDS["mask_grid.hidden"], WORDS["mask_grid.visible"]]
    assert cells == [[said[x] for x in row[:len(cells[0])]] for row in grid[:len(cells)]] and len(cells) > 2
    page.keyboard.press("Escape")


def test_matrices_and_the_heatmaps_of_the_training_tab_are_tables_too(page):
    open_tab(page, "Training")
    page.locator("#ts-train-teaching-view .tr-chart").first.wait_for()
    one = table(page, "#ts-train-teaching-view")
    assert one.locator("tbody tr").count() >= 1 and one.locator("tbody td").first.inner_text()
    page.keyboard.press("Escape")
    open_tab(page, "Masks")
    page.get_by_role("button", name=WORDS["page.masks.look"]).click()
    panel = page.locator(".mx-panel:visible").first
    panel.wait_for()
    labels = panel.locator(".mx-col").all_text_contents()
    button = panel.locator(".ai-table")
    button.press("Enter")
    expect(sheet(page).locator("thead th[scope=col]")).to_have_count(len(labels) + 1)
    assert re.fullmatch(r"(−?[\d.]+|−∞|none)( ✓)?", sheet(page).locator("tbody td").first.inner_text())
    page.keyboard.press("Escape")


# The whole table that the page makes of a figure, as texts.
AS_TEXTS = """figures => figures.map(({ data, layout }) => {
  const { columns, rows, cell } = twoStacks.formulaCards.figureTable(data, layout);
  return { columns, rows, cells: rows.map((_, i) => columns.map((_, j) => cell(i, j))) };
})"""


def numbers_of(trace: dict) -> list[float]:
    """What a trace draws: values of a matrix, heights of what has none."""
    drawn = [x for row in trace["z"] for x in row] if trace.get("z") else trace["y"]
    return [float(x) for x in drawn if isinstance(x, int | float)]


def test_every_figure_of_move_it_is_a_table_with_its_numbers(page):
    open_tab(page, "Formulas")
    page.wait_for_function("window.twoStacks.formulaCards && twoStacks.formulaCards.cards.size > 0")
    figures = []
    for id, one in EXPERIMENTS.items():
        sent = moved({"id": id, "values": {dial.name: dial.first for dial in one.dials}, "dark": False, "turn": 0})[1]
        figures.append(json.loads(sent.plot))
    for id, figure, made in zip(EXPERIMENTS, figures, page.evaluate(AS_TEXTS, figures), strict=True):
        said = {text.replace("−", "-") for row in made["cells"] for text in row}
        values = sorted({float(text) for text in said if re.fullmatch(r"-?[\d.]+(e[+-]?\d+)?", text)})
        assert made["columns"] and made["rows"], id
        for trace in figure["data"]:
            missing = [x for x in numbers_of(trace) if not any(math.isclose(x, y, rel_tol=1e-9) for y in values)]
            assert not missing, (id, missing[:3])


def test_a_figure_in_its_panel_opens_as_a_table(page):
    open_tab(page, "Formulas")
    root = page.locator("#ts-formulas-cards .fc-root")
    root.locator(".fc-sheets button", has_text="003").click()
    root.locator("[data-card=temperature] .fc-mover").press("Enter")
    expect(root.locator(".fc-slot.fc-drawn .js-plotly-plot .main-svg").first).to_be_visible()
    one = table(page, ".fc-panel")
    drawn = page.evaluate("document.querySelector('.fc-slot .js-plotly-plot').data.map((trace) => [trace.name, trace.x.length])")
    assert one.locator("thead th").all_text_contents()[1:] == [name for name, _ in drawn]
    expect(one.locator("tbody tr")).to_have_count(drawn[0][1])
    page.keyboard.press("Escape")
    expect(root.locator(".fc-panel .ai-table")).to_be_focused()
    page.keyboard.press("Escape")
