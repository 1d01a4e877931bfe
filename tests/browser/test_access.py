"""Barriers, room and motion of the whole page, opened: light and dark, on a screen, in a hall, on a phone; English, German."""

import random
from pathlib import Path

import pytest
from playwright.sync_api import expect

from app.palette import constant
from tests.browser import measures
from tests.browser.everything import TABS, places
from tests.browser.first_tab import HOOK, ready
from tests.browser.tabs import open_tab
from tests.conftest import EXHAUSTIVE
from tests.vision import BLINDNESS, apart, lab, linear, seen_by

ROOT = Path(__file__).resolve().parents[2]
SCREEN, HALL = {"width": 1280, "height": 900}, {"width": 1280, "height": 720}
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True, "reduced_motion": "reduce"}
LARGE = 14  # px on the screen: the smallest letters in projector mode


def walked(open_page, address, look: str, look_at, projector: bool = False, tabs=TABS, **options) -> dict:
    """Place -> what `look_at` finds there, where it finds anything."""
    page = open_page(f"{address}/?__theme={look}", **options)
    ready(page)
    if projector:
        page.locator("[data-ts=projector]").click()
        page.wait_for_function("document.body.classList.contains('ts-projector')")
    found = {place: one for place in places(page, tabs) if (one := {name: x for name, x in look_at(page).items() if x})}
    page.context.close()
    return found


def test_a_light_screen_has_no_barrier_and_a_table_for_every_picture(open_page, address, seed):
    """Of the first tab and two others; of all with EXHAUSTIVE=1, which takes minutes."""
    some = sorted(random.Random(seed).sample(TABS[1:], 2), key=TABS.index)

    def look_at(page) -> dict:
        return {"barriers": measures.barriers(page), "without a table": page.evaluate(measures.WITHOUT),
                "too wide": page.evaluate(measures.WIDER)}

    found = walked(open_page, address, "light", look_at, tabs=TABS if EXHAUSTIVE else [TABS[0], *some], viewport=SCREEN)
    assert not found, measures.told(found)


@pytest.mark.exhaustive
def test_a_dark_hall_has_no_barrier_large_letters_and_room_in_german(open_page, address):
    def look_at(page) -> dict:
        small = [one for one in page.evaluate(measures.LETTERS) if one[0] < LARGE]
        return {"barriers": measures.barriers(page), "too wide": page.evaluate(measures.WIDER), "small letters": small}

    found = walked(open_page, address, "dark", look_at, projector=True, viewport=HALL, locale="de-DE")
    assert not found, measures.told(found)


@pytest.mark.exhaustive
@pytest.mark.parametrize(("look", "locale"), [("light", "en-US"), ("dark", "de-DE")])
def test_a_phone_has_no_barrier_room_targets_for_fingers_and_no_motion(open_page, address, look, locale):
    def look_at(page) -> dict:
        longest, where = page.evaluate(measures.LONGEST)
        return {"barriers": measures.barriers(page), "too wide": page.evaluate(measures.WIDER),
                "small targets": page.evaluate(measures.SMALL), "motion": [longest, where] if longest > 0.01 else None}

    found = walked(open_page, address, look, look_at, locale=locale, **PHONE)
    assert not found, measures.told(found)


@pytest.mark.parametrize("query", ["?lecture=4", "?lecture=4&__theme=dark"])
def test_a_lecture_has_no_barrier(open_page, address, query):
    page = open_page(f"{address}/{query}", viewport=HALL)
    page.wait_for_selector("[data-ready]")
    expect(page.locator(".lc-root")).to_be_visible()
    page.wait_for_timeout(1500)
    assert not measures.barriers(page)
    page.context.close()


def sheet(page):
    return page.locator("dialog.hs-dialog")


def test_projector_mode_is_larger_stays_on_and_pointers_still_hit(page):
    open_tab(page, "Attention")
    page.evaluate(f"{HOOK}.goto(5)")
    wide = page.locator("#ts-run").bounding_box()["height"]
    page.locator("#ts-tabs > .tab-wrapper [role=tab][aria-selected=true]").focus()
    page.keyboard.press("p")
    page.wait_for_function("document.body.classList.contains('ts-projector')")
    page.wait_for_timeout(500)
    assert page.locator("#ts-run").bounding_box()["height"] > 1.2 * wide
    page.reload()
    ready(page)
    page.wait_for_function("document.body.classList.contains('ts-projector')")
    page.wait_for_timeout(500)
    expect(page.locator("[data-ts=projector]")).to_have_attribute("aria-pressed", "true")
    page.evaluate(f"{HOOK}.goto(5)")
    shown = page.evaluate(f"{HOOK}.picture()")
    page.locator("[data-ts=canvas]").first.scroll_into_view_if_needed()
    box = page.locator("[data-ts=canvas]").first.bounding_box()
    columns, height = len(shown["columns"]), page.evaluate(f"{HOOK}.geometry().rows")
    page.mouse.move(box["x"] + box["width"] * 6.5 / columns, box["y"] + box["height"] * 3.5 / height)
    tip = page.locator(".ts-root[role=application] .ts-tip").first
    expect(tip).to_contain_text("step 4, source token 7")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.locator("[data-ts=projector]").click()
    assert not page.evaluate("document.body.classList.contains('ts-projector')")


def test_whoever_wants_no_motion_gets_none(open_page, address):
    """The first run is there at once and whole; nothing plays, and nothing is animated."""
    page = open_page(address, reduced_motion="reduce")
    page.wait_for_selector("[data-ready]")
    assert page.evaluate(f"[{HOOK}.step() === {HOOK}.steps(), {HOOK}.playing()]") == [True, False]
    steps = []
    for _ in range(5):
        page.wait_for_timeout(150)
        steps.append(page.evaluate(f"{HOOK}.step()"))
    assert len(set(steps)) == 1
    page.keyboard.press("?")
    expect(sheet(page)).to_be_visible()
    longest, where = page.evaluate(measures.LONGEST)
    assert longest <= 0.01, where
    page.context.close()


LIGHTNESS = """([text, points]) => {
  const clamp = (x, low, high) => Math.max(low, Math.min(high, x)), at = { ramp: { style: {} }, root: document.body };
  const { colourOf } = new Function("at", "clamp", text + "; return { colourOf };")(at, clamp);
  return points.map(([x, both]) => colourOf(x, 1, both));
}"""


def test_scales_need_no_colour_vision(page):
    """Viridis grows lighter from end to end, blue to vermilion is symmetric in lightness, and its ends differ for everyone."""
    script = constant() + (ROOT / "assets/js/shared/colour.js").read_text("utf-8")
    steps = [k / 32 for k in range(33)]
    rising = page.evaluate(LIGHTNESS, [script, [[x, False] for x in steps]])
    lightness = [lab(linear(rgb))[0] for rgb in rising]
    assert all(b > a for a, b in zip(lightness, lightness[1:], strict=False)) and lightness[-1] - lightness[0] > 60
    for matrix in BLINDNESS.values():
        seen = [lab(seen_by(linear(rgb), matrix))[0] for rgb in rising]
        assert all(b > a for a, b in zip(seen, seen[1:], strict=False))
    below = [linear(rgb) for rgb in page.evaluate(LIGHTNESS, [script, [[-x, True] for x in steps]])]
    above = [linear(rgb) for rgb in page.evaluate(LIGHTNESS, [script, [[x, True] for x in steps]])]
    assert lab(below[0]) == pytest.approx((100, 0, 0), abs=0.1) and lab(above[0]) == pytest.approx((100, 0, 0), abs=0.1)
    for side in (below, above):
        lightness = [lab(light)[0] for light in side]
        assert all(b < a for a, b in zip(lightness, lightness[1:], strict=False))
    assert max(abs(lab(b)[0] - lab(a)[0]) for a, b in zip(above, below, strict=True)) < 12
    for matrix in BLINDNESS.values():  # the same size on both sides is told apart from a fifth of the scale on
        for a, b in list(zip(above, below, strict=True))[7:]:
            assert apart(seen_by(a, matrix), seen_by(b, matrix)) > 12
