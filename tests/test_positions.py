"""Relative positions: our buckets are transformers', and the bias of a model is what its own attention adds."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from transformers.models.t5.modeling_t5 import T5Attention

from core.errors import ControlError, InputError
from core.interventions import Masks
from core.positions import bucket, relative_bias
from core.probes import probe
from core.runs import Run
from core.settings import Settings
from tests import models

DISTANCES = np.arange(-3000, 3001)


@pytest.mark.parametrize("furthest", [9, 16, 20, 33, 64, 128, 200, 512, 1000])
@pytest.mark.parametrize("bidirectional", [True, False])
@pytest.mark.parametrize("buckets", [4, 8, 16, 32, 64])
def test_buckets_are_transformers(buckets, furthest, bidirectional):
    if furthest <= (buckets // 2 if bidirectional else buckets) // 2:
        with pytest.raises(InputError, match="no room"):
            bucket(DISTANCES, bidirectional, buckets, furthest)
        return
    theirs = T5Attention._relative_position_bucket(torch.from_numpy(DISTANCES), bidirectional, buckets, furthest)
    assert bucket(DISTANCES, bidirectional, buckets, furthest).tolist() == theirs.tolist()


@given(st.integers(0, 10**6))
def test_a_key_to_the_right_is_the_upper_half_and_no_future_of_a_decoder(distance):
    left, right = (int(bucket(np.array(d), True)) for d in (-distance, distance))
    assert 0 <= left < 16 and right == left + (16 if distance else 0)
    assert bucket(np.array(distance), False) == 0 and left <= bucket(np.array(-distance), False) < 32


@pytest.mark.parametrize("stack", ["encoder", "decoder"])
@pytest.mark.parametrize("family", ["t5", "mt5", "t5_deep", "umt5"])
def test_the_bias_is_what_attention_adds(family, stack):
    going = Run(Settings(text=models.TEXT, masks=Masks()), models.shared(family))
    for layer in (0, 1):
        found = relative_bias(going.loaded, stack, layer, reach=12)
        assert found.bias.shape == (4, 25) and found.distances[0] == -12 and found.buckets[12] == 0
        for head in range(4):
            seen = probe(going, stack, layer, head, [9, 10, 11, 12, 13, 14, 15])
            n = len(seen.queries)
            rows, columns = np.arange(n)[:, None], np.arange(n)[None, :]
            assert np.abs(found.bias[head][columns - rows + 12] - seen.bias).max() <= 1e-6


def test_umt5_has_a_table_in_each_layer_and_t5_one():
    t5 = [relative_bias(models.shared("t5"), "encoder", layer).bias for layer in (0, 1)]
    umt5 = [relative_bias(models.shared("umt5"), "encoder", layer).bias for layer in (0, 1)]
    assert np.array_equal(*t5) and not np.array_equal(*umt5)


def test_the_bundled_model_has_the_buckets_of_the_paper():
    from core.models import models as registry

    found = relative_bias(registry().load("pocket-t5"), "encoder", reach=100)
    assert found.buckets[0] == 15 and found.buckets[-1] == 31 and found.buckets[100] == 0 and 16 not in found.buckets


@pytest.mark.parametrize(("family", "stack"), [("bart", "encoder"), ("t5", "cross")])
def test_what_has_no_such_bias_says_so(family, stack):
    with pytest.raises(ControlError, match=f"{family} adds no relative position bias to its {stack}"):
        relative_bias(models.shared(family), stack)
