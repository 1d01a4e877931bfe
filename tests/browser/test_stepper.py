"""The stepper in Chromium: what a hand, a key and a stream of packs do to it."""

from __future__ import annotations

import numpy as np
import pytest
from playwright.sync_api import expect

from app.widgets.stepper import Stepper
from tests.browser import stepper_page as packs
from tests.browser.stepper_view import MODULE, READY, hook, hover_cell, part, send, until, weights

PLOTLY = "[data-plotly=ready]"


@pytest.fixture(scope="module")
def address(serve) -> str:
    return serve(MODULE)


@pytest.fixture(scope="module")
def page(open_page, address):
    page = open_page(address)
    page.wait_for_selector(READY)
    return page


def test_a_pack_plays_once_and_not_with_reduced_motion(open_page, address):
    calm = open_page(address, reduced_motion="reduce")
    calm.wait_for_selector(READY)
    assert (hook(calm, "step()"), hook(calm, "playing()")) == (12, False)
    calm.context.close()
    lively = open_page(address)
    lively.wait_for_selector(READY)
    assert hook(lively, "playing()") and hook(lively, "step()") < 12
    lively.get_by_label("Speed").select_option("12")
    until(lively, "s.step() === 12 && !s.playing()")
    lively.get_by_role("button", name="Play").click()
    until(lively, "s.step() < 12 && s.playing()")
    lively.get_by_role("button", name="Pause").click()
    assert not hook(lively, "playing()")
    lively.context.close()


def test_buttons_keys_and_scrubber_step_without_a_request(page):
    send(page, "square", 1)
    page.wait_for_selector(PLOTLY)
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.get_by_role("button", name="One step forward").click()
    page.get_by_role("button", name="One step forward").click()
    page.get_by_role("button", name="One step back").click()
    expect(part(page, "count")).to_have_text("Step 2 of 12")
    page.get_by_role("button", name="Last step").click()
    until(page, "s.step() === 12")
    part(page, "caption").click()  # gives the application the focus
    for key, step in (("Home", 1), ("ArrowRight", 2), ("ArrowRight", 3), ("ArrowLeft", 2), ("End", 12)):
        page.keyboard.press(key)
        assert hook(page, "step()") == step, key
    part(page, "scrub").fill("5")
    assert hook(page, "step()") == 5
    part(page, "output").get_by_text("Mann", exact=True).click()
    assert hook(page, "step()") == 2
    page.keyboard.press(" ")
    assert hook(page, "playing()")
    page.keyboard.press(" ")
    assert not hook(page, "playing()")
    assert asked == []
    samples = hook(page, "paints")
    assert samples and all(ms > 0 for ms in samples)  # how long is the bench's business


def test_hover_and_caption_say_the_float16_weight(page):
    pack = packs.first()
    w = weights(pack)
    send(page, "first", 7)
    choices = {
        ("mean", "mean"): (w.mean((1, 2)), "mean over 3 layers × 6 heads"),
        ("max", "mean"): (w.mean(2).max(1), "max over 3 layers of the mean over 6 heads"),
        ("mean", "max"): (w.max(2).mean(1), "mean over 3 layers of the max over 6 heads"),
        ("2", "4"): (w[:, 1, 3], "layer 2, head 4"),
    }
    for (layer, head), (matrix, name) in choices.items():
        part(page, "layer").select_option(layer)
        part(page, "head").select_option(head)
        expect(part(page, "reduction")).to_have_text(f"cross-attention, {name}")
        hover_cell(page, 5, 9)
        expect(part(page, "tip")).to_contain_text(f"{matrix[5, 9]:.3f}")
        expect(part(page, "tip")).to_contain_text("'es' reads 'horse'")
        expect(part(page, "tip")).to_contain_text(name)
        most = int(matrix[6].argmax())
        looks = f"Step 7 of 12: 'Pferd' looks most at '{pack['source'][most][0]}' ({matrix[6, most]:.3f}, {name})"
        expect(part(page, "caption")).to_contain_text(looks)
        assert hook(page, f"cell('{layer}', '{head}', 5, 9)") == pytest.approx(matrix[5, 9], abs=1e-12)
    hover_cell(page, 8, 9)
    expect(part(page, "tip")).to_be_hidden()  # row 8 is not written at step 7
    part(page, "layer").select_option("mean")
    part(page, "head").select_option("mean")


def test_the_head_that_a_model_names_is_shown_until_another_is_chosen(open_page, address):
    page = open_page(address, reduced_motion="reduce")
    page.wait_for_selector(READY)
    send(page, "pointed", 7)
    name = "layer 2, head 5, the one nearest to alignments by hand"
    expect(part(page, "reduction")).to_have_text(f"cross-attention, {name}")
    seen = np.array(hook(page, "picture()")["values"][:7], dtype=float)
    np.testing.assert_allclose(seen, weights(packs.pointed())[:7, 1, 4], atol=1e-12)
    part(page, "map").select_option("decoder")
    expect(part(page, "reduction")).to_have_text("decoder self-attention, mean over 3 layers × 6 heads")
    part(page, "map").select_option("cross")
    expect(part(page, "reduction")).to_contain_text(name)
    send(page, "first", 7)  # names none
    expect(part(page, "reduction")).to_have_text("cross-attention, mean over 3 layers × 6 heads")
    part(page, "head").select_option("3")
    send(page, "pointed", 7)
    expect(part(page, "reduction")).to_have_text("cross-attention, mean over 3 layers, head 3")
    page.context.close()


def test_coverage_bars_stand_under_their_columns(page):
    send(page, "first", 9)
    page.wait_for_selector(PLOTLY)
    sums = weights(packs.first())[:9].mean((1, 2)).sum(0)
    assert hook(page, "coverage()") == pytest.approx(list(sums), abs=1e-9)
    expect(part(page, "plot").locator("text.bartext").nth(9)).to_have_text(f"{sums[9]:.2f}")
    bars = page.evaluate(
        "Array.from(document.querySelectorAll('[data-ts=plot] .bars .point path'), (bar) => {"
        " const r = bar.getBoundingClientRect(); return [r.left + r.width / 2, r.height]; })"
    )
    cells, grid = part(page, "canvas").bounding_box(), hook(page, "geometry()")
    assert len(bars) == len(sums)
    for column, (middle, height) in enumerate(bars):
        assert abs(middle - (cells["x"] + (column + 0.5) * grid["cw"])) < 0.75, column
        assert height / bars[9][1] == pytest.approx(sums[column] / sums[9], abs=0.05)


def test_dark_is_redrawn(page):
    send(page, "first", 6)
    page.wait_for_selector(PLOTLY)
    look = """() => { const style = (name) => getComputedStyle(document.querySelector(name));
      return [style('[data-ts=plot] .bars .point path').fill, style('.ts-root').backgroundColor,
              style('[data-ts=layer]').color, style('[data-ts=layer]').backgroundColor]; }"""
    light = page.evaluate(look)
    page.evaluate("document.body.classList.add('dark')")
    page.wait_for_function(f"(before) => ({look})()[0] !== before", arg=light[0])
    dark = page.evaluate(look)
    page.evaluate("document.body.classList.remove('dark')")
    assert all(a != b for a, b in zip(light, dark))
    assert light[2] != light[3] and dark[2] != dark[3]


def test_phone_and_large_run_scroll_inside(open_page, address):
    page = open_page(address, viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    page.wait_for_selector(READY)
    for name, step in (("hostile", 5), ("large", 100)):
        send(page, name, step)
        assert page.evaluate("document.documentElement.scrollWidth") <= 390, name
    assert part(page, "scroll").evaluate("(node) => node.scrollWidth > node.clientWidth")
    part(page, "output").scroll_into_view_if_needed()  # the list; the chip is in sight within it
    expect(part(page, "output").locator(".ts-now")).to_be_in_viewport()
    assert hook(page, "cell('mean', 'mean', 127, 127)") == pytest.approx(weights(packs.large())[127].mean((0, 1))[127])
    page.context.close()


def test_hostile_tokens_are_text(page):
    send(page, "hostile", 12)
    expected = ["<s>", "<img src=x onerror=1>", "<b>bold</b>", "␣", "∅", "␣", "&lt;", *packs.HOSTILE[7:]]
    for name in ("source", "cols", "output", "rows"):
        assert part(page, name).locator("span").all_text_contents() == expected, name
    hover_cell(page, 2, 1)
    expect(part(page, "tip")).to_contain_text("'<b>bold</b>' reads '<img src=x onerror=1>'")
    expect(part(page, "side")).to_contain_text("<img src=x onerror=1>")
    expect(part(page, "notes")).to_have_text("cut to 128 tokens <img src=x onerror=1>")
    expect(part(page, "text")).to_contain_text("<s> <img src=x onerror=1>")
    assert page.locator(".ts-root img, .ts-root b.bold").count() == 0


def test_a_stream_is_followed_and_lost_rows_heal(page):
    page.locator("#streamed").click()
    until(page, 's.run() === "streamed" && s.steps() > 0 && s.steps() < 12 && s.step() === s.steps()')
    # B93: a row that comes is data in the same picture; nothing is mounted anew, and the columns stay where they are
    page.evaluate("window.drawn = [...document.querySelectorAll('canvas')]")
    before = part(page, "stage").bounding_box()
    until(page, "s.steps() === 12 && s.step() === 12")
    assert page.evaluate("window.drawn.length > 0 && window.drawn.every(canvas => canvas.isConnected)")
    after = part(page, "stage").bounding_box()
    assert {side: after[side] for side in ("x", "y", "width")} == {side: before[side] for side in ("x", "y", "width")}
    expect(part(page, "count")).to_have_text("Step 12 of 12")  # without the dots of a run that is being written
    page.locator("#broken").click()
    until(page, 's.run() === "broken" && s.steps() === 5')  # rows 2 and 3 came swapped, row 5 never comes
    hook(page, "goto(2)")
    until(page, "s.steps() === 12")
    assert (hook(page, "step()"), hook(page, "playing()")) == (2, False)
    healed = weights(packs.pack("broken", packs.ENGLISH, packs.GERMAN, prefix=4, seed=6))
    assert hook(page, "coverage()") == pytest.approx(list(healed[:2].mean((1, 2)).sum(0)), abs=1e-9)


def test_a_message_takes_the_place_of_the_picture(page):
    send(page, "square", 4)
    before = part(page, "stage").bounding_box()["height"]
    page.locator("#message").click()
    expect(part(page, "message")).to_have_text("Type <b>some</b> text first.")
    assert part(page, "stage").bounding_box()["height"] == pytest.approx(before, abs=2)
    expect(page.get_by_role("button", name="Play")).to_be_disabled()
    send(page, "first", 3)
    expect(part(page, "message")).to_be_hidden()


def test_only_packs_go_in_and_nothing_comes_back():
    stepper = Stepper(packs.square(), render=False)
    assert stepper.preprocess({"kind": "trace"}) is None
    for wrong in ("<b>text</b>", {"kind": "html"}, [1]):
        with pytest.raises(ValueError, match="Stepper shows"):
            stepper.postprocess(wrong)
    assert len((stepper.js_on_load + stepper.css_template).encode()) < 200_000
