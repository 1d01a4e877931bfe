"""The formulas tab in Chromium: cards, hover and focus, what moves against the core, search, glossary, tour, German, phone."""

import json

import numpy as np
import pytest
import torch
from playwright.sync_api import expect

from core.formulas import FORMULAS, GLOSSARY
from core.formulas.attention import weights
from core.formulas.moment import SAVED, Moment
from core.formulas.sheets import ALL
from core.pointer import mixture
from tests.browser.tabs import opened

ROOT = "#ts-formulas-cards .fc-root"
HOSTILE = "<img src=x onerror=alert(1)> a<b>c ${1} dog"


@pytest.fixture(scope="module")
def page(open_page, address):
    return opened(open_page, address, "formulas")


@pytest.fixture(scope="module")
def saved() -> Moment:
    return Moment.from_bytes(SAVED.read_bytes())


def card(page, id: str):
    return page.locator(f"{ROOT} [data-card='{id}']")


def slide(page, id: str, name: str, value: object) -> None:
    card(page, id).locator(f"input[data-move={name}]").evaluate(
        "(node, x) => { node[node.type === 'checkbox' ? 'checked' : 'value'] = x; node.dispatchEvent(new Event('input')); }",
        value)


def places(page, id: str) -> dict[str, str]:
    """name -> the number that stands in the line."""
    return json.loads(page.evaluate(
        "(id) => JSON.stringify(Object.fromEntries([...twoStacks.formulaCards.cards.get(id).places].map(([k, nodes]) => [k, "
            "nodes[0].textContent])))", id))


def picture(page, id: str, title: str) -> np.ndarray:
    found = page.evaluate(
        "([id, title]) => { const one = twoStacks.formulaCards.cards.get(id).pictures.find((made) => made.panel.title === title);"
        " return [...one.values]; }", [id, title])
    return np.array(found)


def plain(text: str) -> float:
    return float(text.replace("−", "-"))


def test_every_formula_stands_in_course_order_with_its_numbers(page):
    ids = page.locator(f"{ROOT} .fc-cards .fc-card").evaluate_all("nodes => nodes.map((node) => node.dataset.card)")
    assert ids == list(FORMULAS)
    for id in ids:
        one = card(page, id)
        assert one.locator(".fc-math math").count() == 2
        assert "·" not in set(places(page, id).values())  # no place is left without its number
    sizes = page.locator(f"{ROOT} .fc-cards .fc-math:not(.fc-numbers) math").evaluate_all(
        "nodes => nodes.map((node) => [node.getBoundingClientRect().width, node.getBoundingClientRect().height])")
    assert all(width > 60 and height > 15 for width, height in sizes)  # Chromium draws them


def test_a_symbol_says_what_it_is_and_lights_its_picture_by_mouse_and_by_key(page):
    one = card(page, "cross_attention")
    one.scroll_into_view_if_needed()
    symbol = one.locator("[data-form='V']")
    symbol.hover()
    expect(one.locator(".fc-said")).to_contain_text("what a row asks")
    lit = one.locator(".fc-picture.fc-lit .fc-caption b")
    expect(lit).to_have_text(["V"])
    one.locator("[data-form='n']").focus()
    expect(one.locator(".fc-said")).to_contain_text("The input, a sequence of n tokens")
    expect(one.locator(".fc-sides.fc-lit")).to_have_count(2)  # rows of K and of V are the source
    expect(one.locator(".fc-tops.fc-lit")).to_have_count(2)  # columns of M and of A too
    page.mouse.move(1, 1)  # the page scrolls to the picture: what comes under the mouse then would speak last
    one.locator("canvas").nth(4).focus()
    page.keyboard.press("ArrowRight")
    expect(one.locator(".fc-said")).to_contain_text("A")
    expect(one.locator("[data-form='A'].fc-lit")).to_have_count(2)


@pytest.mark.parametrize("root, temperature", [(False, 1.0), (True, 1.0), (False, 0.5), (True, 3.0)])
def test_root_and_temperature_move_attention_as_the_core_does(page, saved, root, temperature):
    for id, stack in (("encoder_attention", "encoder"), ("cross_attention", "cross")):
        slide(page, id, "root", root)
        slide(page, id, "T", temperature)
        scores, bias = (saved.arrays[f"{stack}.{name}"].astype(float) for name in ("scores", "bias"))
        scale = 1 / np.sqrt(saved.arrays[f"{stack}.q"].shape[1]) if root else 1.0
        wanted = weights((scores * scale + bias) / temperature)
        np.testing.assert_allclose(picture(page, id, "A"), wanted[:24, :24].ravel(), atol=2e-6)
        out = picture(page, id, "SelfAttn" if stack == "encoder" else "CrossAttn")
        np.testing.assert_allclose(out, (wanted @ saved.arrays[f"{stack}.v"])[:24, :24].ravel(), atol=2e-4)
        card(page, id).get_by_role("button", name="as it was").click()


@pytest.mark.parametrize("alpha", [-1.0, 0.0, 0.6, 2.0])
def test_alpha_moves_the_score_as_the_core_does(page, saved, alpha):
    slide(page, "beam_score", "alpha", alpha)
    wanted = FORMULAS["beam_score"].function(saved.arrays["logprobs"].astype(float).tolist(), alpha)
    assert plain(places(page, "beam_score")["score"]) == pytest.approx(wanted, abs=6e-4)


@pytest.mark.parametrize("share, temperature", [(0.0, 1.0), (0.5, 2.0), (1.0, 4.0), (0.3, 0.5)])
def test_lambda_and_t_move_distillation_as_the_core_does(page, saved, share, temperature):
    slide(page, "distillation", "lambda", share)
    slide(page, "distillation", "T", temperature)
    at = int(np.flatnonzero(saved.arrays["ids"] == saved.target[saved.step].id)[0])
    weak, logits = (torch.tensor(saved.arrays[name][None]).double() for name in ("weak", "logits"))
    wanted = FORMULAS["distillation"].function(weak, logits, torch.tensor([at]), share, temperature)
    shown = places(page, "distillation")
    for name, digits in (("ce", 6e-4), ("kl", 6e-5), ("loss", 6e-4)):
        assert plain(shown[name]) == pytest.approx(float(getattr(wanted, name)), abs=digits)


def test_p_gen_t_and_n_move_as_the_core_has_it(page, saved):
    slide(page, "pointer", "gate", 0.25)
    data = page.evaluate("twoStacks.formulaCards.cards.get('pointer').given.data")
    own = np.array(data["own"])
    wanted = mixture(own, np.array(data["copies"]), list(range(len(own))), 0.25)
    assert plain(places(page, "pointer")["P"]) == pytest.approx(wanted[data["at"]], abs=6e-4)
    slide(page, "output_head", "T", 2)
    assert plain(places(page, "output_head")["p"]) == pytest.approx(weights(saved.arrays["logits"][None] / 2)[0, 0], abs=6e-4)
    slide(page, "prefix_mask", "n", 3)
    length = min(24, len(saved.source) + len(saved.target))
    may = FORMULAS["prefix_mask"].function(length, length, 3)
    assert (np.isfinite(picture(page, "prefix_mask", "M").astype(float)) == may.ravel()).all()
    for id in ("pointer", "output_head", "prefix_mask"):
        card(page, id).get_by_role("button", name="as it was").click()
    assert plain(places(page, "output_head")["T"]) == 1


def test_controls_are_config_buffers_state_and_weights_theta(page):
    for control in page.locator(f"{ROOT} .fc-control").all():
        assert control.locator(".fc-tag").inner_text() == "CONFIG"
    tags = card(page, "cross_projections").locator(".fc-caption .fc-tag").all_inner_texts()
    assert tags == ["STATE", "STATE", "θ", "STATE", "θ", "STATE", "θ", "STATE"]
    assert card(page, "causal_mask").locator(".fc-caption .fc-tag").all_inner_texts() == ["CONFIG"]


def test_search_finds_cards_and_terms(page):
    box, count = page.get_by_label("Search all sheets"), page.locator(f"{ROOT} .fc-top .fc-quiet")
    box.fill("000, lesson 9")
    expect(page.locator(f"{ROOT} .fc-cards .fc-card:visible")).to_have_count(3)
    box.fill("gate vocabulary")
    expect(page.locator(f"{ROOT} .fc-cards .fc-card:visible h4")).to_have_text(["Pointer-generator"])
    expect(page.locator(f"{ROOT} .fc-cards .fc-lesson:visible")).to_have_count(1)
    expect(count).to_have_text(f"1 of {len(ALL)}")
    box.fill("")
    page.get_by_role("button", name="Glossary").click()
    expect(page.locator(f"{ROOT} .fc-term:visible")).to_have_count(len(GLOSSARY))
    box.fill("subsequence")
    expect(page.locator(f"{ROOT} .fc-term:visible dt")).to_have_text(["LCS"])
    box.fill("")
    page.get_by_role("button", name="Formulas", exact=True).click()


def test_the_tour_goes_by_its_map_asks_and_reveals(page):
    page.get_by_role("button", name="Tour: from").click()
    page.wait_for_function("twoStacks.formulaCards.state.tour")
    item = page.locator(f"{ROOT} .fc-items .fc-card:visible")
    expect(item.locator("h4")).to_have_text("0. Token, sequence")
    page.locator(f"{ROOT} [data-item='6']").click()
    expect(item.locator("h4")).to_have_text("6. Softmax")
    needed = page.locator(f"{ROOT} .fc-stop.fc-needed").evaluate_all("nodes => nodes.map((node) => +node.dataset.item)")
    assert needed == [0, 1, 2, 3, 4, 5, 8, 9]
    answer = item.locator(".fc-answer")
    expect(answer).to_be_hidden()
    item.get_by_role("button", name="Show the answer").click()
    expect(answer).to_be_visible()
    expect(page.locator(f"{ROOT} .fc-tour > .fc-quiet")).to_have_text("1 of 12 answers looked at")
    slide(page, "item.6", "T", 5)
    assert plain(places(page, "item.6")["alpha"]) < 0.5
    page.locator(f"{ROOT} [data-item='6']").focus()
    page.keyboard.press("End")
    expect(item.locator("h4")).to_have_text("11. Cross-attention")
    expect(item.locator(".fc-note")).to_contain_text("The decoder has read Drei, writes Hunde, and looks most at dogs")
    item.get_by_role("button", name="← Product").click()
    expect(item.locator("h4")).to_have_text("10. Product of chances")
    page.get_by_role("button", name="Formulas", exact=True).click()


def test_a_run_another_place_and_hostile_text(open_page, address):
    page = opened(open_page, address, "formulas")
    page.locator("#ts-text textarea").fill(HOSTILE)
    page.locator("#ts-run").click()
    about = page.locator(f"{ROOT} .fc-about")
    expect(about).to_contain_text(HOSTILE)  # the run is followed
    assert page.locator(f"{ROOT} img").count() == 0
    expect(card(page, "bleu").locator(".fc-note")).to_contain_text("Type a reference")
    page.locator("#ts-formulas-layer input").fill("9")
    page.locator("#ts-formulas-go").click()
    expect(page.locator(f"{ROOT} .fc-refused")).to_have_text("There is no layer 9; pocket-t5 has layers 1 to 3.")
    expect(about).to_contain_text("layer 2")  # what was there stays
    page.locator("#ts-formulas-layer input").fill("3")
    page.locator("#ts-formulas-reference textarea, #ts-formulas-reference input").first.fill("ein Hund")
    page.locator("#ts-formulas-go").click()
    expect(about).to_contain_text("layer 3")
    expect(card(page, "bleu").locator(".fc-note")).to_contain_text("nrefs:1")
    page.context.close()


def test_german_dark_and_a_phone(open_page, address):
    page = opened(open_page, address, "formulas", viewport={"width": 390, "height": 844}, locale="de-DE", color_scheme="dark")
    expect(page.locator(f"{ROOT} .fc-cards .fc-lesson").first).to_have_text("Lektion 1 — Das Seq2seq-Problem")
    expect(card(page, "coverage").locator(".fc-meaning")).to_contain_text("noch einmal zu lesen kostet")
    page.get_by_role("button", name="Rundgang").click()
    page.wait_for_function("twoStacks.formulaCards.state.tour")
    page.evaluate("twoStacks.formulaCards.visit(11)")
    assert page.locator(f"{ROOT} .fc-map").evaluate("node => node.scrollLeft") > 100  # the present item is in sight
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.context.close()
