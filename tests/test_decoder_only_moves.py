"""What moves on sheet 003: every picture at the ends and the start of its dials, and its numbers against the functions."""

import importlib
import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import plotly.graph_objects as go
import pytest
import torch
from safetensors.torch import load_file

from app.experiments.decoder_only import EXPERIMENTS_003
from app.experiments.decoder_only_using import WEIGHT, WEIGHTS
from core.formulas import FORMULAS
from core.formulas.decoder_only import FORMULAS_003

LISTED = json.loads((Path(__file__).parent / "course/003.json").read_text("utf-8"))
ALL = FORMULAS | FORMULAS_003
MOST = 60_000  # characters of a figure
# pictures that draw what follows from the function's numbers; each has a test of its own below
DERIVED = {"block_prenorm", "score_variance", "parameters", "residual_jacobian", "vjp", "causal_mask", "lora", "kv_bytes", "rope"}


def first(id: str, **other: float) -> dict[str, float]:
    return {dial.name: dial.first for dial in EXPERIMENTS_003[id].dials} | other


def picture(id: str, **other: float) -> go.Figure:
    return EXPERIMENTS_003[id].picture(first(id, **other))


def drawn(figure: go.Figure) -> set[float]:
    """Every number of the traces."""
    found: set[float] = set()
    for trace in figure.data:
        for axis in ("x", "y", "z"):
            values = getattr(trace, axis, None)
            if values is not None:
                found |= {float(each) for each in np.ravel(np.array(values, dtype=object)) if isinstance(each, int | float)}
    return found


def flat(result: Any) -> list[list[float]]:
    """The arrays of a result, each as plain numbers."""
    parts = result.values() if isinstance(result, Mapping) else result if isinstance(result, tuple) else [result]
    return [np.ravel(torch.as_tensor(part, dtype=torch.float64).detach().numpy()).tolist() for part in parts]


def spied(monkeypatch, id: str, factor: float = 1.0) -> list[Any]:
    """What the entry's function gives from now on, `factor` times as much as it is."""
    module, _, name = ALL[id].at.partition(":")
    owner, results = importlib.import_module(module), []
    true = getattr(owner, name)

    def spy(*given: Any, **named: Any) -> Any:
        found = true(*given, **named)
        if factor != 1 and not isinstance(found, Mapping):
            found = tuple(part * factor for part in found) if isinstance(found, tuple) else found * factor
        elif factor != 1:
            found = {key: (*shape, 2) for key, shape in found.items()}
        results.append(found)
        return found

    monkeypatch.setattr(owner, name, spy)
    return results


def test_there_is_one_for_each_formula_of_the_sheet_in_its_order():
    assert list(EXPERIMENTS_003) == [one["id"] for one in LISTED]


@pytest.mark.parametrize("id", EXPERIMENTS_003)
def test_a_picture_is_built_at_every_end_is_small_and_changes_with_each_dial(id):
    start = picture(id).to_json()
    assert len(start) < MOST and "NaN" not in start
    for dial in EXPERIMENTS_003[id].dials:
        steps = [(end - dial.lowest) / dial.step for end in (dial.first, dial.highest)]
        assert steps == pytest.approx([round(each) for each in steps], abs=1e-6), dial
        assert dial.lowest <= dial.first <= dial.highest and dial.lowest < dial.highest
        for end in {dial.lowest, dial.highest} - {dial.first}:
            found = picture(id, **{dial.name: end})
            assert found.data and len(found.to_json()) < MOST
            assert json.loads(found.to_json())["data"] != json.loads(start)["data"], dial.name
    for end in ("lowest", "highest"):
        assert EXPERIMENTS_003[id].picture({dial.name: getattr(dial, end) for dial in EXPERIMENTS_003[id].dials}).data


@pytest.mark.parametrize("id", EXPERIMENTS_003)
def test_a_picture_names_its_axes_and_how_its_numbers_were_made(id):
    found = picture(id)
    assert all(axis.title.text for axis in found.select_xaxes() if not axis.matches or axis.title.text)
    assert len(found.layout.title.text) > 8
    assert "~ N" not in found.layout.title.text or "seed" in found.layout.title.text


@pytest.mark.parametrize("id", [id for id in EXPERIMENTS_003 if id not in DERIVED])
def test_the_numbers_of_a_picture_are_those_of_the_function(id, monkeypatch):
    results = spied(monkeypatch, id)
    figure = picture(id)
    there, title = drawn(figure), figure.layout.title.text
    assert results
    for result in results:
        assert any(all(float(f"{value:.7g}") in there for value in array if math.isfinite(value))
                   or (len(array) == 1 and f"{array[0]:.4g}" in title) for array in flat(result)), id


@pytest.mark.parametrize("id", EXPERIMENTS_003)
def test_a_picture_is_another_where_the_function_gives_something_else(id, monkeypatch):
    before = picture(id).to_dict()
    spied(monkeypatch, id, 1.5)
    try:
        after = picture(id).to_dict()
    except (TypeError, IndexError, ValueError):  # a mask of numbers in place of truth values draws nothing at all
        assert id == "top_p"
        return
    assert before["data"] != after["data"]


# What is derived

def test_the_spread_of_the_stream_is_that_of_each_sum(monkeypatch):
    results = spied(monkeypatch, "block_prenorm")
    (stream,) = picture("block_prenorm").data
    wanted = [float(part.square().mean().sqrt()) for result in results for part in result]
    assert list(stream.y)[1:] == pytest.approx(wanted, rel=1e-3) and len(wanted) == 8


def test_the_scores_of_the_histogram_have_the_variance_of_the_title(monkeypatch):
    results = spied(monkeypatch, "score_variance")
    figure = picture("score_variance")
    scores, _, variance = results[0]
    assert f"Var[q·k] = {float(variance):.4g}" in figure.layout.title.text and 55 < float(variance) < 73
    raw, divided = (dict(zip(trace.x, trace.y)) for trace in figure.data)
    assert sum(raw.values()) == int((scores.abs() <= 40).sum()) and sum(divided.values()) == 4000
    assert max(abs(at) for at, count in divided.items() if count) < 6 < max(abs(at) for at, count in raw.items() if count)


def test_the_bars_of_all_weights_add_up_to_their_number():
    figure = picture("parameters", N=2, d=64)
    whole = 2 * 32000 * 64 + 2 * (12 * 64**2 + 5 * 64 + 4 * 64) + 2 * 64  # E and W_U, matrices, biases, norms, the last norm
    assert sum(figure.data[0].y) == pytest.approx(whole, rel=1e-3) and f"{whole:,}" in figure.layout.title.text


def test_the_identity_keeps_a_gradient_that_dies_without_it(monkeypatch):
    results = spied(monkeypatch, "residual_jacobian")
    kept, bare = picture("residual_jacobian", g=0.5).data
    v = torch.full((8,), 8**-0.5, dtype=torch.float64)
    with_it, without = v, v
    for jacobian in results:
        with_it, without = jacobian @ with_it, (jacobian - torch.eye(8)) @ without
    assert kept.y[-1] == pytest.approx(float(with_it.norm()), rel=1e-3) and kept.y[-1] > 0.5
    assert bare.y[-1] == pytest.approx(float(without.norm()), rel=1e-3) and bare.y[-1] < 0.05


def test_adjoints_are_drawn_by_their_lengths(monkeypatch):
    results = spied(monkeypatch, "vjp")
    states, weights = picture("vjp").data
    assert list(states.y)[1:] == pytest.approx([float(one.norm()) for one, _ in results], rel=1e-3)
    assert list(weights.y) == pytest.approx([float(one.norm()) for _, one in results], rel=1e-3)


def test_the_causal_mask_is_a_triangle():
    assert np.array_equal(np.array(picture("causal_mask", n=5).data[0].z), np.tri(5))


def test_lora_shows_the_real_weight_and_a_change_of_its_rank():
    frozen, whole, change = picture("lora", r=3).data
    weight = load_file(WEIGHTS)[WEIGHT].float()
    assert list(frozen.y) == pytest.approx(torch.linalg.svdvals(weight).tolist(), rel=2e-3)
    assert sum(value > 1e-3 for value in change.y) == 3 and list(whole.y) != list(frozen.y)
    more = picture("lora", r=3, α=16).data[2]
    assert list(more.y)[:3] == pytest.approx([2 * value for value in list(change.y)[:3]], rel=2e-3)


def test_the_cache_of_a_llama_takes_what_is_known_of_it():
    # 2 · 8192 · 32 · 4096 · 2 bytes = 4 GiB
    found = picture("kv_bytes")
    assert found.data[1].y == (4.0,) and found.layout.title.text.startswith("4 GiB")


def test_descent_on_the_surface_ends_where_torch_ends():
    for id, made in (("gradient_descent", lambda p: torch.optim.SGD(p, 0.1)),
                     ("adam_update", lambda p: torch.optim.AdamW(p, 0.3, weight_decay=0.2))):
        theta = torch.tensor([-2.0, 1.0], dtype=torch.float64, requires_grad=True)
        optimizer = made([theta])
        for _ in range(int(first(id)["t"])):
            optimizer.zero_grad()
            ((theta[0] ** 2 + 9 * theta[1] ** 2) / 2).backward()
            optimizer.step()
        last = picture(id).data[-1]
        assert (last.x[-1], last.y[-1]) == pytest.approx(tuple(theta.tolist()), rel=1e-3)


def test_gradients_of_both_norms_lie_on_those_of_autograd():
    for id, place in (("layernorm_backward", 1), ("rmsnorm", 2)):
        figure = picture(id)
        ours, theirs = figure.data[place], figure.data[-1]
        assert "autograd" in theirs.name and list(ours.y) == pytest.approx(list(theirs.y), rel=1e-3, abs=1e-6)


def test_vectors_are_turned_by_their_angle():
    for k, trace in enumerate(picture("rope", p=7).data[:4]):
        angle = 7 * 10000 ** (-2 * k / 32)
        assert (trace.x[1], trace.y[1]) == pytest.approx((math.cos(angle), math.sin(angle)), abs=1e-3)


def test_scores_of_turned_vectors_are_the_same_at_every_position():
    one, other = (picture("rope", p=p).data[-1].y for p in (3, 150))
    assert list(one) == pytest.approx(list(other), rel=1e-3, abs=1e-3)
