"""The mask grid in Chromium: what a hand, a finger and a key draw is what core.masks computes and core.interventions accepts."""

from __future__ import annotations

import json
import random
import re

import numpy as np
import pytest
from playwright.sync_api import expect

from app.widgets.mask_grid import MaskGrid, pack
from core.fields import build, differences
from core.interventions import PRESETS, STACKS, Cell, Masks, StackMask, wording
from core.mask_formulas import cases
from core.masks import dead_rows, effective
from tests.browser import masks_page as made

HOOK = "window.twoStacks.maskGrid"
N = 12  # tokens of either side


@pytest.fixture(scope="module")
def address(serve) -> str:
    return serve("tests.browser.masks_page")


@pytest.fixture(scope="module")
def page(open_page, address):
    page = open_page(address)
    page.wait_for_selector("#grid [data-ready]")
    return page


def hook(page, call: str):
    return page.evaluate(f"{HOOK}.{call}")


def part(page, name: str):
    return page.locator(f'#grid [data-ts="{name}"]')


def start(page, stack: str, name: str = "plain") -> None:
    """What the server sends by the button `name`, the stack chosen, all layers."""
    before = hook(page, "given().stamp")
    page.locator(f"#{name}").click()
    page.wait_for_function(f"(before) => {HOOK}.given().stamp > before", arg=before)
    if part(page, "ask").is_visible():
        part(page, "keep").click()
    part(page, stack).click()
    page.wait_for_function(f"(stack) => {HOOK}.view().stack === stack", arg=stack)
    painted(page)
    part(page, "layer").select_option(value="-1")


def painted(page) -> None:
    page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


def place(page, row: int, column: int) -> tuple[float, float]:
    box, cell = part(page, "canvas").bounding_box(), hook(page, "geometry().cell")
    return box["x"] + (column + 0.5) * cell, box["y"] + (row + 0.5) * cell


def click(page, row: int, column: int) -> None:
    page.mouse.click(*place(page, row, column))


def masks(page) -> Masks:
    """The masks of the browser: canonical, and accepted."""
    plain, unknown = hook(page, "masks()"), []
    built = build(Masks, plain, "masks.", unknown)
    assert differences(built) == plain and not unknown
    return built


def agree(page, *stacks: str) -> None:
    """Effective mask by layer, rows that see nothing, words and cases are those of the core."""
    built = masks(page)
    said = page.evaluate(
        f"(stacks) => {{ const s = {HOOK}; return stacks.map((stack) => [[-1, 0, 2].map((layer) => s.effective(stack, layer)),"
        " s.dead(stack), s.wording(stack), s.cases(stack)]); }", list(stacks))
    for stack, (seen, dead, words, formula) in zip(stacks, said, strict=True):
        choice = built.of(stack)
        for layer, open in zip((-1, 0, 2), seen):
            assert np.array_equal(open, effective(choice, stack, layer, N, N)), (stack, layer, choice)
        assert {int(row): layers for row, layers in dead.items()} == dead_rows(choice, stack, 3, N, N)
        assert words == wording(choice, stack)
        assert [tuple(re.sub(r"\s", "", text) for text in line) for line in formula] == lines(cases(choice, stack))


def lines(latex: str) -> list[tuple[str, str]]:
    """[value, condition] of each line of LaTeX cases, as text without spaces."""
    body = re.search(r"\\begin\{cases\}(.*)\\end\{cases\}", latex)
    if not body:
        return [("0", "")]
    signs = {r"\infty": "∞", r"\in": "∈", r"\le": "≤", r"\lt": "<", r"\gt": ">", r"\ne": "≠", r"\dots": "…", "-": "−"}
    signs |= {r"\{": "{", r"\}": "}", r"\ ": " "}
    out = []
    for line in body[1].split(r"\\ "):
        line = re.sub(r"\\text\{([^}]*)\}", r"\1", line)
        for sign, plain in signs.items():
            line = line.replace(sign, plain)
        value, where = re.sub(r"\s", "", line).split(",&")
        out.append((value, where))
    return out


def random_masks(seed: int) -> Masks:
    chance = random.Random(seed)

    def stack() -> StackMask:
        layers = [chance.choice((-1, -1, 0, 2)) for _ in range(chance.randrange(9))]
        cells = [Cell(chance.randrange(14), chance.randrange(14), layer, chance.random() < 0.5) for layer in layers]
        cells += [Cell(4, column) for column in range(12)] if chance.random() < 0.4 else []
        hidden = tuple(chance.sample(range(14), chance.randrange(4)))
        return StackMask(chance.choice(PRESETS), chance.randrange(14), hidden, tuple(cells))

    return Masks(stack(), stack(), stack())


def test_random_masks_are_those_of_the_core(page):
    """Masks of every kind, given as a value: effective mask, dead rows, words and cases agree with core."""
    start(page, "decoder")
    for seed in range(50):
        wanted = random_masks(seed)
        page.evaluate(f"(masks) => {HOOK}.put(masks)", differences(wanted))
        assert masks(page) == wanted
        agree(page, *STACKS)


def test_presets_and_their_sliders(page):
    start(page, "decoder")
    for preset in PRESETS:
        part(page, "preset").select_option(preset)
        painted(page)
        assert masks(page).decoder.preset == preset
        expect(part(page, "sizing")).to_be_visible(visible=preset in ("prefix", "window"))
        if preset in ("prefix", "window"):
            part(page, "size").fill("4")
            assert masks(page).decoder.size == 4
        agree(page, "decoder")
    expect(part(page, "wording")).to_have_text("Decoder self-attention: padding only")
    part(page, "preset").select_option("prefix")
    part(page, "size").fill("2")
    expect(part(page, "formula")).to_contain_text("2 < j ≤ i (causal suffix, past)")
    expect(part(page, "beyond")).to_have_text("Beyond row 12 the preset holds: prefix 2.")


def test_click_drag_column_undo_redo_reset(page):
    start(page, "cross")
    click(page, 1, 2)
    assert masks(page).cross.exceptions == (Cell(1, 2),)
    page.mouse.move(*place(page, 3, 0))
    page.mouse.down()
    page.mouse.move(*place(page, 3, 4))  # faster than a cell an event
    page.mouse.move(*place(page, 3, 5))
    page.mouse.up()
    assert [cell.key for cell in masks(page).cross.exceptions if cell.query == 3] == [0, 1, 2, 3, 4, 5]
    agree(page, "cross")
    page.locator("#grid .mg-col").nth(7).click()
    assert masks(page).cross.hidden == (7,)
    expect(page.locator("#grid .mg-col").nth(7)).to_have_attribute("aria-pressed", "true")
    whole = hook(page, "masks()")
    part(page, "undo").click()
    part(page, "undo").click()  # the drag is one step
    assert masks(page).cross == StackMask(exceptions=(Cell(1, 2),))
    page.keyboard.press("Control+Shift+Z")
    page.keyboard.press("Control+y")
    assert hook(page, "masks()") == whole
    page.keyboard.press("Control+z")
    assert masks(page).cross.hidden == ()
    part(page, "reset").click()
    assert masks(page) == Masks()
    click(page, 1, 2)
    click(page, 1, 2)
    assert masks(page) == Masks()  # open again: no exception is left


def test_a_cell_of_one_layer_and_of_all(page):
    start(page, "encoder")
    part(page, "layer").select_option(label="2")
    painted(page)
    click(page, 2, 3)
    assert masks(page).encoder.exceptions == (Cell(2, 3, 1),)
    agree(page, "encoder")
    part(page, "layer").select_option(value="-1")
    painted(page)
    page.mouse.move(*place(page, 2, 3))
    expect(part(page, "tip")).to_contain_text("M3,4 = 0'rides' may read 'a'preset: bidirectional; drawn otherwise in layer 2")
    click(page, 2, 3)  # all means all: the cell of the layer goes
    assert masks(page).encoder.exceptions == (Cell(2, 3),)


def test_dead_rows_are_said(page):
    start(page, "encoder", "first")
    expect(page.locator("#grid .mg-dead")).to_have_text(["nothing visible"])
    start(page, "cross", "single")
    expect(page.locator("#grid .mg-dead")).to_have_text(["nothing visible in layer 1, 3"])  # the server's word
    click(page, 0, 0)
    painted(page)
    expect(page.locator("#grid .mg-dead")).to_have_count(0)  # it was said of other masks
    click(page, 0, N - 1)  # padding stays hidden
    assert masks(page).cross.exceptions == (Cell(0, 0),)
    expect(part(page, "encoder")).to_be_disabled()
    why = "this <b>encoder</b> has no attention that can be masked."
    expect(part(page, "reasons")).to_have_text(f"Encoder self-attention cannot be masked here: {why}")


def test_keyboard(page):
    start(page, "cross")
    click(page, 6, 4)
    click(page, 6, 4)
    page.keyboard.press("ArrowRight")
    expect(part(page, "live")).to_have_text("row 'Pferd', column 'horse': visible")
    page.keyboard.press(" ")
    expect(part(page, "live")).to_have_text("row 'Pferd', column 'horse': hidden")
    steps = hook(page, "steps()")[0]
    page.keyboard.press("ArrowDown")
    page.keyboard.down("Shift")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    page.keyboard.up("Shift")
    assert masks(page).cross.exceptions == tuple(Cell(*at) for at in ((6, 5), (7, 5), (7, 6), (7, 7), (8, 7)))
    assert hook(page, "steps()")[0] == steps + 1
    page.keyboard.press("h")
    assert masks(page).cross.hidden == (7,)
    agree(page, "cross")


def test_a_change_is_told_at_once(page):
    start(page, "decoder")
    click(page, 2, 5)
    told = {"masks": {"decoder": {"exceptions": [{"query": 2, "key": 5, "allowed": True}]}}, "unknown": []}
    expect(page.locator("#told textarea")).to_have_value(json.dumps(told))
    assert json.loads(part(page, "json").text_content()) == told["masks"]


def test_another_source_asks(page):
    start(page, "cross")
    click(page, 1, 1)
    click(page, 2, 2)
    page.locator("#grid .mg-col").nth(3).click()
    drawn = hook(page, "masks()")
    page.locator("#another").click()
    expect(part(page, "question")).to_have_text("The source is another one. Keep 2 drawn cells and 1 hidden token?")
    assert hook(page, "masks()") == drawn
    part(page, "keep").click()
    expect(part(page, "ask")).to_be_hidden()
    assert hook(page, "masks()") == drawn and hook(page, "effective('cross', -1)")[1][1] == 0
    page.locator("#plain").click()  # the server's own masks: what is here is replaced, and can be undone
    page.wait_for_function(f"() => JSON.stringify({HOOK}.masks()) === '{{}}'")
    part(page, "undo").click()
    page.locator("#another").click()
    part(page, "drop").click()
    assert hook(page, "masks()") == {}


def test_large_scrolls_and_hostile_tokens_are_text(page):
    start(page, "cross", "hostile")
    shown = ["<s>", "<img src=x onerror=1>", "<b>bold</b>", "␣", "∅", "␣", "&lt;", *made.HOSTILE[7:]]
    assert page.locator("#grid .mg-col").all_text_contents() == shown == page.locator("#grid .mg-row").all_text_contents()
    page.mouse.move(*place(page, 2, 1))
    expect(part(page, "tip")).to_contain_text("'<b>bold</b>' may read '<img src=x onerror=1>'")
    assert page.locator("#grid img, #grid b.bold").count() == 0
    start(page, "encoder", "large")
    assert part(page, "scroll").evaluate("(node) => node.scrollWidth > node.clientWidth")
    assert hook(page, "geometry().cell") >= 16
    click(page, 0, 1)
    page.keyboard.press("End")
    page.keyboard.press(" ")
    assert masks(page).encoder.exceptions == (Cell(0, 1), Cell(0, 127))
    part(page, "preset").select_option("diagonal")
    milliseconds = page.evaluate(f"""() => Array.from({{ length: 9 }}, (_, i) => {{
      {HOOK}.put({{ encoder: {{ preset: i % 2 ? "causal" : "diagonal" }} }});
      const began = performance.now(); {HOOK}.flush(); return performance.now() - began; }})""")
    assert sorted(milliseconds)[4] < 400  # about 90 on two cores with a load of 9


def test_phone_by_touch(open_page, address):
    page = open_page(address, viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    page.wait_for_selector("#grid [data-ready]")
    start(page, "cross")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    part(page, "canvas").scroll_into_view_if_needed()
    page.touchscreen.tap(*place(page, 1, 2))
    assert masks(page).cross.exceptions == (Cell(1, 2),)
    wire = page.context.new_cdp_session(page)

    def touch(kind: str, *at: float) -> None:
        wire.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [{"x": at[0], "y": at[1]}] if at else []})

    touch("touchStart", *place(page, 3, 4))
    page.wait_for_function(f"{HOOK}.masks().cross.exceptions.length === 2")  # held: it draws
    for column in (5, 6, 7):
        touch("touchMove", *place(page, 3, column))
    touch("touchEnd")
    assert [(cell.query, cell.key) for cell in masks(page).cross.exceptions] == [(1, 2), (3, 4), (3, 5), (3, 6), (3, 7)]
    page.context.close()


def test_dark_is_redrawn(page):
    start(page, "cross")
    pixel = """() => { const pen = document.querySelector('#grid canvas').getContext('2d');
      return Array.from(pen.getImageData(8, 8, 1, 1).data).join(); }"""
    light = page.evaluate(pixel)
    page.evaluate("document.body.classList.add('dark')")
    page.wait_for_function(f"(before) => ({pixel})() !== before", arg=light)
    page.evaluate("document.body.classList.remove('dark')")


def test_only_packs_go_in_and_nothing_comes_back():
    grid = MaskGrid(made.first(), render=False)
    assert grid.preprocess({"kind": "grid"}) is None
    for wrong in ("<b>text</b>", {"kind": "trace"}, [1]):
        with pytest.raises(ValueError, match="MaskGrid shows"):
            grid.postprocess(wrong)
    value = pack([("a", False)], [("b", True)], {"cross": 1}, Masks(cross=StackMask("window", 2)), dead={"cross": {0: [0]}})
    assert value["masks"] == {"cross": {"preset": "window", "size": 2}} and value["dead"] == {"cross": {"0": [0]}}
    json.dumps(value)
