"""Stored hypotheses ranked anew: two length penalties, a coverage penalty, and the winner that flips (B06, B07)."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.decode.penalties import FLOOR, coverage_penalty
from core.decode.rescoring import Hypothesis, flipped, ranked
from core.errors import InputError

SHORT, LONG = Hypothesis("short", -4, 4), Hypothesis("long", -6, 8)
LOGPROBS = st.floats(-50, 0)


def scores(rule: str, alpha: float) -> dict[str, float]:
    """Name -> score, the winner first."""
    return {each.hypothesis.name: each.score for each in ranked([SHORT, LONG], rule, alpha)}


@pytest.mark.parametrize("alpha, short, long, winner", [(-1, -16, -48, "short"), (0, -4, -6, "short"), (1, -1, -0.75, "long")])
def test_b06_zero_is_neutral_and_more_favours_long(alpha, short, long, winner):
    found = scores("transformers", alpha)
    assert found == {"short": short, "long": long} and next(iter(found)) == winner


@pytest.mark.parametrize("alpha, rule, short, long, winner", [
    (0.6, "transformers", -1.7411, -1.7230, "long"), (0.6, "GNMT", -3.1362, -3.7729, "short"),
    (1, "GNMT", -2.6667, -2.7692, "short"), (1, "transformers", -1, -0.75, "long"),
])
def test_b07_the_same_alpha_chooses_another_winner(alpha, rule, short, long, winner):
    found = scores(rule, alpha)
    assert found == {"short": pytest.approx(short, abs=5e-5), "long": pytest.approx(long, abs=5e-5)}
    assert next(iter(found)) == winner


def test_b07_the_flip_is_noticed():
    assert [flipped([SHORT, LONG], alpha) for alpha in (0, 0.6, 1, 2)] == [False, True, True, False]
    assert next(iter(scores("GNMT", 2))) == "long"


def test_what_was_never_read_is_floored_and_counted():
    reader, skipper = Hypothesis("all", -5, 4, (1.0, 3.0)), Hypothesis("one", -4.5, 4, (2.0, 0.0))
    first, second = ranked([skipper, reader], "GNMT", 0.6, 0.2)
    assert (first.hypothesis.name, first.floored, first.coverage) == ("all", 0, 0)  # more than 1 costs nothing
    assert second.floored == 1 and second.coverage == pytest.approx(0.2 * math.log(FLOOR))
    assert coverage_penalty((2.0, 0.0), 0.2, floor=0) == -math.inf
    assert ranked([skipper, reader], "GNMT", 0.6)[0].hypothesis.name == "one"


@given(logprobs=st.lists(LOGPROBS, min_size=1, max_size=6), length=st.integers(1, 50), alpha=st.floats(-2, 2))
def test_equal_lengths_never_change_places(logprobs, length, alpha):
    given_ = [Hypothesis(str(k), logprob, length) for k, logprob in enumerate(logprobs)]
    for rule in ("transformers", "GNMT"):
        order = [each.hypothesis.logprob for each in ranked(given_, rule, alpha)]
        assert order == sorted(order, reverse=True)
    assert not flipped(given_, alpha)


@given(logprob=LOGPROBS, lengths=st.tuples(*[st.integers(1, 50)] * 2), rule=st.sampled_from(["GNMT", "transformers"]))
def test_at_equal_log_p_a_positive_alpha_never_prefers_the_shorter(logprob, lengths, rule):
    short, long = sorted(lengths)
    given_ = [Hypothesis("long", logprob, long), Hypothesis("short", logprob, short)]
    assert ranked(given_, rule, 0.7)[0].hypothesis.name == "long"


@given(received=st.lists(st.floats(0, 5), min_size=1, max_size=8), beta=st.floats(0, 10))
def test_a_coverage_penalty_is_never_a_reward(received, beta):
    assert coverage_penalty(received, beta) <= 0
    assert coverage_penalty([1 + each for each in received], beta) == 0


@pytest.mark.parametrize("change, said", [
    ({"rule": "HF"}, "no length penalty 'HF'; there are transformers, GNMT"),
    ({"alpha": 11}, "α is 11; it must be a number from -10"),
    ({"alpha": math.nan}, "α is nan"), ({"alpha": True}, "α is True"), ({"beta": -1}, "β is -1; it must be a number from 0"),
    ({"beta": 0.2}, "'short' has no attention"), ({"hypotheses": []}, "no hypothesis"),
    ({"hypotheses": [Hypothesis("x", -1, 0)]}, "'x' has 0 tokens"),
])
def test_wrong_input_is_named(change, said):
    with pytest.raises(InputError, match=said):
        ranked(**{"hypotheses": [SHORT], "rule": "GNMT", "alpha": 1} | change)
