"""Controls on every site: each has its effect, on both paths, and none where it is not asked for; threads never mix."""

import dataclasses
import random
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from functools import cache

import numpy as np
import pytest
import torch

from core import masks as booleans
from core.attention import capture
from core.controls import Controls, use
from core.decode.driver import RECOMPUTED
from core.errors import ControlError, InputError
from core.interventions import STACKS, Cell, Edits, Head, Masks, Row, StackMask
from core.leaks import padding_effect
from core.likelihood import logits_of, score, source_of
from core.models.loading import Loaded
from core.runs import Run, run
from core.settings import Decoding, Settings
from core.trace import Trace
from tests import models
from tests.conftest import EXHAUSTIVE
from tests.test_driver import HostCopies

REACHED = list(models.FAMILIES)
SAMPLE = REACHED if EXHAUSTIVE else ["t5", "umt5", "bart", "t5gemma", "t5gemma_window", "bert_gpt2"]
NONE, PLAIN = Masks(), Edits()
CAPTION = "A brown dog runs along the beach with a ball."
TARGET = [9, 10, 11, 12, 13, 14]
PATHS = {"sdpa": nullcontext, "eager": capture}


def started(family: str, masks: Masks = NONE, edits: Edits = PLAIN, steps: int = 12, loaded: Loaded | None = None) -> Run:
    settings = Settings(text=models.TEXT, masks=masks, edits=edits, decoding=Decoding(max_new_tokens=steps))
    return Run(settings, loaded or models.shared(family))


@cache
def doubled(family: str) -> Loaded:
    """The same in float64: random weights blow up the last bits of float32, which are not the point."""
    return models.prepare(family, models.build(family).double(), models.tokenizer())


def logits(going: Run, path: str = "sdpa") -> torch.Tensor:
    """(target, vocab) of one forward under the run's controls."""
    with PATHS[path]():
        return logits_of(going, TARGET)[0]


def only(stack: str, *args, **fields) -> Masks:
    return Masks(**{stack: StackMask(*args, **fields)})


# Every toggle has an effect

TOGGLES = {
    **{f"encoder {p}": (only("encoder", p, 2), Edits()) for p in ("causal", "prefix", "window", "diagonal")},
    **{f"decoder {p}": (only("decoder", p, 2), Edits())
       for p in ("bidirectional", "padding", "prefix", "window", "diagonal")},
    **{f"cross {p}": (only("cross", p, 2), Edits()) for p in ("causal", "prefix", "window", "diagonal")},
    **{f"{s} hidden": (only(s, hidden=(1,)), Edits()) for s in STACKS},
    **{f"{s} cell": (only(s, exceptions=(Cell(2, 1),)), Edits()) for s in STACKS},
    **{f"{s} cell of one layer": (only(s, exceptions=(Cell(2, 1, 1),)), Edits()) for s in STACKS},
    "decoder cell opened": (only("decoder", exceptions=(Cell(1, 3, allowed=True),)), Edits()),
    "cell opened in a hidden column": (only("encoder", hidden=(1,), exceptions=(Cell(2, 1, allowed=True),)), Edits()),
    **{f"{s} head": (Masks(), Edits(heads=(Head(s, 1, 1),))) for s in STACKS},
    **{f"{s} row": (Masks(), Edits(rows=(Row(s, 2, (0.0, 1.0)),))) for s in STACKS},
    **{f"{s} row of one head": (Masks(), Edits(rows=(Row(s, 2, (1.0, 1.0, 1.0), 1, 0),))) for s in STACKS},
    "pads in sight": (Masks(), Edits(pads=3, padding_mask=False)),
}
SAME = {  # name -> (stack, choice) that equals the model's own mask
    "encoder bidirectional": ("encoder", StackMask("bidirectional")), "encoder padding": ("encoder", StackMask("padding")),
    "decoder causal": ("decoder", StackMask("causal")), "cross padding": ("cross", StackMask("padding")),
    "cross bidirectional": ("cross", StackMask("bidirectional")), "prefix 0": ("decoder", StackMask("prefix", 0)),
    "prefix 1": ("decoder", StackMask("prefix", 1)), "a wide window": ("encoder", StackMask("window", 99)),
    "cells beyond the axes": ("decoder", StackMask(exceptions=(Cell(900, 1), Cell(1, 900)))),
    "hidden beyond the axis": ("encoder", StackMask(hidden=(500,))),
}


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("family", [f for f in SAMPLE if f != "t5gemma_window"])
def test_every_toggle_has_an_effect(family, path):
    plain = logits(started(family), path)
    found = {name: float((logits(started(family, *choice), path) - plain).abs().max()) for name, choice in TOGGLES.items()}
    floor = 2e-5 * max(1, float(plain.abs().max()))  # what the equalities below allow; one cell is worth little to some
    assert {name: change for name, change in found.items() if not change > floor} == {}


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("family", [f for f in SAMPLE if f != "t5gemma_window"])
def test_the_stated_equalities(family, path):
    """A mask that says what the model does anyway changes nothing beyond rounding."""
    plain = logits(started(family), path)
    for name, (stack, choice) in SAME.items():
        change = (logits(started(family, Masks(**{stack: choice})), path) - plain).abs().max()
        assert change <= 2e-5 * max(1, plain.abs().max()), name


@pytest.mark.parametrize("family", SAMPLE)
def test_both_paths_agree(family):
    for name, choice in TOGGLES.items():
        going = started(family, *choice)
        one, other = logits(going, "sdpa"), logits(going, "eager")
        assert (one - other).abs().max() <= 5e-5 * max(1, one.abs().max()), name


@pytest.mark.parametrize("stack", STACKS)
@pytest.mark.parametrize("family", SAMPLE)
def test_weights_are_those_of_the_mask(family, stack):
    """What is captured is 0 exactly where the mask says, in every layer; and a distribution elsewhere."""
    choice = StackMask("window", 2, hidden=(1,), exceptions=(Cell(4, 0, allowed=True), Cell(3, 3, 1)))
    going = started(family, Masks(**{stack: choice}))
    loaded, rows = going.loaded, len(going.source) if stack == "encoder" else len(TARGET)
    keys = len(TARGET) if stack == "decoder" else len(going.source)
    with capture() as kept:
        logits_of(going, TARGET)
    weights = loaded.sites.stack(kept, stack)[0].numpy()
    for layer, found in enumerate(weights):
        mask = booleans.effective(choice, stack, layer, rows, keys)
        assert (found[:, ~mask] == 0).all() and (found[:, mask] > 0).mean() > 0.9
        assert np.abs(found.sum(-1) - ~booleans.dead(mask)).max() <= 1e-5


def test_without_controls_nothing_changes_to_the_bit():
    """Also beside a stack that is controlled: the others run as ever."""
    for family in SAMPLE:
        plain, going = started(family), started(family, only("decoder", "diagonal"))
        with capture() as one:
            logits_of(plain, TARGET)
        with capture() as other:
            logits_of(going, TARGET)
        sites = going.loaded.sites
        assert torch.equal(sites.stack(one, "encoder"), sites.stack(other, "encoder"))
        assert torch.equal(logits(plain), logits(started(family, edits=Edits(forced=(9,)))))


# Heads and rows

@pytest.mark.parametrize("family", ["t5", "bart"])
@pytest.mark.parametrize("stack", STACKS)
def test_a_head_off_is_its_columns_of_the_output_projection_at_zero(family, stack):
    going = started(family, edits=Edits(heads=(Head(stack, 1, 2 if family == "t5" or stack != "encoder" else 1),)))
    head = going.settings.edits.heads[0].head
    loaded = models.loaded(family)
    module = next(m for m in loaded.model.modules() if loaded.sites.of.get(id(m)) == (stack, 1))
    projection = module.o if family == "t5" else module.out_proj
    width = projection.weight.shape[1] // loaded.sites.heads[stack]
    projection.weight[:, head * width : (head + 1) * width] = 0
    other = Run(dataclasses.replace(going.settings, edits=Edits()), loaded)
    for path, tolerance in (("eager", 1e-6), ("sdpa", 5e-6)):
        wanted = logits(other, path)
        assert (logits(going, path) - wanted).abs().max() <= tolerance * max(1, wanted.abs().max())


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("family", SAMPLE)
def test_a_row_with_one_weight_is_a_mask_with_one_key(family, path):
    for stack in STACKS:
        row = Edits(rows=(Row(stack, 2, (0.0, 3.0)),))
        cells = only(stack, exceptions=tuple(Cell(2, key) for key in range(20) if key != 1))
        one, other = logits(started(family, edits=row), path), logits(started(family, cells), path)
        assert (one - other).abs().max() <= 2e-5 * max(1, other.abs().max()), stack


def test_a_row_is_renormalised_and_what_the_mask_hides_stays_hidden():
    going = started("t5", only("cross", hidden=(2,)), Edits(rows=(Row("cross", 3, (1.0, 2.0, 4.0, 1.0), 1),)))
    step = list(going)[3]
    assert np.allclose(step.cross_weights[0, 1, :, :4], [0.25, 0.5, 0, 0.25])
    assert not np.allclose(step.cross_weights[0, 0, 0, :4], [0.25, 0.5, 0, 0.25])  # the other layers are left alone


def test_a_row_on_nothing_but_hidden_keys_sees_nothing():
    going = started("bart", only("cross", hidden=(0,)), Edits(rows=(Row("cross", 2, (1.0,), 0, 1),)))
    step = list(going)[2]
    assert (step.cross_weights[0, 0, 1] == 0).all() and abs(step.cross_weights[0, 0, 0].sum() - 1) < 1e-5


# Rows that see nothing

@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("stack", STACKS)
@pytest.mark.parametrize("family", SAMPLE)
def test_a_dead_row_has_output_zero_and_finite_gradients(family, stack, path):
    going = started(family, only(stack, exceptions=tuple(Cell(2, key) for key in range(20))))
    loaded, (source, _) = going.loaded, source_of(going)
    embed, outputs = loaded.model.get_encoder().get_input_embeddings(), []
    leaf = embed(source).detach().requires_grad_()
    hook = embed.register_forward_hook(lambda *_: leaf)
    site = next(m for m in loaded.model.modules() if loaded.sites.of.get(id(m)) == (stack, 0))
    try:
        with use(going.controls), capture(site) if path == "eager" else nullcontext() as kept:
            memory = loaded.model.get_encoder()(input_ids=source)
            hook.remove()
            fed = torch.tensor([[going.start.id, *TARGET[:-1]]])
            out = loaded.model(encoder_outputs=memory, decoder_input_ids=fed, use_cache=False).logits
    finally:
        hook.remove()
    if path == "eager":
        seen = kept.looked_at[id(site)]
        assert (seen["output"][:, 2] == 0).all() and (seen["used"][:, :, 2] == 0).all()
        outputs.append(seen)
    out.log_softmax(-1).pow(2).sum().backward()
    assert out.isfinite().all() and leaf.grad.isfinite().all() and leaf.grad.abs().max() > 0


def test_dead_rows_are_marked():
    masks = Masks(encoder=StackMask(hidden=tuple(range(20))), cross=StackMask(exceptions=tuple(Cell(2, k, 1) for k in range(20))))
    going = started("t5", masks)
    steps = list(going)
    assert "Encoder row 3 sees nothing: its weights and output are 0." in going.notes
    assert steps[2].notes == ("nothing visible in cross attention in layer 2: weights and output 0",)
    assert (steps[2].cross_weights[0, 1] == 0).all() and steps[1].notes == ()
    trace = going.trace()
    assert np.isfinite(trace.encoder_weights).all() and Trace.from_bytes(trace.to_bytes()) == trace


# Steps

STEPWISE = {
    "window": Masks(decoder=StackMask("window", 2), cross=StackMask(hidden=(3,))),
    "cross by position": Masks(cross=StackMask("window", 2), encoder=StackMask("causal")),
    "cells": Masks(decoder=StackMask(exceptions=(Cell(5, 2), Cell(7, 1, 1))), cross=StackMask(exceptions=(Cell(4, 4),))),
    "bidirectional": Masks(decoder=StackMask("bidirectional")),
    "prefix": Masks(decoder=StackMask("prefix", 6)),
    "one cell ahead": Masks(decoder=StackMask(exceptions=(Cell(2, 9, allowed=True),))),
}
ROWS = Edits(rows=(Row("cross", 3, (1.0, 1.0)), Row("decoder", 4, (1.0, 1.0), 1)), heads=(Head("cross", 1, 1),))


@pytest.mark.parametrize("name", STEPWISE)
@pytest.mark.parametrize("family", SAMPLE)
def test_step_by_step_equals_the_full_forward(family, name):
    """Each step is the last row of one forward over what had been written: logits by their log P, rows by their weights."""
    for edits in (Edits(), ROWS):
        going = started(family, STEPWISE[name], edits, loaded=doubled(family))
        steps = list(going)
        ids = [int(step.token[0]) for step in steps]
        with capture() as kept:
            whole = logits_of(going, ids)[0].log_softmax(-1)
        ahead = booleans.looks_ahead(going.settings.masks.decoder)
        for end in range(1, len(ids) + 1):
            if ahead:
                with capture() as kept:
                    whole = logits_of(going, ids[:end])[0].log_softmax(-1)
            row, step = whole[end - 1], steps[end - 1]
            assert abs(float(row[ids[end - 1]]) - step.logprob[0]) <= 1e-5 * max(1, float(row.abs().max()))
            for stack, found in (("cross", step.cross_weights[0]), ("decoder", step.decoder_weights[0])):
                wanted = going.loaded.sites.stack(kept, stack)[0, :, :, end - 1].numpy()
                assert np.abs(found - wanted[..., : found.shape[-1]]).max() <= 1e-5
        assert [RECOMPUTED in step.notes for step in steps] == [ahead and step.index > 0 for step in steps]
        assert any("is computed again at each step" in note for note in going.notes) == ahead


@pytest.mark.parametrize("masks", [STEPWISE["cells"], STEPWISE["bidirectional"]])
def test_controls_read_nothing_back_from_the_device(masks):
    """One copy to the host a step, as without them."""
    going, seen = started("t5", masks, ROWS), []
    for _ in range(8):
        with HostCopies() as copies:
            next(going)
        seen.append(copies.seen)
    assert seen[1:] == [["cpu"]] * 7


def test_a_cache_under_a_mask_that_looks_ahead_would_be_wrong(monkeypatch):
    """So the test above notices a driver that keeps it."""
    right = list(started("t5", STEPWISE["bidirectional"]))
    monkeypatch.setattr("core.decode.driver.looks_ahead", lambda choice: False)
    wrong = list(started("t5", STEPWISE["bidirectional"]))
    assert max(abs(a.logprob[0] - b.logprob[0]) for a, b in zip(right, wrong)) > 1e-3


def test_a_branch_shares_its_beginning_and_goes_its_own_way():
    old = started("bart")
    before = list(old)
    kept = tuple(int(step.token[0]) for step in before[:4])
    new = started("bart", edits=Edits(rows=(Row("cross", 4, (0.0, 0.0, 1.0)),), forced=kept))
    after = list(new)
    assert [int(s.token[0]) for s in after[:4]] == list(kept) and "forced" in after[0].notes[0]
    for a, b in zip(before[:4], after[:4]):
        assert a.logprob == b.logprob and np.array_equal(a.cross_weights, b.cross_weights)
    assert np.allclose(after[4].cross_weights[0, :, :, 2], 1) and after[4].entropy != before[4].entropy
    assert new.id != old.id and new.group != old.group


def test_runs_under_other_masks_have_other_ids_and_groups():
    runs = [started("t5", *choice) for choice in TOGGLES.values()] + [started("t5")]
    assert len({going.id for going in runs}) == len({going.group for going in runs}) == len(runs)
    assert started("t5").group == started("t5", steps=3).group


# Padding

@pytest.mark.parametrize("family", REACHED)
def test_pads_move_nothing_with_the_padding_mask_and_a_lot_without(family):
    plain, count = logits(started(family)), 5
    for masks in (Masks(), Masks(encoder=StackMask("bidirectional"), cross=StackMask("bidirectional"))):
        hidden = started(family, masks, Edits(pads=count))
        assert len(hidden.source) == len(started(family).source) + count and hidden.source[-1].text == "<pad>"
        for path in PATHS:
            alone = logits(started(family, masks), path)
            assert (logits(hidden, path) - alone).abs().max() <= 2e-5 * max(1, alone.abs().max()), path
    assert (logits(started(family, edits=Edits(pads=count, padding_mask=False))) - plain).abs().max() > 1e-2


def test_pads_move_the_bundled_model_by_at_most_a_ten_thousandth():
    going = run(Settings(text=CAPTION))
    target = [int(step.token[0]) for step in going]
    for pads in (1, 8, 64):
        effect = padding_effect(going, target, pads)
        assert effect.hidden <= 1e-4 and effect.seen > 0.1, pads
    assert padding_effect(going, target, 0).seen == 0


def test_pads_take_no_attention_in_a_run():
    trace = started("t5", edits=Edits(pads=2))
    steps = list(trace)
    assert all((step.cross_weights[..., -2:] == 0).all() for step in steps)
    shown = started("t5", edits=Edits(pads=2, padding_mask=False))
    assert (next(shown).cross_weights[..., -2:] > 0).any()


# Refused

REFUSED = [
    ("longt5", only("encoder", "causal"), Edits(), "The encoder mask cannot be changed"),
    ("longt5", Masks(), Edits(heads=(Head("encoder", 0, 0),)), "The encoder head cannot be changed"),
    ("longt5", Masks(), Edits(rows=(Row("encoder", 0, (1.0,)),)), "The encoder row cannot be changed"),
    ("t5", only("cross", exceptions=(Cell(0, 0, 3),)), Edits(), "layer 3; t5 has layers 0 to 2"),
    ("bart", Masks(), Edits(heads=(Head("encoder", 2, 0),)), "layer 2; bart has layers 0 to 1"),
    ("bart", Masks(), Edits(heads=(Head("encoder", 0, 2),)), "head 2; bart has heads 0 to 1"),
    ("t5", Masks(), Edits(rows=(Row("encoder", 11, (1.0,)),)), "row 11; the source has rows 0 to 10"),
    ("t5", Masks(), Edits(rows=(Row("cross", 1, (1.0,) * 12),)), "12 weights; row 1 has 11 columns"),
    ("t5", Masks(), Edits(rows=(Row("decoder", 1, (1.0,) * 3),)), "3 weights; row 1 has 2 columns"),
    ("t5", Masks(), Edits(rows=(Row("cross", 1, (1.0,), 0, 4),)), "head 4; t5 has heads 0 to 3"),
    ("t5", Masks(), Edits(forced=(models.VOCABULARY,)), "not in the vocabulary"),
    ("t5", Masks(), Edits(forced=(9,) * 13), "13 forced tokens"),
    ("bart", Masks(), Edits(pads=60), "64 source positions"),
]


@pytest.mark.parametrize(("family", "masks", "edits", "said"), REFUSED)
def test_what_cannot_be_done_is_refused_with_the_reason(family, masks, edits, said):
    with pytest.raises((ControlError, InputError), match=said):
        started(family, masks, edits)


def test_what_can_be_reached_of_a_partly_reachable_model_is_controlled():
    plain, hidden = logits(started("longt5")), logits(started("longt5", only("cross", hidden=(3,))))
    assert (plain - hidden).abs().max() > 1e-3


# Threads

def test_two_people_on_one_model_never_mix(seed):
    """200 forwards on one shared model, under three controls and none, four threads at a time: each as when alone."""
    choices = [Masks(), only("encoder", "causal"), only("cross", hidden=(2,)), only("decoder", "diagonal")]
    runs = [started("t5", masks) for masks in choices]
    alone = {(k, path): logits(going, path) for k, going in enumerate(runs) for path in PATHS}
    jobs = [(k, path) for k in range(4) for path in PATHS for _ in range(25)]
    random.Random(seed).shuffle(jobs)
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda job: logits(runs[job[0]], job[1]), jobs))
    wrong = [job for job, result in zip(jobs, found) if not torch.equal(result, alone[job])]
    assert (len(jobs), wrong) == (200, [])


def test_controls_end_with_their_call():
    going = started("t5", only("encoder", "causal"))
    plain = logits(started("t5"))
    next(going)  # a run between two steps holds nothing
    assert torch.equal(logits(started("t5")), plain)
    with pytest.raises(RuntimeError), use(going.controls):
        raise RuntimeError
    assert torch.equal(logits(started("t5")), plain)


def test_a_batch_may_switch_off_another_head_in_each_row():
    going = started("t5")
    keep = 1 - torch.eye(4)
    together = logits_of(going, TARGET, Controls(going.loaded.sites.of, keep={("cross", 1): keep}), batch=4)
    for head in range(4):
        alone = logits(started("t5", edits=Edits(heads=(Head("cross", 1, head),))))
        assert (together[head] - alone).abs().max() <= 2e-5 * alone.abs().max()


def test_log_p_of_steps_is_the_forced_one():
    going = started("marian", STEPWISE["bidirectional"])
    steps = list(going)
    ids = [int(step.token[0]) for step in steps]
    total = sum(float(step.logprob[0]) for step in steps)
    assert abs(score(going, ids, stepwise=True).total - total) <= 1e-4
    assert abs(score(going, ids).total - total) > 1e-3  # in one forward it sees what it is to say
