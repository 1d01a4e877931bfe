"""The sessions tab in Chromium: runs listed, replayed, shared by a link, taken away and brought back."""

import json
import urllib.error
import urllib.request
import zipfile
from pathlib import Path

import pytest
from playwright.sync_api import expect

from core.comparison import compare
from core.examples import EXAMPLES, saved
from core.models import Models
from core.noise import NOISES, corrupt, units
from core.sessions import Store
from core.sessions.place import folder
from tests.browser.first_tab import HOOK, run, text_box, until
from tests.browser.tabs import open_tab
from tests.browser.test_page import HOSTILE
from tests.replayed import ANN


@pytest.fixture(scope="module")
def shared(address) -> str:
    """The id of somebody else's session with every kind of record that is drawn; its link shows a step of an encoder map."""
    store, traces = Store(folder()), saved()
    session = store.create(ANN, "<b>Ann's</b> lesson")
    vocabulary, rows = Models().vocabulary("pocket-t5")
    noisy = corrupt(units(vocabulary, "Two dogs run over the green grass.", 128, rows), NOISES["spans"].usual(rate=0.3))
    row = [store.keep(session.id, record) for record in (traces[1], traces[2], compare(traces[1], traces[1]), noisy)][0]
    store.share(session.id, ANN, {"row": row, "step": 3, "map": "encoder", "layer": "2", "head": "mean"})
    return session.id


def sessions_tab(page) -> None:
    page.get_by_role("tab", name="Sessions").click()
    page.locator("#ts-sessions-list [data-ready]").first.wait_for()


def test_what_is_run_is_listed_as_it_happens_and_replayed_to_the_last_number(page):
    run(page, HOSTILE)
    until(page, "!s.playing() && s.step() === s.steps()")   # what was fast is drawn after it is there
    before = page.evaluate(f"({{run: {HOOK}.run(), numbers: {HOOK}.picture().values}})")
    page.get_by_role("button", name=EXAMPLES[1].name).click()
    until(page, f"s.run() === {saved()[1].id!r}")
    sessions_tab(page)
    page.locator(".sl-card").first.click()
    expect(page.locator(".sl-entry")).to_have_count(2)
    expect(page.locator(".sl-entry").first).to_contain_text("<script>")
    assert page.locator("img[src=x]").count() == 0
    page.locator(".sl-entry").first.click()
    until(page, f"s.run() === {before['run']!r} && s.done() && !s.playing() && s.step() === s.steps()")
    assert page.evaluate(f"{HOOK}.picture().values") == before["numbers"]
    expect(text_box(page)).to_have_value(HOSTILE)
    expect(page.locator(".rb-root")).to_contain_text("1 of 2")
    page.locator(".rb-root [data-ts=forward]").click()
    until(page, f"s.run() === {saved()[1].id!r}")
    page.locator(".rb-root [data-ts=done]").click()
    expect(page.locator(".rb-root")).to_be_hidden()


def test_play_all_goes_from_run_to_run(page):
    sessions_tab(page)
    page.get_by_role("button", name="Replay", exact=True).click()
    expect(page.locator(".rb-root [data-ts=count]")).to_have_text("1 of 2")
    page.locator(".rb-root [data-ts=speed]").select_option("12")
    page.locator(".rb-root [data-ts=all]").click()
    expect(page.locator(".rb-root [data-ts=count]")).to_have_text("2 of 2")
    expect(page.locator(".rb-root [data-ts=all]")).to_have_attribute("aria-pressed", "false")


def test_a_shared_link_opens_elsewhere_and_a_private_one_does_not(page, open_page, address):
    sessions_tab(page)
    page.locator(".sl-root [data-ts=name]").fill("My <i>lesson</i>")
    page.locator(".sl-root [data-ts=note]").fill("what to look at")
    page.locator(".sl-root [data-ts=note]").blur()
    expect(page.locator(".sl-card").first).to_contain_text("My <i>lesson</i>")
    page.get_by_role("button", name="Share by link").click()
    link = page.locator(".sl-root [data-ts=address]").input_value()
    assert link.startswith(f"{address}/?session=") and len(link) > len(address) + 30
    other = open_page(link)
    expect(other.locator(".rb-root")).to_contain_text("My <i>lesson</i>")
    other.wait_for_selector("[data-ready]")
    until(other, f"s.run() === {saved()[1].id!r}")
    other.context.close()
    page.get_by_role("button", name="Stop sharing").click()
    expect(page.get_by_role("button", name="Share by link")).to_be_visible()
    other = open_page(link)
    expect(other.locator("#ts-notice")).to_contain_text("the link is wrong, or it was deleted or is not shared")
    other.context.close()


def test_a_link_shows_the_map_the_layer_and_the_step_that_were_shared(open_page, address, shared):
    page = open_page(f"{address}/?session={shared}", viewport={"width": 390, "height": 844})
    page.wait_for_selector("[data-ready]")
    until(page, f"s.run() === {saved()[1].id!r}")
    until(page, "s.look().step === 3")
    assert page.evaluate(f"{HOOK}.look()") == {"map": "encoder", "layer": "2", "head": "mean", "step": 3}
    expect(page.locator(".rb-root")).to_contain_text("<b>Ann's</b> lesson")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.context.close()


def test_every_kind_of_record_is_drawn_again(open_page, address, shared):
    page = open_page(f"{address}/?session={shared}&__theme=dark")
    page.wait_for_selector("[data-ready]")
    pick = page.locator(".rb-root [data-ts=pick]")
    pick.select_option("2")
    expect(page.locator("#ts-masks-told")).to_contain_text("tokens changed")
    page.wait_for_timeout(500)  # the tab's own opening has been answered by then
    expect(page.locator("#ts-masks-told")).to_contain_text("tokens changed")
    pick.select_option("3")
    expect(page.locator("#ts-sessions-noise")).to_contain_text("<extra_id_0>")
    expect(page.locator("#ts-sessions-told")).to_be_hidden()
    expect(page.locator(".sl-root")).to_contain_text("Somebody shared this session")
    pick.select_option("1")
    until(page, f"s.run() === {saved()[2].id!r}")
    page.context.close()


def test_a_session_goes_out_as_a_file_and_comes_back(page, tmp_path):
    sessions_tab(page)
    with page.expect_download() as got:
        page.get_by_role("button", name="Download", exact=True).click()
    path = tmp_path / "session.zip"
    got.value.save_as(path)
    with zipfile.ZipFile(path) as archive:
        assert json.loads(archive.read("session.json"))["name"] == "My <i>lesson</i>"
    count = page.locator(".sl-card").count()
    page.locator(".sl-root [data-ts=import]").set_input_files(path)
    expect(page.locator(".sl-card")).to_have_count(count + 1)
    expect(page.locator(".sl-entry")).to_have_count(2)
    broken = tmp_path / "broken.zip"
    broken.write_bytes(Path(path).read_bytes()[:-40])
    page.locator(".sl-root [data-ts=import]").set_input_files(broken)
    expect(page.locator(".sl-refusal")).to_contain_text("not a usable session file")
    expect(page.locator(".sl-card")).to_have_count(count + 1)


def test_a_page_of_a_session_replays_from_disk_without_the_server(page, open_page, tmp_path):
    sessions_tab(page)
    with page.expect_download() as got:
        page.get_by_role("button", name="As a web page").click()
    path = tmp_path / "session.html"
    got.value.save_as(path)
    alone = open_page(f"file://{path}", color_scheme="dark", viewport={"width": 390, "height": 844})
    until(alone, "s.done() && s.steps() > 0")
    alone.locator("#pick").select_option("1")
    until(alone, f"s.run() === {saved()[1].id!r}")
    alone.locator("[data-ts=root]").focus()
    alone.keyboard.press("Home")
    until(alone, "s.step() === 1 && s.picture().values.length === 1")
    assert alone.evaluate("document.documentElement.scrollWidth") <= 390
    assert alone.locator("img").count() == 0
    alone.context.close()


@pytest.mark.parametrize("path", ["sessions.db", "sessions.db-wal", "secret", "../sessions.db", ""])
def test_no_session_is_served_as_a_file(address, shared, path):
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(f"{address}/gradio_api/file={folder()}/{path}")
    assert refused.value.code in (403, 404)


def test_delete_and_forget_ask_once_more(page):
    sessions_tab(page)
    count = page.locator(".sl-card").count()
    page.get_by_role("button", name="Delete", exact=True).click()
    expect(page.locator(".sl-card")).to_have_count(count)
    page.get_by_role("button", name="Really delete?").click()
    expect(page.locator(".sl-card")).to_have_count(count - 1)
    page.get_by_role("button", name="Forget everything of mine").click()
    page.get_by_role("button", name="Really forget everything?").click()
    expect(page.locator(".sl-card")).to_have_count(0)
    expect(page.locator(".sl-root")).to_contain_text("Nothing has been run in this browser yet")


def test_a_click_while_the_bar_of_tabs_is_being_drawn_forgets_no_tab(open_page, address):
    page = open_page(address)
    page.wait_for_selector("[data-ready]")
    open_tab(page, "Masks")
    selected = "#ts-tabs [role=tab][aria-selected=true]"
    page.wait_for_function(f"document.querySelector('{selected}').textContent === 'Masks'")
    page.evaluate(f"document.querySelector('{selected}').removeAttribute('aria-selected'); document.body.click()")
    page.wait_for_timeout(50)   # a fault in the listener is a trouble, and fails the test
    assert page.evaluate("window.twoStacks.replay.tab()") == "masks"
    page.context.close()
