"""The noise tab in Chromium: first picture, sliders, links on hover, edits, rebuilding, the table, hostile tokens, phone."""

import re

import pytest
from playwright.sync_api import expect

from tests import models as tiny
from tests.browser.tabs import opened

HOOK = "window.twoStacks.corruption"
HOSTILE = "A dog <img src=x onerror=alert(1)> </s> <script>alert(2)</script> runs in the park."


@pytest.fixture(scope="module")
def address(serve, tmp_path_factory) -> str:
    """The app with a tiny BART beside the bundled model: its vocabulary has a mask."""
    folder = tmp_path_factory.mktemp("models")
    tiny.saved(tiny.noisy("bart"), folder / "tiny")
    return serve("app", "--models-dir", str(folder))


@pytest.fixture(scope="module")
def page(open_page, address):
    return opened(open_page, address, "noise")


@pytest.fixture(autouse=True)
def no_edits(request):
    """Each test starts from the span corruption of one text, without edits."""
    if "page" in request.fixturenames:
        page = request.getfixturevalue("page")
        if page.locator("#ts-noise-view [data-ts=reset]").is_visible():
            page.locator("#ts-noise-view [data-ts=reset]").click()
        write(page, "A girl with a yellow umbrella is waiting for the bus in the rain.")
        pick(page, "spans")
        until(page, "p.requested === 0.15")


def pack(page):
    return page.evaluate(f"{HOOK}.pack()")


def until(page, condition: str) -> None:
    page.wait_for_function(f"() => {{ const h = {HOOK}, p = h.pack(); return {condition}; }}", timeout=30_000)


def settled(page) -> None:
    """Until half a second from now has brought no other pack: a changed text is answered twice, text first, shares after."""
    page.evaluate("window.settling = {}")
    page.wait_for_function(f"""() => {{
      const p = {HOOK}.pack(), now = p.id + !!p.shares, seen = window.settling;
      if (seen.now !== now) Object.assign(seen, {{now, since: performance.now()}});
      return performance.now() - seen.since > 500;
    }}""", timeout=30_000)


def write(page, text: str) -> None:
    first = text.split()[0]
    page.locator("#ts-text textarea").fill(text)
    page.locator("#ts-text textarea").press("End")
    until(page, f"p.source[0][0] === {first!r} && !p.hide.length && !p.show.length")
    settled(page)


def pick(page, name: str) -> None:
    page.locator(f"button[data-noise={name}]").click()
    until(page, f"p.noise === {name!r}")
    settled(page)


def slide(page, name: str, value: float) -> None:
    box = page.locator(f"#ts-noise-{name} input[type=number]")
    box.fill(str(value))
    box.press("Tab")


def test_the_tab_shows_a_corrupted_text_without_a_click(open_page, address):
    page = opened(open_page, address, "noise")
    found = pack(page)
    assert found["noise"] == "spans" and found["spans"] >= 2 and len(page.evaluate(f"{HOOK}.shares()")) == len(found["source"])
    assert page.locator("#ts-noise-view .nz-bar i").count() == len(found["source"])
    expect(page.locator("#ts-noise-view")).to_contain_text("requested 30.0 %, achieved")
    page.context.close()


def test_a_slider_draws_text_and_histogram_anew(page):
    before = pack(page)
    slide(page, "rate", 0.6)
    until(page, "p.requested === 0.6 && h.shares().length === p.source.length && p.shares")
    after = pack(page)
    assert after["id"] != before["id"] and sum(after["mask"]) > sum(before["mask"])
    bars = page.locator("#ts-noise-view .nz-bar > i")
    heights = bars.evaluate_all("bars => bars.map((bar) => parseFloat(bar.style.height))")
    assert heights == pytest.approx([100 * share for share in after["shares"]], abs=1e-3)
    page.locator("#ts-noise-fresh").click()
    until(page, f"p.id !== {after['id']!r}")


def test_hover_links_a_span_in_all_three_lines(page):
    span = page.locator("#ts-noise-view [data-ts=corrupted] [data-span='0']").first
    span.hover()
    for line in ("source", "corrupted", "target"):
        linked = page.locator(f"#ts-noise-view [data-ts={line}] .nz-linked")
        expect(linked.first).to_be_visible()
        assert set(linked.evaluate_all("nodes => nodes.map((n) => n.dataset.span)")) == {"0"}
    expect(page.locator("#ts-noise-view .nz-tip")).to_contain_text("stands for")
    page.locator("#ts-noise-view [data-source='0']").hover()
    expect(page.locator("#ts-noise-view .nz-tip")).to_contain_text("of 200 seeds")


def test_a_click_hides_a_token_and_the_mask_is_kept(page):
    page.locator("#ts-noise-view [data-source='2']").click()
    until(page, "p.hide.length === 1 && p.mask[2] && p.corrupted.from.indexOf(2) < 0")
    hidden = [k for k, on in enumerate(pack(page)["mask"]) if on and k != 2][0]
    page.locator(f"#ts-noise-view [data-source='{hidden}']").click()
    until(page, f"p.show.length === 1 && !p.mask[{hidden}]")
    slide(page, "seed", 7)
    until(page, f"p.shares && p.hide[0] === 2 && p.show[0] === {hidden} && p.mask[2] && !p.mask[{hidden}]")
    expect(page.locator("#ts-noise-view .nz-edited")).to_have_text("2 edits by hand")
    page.locator("#ts-noise-view [data-ts=reset]").click()
    until(page, "!p.hide.length && !p.show.length")


@pytest.fixture
def arrive(page):
    """From here on answers are held. A call waits until so many are there, then they arrive, the newest first."""
    page.evaluate("""() => {
      const real = window.fetch, held = window.held = [];
      window.fetch = async (...asked) => {
        const answer = await real(...asked);
        if (String(asked[0].url ?? asked[0]).includes("/run/predict")) await new Promise((go) => held.push(go));
        return answer;
      };
      window.arrive = async () => {
        window.fetch = real;
        for (; held.length; await new Promise((go) => setTimeout(go, 100))) held.pop()();
      };
    }""")

    def all_of(count: int) -> None:
        page.wait_for_function("(count) => window.held.length >= count", arg=count)
        page.evaluate("window.arrive()")
        settled(page)

    yield all_of
    page.evaluate("window.arrive()")


def test_a_slider_moved_while_another_noise_is_drawn_stays_where_it_is(page, arrive):
    page.locator("button[data-noise=iid]").click()
    expect(page.locator("#ts-noise-rate input[type=number]")).to_have_value("0.15")
    slide(page, "rate", 0.55)
    arrive(2)
    found = pack(page)
    assert (found["noise"], found["requested"]) == ("iid", 0.55) and len(found["shares"]) == len(found["source"])
    expect(page.locator("#ts-noise-rate input[type=number]")).to_have_value("0.55")


def test_a_noise_picked_while_a_slider_is_drawn_is_what_is_shown(page, arrive):
    slide(page, "rate", 0.4)
    page.locator("button[data-noise=drop]").click()
    arrive(2)
    assert (pack(page)["noise"], pack(page)["requested"]) == ("drop", 0.15)


def test_edits_made_while_others_are_drawn_are_all_kept(page, arrive):
    for place in (2, 3, 4):
        page.locator(f"#ts-noise-view [data-source='{place}']").click()
    arrive(1)
    until(page, "p.hide.length === 3 && p.mask[2] && p.mask[3] && p.mask[4]")


def test_keyboard_edits_keep_the_focus(page):
    page.locator("#ts-noise-view [data-source='1']").focus()
    page.keyboard.press("Enter")
    until(page, "p.hide[0] === 1")
    assert page.evaluate("document.activeElement.dataset.source") == "1"


def test_what_the_vocabulary_cannot_do_says_why(page):
    button = page.locator("button[data-noise=text_infilling]")
    assert button.get_attribute("aria-disabled") == "true" and "no mask token" in button.get_attribute("title")
    before = pack(page)
    button.click(force=True)  # a disabled one, so Playwright would wait
    expect(page.locator("#ts-noise-picker")).to_contain_text("no mask token")
    assert pack(page)["id"] == before["id"]


def test_only_the_controls_that_a_noise_reads_are_there(page):
    expect(page.locator("#ts-noise-mean_span")).to_be_visible()
    pick(page, "document_rotation")
    expect(page.locator("#ts-noise-mean_span")).to_have_count(0)
    expect(page.locator("#ts-noise-rotate_rate")).to_be_visible()
    moved = page.locator("#ts-noise-view .nz-kind-moved .nz-tag").first
    expect(moved).to_have_text(re.compile(r"← \d+"))
    assert page.locator("#ts-noise-view button[data-source]").count() == 0  # no single tokens to edit


def test_hostile_tokens_are_shown_as_text(page):
    write(page, HOSTILE)
    slide(page, "rate", 0.5)
    until(page, "p.requested === 0.5")
    assert page.locator("img[src=x]").count() == 0
    expect(page.locator("#ts-noise-view [data-ts=source]")).to_contain_text("</s>")


def test_a_text_that_cannot_be_read_is_refused_and_the_picture_stays(page):
    settled(page)
    before = pack(page)
    page.locator("#ts-text textarea").fill("x" * 5000)
    expect(page.locator("#ts-noise-view .nz-refusal")).to_contain_text("5,000 characters")
    assert pack(page)["id"] == before["id"]


def test_the_model_rebuilds_each_span_and_the_table_streams(page):
    page.wait_for_function("document.querySelector('#ts-status').innerText.includes('ready')", timeout=180_000)
    page.locator("#ts-noise-rebuild").click()
    page.wait_for_selector("[data-kind=rebuilt]")
    view = page.locator("#ts-noise-rebuilding")
    assert view.locator(".nz-span").count() == pack(page)["spans"] == view.locator(".nz-strip").count()
    expect(view).not_to_contain_text("never learned")
    for said in ("nats per token", "teacher forced", "log P of the truth"):
        expect(view).to_contain_text(said)
    page.evaluate("""() => { window.counts = new Set();
      const node = document.querySelector("#ts-noise-table tbody");
      new MutationObserver(() => window.counts.add(node.children.length)).observe(node, { childList: true }); }""")
    page.locator("#ts-noise-all").click()
    page.wait_for_selector("[data-rows='17']", timeout=180_000)
    assert len(page.evaluate("[...window.counts]")) > 3  # as they came, not all at once
    expect(page.locator("tr[data-noise=spans]")).to_contain_text("Mean span length 3: GLUE 83.49")
    expect(page.locator("tr[data-noise=text_infilling]")).to_contain_text("no mask token")


def test_one_click_brings_the_model_that_restores_and_a_text_that_it_knows(open_page, address):
    page = opened(open_page, address, "noise")
    page.locator("#ts-noise-picker").get_by_role("button", name="use pocket-bart").click()
    expect(page.locator("button[data-noise=text_infilling]")).to_have_attribute("aria-disabled", "false")
    expect(page.locator("#ts-noise-picker [data-ts=use]")).to_be_hidden()
    pick(page, "text_infilling")
    rebuilding = page.locator("#ts-noise-rebuilding")
    page.locator("#ts-noise-rebuild").click()
    expect(rebuilding).to_contain_text("learned on texts of 5 captions", timeout=180_000)
    page.locator("#ts-noise-captions").click()
    expect(rebuilding).to_contain_text("earlier drawing")
    until(page, "p.source.filter(([text]) => text === '.').length === 5 && p.spans")
    settled(page)
    page.locator("#ts-noise-rebuild").click()
    expect(rebuilding).not_to_contain_text("captions")
    expect(rebuilding.locator("[data-ts=former]")).to_be_hidden()
    expect(rebuilding).to_contain_text("nats per token")
    page.context.close()


def test_a_series_of_masks_and_all_of_bart_with_a_mask_token(page):
    page.locator("#ts-model input").fill("tiny")
    page.locator("#ts-model input").press("Enter")
    expect(page.locator("button[data-noise=roberta]")).to_have_attribute("aria-disabled", "false")
    write(page, "a dog runs on the beach. two men sits under the tree.")
    pick(page, "roberta")
    expect(page.locator("#ts-noise-view .nz-epoch")).to_have_count(4)
    slide(page, "epoch", 2)
    expect(page.locator("#ts-noise-view .nz-epoch.nz-now")).to_contain_text("epoch 2")
    pick(page, "combined")
    page.locator("#ts-noise-controls input[name=rotation]").check()
    until(page, "p.noise === 'combined' && p.corrupted.kind.includes('moved')")
    page.locator("#ts-model input").fill("pocket-t5")
    page.locator("#ts-model input").press("Enter")
    expect(page.locator("#ts-noise-view .nz-refusal")).to_contain_text("needs mask token")
    pick(page, "spans")
    expect(page.locator("#ts-noise-view .nz-refusal")).to_be_empty()


def test_a_phone_in_german(open_page, address):
    page = opened(open_page, f"{address}/?__theme=dark", "noise", viewport={"width": 390, "height": 844}, locale="de-DE")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    expect(page.locator("#ts-noise-view")).to_contain_text("verlangt 30.0 %")
    expect(page.locator("#ts-noise-picker")).to_contain_text("Spannen verbergen")
    expect(page.locator("#ts-noise-rate")).to_contain_text("Anteil der Token")
    page.context.close()
