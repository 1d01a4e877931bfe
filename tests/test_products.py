"""Products of several searches' rows: torch's numbers to rounding inside `joined`, torch's bits outside."""

import copy
import pickle
import sys

import pytest
import torch

from core import products
from core.products import FEW, MANY, Linear, joined, over_one_source
from tests import models

ROWS = (1, FEW, FEW + 1, 15, MANY, MANY + 1)


@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize("bias", [True, False])
def test_a_product_is_torchs_to_rounding_and_outside_to_the_bit(rows, bias):
    torch.manual_seed(rows)
    own = torch.nn.Linear(48, 96, bias=bias)
    ours, x = copy.deepcopy(own), torch.randn(rows, 1, 48)
    ours.__class__ = Linear
    with torch.inference_mode():
        assert torch.equal(ours(x), own(x))
        with joined(True):
            found = ours(x)
        assert found.is_contiguous() and found.shape == (rows, 1, 96)
        assert (found - own(x)).abs().max() <= 1e-6
    with joined(False):
        assert torch.equal(ours(x), own(x))


@torch.no_grad()
def test_changed_weights_are_read_anew_and_a_copy_has_its_own():
    torch.manual_seed(3)
    own, x = torch.nn.Linear(16, 8), torch.randn(12, 16)
    ours = copy.deepcopy(own)
    ours.__class__ = Linear
    with joined(True):
        assert (ours(x) - own(x)).abs().max() <= 1e-6 and ours.packed is not None
        other = pickle.loads(pickle.dumps(copy.deepcopy(ours)))
        assert other.packed is None and list(other.state_dict()) == ["weight", "bias"]
        ours.weight.mul_(2)
        assert (ours(x) - 2 * own(x) + own.bias).abs().max() <= 1e-5 and (other(x) - own(x)).abs().max() <= 1e-6
        ours.weight = own.weight
        assert (ours(x) - own(x)).abs().max() <= 1e-6


def test_of_a_large_model_no_second_copy_is_made(monkeypatch):
    monkeypatch.setattr(products, "LARGEST", 100)
    model = torch.nn.Sequential(torch.nn.Linear(16, 8))
    products.prepare(model)
    with torch.inference_mode(), joined(True):
        model(torch.randn(12, 16))
    assert isinstance(model[0], Linear) and model[0].packed is None


def test_a_gradient_goes_through():
    torch.manual_seed(0)
    own = torch.nn.Linear(8, 5)
    ours, x = copy.deepcopy(own), torch.randn(12, 8)
    ours.__class__ = Linear
    own(x).pow(2).sum().backward()
    with joined(True):
        ours(x).pow(2).sum().backward()
    for name in ("weight", "bias"):
        assert torch.allclose(getattr(ours, name).grad, getattr(own, name).grad, atol=1e-5)


@pytest.mark.parametrize("family", models.FAMILIES)
def test_every_linear_layer_is_ours_and_is_saved_under_its_name(family):
    model = models.shared(family).model
    layers = [module for module in model.modules() if isinstance(module, torch.nn.Linear)]
    assert layers and not [one for one in layers if type(one) is torch.nn.Linear]
    copied = copy.deepcopy(model)
    assert list(copied.state_dict()) == list(model.state_dict())


@pytest.mark.parametrize("family", ["t5", "bart", "marian"])
@pytest.mark.parametrize("masked", [False, True])
def test_rows_of_one_source_are_the_familys_own_attention(family, masked):
    torch.manual_seed(1)
    module = next(one for one in models.shared(family).model.get_decoder().modules() if type(one).__name__.endswith("Attention"))
    eager = sys.modules[type(module).__module__].eager_attention_forward
    query, own = torch.randn(6, 2, 1, 8), torch.randn(2, 1, 2, 7, 8)
    key, value = (one.expand(6, -1, -1, -1) for one in own)
    mask = torch.zeros(6, 1, 1, 7)
    mask[..., -2:] = torch.finfo(torch.float32).min
    given = (query, key, value, mask if masked else None)
    wanted = eager(module, *given, scaling=0.5)
    assert over_one_source(eager, module, *given, {"scaling": 0.5}) is None, "outside"
    with joined(True):
        found = over_one_source(eager, module, *given, {"scaling": 0.5})
        assert over_one_source(eager, module, query, key.contiguous(), value, None, {"scaling": 0.5}) is None, "not one source"
    for one, other in zip(found, wanted, strict=True):
        assert one.shape == other.shape and (one - other).abs().max() <= 1e-6


def test_the_memory_of_one_source_is_multiplied_once():
    torch.manual_seed(2)
    own = torch.nn.Linear(16, 8)
    ours, x = copy.deepcopy(own), torch.randn(1, 5, 16).expand(12, -1, -1)
    ours.__class__ = Linear
    with torch.inference_mode(), joined(True):
        found = ours(x)
    assert not found.stride(0) and (found - own(x)).abs().max() <= 1e-6
