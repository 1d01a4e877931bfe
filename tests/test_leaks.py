"""Leak tests: what a mask hides from a position must not move it, on both paths, in every family and stack."""

import random

import numpy as np
import pytest

from core.errors import ControlError, InputError
from core.interventions import Cell, Masks, StackMask
from core.leaks import leak
from core.runs import Run
from core.settings import Settings
from tests import models
from tests.conftest import EXHAUSTIVE

TARGET = [9, 10, 11, 12, 13, 14]
FAMILIES = [*models.FAMILIES, *models.INEXACT]
MASKS = {
    "own": Masks(),
    "encoder causal": Masks(encoder=StackMask("causal")),
    "encoder prefix": Masks(encoder=StackMask("prefix", 4)),
    "encoder window": Masks(encoder=StackMask("window", 1)),
    "encoder cells of one layer": Masks(encoder=StackMask("causal", exceptions=(Cell(1, 6, 1, True), Cell(7, 2)))),
    "token hidden everywhere": Masks(encoder=StackMask(hidden=(3,)), cross=StackMask(hidden=(3,))),
    "cross diagonal": Masks(encoder=StackMask("diagonal"), cross=StackMask("diagonal")),
    "cross causal": Masks(encoder=StackMask("causal"), cross=StackMask("causal"), decoder=StackMask("diagonal")),
    "cross sees nothing": Masks(cross=StackMask(hidden=tuple(range(20)))),
    "decoder window": Masks(decoder=StackMask("window", 1)),
    "decoder diagonal": Masks(decoder=StackMask("diagonal")),
    "decoder hidden": Masks(decoder=StackMask(hidden=(2,))),
    "decoder unmasked": Masks(decoder=StackMask("bidirectional")),
}
PLACES = [("source", 3), ("source", 8), ("target", 2), ("target", 4)]
MATRIX = [(family, name, path) for family in FAMILIES for name in MASKS for path in ("sdpa", "eager")]


def started(family: str, masks: Masks) -> Run:
    return Run(Settings(text=models.TEXT, masks=masks), models.shared(family))


def check(family: str, name: str, path: str) -> None:
    for side, position in PLACES:
        found = leak(started(family, MASKS[name]), side, position, TARGET, capturing=path == "eager")
        moved = max(1, found.encoder.max(), found.states.max())  # float32 of an inexact family: its experts batch tokens together
        assert found.leaked <= (1e-6 * moved if family in models.INEXACT else 0), f"{side} token {position} leaks {found.leaked}"
        # The other way round: what may change does, or a test that nothing changes would pass on a dead model.
        at = found.encoder if side == "source" else found.states
        assert at[position] > 1e-2
        if family not in models.INEXACT and family != "t5gemma_window":
            assert (found.changed_target == found.may_target).all() and (found.changed_encoder == found.may_encoder).all()


def test_there_are_twelve_families():
    assert len(models.FAMILIES) >= 12


@pytest.mark.parametrize("chosen", range(len(MATRIX) if EXHAUSTIVE else 60))
def test_nothing_leaks(chosen, seed):
    check(*(MATRIX[chosen] if EXHAUSTIVE else random.Random(seed).sample(MATRIX, 60)[chosen]))


@pytest.mark.parametrize("family", models.FAMILIES)
def test_each_family_holds_a_mask_in_each_stack(family):
    for name in ("encoder causal", "token hidden everywhere", "decoder diagonal"):
        check(family, name, "sdpa")


@pytest.mark.parametrize("path", ["sdpa", "eager"])
def test_an_unmasked_decoder_leaks_and_a_causal_one_does_not(path):
    causal, unmasked = (
        leak(started("bart", MASKS[name]), "target", 4, TARGET, capturing=path == "eager") for name in ("own", "decoder unmasked")
    )
    assert (causal.logits[:4] == 0).all() and (unmasked.logits[:4] > 1e-2).all()
    assert causal.may_target.tolist() == [False] * 4 + [True] * 2 and unmasked.may_target.all()


def test_a_broken_mask_is_noticed(monkeypatch):
    """One cell too many, in one layer."""
    going = started("t5", MASKS["encoder causal"])
    monkeypatch.setattr("core.controls.masks.preset", lambda *args: np.ones(args[2:4], bool))
    assert leak(going, "source", 8, TARGET).encoder[:8].max() > 1e-3


@pytest.mark.parametrize("path", ["sdpa", "eager"])
def test_a_stack_out_of_reach_is_refused_and_the_others_hold(path):
    with pytest.raises(ControlError, match="encoder attention of longt5 cannot be reached"):
        started("longt5", MASKS["encoder causal"])
    for name in ("decoder diagonal", "cross sees nothing", "decoder window"):
        for side, position in PLACES:
            assert leak(started("longt5", MASKS[name]), side, position, TARGET, capturing=path == "eager").leaked == 0


@pytest.mark.parametrize(("side", "position", "said"), [
    ("source", 11, "0 to 10"), ("target", 6, "0 to 5"), ("source", -1, "0 to 10"), ("both", 0, "source or target")])
def test_a_token_that_is_not_there(side, position, said):
    with pytest.raises(InputError, match=said):
        leak(started("t5", Masks()), side, position, TARGET)
