"""Several runs in one batch: each as it would be alone, and never one forward for two groups."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core import Decoding, Settings
from core.batches import MOST_RUNS, groups, side_by_side
from core.errors import InputError
from core.interventions import Edits, Masks, StackMask
from core.runs import Run
from tests import models

FAMILIES = ["t5", "bart", "marian"]
EIGHT = [
    {}, {"beams": 2}, {"beams": 3, "length_penalty": 0.0}, {"beams": 4, "early_stopping": "never"},
    {"no_repeat_ngram_size": 1}, {"repetition_penalty": 2.0, "beams": 2}, {"do_sample": True, "seed": 3},
    {"do_sample": True, "top_p": 0.8, "temperature": 0.7},
]
SETTINGS = st.sampled_from(EIGHT)
CONTROLS = [{}, {"masks": Masks(encoder=StackMask("causal"))}, {"masks": Masks(cross=StackMask("window"))},
            {"edits": Edits(pads=2)}]


def begun(family: str, decoding: dict, **more) -> Run:
    return Run(Settings(text=more.pop("text", models.TEXT), decoding=Decoding(max_new_tokens=8, **decoding), **more),
               models.shared(family))


def alike(one: Run, other: Run) -> None:
    """The same tokens, trees and, up to what a larger batch moves, numbers."""
    assert [t.id for t in one.target] == [t.id for t in other.target] and len(one.steps) == len(other.steps)
    for mine, theirs in zip(one.steps, other.steps):
        assert np.array_equal(mine.token, theirs.token) and np.array_equal(mine.parent, theirs.parent)
        for name in ("logprob", "entropy", "cross_weights", "decoder_weights"):
            np.testing.assert_allclose(getattr(mine, name), getattr(theirs, name), atol=1e-4, err_msg=name)
        if mine.ranked is not None:
            assert np.array_equal(mine.ranked.token, theirs.ranked.token) and np.array_equal(mine.ranked.fate, theirs.ranked.fate)
        assert (mine.self_cache_bytes, mine.cross_cache_bytes) == (theirs.self_cache_bytes, theirs.cross_cache_bytes)


@pytest.mark.parametrize("family", FAMILIES)
def test_eight_settings_together_are_each_as_alone(family):
    runs, alone = [[begun(family, decoding) for decoding in EIGHT] for _ in range(2)]
    for _ in side_by_side(runs):
        pass
    for one, other in zip(runs, alone):
        list(other)
        alike(one, other)
        assert one.trace().id == other.trace().id and one.trace().text == other.trace().text


@given(chosen=st.lists(st.tuples(SETTINGS, st.integers(0, len(CONTROLS) - 1)), min_size=1, max_size=5))
def test_any_settings_under_any_controls_are_as_alone(chosen):
    runs, alone = [[begun("t5", decoding, **CONTROLS[which]) for decoding, which in chosen] for _ in range(2)]
    seen = [set(steps) for steps in side_by_side(runs)]
    together = [set(places) for places in groups(runs)]
    assert all(any(places <= group for group in together) for places in seen)
    assert len(together) == len({which for _, which in chosen})
    for one, other in zip(runs, alone):
        list(other)
        alike(one, other)


def test_searches_under_different_controls_never_share_a_forward():
    """Rows of each decoder forward are those of one group; the encoder runs once a group."""
    loaded, encoded, rows = models.shared("t5"), [], []
    runs = [begun("t5", {"beams": 2}), begun("t5", {"beams": 3}, **CONTROLS[1]), begun("t5", {"beams": 4})]
    hooks = [
        loaded.model.get_encoder().register_forward_hook(lambda *_: encoded.append(1)),
        loaded.model.get_decoder().register_forward_hook(lambda *made: rows.append(len(made[-1].last_hidden_state))),
    ]
    try:
        assert groups(runs) == [[0, 2], [1]]
        for steps in side_by_side(runs):
            assert rows[-1] <= (3 if 1 in steps else 6)
        assert len(encoded) == 2 and rows[0] == 6 and 3 in rows
    finally:
        for hook in hooks:
            hook.remove()


def test_another_text_or_another_noise_is_another_group():
    runs = [begun("t5", {}), begun("t5", {}, text=models.TEXT + " too"), begun("t5", {"beams": 2})]
    assert groups(runs) == [[0, 2], [1]]


@pytest.mark.parametrize("count", [0, MOST_RUNS + 1])
def test_too_many_or_none_is_refused(count):
    with pytest.raises(InputError, match=f"{count} settings cannot be compared; choose 1 to 8"):
        next(side_by_side([begun("t5", {})] * count))


def test_what_would_not_fit_is_refused_before_anything_runs(monkeypatch):
    monkeypatch.setattr("core.batches.MAX_BYTES", 1000)
    going = begun("t5", {"beams": 8})
    with pytest.raises(InputError, match="MB of attention; at most 0 MB fit"):
        next(side_by_side([going]))
    assert not going.steps
