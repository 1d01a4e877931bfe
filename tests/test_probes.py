"""Probes: a head's own numbers give its weights again, whatever the family adds; and they come back from bytes."""

import numpy as np
import pytest

from core.errors import ControlError, InputError, RecordError
from core.interventions import STACKS, Cell, Edits, Head, Masks, Row, StackMask
from core.probe_record import AXES, Probe
from core.probes import probe
from core.runs import Run
from core.settings import Decoding, Settings
from tests import models
from tests.conftest import EXHAUSTIVE

TARGET = [9, 10, 11, 12, 13]
SAMPLE = list(models.FAMILIES) if EXHAUSTIVE else ["t5", "umt5", "bart", "marian", "t5gemma_window", "bert_gpt2"]
MASKED = Masks(
    encoder=StackMask("causal", hidden=(3,)), decoder=StackMask("window", 2),
    cross=StackMask(exceptions=tuple(Cell(1, key) for key in range(16))),
)


def started(family: str, masks: Masks = MASKED, edits: Edits | None = None) -> Run:
    settings = Settings(text=models.TEXT, masks=masks, edits=edits or Edits(), decoding=Decoding(max_new_tokens=6))
    return Run(settings, models.shared(family))


@pytest.mark.parametrize("family", SAMPLE)
def test_scores_bias_and_mask_give_the_weights(family):
    for going in (started(family, Masks()), started(family, MASKED, Edits(pads=2))):
        sites = going.loaded.sites
        for stack in STACKS:
            for layer in range(sites.layers(stack)):
                found = probe(going, stack, layer, sites.heads[stack] - 1, TARGET)
                assert np.abs(found.softmax() - found.weights).max() <= 1e-6
                assert np.abs(found.q @ found.k.T - found.scores).max() <= 1e-4
                assert np.abs(found.used @ found.v - found.output).max() <= 1e-5 * max(1, np.abs(found.output).max())
                assert found.scores.shape == (len(found.queries), len(found.keys))


def test_scale_and_bias_are_those_of_the_family():
    t5, bart = probe(started("t5", Masks()), "encoder", 1, 0), probe(started("bart", Masks()), "encoder", 1, 0)
    assert t5.scale == 1 and np.ptp(t5.bias) > 0.1
    assert abs(bart.scale - 16**-0.5) < 1e-9 and not bart.bias.any()
    assert not probe(started("t5", Masks()), "cross", 0, 0, TARGET).bias.any()
    decoder = probe(started("t5", Masks()), "decoder", 0, 0, TARGET)
    assert (decoder.mask == np.where(np.tri(5, dtype=bool), 0, -np.inf)).all()


@pytest.mark.parametrize("family", ["t5", "bart", "t5gemma"])
def test_the_last_row_is_what_the_step_showed(family):
    for masks in (Masks(), MASKED, Masks(decoder=StackMask("bidirectional"))):
        going = started(family, masks)
        steps = list(going)
        ids = [int(step.token[0]) for step in steps]
        for step in (0, 3, 5):
            for stack, rows in (("cross", steps[step].cross_weights), ("decoder", steps[step].decoder_weights)):
                found = probe(started(family, masks), stack, 2, 1, ids, step)
                assert len(found.queries) == step + 1
                assert np.abs(found.used[-1] - rows[0, 2, 1]).max() <= 2e-5
        encoder = probe(started(family, masks), "encoder", 1, 1)
        assert np.abs(encoder.used - going.trace().encoder_weights[1, 1]).max() <= 2e-5


def test_dead_rows_and_edits_are_told_apart():
    edits = Edits(rows=(Row("cross", 2, (1.0, 1.0)),), heads=(Head("cross", 1, 3),))
    set_by_hand, off = (probe(started("t5", edits=edits), "cross", layer, 3, TARGET) for layer in (0, 1))
    assert (set_by_hand.weights[1] == 0).all() and np.isneginf(set_by_hand.mask[1]).all()
    assert np.allclose(set_by_hand.used[2, :2], 0.5) and not np.allclose(set_by_hand.weights[2, :2], 0.5)
    assert not off.used.any() and not off.output.any() and off.weights[0].sum() > 0.99
    assert np.abs(off.softmax() - off.weights).max() <= 1e-6


def test_it_comes_back_from_its_bytes_and_is_frozen():
    found = probe(started("t5"), "cross", 1, 2, TARGET)
    again = Probe.from_bytes(found.to_bytes())
    for name in AXES:
        assert np.array_equal(getattr(found, name), getattr(again, name))
        with pytest.raises(ValueError, match="read-only"):
            getattr(again, name).flat[0] = 0
    same = ("id", "settings", "fingerprint", "stack", "layer", "head", "queries", "keys", "scale")
    assert all(getattr(found, name) == getattr(again, name) for name in same)
    others = [probe(started("t5"), "cross", 1, 1, TARGET), probe(started("t5"), "cross", 1, 2, TARGET, 3),
              probe(started("t5", Masks()), "cross", 1, 2, TARGET)]
    assert len({found.id, *(other.id for other in others)}) == 4


@pytest.mark.parametrize("name", AXES)
def test_a_spoilt_record_is_refused(name):
    found = probe(started("bart"), "decoder", 0, 1, TARGET)
    for spoil in (lambda a: np.full_like(a, np.nan), lambda a: a[:-1], lambda a: a.astype(np.float64)):
        arrays = dict(found.arrays) | {name: spoil(found.arrays[name])}
        with pytest.raises(RecordError):
            Probe.from_bytes(Probe(**{**vars(found), "arrays": arrays}).to_bytes())
    with pytest.raises(RecordError):
        Probe.from_bytes(Probe(**{**vars(found), "stack": "both"}).to_bytes())


@pytest.mark.parametrize(("family", "args", "said"), [
    ("t5", ("middle", 0, 0, TARGET), "no stack 'middle'"), ("t5", ("cross", 3, 0, TARGET), "layers 0 to 2"),
    ("t5", ("cross", 0, 4, TARGET), "heads 0 to 3"), ("t5", ("cross", 0, -1, TARGET), "heads 0 to 3"),
    ("t5", ("cross", 0, 0, TARGET, 6), "has 5 tokens"), ("longt5", ("encoder", 0, 0), "cannot be reached"),
])
def test_what_is_not_there_is_named(family, args, said):
    with pytest.raises((InputError, ControlError), match=said):
        probe(started(family, Masks()), *args)
