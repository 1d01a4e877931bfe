"""The page for those who see it otherwise, or not at all: axe in every tab, Tab alone, keys and their sheet, tables behind the
pictures, projector mode, calm motion, scales that need no colour vision."""

import json
import re
from pathlib import Path

import axe_playwright_python
import pytest
from playwright.sync_api import expect

from tests.browser.tabs import open_tab

ROOT = Path(__file__).resolve().parents[2]
WORDS = json.loads((ROOT / "assets/words/en.json").read_text("utf-8"))
AXE = (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text("utf-8")
TABS = ("Attention", "Search", "Masks", "Noise", "Training", "Scores", "Formulas", "Sessions")
HOOK = "window.twoStacks.stepper"
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]
# What Gradio draws and we cannot: (rule, what the node's selector ends with, why).
GRADIOS: tuple[tuple[str, str, str], ...] = ()
FOUND = """async ([tags]) => (await axe.run(document, { resultTypes: ["violations"], runOnly: tags })).violations
  .filter((one) => ["serious", "critical"].includes(one.impact))
  .flatMap((one) => one.nodes.map((node) => [one.id, node.target.join(" "), node.failureSummary.split("\\n")[1].trim()]))"""


@pytest.fixture(scope="module")
def page(open_page, address):
    page = open_page(address, viewport={"width": 1280, "height": 900}, color_scheme="light")
    ready(page)
    yield page
    page.context.close()


@pytest.fixture(autouse=True)
def nothing_open(page):
    yield
    page.evaluate("document.querySelector('dialog[open]')?.close(); document.body.classList.remove('ts-projector')")


def ready(page) -> None:
    page.wait_for_selector("[data-ready]")
    page.wait_for_function("document.querySelector('#ts-status').innerText.includes('ready')")


def barriers(page) -> list:
    page.wait_for_timeout(600)  # what fades in has its colour
    return [one for one in page.evaluate(FOUND, [RULES])
            if not any(one[0] == rule and one[1].endswith(where) for rule, where, _ in GRADIOS)]


@pytest.mark.parametrize(("look", "width"), [("light", 1280), ("dark", 1280), ("light", 390), ("dark", 390)])
def test_axe_finds_no_barrier_in_any_tab(open_page, address, look, width):
    """Serious and critical ones of WCAG 2.1 A and AA; each closed section of a tab is opened, too."""
    page = open_page(f"{address}/?__theme={look}", viewport={"width": width, "height": 900})
    ready(page)
    page.evaluate(AXE)
    found = {}
    for name in TABS:
        open_tab(page, name)
        page.wait_for_timeout(1500)
        panel = page.locator("#ts-tabs > [role=tabpanel]:visible")
        for closed in panel.locator("button.label-wrap:not(.open)").all():
            if closed.is_visible():
                closed.click()
        page.wait_for_timeout(2500)
        if one := barriers(page):
            found[name] = one
    page.keyboard.press("Escape")
    page.locator("[data-ts=keys]").click()
    expect(page.locator("dialog.hs-dialog")).to_be_visible()
    if one := barriers(page):
        found["the sheet"] = one
    page.context.close()
    assert not found, json.dumps(found, indent=1, ensure_ascii=False)


SEEN = """() => {
  const node = document.activeElement;
  if (!node || node === document.body) return null;
  const style = getComputedStyle(node), box = node.getBoundingClientRect();
  const own = node.matches(".mg-cells") ? "[data-ts=focus]" : node.matches(".mx-cells") ? ".mx-mark" : null;
  const cell = own && node.querySelector(own);
  const outlined = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2;
  return { name: node.tagName + "." + (node.getAttribute("class") || "") + " " + (node.textContent || "").trim().slice(0, 30),
    seen: outlined || !!(cell && cell.offsetWidth), size: [box.width, box.height],
    path: [...document.querySelectorAll("*")].indexOf(node) };
}"""


@pytest.mark.parametrize("name", TABS)
def test_by_tab_alone_one_sees_where_one_is(page, name):
    """From the tab's own button through its panel: each stop has an outline of 2 px, or outlines a cell of its own."""
    open_tab(page, name)
    page.wait_for_timeout(1500)
    page.locator("#ts-tabs > .tab-wrapper [role=tab][aria-selected=true]").focus()
    unseen, visited = [], []
    for _ in range(70):
        page.keyboard.press("Tab")
        stop = page.evaluate(SEEN)
        if not stop or stop["path"] in visited:
            break
        visited.append(stop["path"])
        if not stop["seen"]:
            unseen.append(stop["name"])
        assert min(stop["size"]) > 1, f"{stop['name']} has the focus and no size"
    assert len(visited) > 3 and not unseen


def test_the_way_past_the_controls_is_the_first_stop(page):
    page.evaluate("document.activeElement.blur(); scrollTo(0, 0)")
    page.locator("#ts-head").click(position={"x": 5, "y": 5})
    page.keyboard.press("Tab")
    expect(page.locator(".ai-skip")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#ts-tabs > .tab-wrapper [role=tab][aria-selected=true]")).to_be_focused()


def sheet(page):
    return page.locator("dialog.hs-dialog")


def test_the_sheet_opens_by_key_and_by_button_and_gives_the_focus_back(page):
    open_tab(page, "Attention")
    text = page.locator("#ts-text textarea")
    before = text.input_value()
    text.focus()
    page.keyboard.press("End")
    page.keyboard.type("?p")
    expect(text).to_have_value(before + "?p")  # whoever types means the letter
    expect(sheet(page)).to_be_hidden()
    assert not page.evaluate("document.body.classList.contains('ts-projector')")
    text.fill(before)
    page.locator(".ts-root[role=application]").first.focus()
    page.keyboard.press("?")
    expect(sheet(page)).to_be_visible()
    expect(sheet(page).locator("table.hs-keys")).to_have_count(8)
    page.keyboard.press("Escape")
    expect(sheet(page)).to_be_hidden()
    expect(page.locator(".ts-root[role=application]").first).to_be_focused()
    expect(page.locator("[data-ts=keys]")).to_have_text("Keys?")
    page.locator("[data-ts=keys]").click()
    expect(sheet(page).get_by_role("row", name="Space play and pause").first).to_be_visible()
    sheet(page).get_by_label("? and P work").uncheck()
    page.keyboard.press("Escape")
    expect(page.locator("[data-ts=keys]")).to_be_focused()
    page.keyboard.press("?")  # single keys can be turned off: they are what some dictate
    page.wait_for_timeout(300)
    expect(sheet(page)).to_be_hidden()
    page.locator("[data-ts=keys]").click()
    sheet(page).get_by_label("? and P work").check()
    sheet(page).get_by_role("button", name="Close").click()
    expect(sheet(page)).to_be_hidden()


SAID = {"ArrowLeft": "←", "ArrowRight": "→", "ArrowUp": "↑", "ArrowDown": "↓", " ": "Space", "Escape": "Esc", "PageUp": "Page Up",
        "PageDown": "Page Down", "p": "P", "h": "H", "z": "Ctrl+Z", "y": "Ctrl+Y"}
VIEW = {"aids": "page"}


def test_every_key_that_a_script_takes_is_on_the_sheet():
    listed = {}
    for key, text in WORDS.items():
        if re.fullmatch(r"help_sheet\.at\.\w+\.\w+", key):
            listed.setdefault(key.split(".")[2], set()).update(text.split("|")[0].split(", "))
    taken = {}
    for path in (ROOT / "assets/js").glob("*/*.js"):
        script = path.read_text("utf-8")
        if not re.search(r"keydown", script):
            continue
        view = VIEW.get(path.parent.name, path.parent.name)
        taken.setdefault(view, set()).update(
            re.findall(r'\b(?:key) === "([^"]+)"', script), re.findall(r"\b(Arrow\w+|Page(?:Up|Down)|Home|End|Escape):", script),
            [" "] if re.search(r'" ": ', script) else [])
        if 'startsWith("Arrow")' in script:
            taken[view].update(key for key in SAID if key.startswith("Arrow"))
    assert {"stepper", "beam_tree", "mask_grid", "matrices", "lecture", "page", "formula_cards", "training"} == set(taken)
    for view, keys in taken.items():
        missing = {key for key in keys if SAID.get(key, SAID.get(key.lower(), key)) not in listed[view]}
        assert not missing, (view, missing)


def table(page, region: str):
    """The table of the first picture of a region, opened by its button."""
    page.locator(f"{region} .ai-table").first.press("Enter")
    expect(sheet(page)).to_be_visible()
    return sheet(page).locator("table.hs-table")


def test_the_map_is_a_table_with_headers_too(page):
    open_tab(page, "Attention")
    page.evaluate(f"{HOOK}.goto(4)")
    shown = page.evaluate(f"{HOOK}.picture()")
    one = table(page, ".ts-stage")
    assert one.locator("thead th[scope=col]").all_text_contents()[1:] == shown["columns"]
    rows = one.locator("tbody tr")
    assert rows.locator("th[scope=row]").all_text_contents() == [*shown["rows"][:4], WORDS["stepper.table.received"]]
    third, total = ([float(x.replace("< 0.001", "0")) for x in rows.nth(n).locator("td").all_text_contents()] for n in (2, 4))
    assert third == pytest.approx(shown["values"][2], abs=1.1e-3)
    sums = [sum(column) for column in zip(*shown["values"][:4], strict=True)]
    assert total == pytest.approx(sums, abs=2e-3)
    page.keyboard.press("Escape")
    expect(page.locator(".ts-stage .ai-table").first).to_be_focused()
    course = table(page, ".ts-side")
    expect(course.locator("tbody tr")).to_have_count(page.evaluate(f"{HOOK}.steps()"))
    page.keyboard.press("Escape")


def test_the_mask_is_a_table_too(page):
    open_tab(page, "Masks")
    page.wait_for_function("window.twoStacks.maskGrid && window.twoStacks.maskGrid.geometry().rows > 2")
    grid = page.evaluate("""() => { const hook = window.twoStacks.maskGrid, { stack, layer } = hook.view();
      return hook.effective(stack, layer); }""")
    one = table(page, ".mg-root")
    cells = [row.locator("td").all_text_contents() for row in one.locator("tbody tr").all()]
    said = [WORDS["mask_grid.hidden"], WORDS["mask_grid.visible"]]
    assert cells == [[said[x] for x in row[:len(cells[0])]] for row in grid[:len(cells)]] and len(cells) > 2
    page.keyboard.press("Escape")


def test_matrices_and_the_heatmaps_of_the_training_tab_are_tables_too(page):
    open_tab(page, "Training")
    page.locator("#ts-train-teaching-view .tr-chart").first.wait_for()
    one = table(page, "#ts-train-teaching-view")
    assert one.locator("tbody tr").count() >= 1 and one.locator("tbody td").first.inner_text()
    page.keyboard.press("Escape")
    open_tab(page, "Masks")
    page.get_by_role("button", name=WORDS["page.masks.look"]).click()
    panel = page.locator(".mx-panel:visible").first
    panel.wait_for()
    labels = panel.locator(".mx-col").all_text_contents()
    button = panel.locator(".ai-table")
    button.press("Enter")
    expect(sheet(page).locator("thead th[scope=col]")).to_have_count(len(labels) + 1)
    assert re.fullmatch(r"(−?[\d.]+|−∞|none)( ✓)?", sheet(page).locator("tbody td").first.inner_text())
    page.keyboard.press("Escape")


WITHOUT = """() => [...document.querySelectorAll("#ts-tabs canvas")].filter((one) => one.offsetWidth && !one.closest(".ts-small"))
  .filter((one) => {
    for (let up = one; up && !up.matches("[role=tabpanel]"); up = up.parentNode)
      if (up.parentNode.querySelector(":scope > .ai-table")) return false;
    return true;
  }).map((one) => one.outerHTML.slice(0, 120))"""


def test_every_picture_in_sight_has_a_table_or_words(page):
    """A canvas without a button behind it is one of the small heads, which are buttons with names, or lies under another."""
    for name in TABS:
        open_tab(page, name)
        page.wait_for_timeout(1000)
        without = page.evaluate(WITHOUT)
        assert not without, (name, without)


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


LONGEST = """() => Math.max(0, ...[...document.querySelectorAll("*")].flatMap((one) => {
  const { transitionDuration, animationDuration, animationName } = getComputedStyle(one);
  return [...transitionDuration.split(","), ...(animationName === "none" ? [] : animationDuration.split(","))].map(parseFloat);
}))"""


def test_whoever_wants_no_motion_gets_none(open_page, address):
    """The first run is there at once and whole; nothing plays, and nothing is animated."""
    page = open_page(address, viewport={"width": 1280, "height": 900}, reduced_motion="reduce")
    page.wait_for_selector("[data-ready]")
    assert page.evaluate(f"[{HOOK}.step() === {HOOK}.steps(), {HOOK}.playing()]") == [True, False]
    steps = []
    for _ in range(5):
        page.wait_for_timeout(150)
        steps.append(page.evaluate(f"{HOOK}.step()"))
    assert len(set(steps)) == 1
    page.keyboard.press("?")
    expect(sheet(page)).to_be_visible()
    longest = page.evaluate(LONGEST)
    assert longest <= 0.01
    page.context.close()


LIGHTNESS = """([text, points]) => {
  const clamp = (x, low, high) => Math.max(low, Math.min(high, x)), at = { ramp: { style: {} }, root: document.body };
  const { colourOf } = new Function("at", "clamp", text + "; return { colourOf };")(at, clamp);
  return points.map(([x, both]) => colourOf(x, 1, both));
}"""


def test_scales_need_no_colour_vision(page):
    """Viridis grows lighter from end to end, blue to vermilion is symmetric in lightness, and its ends differ for everyone."""
    script = (ROOT / "assets/js/shared/colour.js").read_text("utf-8")
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
            one, other = lab(seen_by(a, matrix)), lab(seen_by(b, matrix))
            assert sum((x - y) ** 2 for x, y in zip(one, other, strict=True)) ** 0.5 > 12
