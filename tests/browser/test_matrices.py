"""The matrices in Chromium: numbers as numpy has them, one pointer in all panels with the same axes, ticks, CSV."""

from __future__ import annotations

import base64
import csv
import io
import json
import re

import numpy as np
import pytest
from playwright.sync_api import expect

from app.widgets.matrices import Matrices, panel
from tests.browser import masks_page as made

HOOK = "window.twoStacks.matrices"
MINUS = "−"


@pytest.fixture(scope="module")
def address(serve) -> str:
    return serve("tests.browser.masks_page")


@pytest.fixture(scope="module")
def page(open_page, address):
    page = open_page(address)
    page.wait_for_selector("#matrices [data-ready]")
    return page


def hook(page, call: str):
    return page.evaluate(f"{HOOK}.{call}")


def part(page, name: str):
    return page.locator(f'#matrices [data-ts="{name}"]')


def send(page, name: str) -> None:
    titles = [one["title"] for one in getattr(made, name)()["panels"]]
    rows = len(getattr(made, name)()["panels"][0]["rows"])
    page.locator(f"#{name}").click()
    page.wait_for_function(
        f"([titles, rows]) => {{ const p = {HOOK}.panels(); return p.length && p[0].cw && p[0].rows.length === rows"
        " && p.map((one) => one.title).join() === titles.join(); }", arg=[titles, rows])
    part(page, "panels").scroll_into_view_if_needed()


def over(page, index: int, row: int, column: int, press: bool = False) -> None:
    size = hook(page, "panels()")[index]
    place = {"x": (column + 0.5) * size["cw"], "y": (row + 0.5) * size["ch"]}
    cells = page.locator("#matrices .mx-cells").nth(index)
    (cells.click if press else cells.hover)(position=place, force=True)


def numbers(pack: dict, index: int) -> np.ndarray:
    one = pack["panels"][index]
    return np.frombuffer(base64.b64decode(one["values"]), "<f4").reshape(len(one["rows"]), len(one["columns"]))


def test_hover_and_keys_point_in_every_linked_panel(page):
    pack = made.six()
    send(page, "six")
    over(page, 0, 1, 2)
    assert hook(page, "spot()") == {"row": 1, "column": 2, "panels": [0, 1, 2]}
    score = f"{numbers(pack, 0)[1, 2]:.4g}".replace("-", MINUS)
    expect(part(page, "tip")).to_have_text(f"'Mann', 'reitet'scores q·k{score}+ mask{MINUS}∞weights0")
    assert page.locator("#matrices .mx-mark:visible").count() == 3
    over(page, 2, 5, 5, press=True)
    expect(page.locator("#event textarea")).to_have_value(json.dumps({"select": {"panel": 2, "row": 5, "column": 5}}))
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowLeft")
    assert hook(page, "spot()")["row"] == 4 and hook(page, "spot()")["column"] == 4
    expect(part(page, "live")).to_contain_text("row 'braun', column 'braun'; scores q·k: ")
    page.keyboard.press("Enter")
    expect(page.locator("#event textarea")).to_have_value(json.dumps({"select": {"panel": 2, "row": 4, "column": 4}}))
    expect(page.locator("#matrices .mx-dead")).to_have_text(["nothing visible"])
    expect(page.locator("#matrices .mx-operator")).to_have_text(["+", "→ softmax →"])


def test_ticks_toggle_and_unknown_numbers_are_never_nan(page):
    send(page, "importance")
    over(page, 0, 1, 1, press=True)
    edited = {"edit": {"panel": 0, "checked": [[0, 2], [1, 1], [4, 7]], "turn": 1}}
    expect(page.locator("#event textarea")).to_have_value(json.dumps(edited))
    expect(part(page, "tip")).to_contain_text("no numberhead off")
    over(page, 0, 0, 2, press=True)
    page.keyboard.press("ArrowRight")
    page.keyboard.press(" ")
    assert hook(page, "checked(0)") == [[0, 3], [1, 1], [4, 7]]
    assert hook(page, "spot()")["panels"] == [0]
    assert "NaN" not in page.locator("#matrices").inner_text() and hook(page, "value(0, 1, 1)") == ""


def send_bars(page) -> None:
    """From other matrices, so that what an earlier test dragged is not taken for the new answer."""
    send(page, "twelve")
    send(page, "bars")


def row(page) -> list[float]:
    return [float(hook(page, f"value(0, 1, {column})")) for column in range(6)]


def drag(page, column: int, up: float, start: float = 10) -> None:
    """Press on the last row, `start` px above its foot, and draw upwards; the button stays down."""
    size = hook(page, "panels()")[0]
    frame = page.locator("#matrices .mx-cells").bounding_box()
    x, y = frame["x"] + (column + 0.5) * size["cw"], frame["y"] + 2 * size["ch"] - start
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x, y - up / 2)
    page.mouse.move(x + 60, y - up)  # sideways is another cell, and no matter


def test_a_bar_is_dragged_and_the_others_share_the_rest(page):
    send_bars(page)
    drag(page, 2, 0.3 * 82)
    assert row(page) == pytest.approx([0.1 * 5 / 8, 0.4 * 5 / 8, 0.5, 0, 0.25 * 5 / 8, 0.05 * 5 / 8], abs=1e-3)
    expect(part(page, "tip")).to_contain_text("0.5")
    expect(page.locator("#event textarea")).not_to_have_value(re.compile("share"))  # nothing is sent before the end
    page.mouse.up()
    sent = {"edit": {"panel": 0, "column": 2, "share": 0.5}}
    expect(page.locator("#event textarea")).to_have_value(json.dumps(sent))
    drag(page, 2, 300)
    assert row(page) == [0, 0, 1, 0, 0, 0]
    page.mouse.up()
    drag(page, 2, -0.2 * 82, 40)
    assert row(page) == pytest.approx([0.1 / 4, 0.4 / 4, 0.8, 0, 0.25 / 4, 0.05 / 4], abs=1e-3)  # the rest comes back
    page.mouse.up()
    over(page, 0, 1, 4, press=True)  # no drag: a click, which chooses the column
    expect(page.locator("#event textarea")).to_have_value(json.dumps({"select": {"panel": 0, "row": 1, "column": 4}}))
    over(page, 0, 0, 1, press=True)
    expect(page.locator("#event textarea")).to_have_value(json.dumps({"select": {"panel": 0, "row": 0, "column": 1}}))


def test_what_is_dragged_stays_in_the_hand_when_an_answer_comes(page):
    send_bars(page)
    drag(page, 0, 0.4 * 82)
    page.evaluate("document.querySelector('#others').click()")
    page.evaluate("new Promise((done) => setTimeout(done, 300))")
    assert row(page)[0] == pytest.approx(0.5)
    page.mouse.up()
    expect(page.locator("#event textarea")).to_have_value(json.dumps({"edit": {"panel": 0, "column": 0, "share": 0.5}}))


def test_plus_and_minus_move_a_bar_and_are_sent_once_when_they_rest(page):
    send_bars(page)
    over(page, 0, 1, 1, press=True)
    for key in ("+", "+", "-", "+"):
        page.keyboard.press(key)
    assert row(page)[1] == pytest.approx(0.5) and sum(row(page)) == pytest.approx(1, abs=1e-3)
    expect(part(page, "live")).to_contain_text("a row: 0.5")
    expect(page.locator("#event textarea")).to_have_value(json.dumps({"edit": {"panel": 0, "column": 1, "share": 0.5}}))
    page.keyboard.press("ArrowUp")
    page.keyboard.press("+")  # the row above is as it was
    assert hook(page, "value(0, 0, 1)") == "0.4"
    page.evaluate("document.querySelector('#others').click()")
    page.wait_for_function(f"{HOOK}.value(0, 1, 0) === '0.3'")
    page.keyboard.press("ArrowDown")  # an answer leaves the cell in focus
    page.keyboard.press("-")
    assert row(page)[1] == pytest.approx(0.35)


def test_a_finger_drags_a_bar(open_page, address):
    phone = open_page(address, viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    phone.wait_for_selector("#matrices [data-ready]")
    phone.locator("#bars").tap()
    phone.wait_for_function(f"{HOOK}.panels()[0].title === 'a row' && {HOOK}.panels()[0].cw > 0")
    cells = phone.locator("#matrices .mx-cells")
    cells.scroll_into_view_if_needed()
    frame, size = cells.bounding_box(), hook(phone, "panels()")[0]
    x, y, before = frame["x"] + 2.5 * size["cw"], frame["y"] + 2 * size["ch"] - 10, phone.evaluate("scrollY")
    finger = phone.context.new_cdp_session(phone)
    for kind, up in (("touchStart", 0), ("touchMove", 10), ("touchMove", 41), ("touchEnd", None)):
        points = [] if up is None else [{"x": x, "y": y - up}]
        finger.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
    expect(phone.locator("#event textarea")).to_have_value(json.dumps({"edit": {"panel": 0, "column": 2, "share": 0.7}}))
    assert phone.evaluate("scrollY") == before
    phone.context.close()


def test_csv_has_every_number(page):
    pack = made.six()
    send(page, "six")
    rows = list(csv.reader(io.StringIO(hook(page, "csv()"))))
    assert rows[0] == ["scores q·k"] and rows[1][1:] == made.TARGET[:6]
    assert np.allclose(np.array([row[1:] for row in rows[2:8]], float), numbers(pack, 0), rtol=1e-6)
    assert rows[8] == [] and np.array_equal(np.array([row[1:] for row in rows[11:17]], float), numbers(pack, 1))
    with page.expect_download() as download:
        part(page, "csv").click()
    assert download.value.suggested_filename == "two-stacks-matrices.csv"


def test_hostile_labels_large_panels_phone(page, open_page, address):
    send(page, "strange")
    assert page.locator("#matrices .mx-col").all_text_contents()[:3] == made.HOSTILE[:3]
    assert page.locator("#matrices img, #matrices .mx-head b").count() == 0
    send(page, "wide")
    first, last = (page.locator("#matrices .mx-scroll").nth(k) for k in (0, 2))
    first.evaluate("(node) => { node.scrollTop = 300; node.scrollLeft = 200; }")
    page.wait_for_function("(node) => node.scrollTop === 300 && node.scrollLeft === 200", arg=last.element_handle())
    assert last.evaluate("(node) => node.scrollWidth > node.clientWidth")
    phone = open_page(address, viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    phone.wait_for_selector("#matrices [data-ready]")
    assert phone.evaluate("document.documentElement.scrollWidth") <= 390
    widths = [one["cw"] for one in hook(phone, "panels()")]
    assert len(widths) >= 2 and min(widths) >= 34  # six columns: numbers on a phone too
    phone.context.close()


def test_only_packs_go_in_and_nothing_comes_back():
    several = Matrices(made.six(), render=False)
    assert several.preprocess({"kind": "matrices"}) is None
    for wrong in ("<b>text</b>", {"kind": "grid"}):
        with pytest.raises(ValueError, match="Matrices shows"):
            several.postprocess(wrong)
    with pytest.raises(ValueError, match="does not fit 1 rows"):
        panel("title", np.zeros((2, 2)), ["a"], ["b"])
    with pytest.raises(ValueError, match="scale"):
        panel("title", np.zeros((1, 1)), ["a"], ["b"], scale="rainbow")
