"""What the stepper makes of a run: three maps, reductions, words, coverage, candidates, files. Numbers against numpy."""

import csv
import io
import math

import numpy as np
import pytest
from playwright.sync_api import expect

from tests.browser import stepper_page as packs
from tests.browser.stepper_view import drawn, frame, halves, hook, part, send, still, weights


@pytest.fixture(scope="module")
def page(open_page, serve):
    return still(open_page, serve)


@pytest.fixture(autouse=True)
def as_at_first(page):
    for name, value in (("compare", "off"), ("map", "cross"), ("layer", "mean"), ("head", "mean"), ("cover", "weights")):
        frame(page)  # what can be picked is settled with the next frame
        if part(page, name).is_enabled():
            part(page, name).select_option(value)
    for name, on in (("hard", False), ("words", False), ("specials", True), ("multiples", False)):
        part(page, name).set_checked(on)


def encoder(pack) -> np.ndarray:
    n = len(pack["source"])
    return halves(pack["enc"], *pack["shapes"]["encoder"], n, n)


def decoder(pack) -> np.ndarray:
    """(layers, heads, target, target), 0 where the future is."""
    (layers, heads), m = pack["shapes"]["decoder"], len(pack["rows"])
    out = np.zeros((layers, heads, m, m))
    for t, row in enumerate(pack["rows"]):
        out[:, :, t, : t + 1] = halves(row["d"], layers, heads, t + 1)
    return out


def rollout(layers: np.ndarray) -> np.ndarray:
    """Abnar and Zuidema 2020, written down once more: (layers, heads, n, n) -> (n, n)."""
    out = np.eye(layers.shape[-1])
    for layer in layers.mean(1):
        out = (0.5 * layer + 0.5 * np.eye(len(out))) @ out
    return out


def test_three_maps_and_their_reductions(page):
    send(page, "square", 8)
    pack = packs.square()
    cross, enc, dec = weights(pack), encoder(pack), decoder(pack)
    assert drawn(page) == pytest.approx(cross.mean((1, 2))[:8], abs=1e-9)
    part(page, "map").select_option("encoder")
    assert drawn(page) == pytest.approx(enc.mean((0, 1)), abs=1e-9)
    part(page, "layer").select_option("2")
    part(page, "head").select_option("max")
    assert drawn(page) == pytest.approx(enc[1].max(0), abs=1e-9)
    part(page, "layer").select_option("rollout")
    assert drawn(page) == pytest.approx(rollout(enc), abs=1e-9)
    expect(part(page, "reduction")).to_have_text("encoder self-attention, rollout over 3 layers of the mean over 6 heads")
    part(page, "map").select_option("decoder")
    seen = drawn(page)
    assert np.isnan(seen[np.triu_indices(8, 1, 12)[0], np.triu_indices(8, 1, 12)[1]]).all()
    assert np.nan_to_num(seen) == pytest.approx(rollout(dec)[:8], abs=1e-9)
    part(page, "map").select_option("cross")
    assert drawn(page) == pytest.approx(cross.mean((1, 2))[:8] @ rollout(enc), abs=1e-9)
    assert drawn(page).sum(1) == pytest.approx(np.ones(8), abs=5e-3)


def test_words_keep_the_mass(page):
    """Columns add up, rows are averaged; bytes join the character that they make; a script without blanks stays in pieces."""
    send(page, "pieces", 8)
    cross = weights(packs.pieces()).mean((1, 2))
    before = drawn(page)
    part(page, "words").check()
    after, shown = drawn(page), hook(page, "picture()")
    assert shown["columns"] == ["A", "umbrella", ".", "東", "京", "</s>"]
    assert shown["rows"] == ["Ein", "Regenschirm", "<C3>é", ".", "</s>"]
    assert after.sum(1) == pytest.approx(np.ones(5), abs=2e-3) and before.sum(1) == pytest.approx(np.ones(8), abs=2e-3)
    assert after[1, 1] == pytest.approx(cross[1:4, 1:3].sum(1).mean(), abs=1e-9)
    assert hook(page, "coverage()") == pytest.approx([*cross.sum(0)[:1], cross[:, 1:3].sum(), *cross.sum(0)[3:]], abs=1e-9)
    hook(page, "goto(2)")  # the second piece of three: the word's row is what is written of it
    assert drawn(page)[1, 1] == pytest.approx(cross[1, 1:3].sum(), abs=1e-9)


def test_hidden_tokens_say_how_much_they_hold(page):
    send(page, "first", 5)
    part(page, "specials").uncheck()
    cross = weights(packs.first()).mean((1, 2))
    assert "translate" not in hook(page, "picture()")["columns"]
    hidden = [0, 1, 2, 3, len(packs.ENGLISH) - 1]
    row, all_rows = cross[4, hidden].sum(), cross[:5, hidden].sum()
    expect(part(page, "hidden")).to_have_text(f"Hidden labels hold {row:.3f} of the last row, {all_rows:.2f} of all 5 rows.")
    assert drawn(page) == pytest.approx(np.delete(cross[:5], hidden, 1), abs=1e-9)


def test_coverage_as_a_map_and_its_loss(page):
    send(page, "square", 9)
    cross = weights(packs.square()).mean((1, 2))[:9]
    sums = cross.cumsum(0)
    overlap = np.minimum(cross, np.vstack([np.zeros(cross.shape[1]), sums[:-1]]))
    part(page, "cover").select_option("sum")
    assert drawn(page) == pytest.approx(sums, abs=1e-9)
    part(page, "cover").select_option("overlap")
    assert drawn(page) == pytest.approx(overlap, abs=1e-9)
    expect(part(page, "unit")).to_contain_text(f"= {overlap.sum():.3f} (per step {overlap.sum() / 9:.3f})")
    part(page, "map").select_option("encoder")
    expect(part(page, "cover")).to_be_disabled()


def test_thresholds_move_the_marks(page):
    send(page, "square", 12)
    end = weights(packs.square()).mean((1, 2)).sum(0)
    labels = [token[0] for token in packs.square()["source"]]
    for low, high in ((0.5, 1.5), (0.9, 1.1)):
        part(page, "under").fill(str(low))
        part(page, "over").fill(str(high))
        under = [label for label, mass in zip(labels, end) if mass < low and label != "</s>"]
        over = [label for label, mass in zip(labels, end) if mass > high and label != "</s>"]
        expect(page.locator("[data-ts=under] + b")).to_have_text(", ".join(under) or "none")
        expect(page.locator("[data-ts=over] + b")).to_have_text(", ".join(over) or "none")
        expect(page.locator(".ts-undercovered")).to_have_count(len(under))


def test_the_hard_alignment_and_its_pairs(page):
    send(page, "square", 12)
    cross = weights(packs.square()).mean((1, 2))
    part(page, "hard").check()
    seen = drawn(page)
    assert (seen.sum(1) == 1).all() and (seen.argmax(1) == cross.argmax(1)).all()
    assert hook(page, "alignment()") == [f"{i}-{j}" for j, i in enumerate(cross.argmax(1))]
    with page.expect_download() as got:
        part(page, "pairs").click()
    assert open(got.value.path()).read().split() == hook(page, "alignment()")


def test_candidates_and_the_product(page):
    send(page, "square", 4)
    rows = packs.square()["rows"][:4]
    probability = math.exp(sum(row["lp"] for row in rows))
    side = part(page, "side")
    expect(side).to_contain_text("encoder called1 timedecoder called4 times")
    factors = " · ".join(f"{math.exp(row['lp']):.3f}" for row in rows)
    expect(page.locator(".ts-product")).to_contain_text(factors + " = ")
    last = page.locator(".ts-product").inner_text().split(" = ")[-1]
    assert float(last.split(" ")[0]) == pytest.approx(probability, abs=6e-5) or "10⁻" in last
    expect(side.locator("polyline")).to_have_count(2)


def test_all_heads_at_once_and_one_enlarged(page):
    send(page, "square", 6)
    part(page, "multiples").check()
    small = page.locator(".ts-small")
    expect(small).to_have_count(18)
    look = "(node) => Array.from(node.querySelector('canvas').getContext('2d').getImageData(0, 0, 12, 12).data)"
    before = small.nth(8).evaluate(look)
    hook(page, "goto(7)")
    stepped = small.nth(8).evaluate(look)
    hook(page, "goto(3)")
    hook(page, "goto(7)")
    assert small.nth(8).evaluate(look) == stepped != before
    small.nth(8).click()
    assert (part(page, "layer").input_value(), part(page, "head").input_value()) == ("2", "3")
    assert drawn(page) == pytest.approx(weights(packs.square())[:7, 1, 2], abs=1e-9)
    expect(small.nth(8)).to_have_attribute("aria-pressed", "true")


def test_a_clicked_label_keeps_its_column(page):
    send(page, "square", 6)
    part(page, "cols").locator("span").nth(2).click()
    page.mouse.move(5, 5)
    expect(part(page, "source").locator(".ts-over")).to_have_text("rides")
    part(page, "cols").locator("span").nth(2).click()
    page.mouse.move(5, 5)
    expect(part(page, "source").locator(".ts-over")).to_have_count(0)


def test_the_sentence_is_made_of_the_numbers(page):
    send(page, "square", 5)
    w = weights(packs.square())
    pack = packs.square()
    labels = [token[0] for token in pack["source"]]
    row = w[4].mean((0, 1))
    layer, head, column = np.unravel_index(w[4].argmax(), w[4].shape)
    sums = w[:5].mean((1, 2)).sum(0)
    sums[[i for i, label in enumerate(labels) if label == "</s>"]] = np.inf
    caption = part(page, "caption")
    expect(caption).to_contain_text(f"'{pack['rows'][4]['t'][0]}' looks most at '{labels[row.argmax()]}' ({row.max():.3f}")
    expect(caption).to_contain_text(f"layer {layer + 1} head {head + 1} at '{labels[column]}' ({w[4].max():.3f})")
    expect(caption).to_contain_text(f"'{labels[sums.argmin()]}' is not covered yet ({sums.min():.2f})")


@pytest.mark.parametrize("name", ["svg", "png", "csv"])
def test_files_hold_what_is_shown(page, name):
    send(page, "hostile", 12)
    with page.expect_download() as got:
        part(page, name).click()
    data = open(got.value.path(), "rb").read()
    assert got.value.suggested_filename.endswith(f".{name}")
    if name == "png":
        assert data.startswith(b"\x89PNG") and len(data) > 5000
    elif name == "svg":
        assert b"<img" not in data and b"&lt;img src=x onerror=1&gt;" in data and data.count(b"<rect") == 145
    else:
        lines = list(csv.reader(io.StringIO(data.decode("utf-8-sig"))))[1:]
        assert lines[0][2] == "<img src=x onerror=1>" and len(lines) == 13
        assert np.array(lines[1:])[:, 1:].astype(float) == pytest.approx(drawn(page), abs=1e-5)


def test_two_runs_of_one_source(page):
    """One under the other, stepping together and sharing columns; and their signed difference."""
    send(page, "again", 4)
    part(page, "keep").click()
    send(page, "first", 4)
    frame(page)
    expect(part(page, "compare")).to_be_disabled()  # another source
    expect(part(page, "kept")).to_contain_text("another source")
    send(page, "square", 4)
    frame(page)
    mine, kept = (weights(made()).mean((1, 2)) for made in (packs.square, packs.again))
    part(page, "compare").select_option("under")
    seen = drawn(page)
    assert seen[:4] == pytest.approx(mine[:4], abs=1e-9) and np.isnan(seen[4:13]).all()
    assert seen[13:] == pytest.approx(kept[:4], abs=1e-9)
    hook(page, "goto(10)")
    assert drawn(page)[13:] == pytest.approx(kept, abs=1e-9)  # the kept run has eight rows
    part(page, "compare").select_option("difference")
    seen = drawn(page)
    assert seen[:8] == pytest.approx(mine[:8] - kept, abs=1e-9) and np.isnan(seen[8:]).all()
    expect(part(page, "reduction")).to_contain_text("this run minus the kept one")
    part(page, "compare").select_option("off")
    assert drawn(page) == pytest.approx(mine[:10], abs=1e-9)


def test_two_runs_stand_side_by_side_and_what_is_pointed_at_is_outlined_in_both(page):
    send(page, "square", 4)
    part(page, "keep").click()
    send(page, "again", 4)
    part(page, "compare").select_option("beside")
    expect(part(page, "reduction")).to_contain_text("the kept run beside it")
    rows = part(page, "twinrows").locator("span")
    expect(rows).to_have_text([row["t"][0] for row in packs.square()["rows"]])
    hook(page, "goto(5)")
    expect(part(page, "twinrows").locator(".ts-now")).to_have_text(packs.square()["rows"][4]["t"][0])
    one, two = part(page, "cells").bounding_box(), part(page, "twincells").bounding_box()
    assert two["x"] >= one["x"] + one["width"] and abs(two["y"] - one["y"]) < 1 and abs(two["width"] - one["width"]) < 1
    assert two["x"] + two["width"] <= 1280
    mine, kept = (weights(pack)[3, :, :, 6].mean() for pack in (packs.again(), packs.square()))

    def cell() -> dict:
        frame(page)
        geometry = hook(page, "geometry()")
        return {"x": 6.5 * geometry["cw"], "y": 3.5 * geometry["ch"]}

    part(page, "cells").hover(position=cell())
    expect(part(page, "tip")).to_contain_text(f"{mine:.3f}kept run: {kept:.3f}")
    expect(part(page, "twinhovered")).to_be_visible()
    part(page, "twincells").hover(position=cell())
    expect(part(page, "tip")).to_contain_text(f"{kept:.3f}this run: {mine:.3f}")
    expect(part(page, "hovered")).to_be_visible()
    part(page, "compare").select_option("under")
    expect(part(page, "twin")).to_be_hidden()
    part(page, "cells").hover(position=cell())
    expect(part(page, "tip")).to_contain_text(f"kept run: {kept:.3f}")
    expect(part(page, "linked")).to_be_visible()
    part(page, "compare").select_option("off")
