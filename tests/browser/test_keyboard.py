"""By keys alone: where the focus is, the sheet of keys, and the way through every tab without a mouse."""

import json
import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.first_tab import HOOK
from tests.browser.tabs import open_tab

ROOT = Path(__file__).resolve().parents[2]
WORDS = json.loads((ROOT / "assets/words/en.json").read_text("utf-8"))
pytestmark = pytest.mark.usefixtures("nothing_open")


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


TITLES = ("Attention", "Search", "Masks", "Noise", "Training", "Scores", "Formulas", "Sessions")


@pytest.mark.parametrize("name", TITLES)
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
    assert not taken.pop("minutes")  # it only notices that a key was pressed
    assert {"stepper", "beam_tree", "mask_grid", "matrices", "lecture", "page", "formula_cards", "training"} == set(taken)
    for view, keys in taken.items():
        missing = {key for key in keys if SAID.get(key, SAID.get(key.lower(), key)) not in listed[view]}
        assert not missing, (view, missing)


def reach(page, selector: str, key: str = "Tab", most: int = 160) -> None:
    """Press Tab until the focus is there; each stop on the way is seen, and none holds it."""
    last, again = None, 0
    for _ in range(most):
        if page.evaluate("selector => document.activeElement.matches(selector)", selector):
            stop = page.evaluate(SEEN)
            assert stop["seen"], stop["name"]
            return
        page.keyboard.press(key)
        stop = page.evaluate(SEEN)
        assert stop is None or stop["seen"], stop["name"]
        again = again + 1 if stop and stop["path"] == last else 0
        assert again < 3, f"{stop['name']} holds the focus"
        last = stop and stop["path"]
    pytest.fail(f"{most} times {key} do not reach {selector}")


def to_tab(page, name: str) -> None:
    """From anywhere: past the controls, then by arrows along the tabs."""
    page.locator(".ai-skip").focus()
    page.keyboard.press("Enter")
    chosen = page.locator("#ts-tabs > .tab-wrapper [role=tab][aria-selected=true]")
    expect(chosen).to_be_focused()
    for _ in range(8):
        if chosen.inner_text().strip() == name:
            return
        page.keyboard.press("ArrowRight")
        page.wait_for_timeout(150)
    pytest.fail(f"no tab {name} by arrows")


def test_a_text_is_typed_run_and_stepped(page):
    page.locator(".ai-skip").focus()
    reach(page, "#ts-text textarea")
    page.keyboard.press("Control+A")
    page.keyboard.type("A dog runs.")
    before = page.evaluate(f"{HOOK}.run()")
    page.keyboard.press("Shift+Enter")
    page.wait_for_function(f"old => {HOOK}.done() && {HOOK}.run() !== old", arg=before)
    reach(page, ".ts-root[role=application]")
    page.keyboard.press("Home")
    assert page.evaluate(f"{HOOK}.step()") == 1
    page.keyboard.press("ArrowRight")
    assert page.evaluate(f"{HOOK}.step()") == 2
    page.keyboard.press("End")
    assert page.evaluate(f"{HOOK}.step() === {HOOK}.steps()")


def test_a_cell_of_a_mask_is_closed(page):
    to_tab(page, "Masks")
    page.wait_for_function("window.twoStacks.maskGrid && window.twoStacks.maskGrid.geometry().rows > 2")
    reach(page, ".mg-cells")
    page.keyboard.press("Home")
    grid = ("(() => { const { stack, layer } = twoStacks.maskGrid.view(); "
            "return JSON.stringify(twoStacks.maskGrid.effective(stack, layer)); })()")
    before = page.evaluate(grid)
    page.keyboard.press("Space")
    page.wait_for_function(f"old => {grid} !== old", arg=before)
    page.keyboard.press("Control+z")
    page.wait_for_function(f"old => {grid} === old", arg=before)
    reach(page, ".ai-skip", most=260)  # and out again, round the page


def test_a_text_is_corrupted(page):
    to_tab(page, "Noise")
    page.wait_for_function("window.twoStacks.corruption && window.twoStacks.corruption.pack()")
    reach(page, "button[data-noise=drop]")
    page.keyboard.press("Enter")
    expect(page.locator("button[data-noise=drop]")).to_have_attribute("aria-pressed", "true")
    reach(page, "#ts-noise-fresh")
    page.keyboard.press("Enter")
    reach(page, "#ts-noise-view [data-source]")
    page.keyboard.press("Enter")
    expect(page.locator("#ts-noise-view .nz-edited")).to_contain_text("1 edit")


def test_a_tree_is_walked_and_a_node_forced(page):
    to_tab(page, "Search")
    expect(page.locator("#ts-search-tree .bt-box.bt-best")).not_to_have_count(0)
    reach(page, "svg[role=tree]")
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    node = page.evaluate("twoStacks.beamTree.view().node")
    assert page.evaluate("n => twoStacks.beamTree.search().nodes[n].step", node) == 1
    reach(page, ".bt-go")
    page.keyboard.press("Enter")
    expect(page.locator("#ts-search-tree [data-ts=beside]")).to_contain_text("2 tokens were forced")


def test_a_table_of_scores_is_sorted(page):
    to_tab(page, "Scores")
    expect(page.locator("#ts-scores-board th[data-column]")).not_to_have_count(0)
    reach(page, ".sc-sort")
    column = page.evaluate("document.activeElement.closest('th').dataset.column")
    page.keyboard.press("Enter")
    expect(page.locator(f"#ts-scores-board th[data-column='{column}']")).to_have_attribute("aria-sort", re.compile("ending"))


def test_a_formula_is_moved_and_left(page):
    to_tab(page, "Formulas")
    expect(page.locator("#ts-formulas-cards .fc-cards canvas")).not_to_have_count(0)
    reach(page, ".fc-sheets button:nth-of-type(2)")
    page.keyboard.press("Enter")
    reach(page, ".fc-mover")
    page.keyboard.press("Enter")
    expect(page.locator(".fc-panel input").first).to_be_focused()
    before = page.locator(".fc-panel output").first.inner_text()
    page.keyboard.press("ArrowRight")
    expect(page.locator(".fc-panel output").first).not_to_have_text(before)
    page.keyboard.press("Escape")
    expect(page.locator(".fc-panel")).to_have_count(0)
    assert page.evaluate("document.activeElement.matches('.fc-mover')")


def test_a_session_is_shared_and_replayed(page):
    to_tab(page, "Sessions")
    page.locator("#ts-sessions-list [data-ready]").first.wait_for()
    reach(page, ".sl-card, .sl-card *")
    page.keyboard.press("Enter")
    expect(page.locator(".sl-entry")).not_to_have_count(0)
    reach(page, ".sl-root [data-ts=share]")
    page.keyboard.press("Enter")
    expect(page.locator(".sl-root [data-ts=address]")).to_have_value(re.compile(r"\?session="))
    reach(page, ".sl-root [data-ts=replay]")
    page.keyboard.press("Enter")
    expect(page.locator(".rb-root")).to_be_visible()
    page.locator(".rb-root [data-ts=forward]").focus()
    page.keyboard.press("Enter")
    page.locator(".rb-root [data-ts=done]").focus()
    page.keyboard.press("Enter")
    expect(page.locator(".rb-root")).to_be_hidden()
