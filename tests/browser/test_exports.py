"""The search tree and the masks, taken away as SVG, PNG and CSV, as the attention view is."""

import csv
from pathlib import Path
from xml.etree import ElementTree

from core.examples import saved_search
from tests.browser.tabs import open_tab

SVG = "{http://www.w3.org/2000/svg}"


def taken(page, within: str, kind: str) -> tuple[str, Path]:
    with page.expect_download() as got:
        page.locator(f"{within} [data-ts={kind}]").click()
    return got.value.suggested_filename, Path(got.value.path())


def texts(path: Path) -> list[str]:
    root = ElementTree.parse(path).getroot()
    assert root.tag == f"{SVG}svg" and not list(root.iter(f"{SVG}script"))
    return [node.text or "" for node in root.iter(f"{SVG}text")]


def table(path: Path) -> tuple[str, list[list[str]]]:
    first, *rest = path.read_text("utf-8-sig").splitlines()
    return first, list(csv.reader(rest))


def test_the_tree_is_taken_away(page):
    open_tab(page, "Search")
    page.locator("#ts-search-tree [data-node]").first.wait_for()
    name, path = taken(page, "#ts-search-tree", "svg")
    assert name == f"two-stacks-tree-{saved_search().id[:8]}.svg"
    drawn = texts(path)
    nodes = page.evaluate("window.twoStacks.beamTree.search().nodes.map((node) => [node.parent, node.step, node.lp, node.text])")
    seen = page.locator("#ts-search-tree [data-node]").count()
    assert sum(text.startswith("#") or text.endswith("%") for text in drawn) == seen > 20
    assert saved_search().settings.model in drawn[-1] and "float32" in drawn[-1]
    name, path = taken(page, "#ts-search-tree", "png")
    assert name.endswith(".png") and path.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n" and path.stat().st_size > 10_000
    about, (head, *rows) = table(taken(page, "#ts-search-tree", "csv")[1])
    assert saved_search().id in about and head[:5] == ["node", "parent", "step", "row", "token"] and len(rows) == len(nodes)
    for row, (parent, step, logprob, text) in zip(rows, nodes, strict=True):
        assert (row[1], int(row[2]), float(row[6])) == ("" if parent < 0 else str(parent), step + 1, logprob)
        assert row[4].lstrip("'") == text.lstrip("'")
    ranked = sorted((int(row[10]), row[11]) for row in rows if row[10])
    assert [rank for rank, _ in ranked] == list(range(1, len(saved_search().tree.ranking) + 1))


def test_a_mask_is_taken_away(page):
    open_tab(page, "Masks")
    page.locator("#ts-masks-grid [data-ready], #ts-masks-grid[data-ready]").first.wait_for()
    page.evaluate("window.twoStacks.maskGrid.put({encoder: {preset: 'causal', exceptions: [{key: 3, allowed: true}]}})")
    open_ = page.evaluate("window.twoStacks.maskGrid.effective('encoder', -1)")
    name, path = taken(page, "#ts-masks-grid", "svg")
    root = ElementTree.parse(path).getroot()
    cells = [node for node in root.iter(f"{SVG}rect") if node.find(f"{SVG}title") is not None]
    assert name == "two-stacks-mask-encoder.svg" and [[int(c.find(f"{SVG}title").text) for c in cells]] == [sum(open_, [])]
    assert len(list(root.iter(f"{SVG}circle"))) == 1 and "causal" in texts(path)[-1].lower()
    assert taken(page, "#ts-masks-grid", "png")[1].read_bytes()[:4] == b"\x89PNG"
    about, (head, *rows) = table(taken(page, "#ts-masks-grid", "csv")[1])
    assert "1: may look" in about and [[int(x) for x in row[1:]] for row in rows] == open_
    assert head[1:] == [text for text, _ in page.evaluate("window.twoStacks.maskGrid.given().labels.source")]
