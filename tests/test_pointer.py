"""The pointer-generator's mixture: repeated words add up, unknown words can be copied; coverage of attention."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import InputError
from core.metrics.coverage import coverage, score
from core.pointer import extended_ids, mixture


@st.composite
def steps(draw):
    """(P_vocab, weights, extended ids, p_gen), with words that come twice and words that are unknown."""
    vocab, source = draw(st.integers(1, 6)), draw(st.integers(1, 8))
    words = draw(st.lists(st.sampled_from("abcdef"), min_size=source, max_size=source))
    known = {word: draw(st.none() | st.integers(0, vocab - 1)) for word in "abcdef"}
    ids = extended_ids(words, [known[word] for word in words], vocab).ids
    weights, generated = (np.array(draw(st.lists(st.floats(0.01, 1), min_size=n, max_size=n))) for n in (source, vocab))
    return generated / generated.sum(), weights / weights.sum(), ids, draw(st.floats(0, 1))


@given(step=steps())
def test_a_mixture_is_a_distribution_and_gives_each_source_word_its_weight(step):
    generated, weights, ids, p_gen = step
    found = mixture(generated, weights, ids, p_gen)
    assert found.sum() == pytest.approx(1) and (found >= 0).all()
    for word in set(ids):
        own = generated[word] if word < len(generated) else 0
        share = sum(weight for weight, other in zip(weights, ids) if other == word)
        assert found[word] == pytest.approx(p_gen * own + (1 - p_gen) * share)


def test_unknown_words_are_numbered_by_first_appearance():
    found = extended_ids(["Anna", "sees", "Bert", "and", "Anna"], [None, 3, None, 1, None], 10)
    assert found.ids == (10, 3, 11, 1, 10) and found.unknown == ("Anna", "Bert")
    only = mixture(np.full(10, 0.1), np.full(5, 0.2), found.ids, 0)
    assert only[10] == pytest.approx(0.4) and len(only) == 12


def test_all_generated_is_the_vocabulary_alone():
    assert mixture(np.array([0.5, 0.5]), np.array([1.0]), [2], 1).tolist() == [0.5, 0.5, 0]


@pytest.mark.parametrize("change, said", [
    ({"p_gen": 1.5}, "p_gen is 1.5; it must be a number from 0 to 1"), ({"ids": [0]}, "do not fit 1 source"),
    ({"ids": [0, 9]}, "from 0 to 3"), ({"ids": [0, -1]}, "from 0 to 3"),
    ({"generated": [0.5, np.nan]}, "of P_vocab is negative or"),
    ({"weights": [-1, 2]}, "of the weights is negative"), ({"p_gen": np.nan}, "p_gen is nan"),
])
def test_what_does_not_fit_is_named(change, said):
    with pytest.raises(InputError, match=said):
        mixture(**{"generated": [0.5, 0.5], "weights": [0.5, 0.5], "ids": [0, 2], "p_gen": 0.5} | change)
    with pytest.raises(InputError, match="2 words have 1 ids"):
        extended_ids(["a", "b"], [1], 4)


@given(rows=st.lists(st.lists(st.floats(0.01, 1), min_size=4, max_size=4), min_size=1, max_size=6))
def test_coverage_adds_up(rows):
    weights = np.array(rows) / np.sum(rows, axis=1, keepdims=True)
    found = coverage(weights)
    assert found.final.sum() == pytest.approx(len(rows)) and found.losses[0] == 0
    assert 0 <= found.mean_loss < 1 + 1e-9
    padded = coverage(np.vstack([weights, weights]), [True] * len(rows) + [False] * len(rows))
    assert padded.loss == pytest.approx(found.loss)


def test_gaps_are_what_received_little():
    weights = np.array([[0.9, 0.1, 0.0], [0.8, 0.1, 0.1]])
    assert coverage(weights).gaps() == [1, 2] and coverage(weights).gaps(below=0.15) == [2]
    found = score(weights)
    assert found.value == pytest.approx((0.8 + 0.1) / 2) and found.lower_is_better
    assert found.notes == ("Sum over 2 steps: 0.900.", "2 of 3 source tokens received less than 0.5 in all.")
    assert score(np.zeros((0, 3))).value == 0


@pytest.mark.parametrize("weights", [[1, 2], [[np.nan]], [[-1.0]]])
def test_what_is_no_attention_is_refused(weights):
    with pytest.raises(InputError, match="no cross-attention"):
        coverage(weights)
