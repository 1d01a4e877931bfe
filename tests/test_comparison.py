"""Likelihoods under other masks, two runs compared, and what each head is worth."""

import dataclasses
import math

import numpy as np
import pytest

from core import record, run
from core.comparison import Comparison, compare, difference, what_differs
from core.errors import InputError, RecordError
from core.importance import head_importance, importance_maps
from core.interventions import Cell, Edits, Head, Masks, Row, StackMask
from core.likelihood import ForcedPass, score
from core.records import pack
from core.runs import Run
from core.settings import Decoding, Settings
from core.text import Token
from tests import models

PLAIN = Settings(text="A brown dog runs along the beach with a ball.")
CAUSAL = dataclasses.replace(PLAIN, masks=Masks(encoder=StackMask("causal")))
UNMASKED = dataclasses.replace(PLAIN, masks=Masks(decoder=StackMask("bidirectional")))


@pytest.fixture(scope="module")
def old():
    return record(PLAIN)


def ids_of(trace) -> list[int]:
    return [t.id for t in trace.target]


def tokens(*ids: int) -> tuple[Token, ...]:
    return tuple(Token(str(id), id) for id in ids)


# log P

def test_log_p_of_an_output_is_that_of_its_steps(old):
    wanted = [float(step.logprob[0]) for step in old.steps]
    for stepwise in (False, True):
        found = score(run(PLAIN), ids_of(old), stepwise)
        assert np.abs(found.logprobs - wanted).max() <= 1e-4
        assert abs(found.loss + sum(wanted) / len(wanted)) <= 1e-4 and [t.id for t in found.target] == ids_of(old)


def test_it_is_the_loss_that_training_measures(old):
    import torch

    from core.train.forcing import forced

    going = run(PLAIN)
    source = torch.tensor([[t.id for t in going.source]])
    with torch.inference_mode():
        theirs = forced(going.loaded.model, source, torch.ones_like(source), torch.tensor([ids_of(old)]))
    assert abs(score(going, ids_of(old)).loss - float(theirs.loss)) <= 1e-5


def test_a_decoder_that_never_saw_the_future_does_worse_with_it(old):
    """Its weights were trained causally: the teacher-forced loss of a good output goes up, though the answer is in sight."""
    assert score(run(UNMASKED), ids_of(old)).loss > score(run(PLAIN), ids_of(old)).loss + 0.1


def test_a_score_comes_back_from_its_bytes(old):
    found = score(run(CAUSAL), ids_of(old))
    again = ForcedPass.from_bytes(found.to_bytes())
    assert (again.id, again.total, again.target, again.settings) == (found.id, found.total, found.target, found.settings)
    assert len({found.id, score(run(PLAIN), ids_of(old)).id, score(run(CAUSAL), ids_of(old), True).id}) == 3
    for spoilt in (found.logprobs[:-1], found.logprobs * np.nan, found.logprobs.astype(np.float64)):
        with pytest.raises(RecordError):
            ForcedPass.from_bytes(dataclasses.replace(found, logprobs=spoilt).to_bytes())
    with pytest.raises(InputError, match="no tokens"):
        score(run(PLAIN), [])


# Two runs

def test_two_runs_under_two_masks(old):
    new = record(CAUSAL)
    again = score(run(CAUSAL), ids_of(old), stepwise=True).total
    found = compare(old, new, again)
    assert found.total == max(len(old.target), len(new.target)) and 0 < found.changed <= found.total
    assert found.logp_old == pytest.approx(sum(float(s.logprob[0]) for s in old.steps)) and found.logp_old_now < found.logp_old
    assert found.sentence == (
        f"Encoder causal instead of bidirectional: {found.changed} of {found.total} tokens changed, log P "
        f"−{-found.logp_old:.1f} → −{-found.logp_new:.1f}; the old output now has −{-again:.1f}."
    )
    rebuilt = []
    for tag, i1, i2, j1, j2 in found.opcodes:
        rebuilt += found.old_tokens[i1:i2] if tag == "equal" else found.new_tokens[j1:j2]
    assert [t.id for t in rebuilt] == ids_of(new)
    assert Comparison.from_bytes(found.to_bytes()) == found
    same = compare(old, record(PLAIN))
    assert same.changed == 0 and same.sentence.startswith("The same masks: 0 of") and math.isnan(same.logp_old_now)


@pytest.mark.parametrize(("before", "after", "changed"), [
    ((1, 2, 3), (1, 2, 3), 0), ((1, 2, 3), (1, 9, 3), 1), ((1, 2, 3), (1, 2, 3, 4), 1), ((1, 2, 3), (2, 3), 1),
    ((1, 2), (3, 4, 5), 3), ((), (1, 2), 2), ((), (), 0), ((1, 2, 3, 4), (3, 4, 1, 2), 2),
])
def test_how_many_tokens_changed(before, after, changed):
    before, after = tokens(*before), tokens(*after)
    found = Comparison("a", "b", "x", before, after, difference(before, after), -1.0, -2.0)
    assert found.changed == changed and found.total == max(len(before), len(after))


@pytest.mark.parametrize(("masks", "edits", "said"), [
    (Masks(decoder=StackMask("prefix", 4)), Edits(), "Decoder prefix 4 instead of causal"),
    (Masks(cross=StackMask(hidden=(2,))), Edits(), "Cross padding only, hidden 3 instead of padding only"),
    (Masks(), Edits(heads=(Head("cross", 1, 2),)), "Cross head 2.3 off"),
    (Masks(), Edits(pads=3, padding_mask=False), "3 pad tokens instead of 0; padding mask off"),
    (Masks(), Edits(rows=(Row("cross", 1, (1.0,)),), forced=(5,)), "1 row set by hand instead of 0"),
    (Masks(), Edits(forced=(5,)), "Other edits"),
])
def test_what_differs_in_words(masks, edits, said):
    new = dataclasses.replace(PLAIN, masks=masks, edits=edits)
    assert what_differs(PLAIN, new) == said
    assert what_differs(new, new) == "The same masks"


def test_other_cells_and_heads_on_again():
    one, two = (dataclasses.replace(PLAIN, masks=Masks(encoder=StackMask(exceptions=(Cell(1, key),)))) for key in (1, 2))
    assert what_differs(one, two) == "Encoder other cells"
    named = Settings("a", masks=Masks(encoder=StackMask("bidirectional")))
    assert what_differs(Settings("a"), named) == "Encoder bidirectional, which it is anyway"
    assert what_differs(dataclasses.replace(PLAIN, edits=Edits(heads=(Head(),))), PLAIN) == "Encoder head 1.1 on again"


def test_other_weights_are_not_compared_and_spoilt_records_are_refused(old):
    with pytest.raises(ValueError, match="different weights"):
        compare(old, dataclasses.replace(old, fingerprint="other"))
    head = {"old": "a", "new": "b", "what": "x", "opcodes": [], "old_tokens": [], "new_tokens": [["a", 1, 0, 0]]}
    for change in ({}, {"old_tokens": 3}, {"opcodes": [["insert", 0, 0, 0, 2]]}):
        with pytest.raises(RecordError):
            Comparison.from_bytes(pack("comparison", head | change, {"logp": np.zeros(3)}))


# Heads

@pytest.mark.parametrize("family", ["t5", "bart", "t5gemma", "bert_gpt2"])
def test_heads_in_a_batch_are_heads_one_at_a_time(family):
    target = [9, 10, 11, 12, 13]
    settings = Settings(text=models.TEXT, masks=Masks(encoder=StackMask("window", 3)), decoding=Decoding(max_new_tokens=6))
    going = Run(settings, models.shared(family))
    found = list(head_importance(going, target))
    assert [one.done for one in found] == list(range(1, found[0].total + 1))
    maps, sites = importance_maps(found), going.loaded.sites
    assert {stack: m.shape for stack, m in maps.items()} == {s: (sites.layers(s), sites.heads[s]) for s in sites.reached}
    whole = score(going, target).total
    for stack, layer, head in (("encoder", 1, 0), ("decoder", 2, 1), ("cross", 0, 1)):
        off = dataclasses.replace(settings, edits=Edits(heads=(Head(stack, layer, head),)))
        change = score(Run(off, going.loaded), target).total - whole
        assert abs(maps[stack][layer, head] - change) <= 1e-4 * max(1, abs(whole)) and abs(change) > 1e-3


def test_a_head_that_is_off_already_changes_nothing():
    going = Run(Settings(text=models.TEXT, edits=Edits(heads=(Head("cross", 1, 2),))), models.shared("t5"))
    maps = importance_maps(list(head_importance(going, [9, 10, 11])))
    assert abs(maps["cross"][1, 2]) <= 1e-4 and abs(maps["cross"][1, 1]) > 1e-3
