"""Kinds of transformer under their masks, what families wear over the same core, and parameters of what is loaded."""

import numpy as np
import pytest

from core.dressings import dressing
from core.errors import InputError
from core.kinds import ONE_STACK, one_stack, two_stacks
from core.parameters import architecture_of, blocks, counted
from tests import models

SOURCE, LABELS = [10, 11, 12, 13, 1], [20, 21, 1]
WORDS = ("a dog runs".split(), "ein Hund".split())


@pytest.mark.parametrize("kind", ONE_STACK)
def test_one_stack_sees_what_its_mask_lets_it(kind):
    found = one_stack(kind, *WORDS)
    weights = found.weights["self"]
    assert np.allclose(weights.sum(-1), 1, atol=1e-5) and weights.shape == (len(found.axes["self"][0]),) * 2
    ahead = np.triu(weights, 1)
    assert (ahead[:3, :3] > 0).any() == (kind != "decoder-only")
    # the source before the changed token moves exactly where the source is read both ways
    assert found.source_moved == (kind != "decoder-only", kind != "decoder-only", True)
    assert found.target_moved == (() if kind == "encoder-only" else (True, True))
    if kind == "prefix-lm":
        assert not ahead[:, 3:].any()  # nothing sees the target ahead


@pytest.mark.parametrize("family", ["t5", "bart", "marian", "t5gemma"])
def test_two_stacks_read_the_source_both_ways_and_the_target_one(family):
    loaded = models.shared(family)
    found = two_stacks(loaded, SOURCE, LABELS, ([str(id) for id in SOURCE], ["<s>", "20", "21"]))
    assert found.weights["cross"].shape == (3, 5) and found.weights["encoder"].shape == (5, 5)
    assert not np.triu(found.weights["decoder"], 1).any() and np.triu(found.weights["encoder"], 1).any()
    assert all(found.source_moved) and all(found.target_moved)


def test_the_last_id_of_a_vocabulary_changes_into_another_one():
    loaded = models.shared("t5")
    last = loaded.model.get_input_embeddings().num_embeddings - 1
    found = two_stacks(loaded, [last, last, 1], LABELS, (["a", "a", "</s>"], ["<s>", "20", "21"]))
    assert found.changed == 1 and found.source_moved[1]


@pytest.mark.parametrize("call", [lambda: one_stack("both", *WORDS), lambda: one_stack("prefix-lm", [], ["a"]),
                                  lambda: two_stacks(models.shared("t5"), [1], [1], ((), ()))])
def test_nothing_to_read_is_refused(call):
    with pytest.raises(InputError):
        call()


@pytest.mark.parametrize(("family", "kind", "biased"), [("t5", "bias", False), ("bart", "learned", True),
                                                        ("marian", "sinusoids", True), ("t5gemma", "rotary", False)])
def test_what_a_family_wears_is_read_off_its_weights(family, kind, biased):
    found = dressing(models.shared(family), SOURCE)
    assert (found.positions, found.norm_biased) == (kind, biased)
    assert found.rms == pytest.approx(1, abs=0.01)
    assert (found.mean < 1e-3) is biased  # RMSNorm leaves the mean, LayerNorm takes it off
    assert (found.zeros > 0.2 and found.below == 0) is (family == "t5")
    widths = {"t5": 1.0, "bart": 16**-0.5, "marian": 16**-0.5, "t5gemma": 8**-0.5}  # of a head; T5 does not divide
    assert found.scale == pytest.approx(widths[family])
    if kind == "rotary":
        assert found.places is None
    elif kind == "bias":
        assert found.places.values.shape == (4, 25) and found.places.columns[0] == "-12"
    else:  # every position is most like itself; BART's two unread rows are left out
        assert np.allclose(np.diag(found.places.values), 1, atol=1e-5) and found.places.values.shape == (24, 24)
        table = models.shared(family).model.get_encoder().embed_positions.weight
        first = table[2 if family == "bart" else 0]
        other = table[3 if family == "bart" else 1]
        cosine = float(first @ other / first.norm() / other.norm())
        assert found.places.values[0, 1] == pytest.approx(cosine, abs=1e-5)
    assert len(found.stream) == models.shared(family).sites.layers("encoder")


@pytest.mark.parametrize("family", [*models.FAMILIES])
def test_every_parameter_of_a_loaded_model_is_counted_once(family):
    loaded = models.shared(family)
    rows = counted(loaded)
    assert sum(row[3] for row in rows) == loaded.model.num_parameters()
    sizes = architecture_of(loaded.model.config.to_dict())
    if sizes and not sizes.biased:  # where layers have biases, those are counted with their layer
        by = {part: sum(row[3] for row in rows if row[2] == part) for part in ("cross", "feed_forward", "norms", "positions")}
        found = blocks(sizes)
        assert by == {"cross": found["decoder.cross"], "norms": found["norms"], "positions": found["positions"],
                      "feed_forward": found["encoder.feed_forward"] + found["decoder.feed_forward"]}
