"""The bench's arithmetic is right, and its two sides do the same work. Times are not looked at."""

import sys

import pytest

from tests.bench import Spread, busy, ctranslate, groups, milliseconds, peers, people, percentile, ratios
from tests.bench.decoding import VARIED, Comparison, Shape, build, compare

TINY = Shape("tiny", dict(d_model=32, num_layers=2, num_decoder_layers=2, num_heads=4, d_kv=8, d_ff=64), 100)


def test_ratios_pair_neighbours_and_say_their_spread():
    assert str(ratios([2.0, 3.0, 4.4], [2.0, 2.0, 4.0])) == "1.10 [1.00-1.50]"
    assert ratios([1.0, 30.0], [2.0, 60.0]) == Spread(0.5, 0.5, 0.5)  # a load that both sides saw cancels out


@pytest.mark.parametrize("ours, theirs", [([], []), ([1.0], []), ([1.0, 2.0], [1.0])])
def test_ratios_refuse_what_has_no_pairs(ours, theirs):
    with pytest.raises(ValueError):
        ratios(ours, theirs)


@pytest.mark.parametrize("q, expected", [(0, 1), (0.5, 50), (0.95, 95), (0.951, 96), (1, 100)])
def test_percentile_is_a_nearest_rank(q, expected):
    assert percentile([*range(100, 0, -1)], q) == expected


def test_times_are_printed_as_median_and_p95():
    assert milliseconds([1.0] * 19 + [9.0]).split() == "1.0 / 1.0 (n 20)".split()


def test_a_loaded_machine_is_named():
    assert "LOADED" in busy(1.9, 2) and "LOADED" not in busy(0.3, 2) and "not known" in busy(None, 2)


def test_both_sides_write_the_same_tokens():
    found = compare(build(TINY, [9]), source=9, tokens=24, repeats=2)
    assert found.tokens_equal and found.equal == found.tokens == 24
    assert found.distinct >= VARIED  # a constant output would be equal whatever was computed
    assert "tokens equal (24" in str(found)


def test_a_difference_is_named():
    one = Spread(1.0, 1.0, 1.0)
    assert "TOKENS DIFFER from number 4 on" in str(Comparison("tiny", 9, 1.0, one, one, tokens=24, equal=3, distinct=5))


def test_a_group_and_its_peers_write_the_same_tokens():
    peers = groups.compare(TINY, source=9, tokens=12, repeats=1)
    assert peers[0].name == groups.GENERATE and peers[0].same == len(groups.BEAMS)
    assert all(peer.same for peer in peers)  # another engine rounds otherwise, which may turn a near tie
    assert "tokens equal in 4 of 4" in str(peers[0])


def test_without_ctranslate2_it_is_left_out_and_said(monkeypatch):
    monkeypatch.setitem(sys.modules, "ctranslate2", None)
    monkeypatch.setattr(groups, "SHAPES", (TINY,))
    said = list(groups.lines(1, quick=True))
    assert len(said) == 3 and said[-1] == ctranslate.MISSING and ".[bench]" in said[-1]


def test_every_side_of_the_peers_writes_the_same_number_of_tokens_and_float32_the_same_ones(monkeypatch):
    monkeypatch.setattr(peers, "translator", lambda loaded, compute: None)
    said = list(peers.lines(1, quick=True))
    rows = {name: line for line in said for name in ("generate float32", "ours float32", "ours bfloat16", "ours int8")
            if line.startswith(f"pocket    {name}")}
    assert len(rows) == 4 and all("8 of 8" in rows[name] for name in ("generate float32", "ours float32"))
    assert ctranslate.MISSING in said and said[-1].startswith("    64 -> 16") and "16 of 16 tokens equal" in said[-1]


@pytest.mark.exhaustive  # starts the page
def test_many_people_are_timed_beside_one_and_beside_generate():
    together, seconds, memory = people.lines(1, quick=True)
    assert together.startswith("3 people at once") and "of generate" in together and "n 3)" in seconds
    assert memory.count(" MB ") == 2 and "8 runs of 3 open pages" in memory
