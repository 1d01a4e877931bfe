"""Several people's runs in one forward: each as it would be alone, whatever the others' sources, searches and ends are."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.engines.crowds import crowds, encode_all, forwards
from core.interventions import Edits, Masks, StackMask
from core.runs import Run
from tests import models
from tests.test_batches import EIGHT, alike, begun

TEXTS = (models.TEXT, "a cat sleeps", "two red horse", "the man looks at the house by the water and eats")
FAMILIES = ["t5", "mt5", "umt5", "bart", "mbart", "marian", "pegasus", "m2m_100", "t5gemma", "bert_bert", "bert_gpt2"]


def made(runs: list[Run], wanted=lambda place: True) -> list[list[int]]:
    """All of one crowd to the end; the places of each step."""
    for _ in encode_all(runs):
        pass
    seen = []
    for found in forwards(runs, wanted):
        seen.append(sorted(found))
        for place, forward in found.items():
            runs[place].took(forward)
    return seen


@pytest.mark.parametrize("family", FAMILIES)
def test_four_people_with_four_texts_each_have_their_own_run(family):
    ways = [{"beams": 3}, {}, {"do_sample": True, "seed": 3}, {"beams": 2, "length_penalty": 0.0}]
    runs, alone = [[begun(family, way, text=text) for way, text in zip(ways, TEXTS)] for _ in range(2)]
    assert crowds(runs) == [[0, 1, 2, 3]] and len({len(going.source) for going in runs}) > 1
    made(runs)
    for one, other in zip(runs, alone):
        list(other)
        alike(one, other)
        np.testing.assert_array_equal(one.encoder_weights, other.encoder_weights)  # each source is encoded by itself
        assert one.trace().id == other.trace().id and one.trace().text == other.trace().text


@given(chosen=st.lists(st.tuples(st.sampled_from(EIGHT), st.sampled_from(TEXTS)), min_size=2, max_size=6))
def test_any_searches_over_any_texts_are_as_alone(chosen):
    runs, alone = [[begun("t5", way, text=text) for way, text in chosen] for _ in range(2)]
    made(runs)
    for one, other in zip(runs, alone):
        list(other)
        alike(one, other)


def test_one_person_alone_has_the_bits_of_any_run():
    (one,), other = runs = [begun("bart", {"beams": 3})], begun("bart", {"beams": 3})
    made(runs[0])
    list(other)
    assert one.trace().digest == other.trace().digest


def test_who_is_not_wanted_leaves_at_the_next_step_and_moves_nobody():
    runs, alone = [[begun("t5", {"beams": 2}, text=text) for text in TEXTS] for _ in range(2)]
    seen = made(runs, lambda place: place != 1 or len(runs[1].steps) < 3)
    assert [1 in places for places in seen[:5]] == [True, True, True, False, False] and len(runs[1].steps) == 3
    for place in (0, 2, 3):
        list(alone[place])
        alike(runs[place], alone[place])


def test_controls_and_lengths_that_masks_count_keep_people_apart():
    causal = Masks(encoder=StackMask("causal"))
    runs = [begun("t5", {}, text=TEXTS[0]), begun("t5", {}, text=TEXTS[1], masks=causal),
            begun("t5", {}, text=TEXTS[2], masks=causal), begun("t5", {}, text=TEXTS[1]), begun("bart", {}, text=TEXTS[1]),
            begun("t5", {}, text="a dog runs", masks=causal)]
    assert crowds(runs) == [[0, 3], [1, 2, 5], [4]]  # "two red horse" and "a cat sleeps" have one length
    masked, alone = [[begun("t5", {"beams": 2}, text=text, masks=Masks(cross=StackMask("window", size=1)), edits=Edits(pads=2))
                      for text in TEXTS[1:3]] for _ in range(2)]
    made(masked)
    for one, other in zip(masked, alone):
        list(other)
        alike(one, other)
