"""A corpus in Chromium: progress, stop, the table sorted and filtered, a text opened in the attention view, files, phone."""

import csv
import io
import json

import pytest
from playwright.sync_api import expect

from core.examples import OWN
from tests.browser.tabs import open_tab
from tests.browser.test_hostile import PAYLOADS, calm

TABLE = "#ts-corpus-table"


@pytest.fixture(scope="module")
def page(page):
    open_tab(page, "Scores")
    page.locator("#ts-corpus > button").first.click()
    return page


def part(page, name: str):
    return page.locator(f"{TABLE} [data-ts={name}]")


def view(page, call: str):
    return page.evaluate(f"document.querySelector('{TABLE} [data-ts=root]').twoStacks.{call}")


def box(page, name: str):
    return page.locator(f"#ts-corpus-{name} textarea")


def fill(page, rows: list[tuple[str, str]]) -> None:
    for name, lines in zip(("sources", "references"), zip(*rows)):
        for _ in range(2):  # Gradio empties a field once more that has only just been mounted, faster than a person types
            box(page, name).fill("\n".join(lines))
            page.wait_for_timeout(200)


def written(page, count: int) -> None:
    page.locator("#ts-corpus-go").click()
    expect(page.locator(f"{TABLE} [data-ts=root]")).to_have_attribute("data-kind", "corpus")
    expect(part(page, "count")).to_have_text(f"{count} of {count} texts")


def test_our_own_sentences_are_written_scored_and_tested(page):
    page.locator("#ts-corpus-own").click()
    expect(box(page, "sources")).to_have_value("\n".join(row["en"] for row in OWN))
    page.evaluate(f"""() => {{ window.said = []; const node = document.querySelector("{TABLE} [data-ts=state]");
      new MutationObserver(() => window.said.push(node.textContent)).observe(node, {{ childList: true, characterData: true,
        subtree: true }}); }}""")
    page.locator("#ts-corpus-go").click()
    expect(part(page, "sentence")).to_contain_text(f"2 settings of pocket-t5 wrote {len(OWN)} texts")
    expect(part(page, "progress")).to_be_hidden()
    assert any("left" in said for said in page.evaluate("window.said"))
    row = page.locator(f"{TABLE} tr[data-score='B BLEU']")
    expect(row).to_contain_text("±")
    expect(row).to_contain_text("p = ")
    expect(row).to_contain_text("nrefs:1|bs:1000|seed:12345")
    expect(part(page, "notes")).to_contain_text(f"Only {len(OWN)} segments: under 100 a test says little.")


def test_the_table_is_sorted_by_any_number_and_by_the_gain(page):
    for column in ("0", "gain"):
        page.locator(f"{TABLE} th[data-column='{column}'] button").click()
        lines = view(page, "rows().map((row) => row[0])")
        pack = view(page, "view().pack")
        numbers = next(one for one in pack["measures"] if one["name"] == "BLEU")["values"]
        values = [numbers[0][at - 1] if column == "0" else numbers[1][at - 1] - numbers[0][at - 1] for at in lines]
        assert values == sorted(values, reverse=True) and len(set(values)) > 2
        shown = page.locator(f"{TABLE} [data-ts=texts] tr").first
        expect(shown).to_have_attribute("data-line", str(lines[0]))
    part(page, "measure").select_option("log P")
    expect(page.locator(f"{TABLE} [data-ts=texts] tr").first.locator(".sc-value").first).to_contain_text("−")
    page.locator(f"{TABLE} th[data-column=line] button").click()


def test_it_is_filtered_by_a_word_and_by_what_differs(page):
    part(page, "filter").fill("dog")
    some = len(view(page, "rows()"))
    assert 0 < some < len(OWN)
    expect(part(page, "count")).to_have_text(f"{some} of {len(OWN)} texts")
    part(page, "filter").fill("")
    part(page, "differs").check()
    assert all(row[3][0] != row[3][1] for row in view(page, "rows()")) and view(page, "rows()")
    part(page, "differs").uncheck()


def test_it_is_taken_away_as_csv_and_json(page):
    with page.expect_download() as coming:
        part(page, "csv").click()
    table = list(csv.reader(io.StringIO(coming.value.path().read_text("utf-8-sig"))))
    assert len(table) == len(OWN) + 1 and len({len(row) for row in table}) == 1
    assert table[0][:5] == ["line", "source", "reference1", "A greedy", "B 4 beams, α 1, early stopping false"]
    assert table[1][1] == OWN[0]["en"] and "BLEU A" in table[0] and "gaps B" in table[0]
    with page.expect_download() as coming:
        part(page, "json").click()
    told = json.loads(coming.value.path().read_text("utf-8"))
    assert len(told["rows"]) == len(OWN) and told["systems"][0]["scores"][0]["signature"].startswith("nrefs:1|")


def test_hostile_text_is_shown_and_equal_settings_are_identical(page):
    fill(page, [(PAYLOADS[0], "Ein Hund."), ("A dog runs.", PAYLOADS[1]), *((each, each) for each in PAYLOADS)])
    page.locator("#ts-corpus-settings button[aria-label='Remove greedy'], #ts-corpus-settings .token-remove").first.click()
    expect(page.locator("#ts-corpus-settings .token")).to_have_count(1)
    page.locator("#ts-corpus-settings input").click()
    page.get_by_role("option", name="4 beams, α 1, early stopping never", exact=True).click()
    page.keyboard.press("Escape")
    written(page, 2 + len(PAYLOADS))
    for line, payload in enumerate(PAYLOADS, 3):
        expect(page.locator(f"{TABLE} [data-line='{line}']")).to_contain_text(payload)
    calm(page)
    fill(page, [("A cat sleeps.", "Eine Katze schläft."), ("A dog runs.", "Ein Hund läuft.")])
    written(page, 2)
    rows = view(page, "view().rows")
    assert len(rows) == 2 and all(row[3][0] == row[3][1] for row in rows), "two ways to stop that stop alike here"
    expect(page.locator(f"{TABLE} tr[data-score='B BLEU']")).to_contain_text("identical")


def test_a_text_is_opened_in_the_attention_view(page):
    line = page.locator(f"{TABLE} [data-line='2']")
    output = view(page, "view().rows[1][3][0]")
    line.locator(".ct-open").first.click()
    expect(page.get_by_role("tab", name="Attention", exact=True)).to_have_attribute("aria-selected", "true")
    expect(page.locator("#ts-text textarea")).to_have_value("A dog runs.")
    expect(page.locator("[data-ts=output]").filter(visible=True).first).to_contain_text(output.split()[0])
    expect(page.get_by_text("4 beams, α 1, early stopping false · cpu").filter(visible=True).first).to_be_visible()
    open_tab(page, "Scores")


def test_stop_scores_what_is_there(page):
    page.locator("#ts-corpus-own").click()
    expect(box(page, "sources")).to_have_value("\n".join(row["en"] for row in OWN))
    box(page, "sources").fill("\n".join(row["en"] for row in OWN * 10))
    box(page, "references").fill("")
    page.locator("#ts-corpus-go").click()
    expect(part(page, "state")).to_contain_text("left")
    page.locator("#ts-corpus-stop").click()
    expect(part(page, "notes")).to_contain_text(f"of {10 * len(OWN)} texts; these are scored.")
    assert 0 < len(view(page, "view().rows")) < 10 * len(OWN)


def test_a_refusal_leaves_what_is_typed_and_the_table(page):
    fill(page, [("A dog runs.", "a"), ("A cat.", "")])
    box(page, "references").fill("only one")
    page.locator("#ts-corpus-go").click()
    expect(part(page, "refusal")).to_contain_text("There are 2 sources and 1 lines of references")
    expect(part(page, "texts").locator("tr").first).to_be_visible()
    expect(box(page, "sources")).to_have_value("A dog runs.\nA cat.")


def test_a_file_fills_both_boxes(page, tmp_path):
    file = tmp_path / "pairs.tsv"
    file.write_text("A dog runs.\tEin Hund rennt.\nA cat sleeps.\tEine Katze schläft.", "utf-8")
    page.locator("#ts-corpus-row input[type=file]").set_input_files(file)
    expect(box(page, "sources")).to_have_value("A dog runs.\nA cat sleeps.")
    expect(box(page, "references")).to_have_value("Ein Hund rennt.\nEine Katze schläft.")
    written(page, 2)


def test_on_a_phone_in_german_nothing_is_cut(open_page, address):
    page = open_page(address, viewport={"width": 390, "height": 844}, locale="de-DE", color_scheme="dark")
    page.wait_for_selector("[data-ready]")
    open_tab(page, "Bewertung")
    page.locator("#ts-corpus > button").first.click()
    fill(page, [("A dog runs.", "Ein Hund rennt."), ("Two dogs run.", "Zwei Hunde rennen.")])
    page.locator("#ts-corpus-go").click()
    expect(part(page, "sentence")).to_contain_text("schrieben 2 Texte")
    node = page.locator(f"{TABLE} [data-ts=root]")
    assert node.evaluate("node => node.scrollWidth <= node.clientWidth + 1")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.context.close()
