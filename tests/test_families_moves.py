"""What moves on sheet 004: a picture at every end of every dial, that answers each dial, with the function's own numbers."""

import json
import time

import pytest
import torch

from app.experiments.drawing import normal
from app.experiments.families import EXPERIMENTS_004
from core.formulas import FORMULAS
from core.formulas.families import FORMULAS_004, objectives


def dialled(id: str, **moved: float) -> dict[str, float]:
    return {dial.name: dial.first for dial in EXPERIMENTS_004[id].dials} | moved


def picture(id: str, **moved: float):
    return EXPERIMENTS_004[id].picture(dialled(id, **moved))


def test_every_entry_has_one():
    assert set(EXPERIMENTS_004) == set(FORMULAS_004) | {"cross_attention"}


@pytest.mark.parametrize("id", EXPERIMENTS_004)
def test_a_picture_is_there_at_each_end_and_is_small(id):
    for dial in EXPERIMENTS_004[id].dials:
        assert dial.lowest <= dial.first <= dial.highest and dial.step > 0
        steps = (dial.highest - dial.lowest) / dial.step
        assert steps == pytest.approx(round(steps)), f"{dial.name} does not end on a step"
        for value in (dial.lowest, dial.first, dial.highest):
            sent = json.loads(picture(id, **{dial.name: value}).to_json())
            assert sent["data"] and sent["layout"]["title"]["text"] and len(json.dumps(sent)) < 60_000
            assert "NaN" not in json.dumps([part for part in sent["data"]])


@pytest.mark.parametrize("id", EXPERIMENTS_004)
def test_each_dial_changes_what_is_drawn(id):
    for dial in EXPERIMENTS_004[id].dials:
        seen = set()
        for value in (dial.lowest, dial.first, dial.highest):
            figure = picture(id, **{dial.name: value}).to_dict()
            drawn = [figure["data"], figure["layout"].get("annotations")]
            seen.add(json.dumps(drawn, default=lambda array: array.tolist()))
        assert len(seen) == len({dial.lowest, dial.first, dial.highest}), dial.name


@pytest.mark.parametrize("id", EXPERIMENTS_004)
def test_the_same_dials_draw_the_same_picture_at_once(id):
    first = picture(id).to_json()
    began = time.perf_counter()
    assert picture(id).to_json() == first
    assert time.perf_counter() - began < 0.5  # 1 to 20 ms on a quiet machine


@pytest.mark.parametrize("id", EXPERIMENTS_004)
def test_a_picture_is_made_by_the_function_of_its_entry(id, monkeypatch):
    """With a function in its place that gives nothing, there is no picture: no second implementation draws it."""
    def nothing(*given, **named):
        raise NotImplementedError(id)

    module, _, name = (FORMULAS_004.get(id) or FORMULAS[id]).at.partition(":")
    monkeypatch.setattr(f"{module}.{name}", nothing)
    with pytest.raises(NotImplementedError):
        picture(id)


def test_numbers_drawn_are_the_functions():
    weights, _ = FORMULAS_004["causal_attention"].function(2 * normal(16, 8)[:5], normal(16, 8, seed=1)[:5], normal(16, 4)[:5])
    drawn = picture("causal_attention", n=5, c=2.0).data[0].z
    torch.testing.assert_close(torch.tensor(drawn).double(), weights, rtol=0, atol=1e-6)
    x, out = picture("gelu", x=1.0).data[-1].x, picture("gelu", x=1.0).data[-1].y
    assert x == (1.0,) and out[0] == pytest.approx(0.841345, abs=1e-6)
    assert picture("factorized_embedding", E=128, V=30000).data[-1].y == (3938304.0,)
    assert picture("euclidean", **{"v₁": 3.0, "v₂": -3.0}).layout.title.text.endswith("dist = 4.243")
    assert picture("manhattan", **{"v₁": 3.0, "v₂": -3.0}).layout.title.text.endswith("dist = 6.000")
    here = picture("triplet_loss", n=1.5, **{"ε": 2.0}).data[-1]
    assert here.y[0] == pytest.approx(1 - 1.5**2 + 2)


def test_the_bars_of_the_losses_add_up_to_the_loss():
    for id in ("mlm_loss", "gpt_loss", "t5_loss"):
        figure = picture(id)
        total = float(figure.layout.title.text.split("= ")[1].split(" ")[0])
        assert sum(figure.data[0].y) == pytest.approx(total, abs=1e-3)
    figure = picture("roberta_loss", seed=3, p=0.5)
    totals = figure.layout.title.text.removeprefix("L = ").split(" nats")[0].split(", ")
    assert [f"{sum(row):.1f}" for row in figure.data[0].z] == totals
    masks = objectives.dynamic_masks(16, 0.5, range(3, 11))
    assert [[value > 0 for value in row] for row in figure.data[0].z] == masks.tolist()


def test_what_bart_spoils_is_what_its_noise_makes():
    deleted = picture("bart_loss", corrupt=1, seed=5).layout.title.text
    assert "▢" not in deleted and "corrupt_delete" in deleted
    assert "▢" in picture("bart_loss", corrupt=0, seed=5).layout.title.text
    moved = picture("bart_loss", corrupt=3, seed=5).layout.title.text.split(": ")[1].split(";")[0].split()
    assert sorted(moved) == sorted("abcd.efg.hijkl.") and "".join(moved) != "abcd.efg.hijkl."
