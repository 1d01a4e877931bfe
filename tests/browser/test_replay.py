"""A replay in Chromium: any moment, by the tab that drew it, at a chosen speed, with the controls as they were; on from there."""

import json
from dataclasses import replace

import pytest
from playwright.sync_api import expect

from core.examples import saved, saved_search
from core.interventions import Masks, StackMask
from core.noise import NOISES
from core.sessions import Store
from core.sessions.place import folder
from core.settings import Decoding, Settings
from tests.browser.first_tab import text_box, until
from tests.browser.tabs import open_tab
from tests.replayed import ANN

STEPPER = "window.twoStacks.stepper"
A, B = saved()[1], saved()[3]
NOISY = Settings("Two dogs run over the green grass.", noise=NOISES["iid"].usual(rate=0.4, seed=3))
GONE = Settings("A removed run.", decoding=Decoding(max_new_tokens=7))


@pytest.fixture(scope="module")
def shared(address) -> str:
    """A session with every kind of moment: runs, one of them again, looks, a moved noise, a search, a removed run, masks."""
    store = Store(folder())
    id = store.create(ANN, "Ann's").id
    session = store.own(id, ANN)
    masked = replace(A, settings=replace(A.settings, masks=Masks(encoder=StackMask("causal"), cross=StackMask(hidden=(2,)))))
    for record in (A, B, A, saved_search(), masked, replace(A, settings=GONE)):
        store.keep_soon(id, record, ("run", {"changed": {}}))
    store.event_at(id, "look", {"map": "decoder", "layer": "2", "head": "3", "step": 4}, B.id)
    store.event_at(id, "rank", {"alpha": 1.5, "beta": 0.5, "upto": 3}, saved_search().id)
    store.event(id, "noise", {"settings": json.loads(NOISY.to_json())})
    store.writer.flush()
    store.remove(session, store.kept(session)[-1].row)
    store.share(id, ANN, {})
    return id


@pytest.fixture(scope="module")
def page(open_page, address, shared):
    page = open_page(f"{address}/?session={shared}")
    page.wait_for_selector("[data-ready]")
    return page


def jump(page, at: int, tab: str) -> None:
    page.locator(".rb-root [data-ts=pick]").select_option(str(at))
    expect(page.get_by_role("tab", name=tab)).to_have_attribute("aria-selected", "true")
    expect(page.locator(".rb-root [data-ts=count]")).to_have_text(f"{at + 1} of 9")


def test_every_moment_is_shown_on_the_tab_that_drew_it_with_its_controls(page):
    jump(page, 1, "Attention")
    until(page, f"s.run() === {B.id!r}")
    jump(page, 2, "Attention")  # the first run once more: an event, but no record of its own
    until(page, f"s.run() === {A.id!r}")
    expect(text_box(page)).to_have_value(A.settings.text)
    jump(page, 3, "Search")
    expect(page.locator("#ts-search-tree .bt-about, #ts-search-tree [data-ts=about]")).not_to_be_empty()
    assert page.evaluate("window.twoStacks.beamTree.search().run") == saved_search().id
    expect(page.get_by_label("number input for Beams")).to_have_value(str(saved_search().settings.decoding.beams))
    jump(page, 6, "Attention")
    until(page, "s.look().map === 'decoder'")
    assert page.evaluate(f"{STEPPER}.look()") == {"map": "decoder", "layer": "2", "head": "3", "step": 4}
    jump(page, 7, "Search")
    page.wait_for_function("window.twoStacks.beamTree.view().alpha === 1.5")
    assert page.evaluate("(({beta, upto}) => [beta, upto])(window.twoStacks.beamTree.view())") == [0.5, 3]


def test_masks_and_noise_are_set_as_they_were(page):
    jump(page, 4, "Attention")
    open_tab(page, "Masks")
    page.wait_for_function("window.twoStacks.maskGrid && window.twoStacks.maskGrid.masks().cross")
    assert page.evaluate("window.twoStacks.maskGrid.masks()") == {"encoder": {"preset": "causal"}, "cross": {"hidden": [2]}}
    assert page.locator("#ts-masks-grid [data-ts=ask]").is_hidden()
    jump(page, 8, "Noise")
    expect(page.locator("#ts-noise-picker [aria-pressed=true]")).to_have_attribute("data-noise", "iid")
    expect(page.locator("#ts-noise-rate input[type=number]")).to_have_value("0.4")
    expect(page.locator("#ts-noise-view")).to_contain_text("<extra_id_0>")
    expect(text_box(page)).to_have_value(NOISY.text)
    jump(page, 0, "Attention")
    assert page.evaluate("window.twoStacks.maskGrid.masks()") == {}


def test_a_run_that_was_taken_out_shows_its_controls_and_says_so(page):
    jump(page, 5, "Sessions")
    expect(page.locator("#ts-sessions-told")).to_contain_text("taken out of the session")
    expect(text_box(page)).to_have_value(GONE.text)


def test_play_pause_back_forward_and_speed(page):
    bar = page.locator(".rb-root")
    jump(page, 0, "Attention")
    bar.locator("[data-ts=speed]").select_option("12")
    assert page.evaluate(f"{STEPPER}.speed()") == "12"
    bar.locator("[data-ts=all]").click()
    expect(bar.locator("[data-ts=count]")).to_have_text("3 of 9")
    bar.locator("[data-ts=all]").click()  # pause
    page.wait_for_timeout(1200)
    expect(bar.locator("[data-ts=count]")).to_have_text("3 of 9")
    bar.locator("[data-ts=back]").click()
    expect(bar.locator("[data-ts=count]")).to_have_text("2 of 9")
    bar.locator("[data-ts=forward]").click()
    expect(bar.locator("[data-ts=count]")).to_have_text("3 of 9")


def test_a_changed_setting_branches_into_a_session_of_ones_own(open_page, address, shared):
    page = open_page(f"{address}/?session={shared}")
    page.wait_for_selector("[data-ready]")
    jump(page, 0, "Attention")
    text_box(page).fill("A cat sleeps on a chair.")
    page.get_by_role("button", name="Run", exact=True).click()
    until(page, f"s.done() && s.run() !== {A.id!r} && s.steps() > 0")
    page.locator(".ts-root [data-ts=layer]").first.select_option("1")  # kept as a look
    page.wait_for_timeout(1000)
    open_tab(page, "Sessions")
    page.locator(".sl-card").first.click()
    expect(page.locator(".sl-entry")).to_have_count(1)
    page.get_by_role("button", name="Replay", exact=True).click()
    expect(page.locator(".rb-root [data-ts=pick] option")).to_have_count(2)
    store = Store(folder())
    (run, look) = store.file.database.execute(
        "select kind, data from events where session = ? order by id", [page.evaluate("window.twoStacks.replay.value().id")]
    ).fetchall()
    assert run[0] == "run" and shared in run[1] and look[0] == "look" and '"layer": "1"' in look[1]
    assert store.session(shared).records == 4
    page.context.close()
