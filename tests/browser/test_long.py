"""Sources of more than 128 tokens in Chromium: in blocks that keep their mass, in pages, and what arrives in blocks."""

import csv
import io

import numpy as np
import pytest
from playwright.sync_api import expect

from core.records import in_blocks
from tests.browser import stepper_page as packs
from tests.browser.stepper_view import READY, drawn, frame, halves, hook, hover_cell, part, send, still, until, weights


@pytest.fixture(scope="module")
def page(open_page, serve):
    return still(open_page, serve)


@pytest.fixture(scope="module")
def cross() -> np.ndarray:
    """(target, source) of the long pack, mean over layers and heads."""
    return weights(packs.long()).mean((1, 2))


def blocks() -> list[list[int]]:
    """Four neighbours each; the task prefix, four tokens, and </s> stand alone."""
    return [[0, 1, 2, 3], *([*range(i, min(i + 4, 511))] for i in range(4, 511, 4)), [511]]


@pytest.fixture
def long(page):
    send(page, "long", 100)
    for name, value in (("map", "cross"), ("page", "-1")):
        part(page, name).select_option(value)
    part(page, "words").set_checked(False)
    part(page, "specials").set_checked(True)
    frame(page)
    return page


def test_blocks_keep_the_mass(long, cross):
    merged = np.stack([cross[:, members].sum(1) for members in blocks()], 1)
    assert drawn(long) == pytest.approx(merged[:100], abs=1e-9)
    assert drawn(long).sum(1) == pytest.approx(np.ones(100), abs=5e-3)
    assert hook(long, "coverage()") == pytest.approx(list(merged[:100].sum(0)), abs=1e-9)
    expect(part(long, "reduction")).to_contain_text("each column is 4 tokens, summed")
    part(long, "scroll").evaluate("(node) => { node.scrollLeft = 0; node.scrollTop = 0; }")
    hover_cell(long, 0, 2)
    source = [token[0] for token in packs.long()["source"]]
    expect(part(long, "tip")).to_contain_text(f"reads '{' '.join(source[8:12])}'")
    expect(part(long, "tip")).to_contain_text("source token 9–12")
    expect(part(long, "tip")).to_contain_text(f"{merged[0, 2]:.3f}")


def test_pages_show_single_tokens(long, cross):
    part(long, "page").select_option("1")
    assert drawn(long) == pytest.approx(cross[:100, 128:256], abs=1e-9)
    expect(part(long, "reduction")).to_contain_text("tokens 129–256 of 512")
    outside = cross[99].sum() - cross[99, 128:256].sum()
    expect(part(long, "hidden")).to_contain_text(f"Labels on other pages hold {outside:.3f} of the last row")
    part(long, "specials").uncheck()  # 507 labels are left, still four pages; the first has no prefix
    part(long, "page").select_option("0")
    assert drawn(long) == pytest.approx(cross[:100, 4:132], abs=1e-9)


def test_the_encoder_map_arrives_in_blocks(long):
    pack = packs.long()
    part(long, "map").select_option("encoder")
    enc = halves(pack["enc"], 3, 6, 128, 128)
    assert drawn(long) == pytest.approx(enc.mean((0, 1)), abs=1e-9)
    assert enc.sum(-1) == pytest.approx(np.ones((3, 6, 128)), abs=5e-3)
    expect(part(long, "reduction")).to_contain_text("in blocks of 4 tokens: columns summed, rows averaged")
    expect(part(long, "words")).to_be_disabled()
    expect(part(long, "pages")).to_be_hidden()
    assert "rollout" not in part(long, "layer").locator("option").evaluate_all("(all) => all.map((one) => one.value)")
    part(long, "map").select_option("decoder")
    assert drawn(long).shape == (100, 128)


def test_files_of_a_long_run(long, cross):
    with long.expect_download() as got:
        part(long, "csv").click()
    lines = list(csv.reader(io.StringIO(open(got.value.path(), "rb").read().decode("utf-8-sig"))))
    assert "each column is 4 tokens" in ",".join(lines[0])
    merged = np.stack([cross[:100, members].sum(1) for members in blocks()], 1)
    assert np.array(lines[2:])[:, 1:].astype(float) == pytest.approx(merged, abs=1e-5)
    with long.expect_download() as got:
        part(long, "png").click()
    assert open(got.value.path(), "rb").read().startswith(b"\x89PNG")
    assert hook(long, "alignment()") == [f"{i}-{j}" for j, i in enumerate(cross.argmax(1))]  # of tokens, not blocks


def test_many_heads_arrive_in_blocks(page):
    send(page, "wide", 12)
    frame(page)
    rows = [halves(row["w"], 6, 12, 100) for row in packs.wide()["rows"]]
    assert drawn(page) == pytest.approx(np.stack(rows).mean((1, 2)), abs=1e-9)
    expect(part(page, "reduction")).to_contain_text("in blocks of 3 tokens: columns summed")
    expect(part(page, "pages")).to_be_hidden()
    source = [token[0] for token in packs.wide()["source"]]
    assert hook(page, "picture()")["columns"][1] == " ".join(source[3:6])


def test_a_long_run_on_a_phone(open_page, serve):
    page = open_page(serve("tests.browser.stepper_page"), viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    page.wait_for_selector(READY)
    send(page, "long", 100)
    until(page, "s.picture().values.length === 100")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.context.close()


@pytest.mark.parametrize("n, block", [(129, 2), (512, 4), (300, 3)])
def test_in_blocks(n, block):
    """Columns add up, rows are averaged, the last block may be short."""
    square = packs.softmax(np.random.default_rng(n).normal(size=(2, n, n))).astype(np.float32)
    small = in_blocks(square, block, rows=True)
    parts = [range(i, min(i + block, n)) for i in range(0, n, block)]
    assert small.shape == (2, len(parts), len(parts))
    for r, c in ((0, 0), (3, 1), (-1, -1)):
        assert small[0, r, c] == pytest.approx(square[0][np.ix_(parts[r], parts[c])].sum(1).mean(), rel=1e-5)
    assert small.sum(-1) == pytest.approx(np.ones(small.shape[:2]), abs=1e-5)
