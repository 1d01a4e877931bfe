"""Twenty hostile texts wherever tokens are drawn: not one is run, and each is shown as what it is."""

from dataclasses import replace

import pytest
from playwright.sync_api import expect

from core.comparison import compare
from core.examples import saved, saved_search
from core.interventions import Masks, StackMask
from core.models import Models
from core.noise import NOISES, corrupt, units
from core.sessions import Store
from core.sessions.place import folder
from tests.browser.first_tab import text_box, until
from tests.browser.tabs import open_tab
from tests.replayed import ANN

PAYLOADS = (
    "<script>window.fired=1</script>", "<img src=x onerror=window.fired=1>", "<svg onload=window.fired=1>",
    "<iframe srcdoc='<script>parent.fired=1</script>'></iframe>", "<a href=javascript:window.fired=1>x</a>",
    "<body onload=window.fired=1>", "<input autofocus onfocus=window.fired=1>", "<details open ontoggle=window.fired=1>",
    "<video><source onerror=window.fired=1></video>", "<math><mtext></math><img src=x onerror=window.fired=1>",
    "\"><img src=x onerror=window.fired=1>", "'><img src=x onerror=window.fired=1>", "</script><script>window.fired=1</script>",
    "</textarea><img src=x onerror=window.fired=1>", "</option></select><img src=x onerror=window.fired=1>",
    "${window.fired=1}", "{{constructor.constructor('window.fired=1')()}}", "`;window.fired=1;`",
    "[x](javascript:window.fired=1)![x](x\"onerror=\"window.fired=1)", "<style>@import'javascript:window.fired=1'</style>",
)
ALL = " ".join(PAYLOADS)
PLANTED = "img, iframe, video, math, [onload], [onerror], [onfocus], [ontoggle], a[href^='javascript'], #ts-tabs script"


def payload(at: int) -> str:
    return PAYLOADS[at % len(PAYLOADS)]


def named(tokens, first: int = 0) -> tuple:
    return tuple(replace(token, text=payload(first + at)) for at, token in enumerate(tokens))


def spoilt(trace, **settings):
    """A run whose tokens, candidates and text are the payloads, every one of them at least once."""
    def step(one):
        texts = tuple(tuple(payload(at + k) for k in range(len(row))) for at, row in enumerate(one.candidate_texts, one.index))
        ranked = {} if one.ranked_texts is None else {"ranked_texts": tuple(map(payload, range(len(one.ranked_texts))))}
        chosen = tuple(payload(one.index + 7 + at) for at in range(len(one.texts)))
        return replace(one, texts=chosen, candidate_texts=texts, **ranked)

    return replace(trace, settings=replace(trace.settings, text=ALL, **settings), source=named(trace.source), text=ALL,
                   start=replace(trace.start, text=payload(5)), steps=tuple(map(step, trace.steps)),
                   target=named(trace.target, 7))


def noisy():
    """A text under a noise whose tokens are the payloads."""
    vocabulary, rows = Models().vocabulary("pocket-t5")
    made = corrupt(units(vocabulary, "Two dogs run over the green grass. " * 2, 128, rows), NOISES["spans"].usual(rate=0.3))
    return replace(made, text=ALL, source=named(made.source), corrupted=named(made.corrupted), target=named(made.target))


@pytest.fixture(scope="module")
def shared(address) -> str:
    store = Store(folder())
    session = store.create(ANN, PAYLOADS[1])
    store.annotate(session.id, ANN, ALL[:2000])
    plain = spoilt(saved()[0])
    masked = spoilt(replace(saved()[0], steps=saved()[0].steps[:5], target=saved()[0].target[:5]),
                    masks=Masks(encoder=StackMask("causal")))
    for record in (plain, masked, spoilt(saved_search()), compare(plain, masked), noisy()):
        row = store.keep(session.id, record)
        store.remark(session, row, ALL[:2000], "row")
        store.event(session.id, "run", {"changed": {one: one for one in PAYLOADS}}, row)
    store.writer.flush()
    store.share(session.id, ANN, {})
    return session.id


@pytest.fixture(scope="module")
def page(open_page, address, shared):
    page = open_page(f"{address}/?session={shared}")
    page.wait_for_selector("[data-ready]", state="attached")  # the link opens another tab
    return page


def calm(page) -> None:
    """Nothing was run, and nothing that could run was put into the page."""
    page.wait_for_timeout(50)  # an error of an image comes a moment later
    assert page.evaluate("window.fired") is None
    assert page.locator(PLANTED).count() == 0


def replayed(page, at: int, tab: str) -> None:
    page.locator(".rb-root [data-ts=pick]").select_option(str(at))
    expect(page.get_by_role("tab", name=tab)).to_have_attribute("aria-selected", "true")
    expect(page.locator(".rb-root [data-ts=count]")).to_contain_text(f"{at + 1} of 5")


def test_of_a_replayed_run(page):
    replayed(page, 0, "Attention")
    until(page, "s.done() && s.steps() > 10")
    page.evaluate("window.twoStacks.stepper.goto(99)")
    shown = set(page.locator("[data-ts=source] > *, [data-ts=output] > *").all_inner_texts())
    assert shown >= set(PAYLOADS)
    for map in ("decoder", "encoder", "cross"):
        page.locator("[data-ts=map]").first.select_option(map)
        page.locator(".ts-rows > *").first.hover()
        page.locator("[data-ts=cells]").first.hover()
        calm(page)
    for box in ("words", "multiples", "hard"):
        page.locator(f"[data-ts={box}]").first.check()
        calm(page)
        page.locator(f"[data-ts={box}]").first.uncheck()


def test_of_a_replayed_search_in_tree_candidates_and_ranking(page):
    replayed(page, 2, "Search")
    expect(page.locator("#ts-search-tree [data-node]").first).to_be_visible()
    for at in range(0, 12, 3):
        page.locator("#ts-search-tree [data-node]").nth(at).hover()
        page.locator("#ts-search-tree [data-node]").nth(at).click()
        calm(page)
    labels = page.locator("#ts-search-tree [data-node]").evaluate_all("all => all.map((one) => one.ariaLabel).join()")
    assert all(one in labels for one in PAYLOADS[:8])
    expect(page.locator("#ts-search-tree .bt-chip").first).to_have_text(PAYLOADS[0])


def test_of_a_replayed_comparison_in_grid_sentence_and_heatmaps(page):
    replayed(page, 3, "Masks")
    expect(page.locator("#ts-masks-told")).to_contain_text(PAYLOADS[9])
    expect(page.locator("#ts-masks-maps .mx-col").first).to_contain_text(PAYLOADS[0])
    for stack in ("encoder", "decoder", "cross"):
        page.locator(f"#ts-masks-grid [data-ts={stack}]").click()
        page.locator("#ts-masks-grid [data-ts=cells]").hover()
        calm(page)


def test_of_a_replayed_noise_and_in_the_list_of_runs(page):
    replayed(page, 4, "Sessions")
    expect(page.locator("#ts-sessions-noise")).to_contain_text(PAYLOADS[0])
    page.locator("#ts-sessions-noise [data-source]").first.hover()
    expect(page.locator(".sl-entry").first).to_contain_text(PAYLOADS[0])
    expect(page.locator(".sl-changes").first).to_contain_text(PAYLOADS[-1])
    assert page.locator(".sl-root [data-ts=note]").input_value() == ALL[:2000]
    calm(page)


def test_in_pictures_that_are_taken_away(page, open_page, tmp_path):
    replayed(page, 2, "Search")
    for tab, within in (("Attention", ".ts-root"), ("Search", "#ts-search-tree"), ("Masks", "#ts-masks-grid")):
        open_tab(page, tab)
        with page.expect_download() as got:
            page.locator(f"{within} [data-ts=svg]").first.click()
        path = tmp_path / f"{tab}.svg"
        got.value.save_as(path)
        alone = open_page(f"file://{path}")
        assert alone.evaluate("document.documentElement.tagName") == "svg" and alone.evaluate("window.fired") is None
        assert alone.locator("script, img, iframe, foreignObject").count() == 0
        alone.context.close()


def test_on_a_lectures_page(page):
    open_tab(page, "Sessions")
    page.get_by_role("button", name="Present").click()
    expect(page.locator(".lc-root")).to_be_visible()
    for key in ("ArrowRight", "ArrowRight", "ArrowDown", "ArrowRight"):
        page.keyboard.press(key)
        calm(page)
    expect(page.locator(".lc-note")).to_contain_text(PAYLOADS[0])
    page.keyboard.press("Escape")
    expect(page.locator(".lc-root")).to_be_hidden()


def test_on_a_page_of_its_own(page, open_page, tmp_path):
    open_tab(page, "Sessions")
    with page.expect_download() as got:
        page.get_by_role("button", name="As a web page").click()
    path = tmp_path / "session.html"
    got.value.save_as(path)
    alone = open_page(f"file://{path}")
    until(alone, "s.done() && s.steps() > 0")
    alone.evaluate("window.twoStacks.stepper.goto(99)")
    assert alone.title().startswith(PAYLOADS[1])
    assert alone.evaluate("window.fired") is None
    assert alone.locator("img, iframe, video, math, [onload], [onerror]").count() == 0
    alone.context.close()


def test_typed_on_every_tab_that_reads_a_text(page):
    open_tab(page, "Attention")
    for first in range(0, len(PAYLOADS), 5):
        text, before = " ".join(PAYLOADS[first:first + 5]), page.evaluate("window.twoStacks.stepper.run()")
        text_box(page).fill(text)
        page.get_by_role("button", name="Run", exact=True).click()
        until(page, f"s.run() !== {before!r} && s.done()")
        calm(page)
    open_tab(page, "Noise")
    page.get_by_role("button", name="Rebuild").click()
    expect(page.locator("#ts-noise-view")).to_contain_text("onerror")
    calm(page)
    open_tab(page, "Search")
    text_box(page).fill(PAYLOADS[1])
    page.locator("#ts-search-beginning textarea, #ts-search-beginning input").fill(PAYLOADS[2])
    page.locator("#ts-search-go").click()
    page.wait_for_function("(({forced, ranking}) => forced > 0 && ranking.length > 0)(window.twoStacks.beamTree.search())")
    calm(page)
    open_tab(page, "Masks")
    page.locator("#ts-masks-both").click()
    page.wait_for_function("window.twoStacks.maskGrid.given().labels.source.map(([text]) => text).join('').includes('onerror')")
    calm(page)


def test_typed_as_texts_to_score(page):
    open_tab(page, "Scores")
    texts = "\n".join(PAYLOADS)
    for name in ("outputs", "references"):
        page.locator(f"#ts-scores-{name} textarea").fill(texts)
    expect(page.locator("#ts-scores-ngrams .sc-text").first).to_have_text(PAYLOADS[0])
    expect(page.locator("#ts-scores-board")).to_contain_text(PAYLOADS[-1])
    calm(page)
