"""Situations that only a browser has: eight tabs, two tabs of one person, a reload in mid-run, a full line."""

import httpx
import pytest
from playwright.sync_api import expect

from tests import visitors
from tests.browser.conftest import PATIENCE
from tests.browser.first_tab import text_box, until
from tests.browser.tabs import open_tab
from tests.visitors import ENDLESS, Visitor, hosted

TABS = 8  # a browser opens six connections to one host
READY = "[data-ready]"


@pytest.fixture(scope="module")
def host(tmp_path_factory):
    """The page in this process, so that a test can hold the model's turn."""
    with hosted(tmp_path_factory.mktemp("sessions"), queue_size=1) as page:
        yield page


def ran(page, text: str) -> None:
    before = page.evaluate("window.twoStacks.stepper.run()")
    text_box(page).fill(text)
    page.get_by_role("button", name="Run", exact=True).click()
    until(page, f"s.run() !== {before!r} && s.done()")


def test_eight_tabs_of_one_browser_load_and_each_runs(host, open_page):
    first = open_page(host.address)
    tabs = [first]
    for _ in range(TABS - 1):
        tabs.append(first.context.new_page())
        tabs[-1].set_default_timeout(1000 * PATIENCE)
        tabs[-1].goto(host.address)
    for number, page in enumerate((tabs[0], tabs[-1])):
        page.wait_for_selector(READY, state="attached")
        ran(page, f"Dog number {number} runs.")
    assert len(host.engine.keeper._visits) >= TABS
    for page in tabs:  # as a browser does when a tab is closed; playwright closes without it
        page.evaluate("window.dispatchEvent(new PageTransitionEvent('pagehide', { persisted: false }))")
    visitors.until(lambda: not host.engine.keeper._visits)  # each said that it was closed
    first.context.close()


def test_two_tabs_of_one_browser_keep_their_own_and_share_their_sessions(host, open_page):
    one = open_page(host.address)
    one.wait_for_selector(READY, state="attached")
    ran(one, "A first cat sleeps.")  # from here on this browser has its key
    other = one.context.new_page()
    other.set_default_timeout(1000 * PATIENCE)
    other.goto(host.address)
    other.wait_for_selector(READY, state="attached")
    ran(other, "A second bird sings.")
    assert text_box(one).input_value() == "A first cat sleeps."
    shown = [page.evaluate("window.twoStacks.stepper.run()") for page in (one, other)]
    assert shown[0] != shown[1]
    open_tab(other, "Sessions")
    expect(other.locator("#ts-sessions-list")).to_contain_text("A first cat sleeps.")
    expect(other.locator("#ts-sessions-list")).to_contain_text("A second bird sings.")
    one.context.close()


def test_a_reload_in_mid_run_ends_it_keeps_what_was_made_and_the_page_runs_on(host, open_page):
    page = open_page(host.address)
    page.wait_for_selector(READY, state="attached")
    ran(page, "A small horse.")
    text_box(page).fill("R " + ENDLESS)
    page.get_by_role("button", name="Run", exact=True).click()
    visitors.until(lambda: host.engine.making._told)
    page.reload()
    visitors.until(lambda: not host.engine.making._told)
    page.wait_for_selector(READY, state="attached")
    ran(page, "A large horse.")
    open_tab(page, "Sessions")
    expect(page.locator("#ts-sessions-list")).to_contain_text("A small horse.")
    expect(page.locator("#ts-sessions-list")).to_contain_text("A large horse.")
    store = host.engine.keeper.store
    found = store.file.database.execute("select status, (select count(*) from steps where record = records.id) from records"
                                        " where input = ?", ["R " + ENDLESS]).fetchall()
    assert found and all(status in ("stopped", "done") and steps for status, steps in found)
    page.context.close()


@pytest.mark.parametrize(("locale", "words"), [
    ("en-GB", "no more fit. Wait half a minute"), ("de-DE", "mehr passen nicht hinein")])
def test_a_full_line_is_told_on_the_page_and_the_text_stays(host, open_page, locale, words):
    page = open_page(host.address, locale=locale)
    page.wait_for_selector(READY, state="attached")
    told = httpx.get(f"{host.address}/config", timeout=60).json()
    crowd = [Visitor(host.address, told) for _ in range(17)]
    with host.engine.turn:
        for number, visitor in enumerate(crowd[:16]):
            visitor.press(f"{locale} dog number {number}.")
        visitors.until(lambda: host._queue.get_active_worker_count() == 16)
        crowd[16].press("One waits.")
        text_box(page).fill("A sentence that is not to be lost.")
        page.locator("#ts-run").click()
        expect(page.locator(".ms-trouble")).to_contain_text(words)
        assert text_box(page).input_value() == "A sentence that is not to be lost."
    for visitor in crowd:
        list(visitor.messages())
        visitor.leave()
    before = page.evaluate("window.twoStacks.stepper.run()")
    page.locator("#ts-run").click()
    until(page, f"s.run() !== {before!r} && s.done()")
    page.context.close()
