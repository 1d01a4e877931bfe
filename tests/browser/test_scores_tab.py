"""The scores tab in Chromium: the first picture, typing, an n-gram in both texts, two systems, upload, hostile text, phone."""

import csv
import io
import json

import pytest
from playwright.sync_api import expect

from tests.browser.tabs import opened

HOSTILE = "<img src=x onerror=alert(1)> </td><b>cat</b> &amp; ${1}"


@pytest.fixture(scope="module")
def page(open_page, address):
    return opened(open_page, address, "scores")


def fill(page, outputs: str, references: str, other: str = "") -> None:
    """Type into all boxes and wait until these texts are the ones that stand in the table."""
    for name, text in (("other", other), ("references", references), ("outputs", outputs)):
        page.locator(f"#ts-scores-{name} textarea").fill(text)
    wanted = [line for line in outputs.split("\n") if line]
    expect(page.locator("#ts-scores-board .sc-texts tbody tr")).to_have_count(len(wanted))
    expect(page.locator("#ts-scores-board .sc-said > div:first-child")).to_have_text(wanted)
    expect(page.locator("#ts-scores-board .sc-body.sc-stale")).to_have_count(0)


def value(page, name: str) -> str:
    return page.locator(f"#ts-scores-board tr[data-score='{name}'] .sc-value").inner_text()


def test_the_first_picture_has_scores_with_signatures(page):
    rows = page.locator("#ts-scores-board .sc-scores tbody tr")
    expect(rows).to_have_count(5)
    for row in rows.all():
        assert row.locator("code").inner_text() and row.locator(".sc-value").inner_text()
    expect(page.locator("#ts-scores-board .sc-part")).to_have_count(5)
    expect(page.locator("#ts-scores-ngrams .sc-order")).to_have_count(4)


def test_typing_scores_at_once(page):
    fill(page, "the cat sat on the mat\na dog", "the cat is on the mat\na dog runs")
    expect(page.locator("#ts-scores-board tr[data-score='BLEU'] .sc-value")).not_to_have_text("100.00")
    fill(page, "the cat is on the mat", "the cat is on the mat")
    expect(page.locator("#ts-scores-board tr[data-score='BLEU'] .sc-value")).to_have_text("100.00")
    assert value(page, "TER") == "0.00" and value(page, "ROUGE-L") == "1.0000"
    widths = page.locator("#ts-scores-board .sc-track i").evaluate_all("nodes => nodes.map(node => node.style.width)")
    assert widths == ["100%"] * 5


def test_an_n_gram_is_marked_in_both_texts(page):
    fill(page, "the cat and the cat", "see the cat")
    expect(page.locator("#ts-scores-ngrams .sc-about")).to_contain_text("cut by 13a")
    gram = page.locator("#ts-scores-ngrams [data-n='2'] button", has_text="the cat").first
    gram.click()
    expect(page.locator("#ts-scores-ngrams mark")).to_have_text(["the cat", "the cat", "the cat"])
    expect(page.locator("#ts-scores-ngrams [data-ts='said']")).to_have_text("“the cat”: output ×2, reference ×1, counted ×1.")
    assert gram.get_attribute("aria-pressed") == "true"
    gram.click()
    expect(page.locator("#ts-scores-ngrams mark")).to_have_count(0)


def test_a_refusal_is_a_sentence_and_the_picture_stays(page):
    fill(page, "a b c d", "a b c d")
    page.locator("#ts-scores-references textarea").fill("a\nb")
    expect(page.locator("#ts-scores-board .sc-refusal")).to_contain_text("1 outputs and 2 lines of references")
    expect(page.locator("#ts-scores-board .sc-scores tbody tr")).to_have_count(5)
    fill(page, "a b c d", "a b c d")
    expect(page.locator("#ts-scores-board .sc-refusal")).to_have_text("")


def test_two_systems_are_tested_and_equal_ones_are_identical(page):
    fill(page, "a b c d\ne f", "a b c d\ne g", "a b c d\ne f")
    page.locator("#ts-scores-go").click()
    rows = page.locator("#ts-scores-board .sc-tests tbody tr")
    expect(rows).to_have_count(4)
    expect(rows.nth(1)).to_contain_text("identical")
    expect(page.locator("#ts-scores-board .sc-notes")).to_contain_text("Only 2 segments")
    expect(page.locator("#ts-scores-board tr[data-score='BLEU']")).to_contain_text("±")


def test_many_texts_wait_for_the_button_and_can_be_sorted_and_filtered(page):
    page.locator("#ts-scores-outputs textarea").fill("\n".join(f"text {k}" for k in range(150)))
    page.locator("#ts-scores-references textarea").fill("\n".join(f"text {k}" if k % 2 else "no" for k in range(150)))
    page.locator("#ts-scores-other textarea").fill("")
    expect(page.locator("#ts-scores-board .sc-state")).to_contain_text("150 texts are more than")
    page.locator("#ts-scores-go").click()
    rows = page.locator("#ts-scores-board .sc-texts tbody tr")
    expect(rows).to_have_count(100)
    expect(page.locator("#ts-scores-board .sc-count")).to_have_text("150 of 150 texts")
    page.locator("#ts-scores-board [data-ts='more']").click()
    expect(rows).to_have_count(150)
    page.locator("#ts-scores-board th[data-column='chrF2'] button").click()
    assert rows.first.get_attribute("data-line") == "2"
    page.locator("#ts-scores-board .sc-filter").fill("text 149")
    expect(rows).to_have_count(1)
    page.locator("#ts-scores-board .sc-filter").fill("")
    rows.nth(3).click()
    expect(page.locator("#ts-scores-ngrams .sc-about")).to_contain_text("Text 8:")


def test_upload_and_downloads(page, tmp_path):
    path = tmp_path / "some.tsv"
    path.write_text("output\treference\na cat sits\ta cat sat\n=1+1\ttwo\n", "utf-8")
    page.locator("#ts-scores-file input[type=file], input[type=file]").first.set_input_files(path)
    expect(page.locator("#ts-scores-outputs textarea")).to_have_value("a cat sits\n=1+1")
    expect(page.locator("#ts-scores-board .sc-texts tbody tr")).to_have_count(2)
    with page.expect_download() as coming:
        page.locator("#ts-scores-board [data-ts='csv']").click()
    table = list(csv.reader(io.StringIO(coming.value.path().read_text("utf-8"))))
    assert table[2][2] == "'=1+1" and table[0][:4] == ["line", "source", "output", "reference1"]
    with page.expect_download() as coming:
        page.locator("#ts-scores-board [data-ts='json']").click()
    assert json.loads(coming.value.path().read_text("utf-8"))["rows"][0]["output"] == "a cat sits"


def test_hostile_text_is_only_text(page):
    fill(page, HOSTILE, HOSTILE)
    expect(page.locator("#ts-scores-ngrams .sc-text").first).to_have_text(HOSTILE)
    assert page.locator("#ts-scores-board img, #ts-scores-ngrams img, #ts-scores-ngrams b").count() == 0


def test_german_and_phone(open_page, address):
    page = opened(open_page, address, "scores", viewport={"width": 390, "height": 844}, locale="de-DE")
    expect(page.locator("#ts-scores-board h4").first).to_have_text("BLEU aus seinen Teilen")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.context.close()
