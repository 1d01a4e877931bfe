"""The comparison of settings in Chromium: rows of settings, the table, what differs, any two as two heatmaps, CSV."""

import csv
import io

import pytest
from playwright.sync_api import expect

from tests.browser.tabs import open_tab

TABLE = "#ts-search-table .tt-root"


@pytest.fixture(scope="module")
def page(page):
    open_tab(page, "Search")
    expect(page.locator(f"{TABLE} [data-ts=settings] tr")).to_have_count(7)
    return page


def field(page, row: int, name: str):
    return page.locator(f"{TABLE} [data-ts=settings] tr").nth(row).locator(f"[data-field={name}]")


def test_two_recorded_rows_are_there_before_anything_is_run(page):
    expect(page.locator(f"{TABLE} [data-ts=results] tr")).to_have_count(2)
    expect(page.locator(f"{TABLE} [data-ts=sentence]")).to_contain_text("recorded with the page")
    expect(page.locator("#ts-search-told .fd-sentence")).to_be_hidden()
    page.get_by_label("row 1 as B").check()
    expect(page.locator("#ts-search-told .fd-sentence")).to_contain_text("greedy")


def test_what_has_no_effect_is_disabled_with_the_reason(page):
    """B09: a length penalty without beams."""
    expect(field(page, 0, "length_penalty")).to_be_disabled()
    expect(field(page, 0, "length_penalty")).to_have_attribute("title", "no effect without several beams: "
                                                               "hypotheses of one beam are never ranked")
    expect(field(page, 1, "length_penalty")).to_be_enabled()
    expect(field(page, 0, "beta")).to_be_disabled()
    expect(field(page, 2, "beta")).to_be_enabled()
    expect(field(page, 5, "beams")).to_be_disabled()
    expect(field(page, 1, "seed")).to_be_disabled()


def test_rows_are_added_up_to_eight_and_kept_in_range(page):
    add = page.locator(f"{TABLE} [data-ts=add]")
    add.click()
    expect(page.locator(f"{TABLE} [data-ts=settings] tr")).to_have_count(8)
    expect(add).to_be_disabled()
    field(page, 7, "top_p").fill("7")
    field(page, 7, "top_p").blur()
    expect(field(page, 7, "top_p")).to_have_value("1")


def test_all_rows_are_compared_and_two_are_drawn(page):
    field(page, 4, "beta").fill("0.5")
    field(page, 4, "beta").blur()
    page.locator("#ts-search-reference textarea, #ts-search-reference input").first.fill(
        "Ein Mädchen mit einem gelben Schirm wartet auf den Bus im Regen.")
    page.locator(f"{TABLE} [data-ts=compare]").click()
    rows = page.locator(f"{TABLE} [data-ts=results] tr")
    expect(rows).to_have_count(8)
    expect(page.locator(f"{TABLE} [data-ts=sentence]")).to_contain_text("8 settings gave")
    expect(rows.nth(0)).to_contain_text("100.0")
    expect(rows.nth(4)).to_contain_text("8 beams, α 1, early stopping false, ranked by GNMT with β 0.5")
    expect(page.locator("#ts-search-told .fd-sentence")).to_contain_text("tokens changed")
    expect(page.locator("#ts-search-maps canvas")).not_to_have_count(0)
    drawn = rows.nth(5)
    expect(drawn.locator("mark")).not_to_have_count(0)
    text = page.evaluate("document.querySelector('#ts-search-table .tt-root').twoStacks.found().rows[5].text")
    expect(drawn.locator(".tt-text")).to_have_text(text)
    page.get_by_label("row 7 as B").check()
    expect(page.locator("#ts-search-told .fd-sentence")).to_contain_text("top_p 0.8")
    page.get_by_label("row 6 as A").check()
    expect(page.locator("#ts-search-told .fd-sentence")).to_contain_text("sampled, seed 1, top_k 0 → sampled")
    expect(rows.nth(5).locator("mark")).to_have_count(0)


def test_the_table_is_a_file(page):
    with page.expect_download() as coming:
        page.locator(f"{TABLE} [data-ts=csv]").click()
    table = list(csv.reader(io.StringIO(coming.value.path().read_text("utf-8-sig"))))
    assert len(table) == 9 and len({len(row) for row in table}) == 1
    assert table[0][:2] == ["how", "text"] and table[1][0] == "greedy"


def test_a_refusal_leaves_the_table(page):
    page.locator("#ts-text textarea").fill("")
    page.locator(f"{TABLE} [data-ts=compare]").click()
    expect(page.locator(f"{TABLE} [data-ts=refusal]")).not_to_be_empty()
    expect(page.locator(f"{TABLE} [data-ts=results] tr")).to_have_count(8)
