"""The search tab in Chromium: the tree, steps, hover, keys, folding, both length penalties, a branch, hostile text, phone."""

import json

import pytest
from playwright.sync_api import expect

from core.decode.rescoring import Hypothesis, flipped, ranked
from tests.browser.tabs import opened

HOSTILE = "<img src=x onerror=alert(1)> a<b>c &amp; ${1}"
ROOT = "#ts-search-tree .bt-root"


@pytest.fixture(scope="module")
def page(open_page, address):
    return opened(open_page, address, "search")


def hook(page, code: str):
    names = "const tree = twoStacks.beamTree, search = tree.search(), view = tree.view();"
    return page.evaluate(f"(() => {{ {names} return {code}; }})()")


def slide(page, name: str, value: float) -> None:
    page.locator(f"{ROOT} input[data-ts={name}]").evaluate(
        "(node, value) => { node.value = value; node.dispatchEvent(new Event('input')); }", value)


def test_the_first_picture_is_a_whole_search_without_a_click(page):
    expect(page.locator(f"{ROOT} [data-node]")).to_have_count(hook(page, "search.nodes.length"))
    expect(page.locator(f"{ROOT} [data-ts=ranked] tr")).to_have_count(4)
    expect(page.locator(f"{ROOT} [data-ts=state]")).to_contain_text("stopped")
    expect(page.locator(f"{ROOT} .bt-node h4")).to_contain_text("</s>")


def test_hover_says_why_and_a_click_shows_the_step(page):
    node = hook(page, "search.fates.findIndex((fate) => fate === 2)")
    box = page.locator(f"{ROOT} [data-node='{node}']")
    box.hover()
    expect(page.locator(f"{ROOT} .ts-tip")).to_contain_text("Pruned by rank")
    box.click()
    text = hook(page, f"search.nodes[{node}].text")
    expect(page.locator(f"{ROOT} .bt-node h4")).to_contain_text(text)
    expect(page.locator(f"{ROOT} .bt-here .bt-name")).to_have_text(text)
    expect(page.locator(f"{ROOT} .bt-reason")).to_contain_text("Pruned by rank")
    expect(page.locator(f"{ROOT} .bt-chip")).to_have_count(hook(page, "search.source.length"))
    assert page.locator(f"{ROOT} .bt-heat canvas").evaluate("c => [c.width, c.height]") == [
        hook(page, "search.source.length"), hook(page, f"search.nodes[{node}].step + 1")]


def test_steps_and_keys(page):
    tree, count = page.locator(f"{ROOT} svg[role=tree]"), page.locator(f"{ROOT} .bt-count")
    tree.focus()
    page.keyboard.press("[")
    expect(count).to_contain_text("step 14 of 15")
    assert page.locator(f"{ROOT} [data-node]").count() == hook(page, "search.nodes.filter((node) => node.step < 14).length")
    page.keyboard.press("]")
    page.keyboard.press("Home")
    first = hook(page, "view.node")
    assert hook(page, "search.nodes[view.node].parent") == -1
    page.keyboard.press("ArrowDown")
    assert hook(page, "view.node") == first + 1
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowRight")
    assert hook(page, "search.nodes[view.node].parent") == first
    page.keyboard.press("End")
    assert hook(page, "view.node === search.best")
    page.keyboard.press("Escape")
    expect(page.locator(f"{ROOT} .bt-picked")).to_have_count(0)


def test_bytes_of_the_caches_follow_the_step(page):
    own = page.locator(f"{ROOT} .bt-cache-self")
    page.locator(f"{ROOT} svg[role=tree]").focus()
    expect(own).to_contain_text("276,480 bytes, as the formula says: 2 · 3 · 6 · 32 · 15 · 4 · 4")
    page.keyboard.press("[")
    expect(own).to_contain_text("258,048 bytes, as the formula says: 2 · 3 · 6 · 32 · 14 · 4 · 4")
    expect(page.locator(f"{ROOT} .bt-cache-cross")).to_contain_text("96,768 bytes")
    page.keyboard.press("]")


@pytest.mark.parametrize("alpha, beta", [(-2, 0), (-0.5, 0.2), (0, 0), (0.6, 0.2), (1, 0), (2, 2)])
def test_the_page_ranks_as_the_core_does(page, alpha, beta):
    stored = json.loads(hook(page, "JSON.stringify(search.ranking)"))
    given = [Hypothesis(str(k), one["logprob"], one["length"], tuple(one["received"])) for k, one in enumerate(stored)]
    shown = hook(page, f"tree.both(search.ranking, {alpha}, {beta})")
    for rule, cost in (("transformers", 0), ("GNMT", beta)):
        ours = ranked(given, rule, alpha, cost)
        assert [int(each.hypothesis.name) for each in ours] == [one["at"] for one in shown[rule]]
        for each, one in zip(ours, shown[rule], strict=True):
            assert one["score"] == pytest.approx(each.score, rel=1e-12) and one["coverage"] == pytest.approx(each.coverage)
    slide(page, "alpha", alpha)
    slide(page, "beta", beta)
    winners = page.locator(f"{ROOT} td.bt-winner")
    expect(winners).to_have_count(2)
    expect(page.locator(f"{ROOT} .bt-flip")).to_contain_text("flips" if flipped(given, alpha, beta) else "choose")


def test_b07_the_flip_is_marked(page):
    """The hypotheses of the public case in place of the stored ones: (-4, 4 tokens) and (-6, 8 tokens)."""
    hook(page, "search.ranking.splice(0, 4, ...[['short', -4, 4], ['long', -6, 8]].map(([text, logprob, length]) => "
               "({ text, logprob, length, node: search.best, received: [] })))")
    slide(page, "beta", 0)
    slide(page, "alpha", 0.6)
    rows = page.locator(f"{ROOT} [data-ts=ranked] tr")
    expect(rows.nth(0)).to_contain_text("−1.7411")
    expect(rows.nth(0)).to_contain_text("−3.1362")
    expect(rows.nth(1)).to_contain_text("−1.7230")
    expect(rows.nth(1)).to_contain_text("−3.7729")
    flip = page.locator(f"{ROOT} .bt-flip")
    expect(flip).to_have_class("bt-flip bt-flipped")
    expect(flip).to_contain_text("The winner flips: at α = 0.60, β = 0.00 transformers' formula chooses #2, GNMT's chooses #1.")
    slide(page, "alpha", 0)
    expect(flip).to_contain_text("Both formulas choose #1")


def test_a_search_a_branch_and_a_beginning(open_page, address):
    page = opened(open_page, address, "search")
    page.locator("#ts-text textarea").fill("A dog runs.")
    page.locator("#ts-search-go").click()
    about, ranking = page.locator(f"{ROOT} .bt-node h4"), page.locator(f"{ROOT} [data-ts=ranked] tr")
    page.wait_for_function("twoStacks.beamTree.search().source.some(([text]) => text === 'dog')")
    expect(ranking).to_have_count(4)
    node = hook(page, "search.fates.findIndex((fate, n) => fate === 2 && search.nodes[n].step === 1)")
    text = hook(page, f"search.nodes[{node}].text")
    page.locator(f"{ROOT} [data-node='{node}']").click()
    expect(about).to_contain_text(text)
    page.locator(f"{ROOT} .bt-go").click()
    expect(page.locator(f"{ROOT} [data-ts=beside]")).to_contain_text("2 tokens were forced. Its best text is")
    assert hook(page, "search.nodes.find((node, n) => node.step === 1 && search.fates[n] === 0).text") == text
    page.locator("#ts-search-beginning textarea, #ts-search-beginning input").first.fill("Eine Frau")
    page.locator("#ts-search-go").click()
    expect(page.locator(f"{ROOT} .bt-text").first).to_contain_text("Eine Frau")
    page.context.close()


def test_many_nodes_fold_and_unfold_and_hostile_text_is_only_text(open_page, address):
    page = opened(open_page, address, "search")
    page.locator("#ts-text textarea").fill(HOSTILE + " " + "A man and a woman with a dog walk along the beach. " * 2)
    page.locator("#ts-search-go").click()
    page.wait_for_function("twoStacks.beamTree.search().source.length > 30 && twoStacks.beamTree.search().ranking.length")
    assert hook(page, "search.nodes.length") > 150
    fold = page.locator(f"{ROOT} [data-fold='1']")
    expect(fold).to_contain_text("+")
    before, hidden = page.locator(f"{ROOT} [data-node]").count(), int(fold.text_content())
    fold.click()
    expect(fold).to_have_count(0)
    expect(page.locator(f"{ROOT} [data-node]")).to_have_count(before + hidden)
    assert page.locator(f"{ROOT} img, {ROOT} script").count() == 0
    page.context.close()


def test_a_refusal_leaves_the_picture(open_page, address):
    page = opened(open_page, address, "search")
    before = page.locator(f"{ROOT} [data-node]").count()
    page.locator("#ts-text textarea").fill("")
    page.locator("#ts-search-go").click()
    expect(page.locator(f"{ROOT} .bt-refusal")).not_to_be_empty()
    expect(page.locator(f"{ROOT} [data-node]")).to_have_count(before)
    page.context.close()


def test_german_on_a_phone(open_page, address):
    page = opened(open_page, address, "search", viewport={"width": 390, "height": 800}, locale="de-DE")
    expect(page.locator(f"{ROOT} .bt-flip")).to_contain_text("Beide Formeln")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.context.close()
