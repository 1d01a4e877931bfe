"""The training tab in Chromium: sections come when they open, sliders answer in the page, a real distillation, Stop."""

import pytest
from playwright.sync_api import expect

from core.examples import EXAMPLES
from tests.browser.tabs import open_tab

TEACHING = "#ts-train-teaching-view"


@pytest.fixture(scope="module")
def page(page):
    open_tab(page, "Training")
    expect(page.locator(f"{TEACHING} .tr-step")).not_to_have_count(0)
    return page


def opened(page, name: str):
    """A section, open."""
    view = page.locator(f"#ts-train-{name}-view .tr-root")
    if not view.is_visible():
        page.locator(f"#ts-train-{name} > button").click()
    expect(view).to_be_visible()
    return view


def state(page, name: str, key: str) -> dict:
    return page.evaluate(f"document.querySelector('#ts-train-{name}-view .tr-root').{key}")


def test_a_position_its_chances_and_one_wrong_token(page):
    steps = page.locator(f"{TEACHING} .tr-step")
    texts = [step.locator(".tr-label").inner_text() for step in steps.all()]
    assert [step.locator(".tr-fed").inner_text() for step in steps.all()] == ["<pad>", *texts[:-1]]
    steps.nth(1).click()
    expect(steps.nth(1)).to_have_attribute("aria-pressed", "true")
    gradient = page.locator(f"{TEACHING} .tr-middle .tr-bar.tr-marked .tr-value")
    expect(gradient).to_contain_text("−")
    page.locator(f"{TEACHING} button.tr-bar:not(.tr-marked)").first.click()
    expect(page.locator(f"{TEACHING} .tr-fed.tr-wrong")).to_have_count(1)
    expect(page.locator(f"{TEACHING}")).to_contain_text("Exposure bias: with")
    page.get_by_role("button", name="Take the wrong token out").click()
    expect(page.locator(f"{TEACHING} .tr-fed.tr-wrong")).to_have_count(0)


def test_smoothing_moves_without_a_request(page):
    asked = []
    page.on("request", lambda request: asked.append(request.url) if "queue/join" in request.url else None)
    numbers = page.locator(f"{TEACHING} .tr-numbers")
    before = numbers.inner_text()
    page.locator(f"{TEACHING} input[data-tr=smoothing]").fill("0.2")
    expect(numbers).not_to_have_text(before)
    assert not asked


def test_the_bridge_adds_up_and_is_exactly_nothing_when_cut(page):
    view = opened(page, "bridge")
    expect(view.locator(".tr-sentence").first).to_contain_text("add up to autograd's gradient")
    expect(view.locator("canvas")).to_have_count(2)
    view.locator("canvas").first.focus()
    page.keyboard.press("ArrowRight")
    expect(view.locator(".tr-tip").first).to_contain_text("through the keys of layer 1 × English: 0.")
    view.get_by_label("Cut cross-attention off").check()
    expect(view.locator(".tr-sentence").first).to_contain_text("exactly 0 everywhere")


def test_the_budget_moves_in_the_page_and_counts_as_the_core_does(page):
    from core.parameters import estimate, exact
    from core.zoo import ZOO

    view = opened(page, "budget")
    expect(view.locator(".tr-link")).to_have_count(len(ZOO))
    for released in ZOO:
        view.get_by_role("button", name=released.name, exact=True).click()
        found = state(page, "budget", "twoStacksBudget")
        assert (found["exact"], found["estimate"]) == (exact(released.sizes), estimate(released.sizes))


def test_distillation_softens_in_the_page_and_runs_for_real(page):
    view = opened(page, "distilling")
    expect(view.locator(".tr-bar")).not_to_have_count(0)
    first = state(page, "distilling", "twoStacksDistilled")
    view.locator("input[data-tr='distilling.T']").fill("1")
    view.locator("input[data-tr='distilling.mix']").fill("0")
    plain = state(page, "distilling", "twoStacksDistilled")
    assert plain["loss"] == pytest.approx(plain["ce"]) and plain["ce"] == pytest.approx(first["ce"])
    assert plain["kl"] != pytest.approx(first["kl"])
    view.locator("input[data-tr='distilling.mix']").fill("0.5")
    view.locator("input[data-tr='running.steps']").fill("30")
    view.get_by_role("button", name="Distil", exact=True).click()
    expect(view.locator("td")).to_have_count(12)
    said = view.locator(".tr-sentence").last.inner_text()
    before, after = (float(part) for part in (said.split()[2], said.split()[4]))
    assert said.startswith("Held-out loss") and after < 0.95 * before
    view.locator("select").first.select_option("trained")
    expect(view).to_contain_text("student after training")


def test_stop_ends_a_fine_tuning_and_a_bad_line_keeps_the_text(page):
    view = opened(page, "tuning")
    pairs = view.locator("textarea")
    pairs.fill("no pair")
    view.get_by_role("button", name="Fine-tune").click()
    expect(view.locator(".tr-refusal")).to_contain_text("Line 1")
    expect(pairs).to_have_value("no pair")
    pairs.fill("<img src=x onerror=alert(1)> = ein <b>Bild</b>")
    view.locator("input[data-tr='running.steps']").fill("300")
    view.get_by_role("button", name="Fine-tune").click()
    expect(view.locator(".tr-numbers")).to_contain_text("of 300")
    view.get_by_role("button", name="Stop").click()
    expect(view.locator(".tr-said")).to_contain_text("Stopped after step")
    expect(view.locator("td").first).to_contain_text("<img")
    assert view.locator("img").count() == 0


def test_every_kind_runs(page):
    view = opened(page, "kinds")
    for kind, maps in (("encoder-only", 1), ("decoder-only", 1), ("prefix-lm", 1), ("encoder-decoder", 3)):
        view.locator(f"button[data-kind={kind}]").click()
        expect(view.locator(".tr-live canvas")).to_have_count(maps)
        expect(view.locator("h4").first).to_contain_text("on your text")
    expect(view).to_contain_text("T5LayerNorm")
    expect(view.locator("canvas")).to_have_count(3 + 2)  # and how T5 and BART tell positions apart


FAMILIES = ["bert", "gpt", "electra", "deberta", "albert", "sbert"]


def relatives(page):
    """The part about relatives in the families' section, open, with its six cards."""
    view = opened(page, "kinds")
    part = view.locator("details", has=page.locator("textarea"))
    if not part.locator("textarea").is_visible():
        part.locator("> summary").click()
    expect(part.locator("section")).to_have_count(len(FAMILIES))
    return part


def test_relatives_come_when_asked_for_and_read_what_is_typed(page):
    part = relatives(page)
    assert [card.get_attribute("data-family") for card in part.locator("section").all()] == FAMILIES
    expect(part.locator("textarea")).to_have_value(EXAMPLES[0].text)
    gpt = part.locator("section[data-family=gpt]")
    expect(gpt.locator("canvas")).to_have_count(1)
    gpt.locator("canvas").focus()
    expect(gpt.locator(".tr-tip")).to_contain_text(": 1.0")
    page.keyboard.press("ArrowRight")  # the token after it is not seen
    expect(gpt.locator(".tr-tip")).to_contain_text(": 0.0")
    sent = state(page, "kinds", "twoStacks")["value"]
    lm = next(card for card in sent["cards"] if card["name"] == "gpt")["losses"]["lm"]
    expect(gpt.locator("td.tr-number").first).to_have_text(f"{lm:.4f}")
    part.locator("textarea").fill("A <img src=x onerror=alert(1)> dog. It <b>barks</b> at me.")
    part.get_by_role("button", name="Run all six").click()
    expect(gpt).to_contain_text("<")
    expect(part.locator("[role=alert]")).to_have_text("")
    assert page.locator("#ts-train-kinds-view").locator("img, section b").count() == 0


def test_a_relative_learns_the_text_by_heart(page):
    part = relatives(page)
    bert = part.locator("section[data-family=bert]")
    bert.get_by_role("button", name="Train 40 steps").click()
    said = bert.locator(".tr-fall p")
    expect(said).to_contain_text("Step 40 of 40")
    words = said.inner_text().split()
    first, last = (float(words[words.index(at) + 1]) for at in ("from", "to"))
    assert last < first / 2 and bert.locator("polyline").count() == 1


def test_what_relatives_cannot_read_is_said_beside_them(page):
    part = relatives(page)
    part.locator("textarea").fill("A")
    part.get_by_role("button", name="Run all six").click()
    expect(part.locator("[role=alert]")).to_contain_text("at least two words")
    expect(part.locator("textarea")).to_have_value("A")
    expect(part.locator("section")).to_have_count(len(FAMILIES))


def test_a_phone_in_the_dark_and_in_german(serve, open_page):
    page = open_page(serve("app") + "/?__theme=dark", viewport={"width": 390, "height": 844}, locale="de-DE")
    page.wait_for_selector("[data-ready]")
    open_tab(page, "Training")
    expect(page.locator(f"{TEACHING} .tr-step")).not_to_have_count(0)
    expect(page.locator(TEACHING)).to_contain_text("Erste Abweichung")
    part = relatives(page)
    expect(part).to_contain_text("Darstellung der Eingabe")
    expect(part).to_contain_text("Der Encoder-Decoder auf diesem Text")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.context.close()
