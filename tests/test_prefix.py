"""Prefix-LM: one slider from causal to bidirectional over the same weights, with a cache, in a batch, with padding."""

import numpy as np
import pytest
import torch

from core import masks
from core.errors import InputError
from core.prefix import PrefixLM, tiny

IDS = np.random.default_rng(0).integers(1, 64, (4, 9)).tolist()
REAL = np.array([[1] * 9, [0] * 3 + [1] * 6, [1] * 5 + [0] * 4, [0] * 8 + [1]])


@pytest.fixture(scope="module")
def model() -> PrefixLM:
    return tiny()


@pytest.fixture(scope="module")
def stock():
    """transformers' own Llama with the same weights."""
    model = tiny().model
    model.set_attn_implementation("sdpa")
    return model


@pytest.mark.parametrize("p", range(10))
def test_a_cache_changes_nothing_in_a_padded_batch(model, p):
    whole, cached = model.logits(IDS, p, REAL), model.logits(IDS, p, REAL, cached=True)
    assert np.abs(whole - cached)[REAL == 1].max() <= 1e-5
    for row, real in enumerate(REAL == 1):
        alone = model.logits([np.array(IDS[row])[real].tolist()], min(p, real.sum()))
        assert np.abs(whole[row, real] - alone[0]).max() <= 1e-5


def test_no_prefix_and_a_prefix_of_one_are_causal_and_the_whole_is_bidirectional(model, stock):
    with torch.inference_mode():
        causal = stock(input_ids=torch.tensor(IDS)).logits.numpy()
        full = stock(input_ids=torch.tensor(IDS), attention_mask=torch.ones(4, 1, 9, 9, dtype=torch.bool)).logits.numpy()
    assert np.array_equal(model.logits(IDS, 0), model.logits(IDS, 1))
    assert np.abs(model.logits(IDS, 0) - causal).max() <= 1e-5
    assert np.abs(model.logits(IDS, 9) - full).max() <= 1e-5
    found = [model.logits(IDS, p) for p in range(1, 10)]
    assert min(np.abs(a - b).max() for a, b in zip(found, found[1:])) > 1e-2  # each step of the slider is another mask


@pytest.mark.parametrize("p", [2, 5, 9])
def test_the_prefix_sees_itself_and_never_the_suffix(model, p):
    before = model.logits(IDS, p)
    for j in range(9):
        changed = [row[:j] + [(row[j] + 7) % 63 + 1] + row[j + 1 :] for row in IDS]
        moved = np.abs(model.logits(changed, p) - before).max((0, 2)) > 0
        assert moved.tolist() == [i >= j or (i < p and j < p) for i in range(9)]


def test_weights_and_mask_of_a_view(model):
    view = model.view(IDS, 4, REAL)
    assert view.weights.shape == (4, 3, 4, 9, 9) and view.mask.shape == (4, 9, 9)
    assert (view.mask[0] == masks.prefix(9, 9, 4)).all() and not view.mask[1][:, :3].any()
    hidden = ~np.broadcast_to(view.mask[:, None, None], view.weights.shape)
    assert (view.weights[hidden] == 0).all()
    sums = np.broadcast_to(view.mask.any(-1)[:, None, None], view.weights.shape[:-1])
    assert np.abs(view.weights.sum(-1) - sums).max() <= 1e-5  # rows before the first token see nothing


@pytest.mark.parametrize("p", [0, 3, 6])
def test_writing_with_a_cache_is_writing_from_scratch(model, p):
    written = model.write(IDS[0][:6], p, 20)
    ids = IDS[0][:6]
    for token in written:
        assert int(model.logits([ids], p)[0, -1].argmax()) == token
        ids = [*ids, token]
    assert len(written) == 20 and model.write(IDS[0][:6], 0, 20) == model.write(IDS[0][:6], 1, 20)


def test_writing_causally_is_what_generate_writes(model, stock):
    ids = torch.tensor([IDS[1][:6]])
    out = stock.generate(ids, attention_mask=torch.ones_like(ids), max_new_tokens=20, do_sample=False)
    assert model.write(IDS[1][:6], 0, 20) == out[0, 6:].tolist()


@pytest.fixture(scope="module")
def no(model) -> list[int]:
    """"no no": a token twice that the model would write again."""
    return next([id, id] for id in range(1, 64) if id in model.write([id, id], 2, 12, penalty=2.0))


@pytest.mark.parametrize("prompt", [False, True])
def test_b18_a_repetition_penalty_counts_what_was_written_and_the_prompt_only_if_asked(model, no, prompt):
    ids, counted = list(no), []
    for token in model.write(no, 2, 12, penalty=2.0, prompt=prompt):
        row = model.logits([ids], 2)[0, -1]
        for seen in set(ids if prompt else counted):
            row[seen] = row[seen] * 2 if row[seen] < 0 else row[seen] / 2
        assert token == int(row.argmax())
        ids, counted = [*ids, token], [*counted, token]
    assert (no[0] in counted) != prompt  # and the two ways differ


def test_b18_in_one_stack_transformers_counts_the_prompt(model, stock):
    ids = torch.tensor([IDS[1][:6]])
    out = stock.generate(ids, attention_mask=torch.ones_like(ids), max_new_tokens=20, do_sample=False, repetition_penalty=2.0)
    assert model.write(IDS[1][:6], 0, 20, penalty=2.0, prompt=True) == out[0, 6:].tolist()


@pytest.mark.parametrize("penalty", [0.0, -1.0, float("nan")])
def test_a_penalty_that_is_none_is_refused(model, no, penalty):
    with pytest.raises(InputError, match="repetition penalty"):
        model.write(no, 2, 3, penalty=penalty)


@pytest.mark.parametrize(("p", "real", "said"), [(10, REAL, "between 0 and 9"), (-1, REAL, "between 0 and 9"),
                                                 (2, REAL * 0, "no real token")])
def test_what_cannot_be_is_named(model, p, real, said):
    with pytest.raises(InputError, match=said):
        model.logits(IDS, p, real)
