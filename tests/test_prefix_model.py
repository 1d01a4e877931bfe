"""The stack that is trained as a prefix language model: masks, teacher forcing, search, and padding that changes nothing."""

import random

import numpy as np
import pytest
import torch
from transformers import LlamaConfig

from core.prefix import PrefixLM
from core.prefix_model import PrefixForCausalLM, drawn_prefixes, drop_residuals, to_the_right, visible
from core.train.corpus import Pair, collate
from core.train.forcing import IGNORED

CONFIG = LlamaConfig(
    vocab_size=40, hidden_size=32, intermediate_size=64, num_hidden_layers=3, num_attention_heads=4, num_key_value_heads=4,
    head_dim=8, max_position_embeddings=64, initializer_range=0.3, pad_token_id=0, eos_token_id=1, bos_token_id=None,
    tie_word_embeddings=True,
)


@pytest.fixture
def model() -> PrefixForCausalLM:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return PrefixForCausalLM(CONFIG).eval()


@pytest.fixture
def pairs(seed) -> list[Pair]:
    draw = random.Random(seed)
    return [Pair(*([*draw.choices(range(2, 40), k=draw.randint(0, 9)), 1] for _ in range(2))) for _ in range(12)]


def whole(model, source: list[int], target: list[int]) -> torch.Tensor:
    """(target, vocab): logits of one pair without padding, from the stack that the page uses."""
    ids = [*source, *target[:-1]]
    reader = PrefixForCausalLM(CONFIG)
    reader.load_state_dict(model.state_dict())
    logits = PrefixLM(reader).logits([ids], len(source) - 1 if model.reads_ahead else 0)
    return torch.from_numpy(logits[0, len(source) - 1 :])


@pytest.mark.parametrize("ahead", [True, False])
def test_teacher_forcing_in_a_padded_batch_is_that_of_each_pair_alone(model, pairs, ahead):
    model.reads_ahead = ahead
    with torch.inference_mode():
        found = model.lm_head(model.states(collate(pairs, 0), IGNORED))
    for row, pair in zip(found, pairs, strict=True):
        expected = whole(model, pair.source, pair.target)
        assert (row[: len(pair.target)] - expected).abs().max() <= 1e-4


@pytest.mark.parametrize("beams", [1, 3])
@pytest.mark.parametrize("ahead", [True, False])
def test_a_padded_batch_writes_what_each_source_alone_writes(model, pairs, ahead, beams):
    model.reads_ahead = ahead
    batch = collate(pairs, 0)
    options = dict(max_new_tokens=20, do_sample=False, num_beams=beams)
    together = model.generate(batch["input_ids"], attention_mask=batch["attention_mask"], **options)
    for row, pair in zip(together.tolist(), pairs, strict=True):
        ids = torch.tensor([pair.source])
        alone = model.generate(ids, attention_mask=torch.ones_like(ids), **options)[0].tolist()
        assert row[: len(alone)] == alone and set(row[len(alone) :]) <= {0, 1}  # beams are filled up with </s>
        if beams == 1:  # and greedy is the argmax of the whole text, step by step
            assert whole(model, pair.source, alone).argmax(-1).tolist() == alone


def test_it_reads_ahead_in_the_source_alone(model, pairs):
    """Another last word changes what the first position of a source gives, unless the source is read causally."""
    source, target = [5, 6, 7, 8, 1], [9, 10, 1]
    batch = collate([Pair(source, target), Pair([5, 6, 7, 30, 1], target)], 0)
    for prefix, moved in ((4, True), (3, False), (0, False)):
        real, length = torch.ones(2, 5, dtype=torch.long), torch.tensor([prefix] * 2)
        with torch.inference_mode():
            states = model.model(input_ids=batch["input_ids"], attention_mask=visible(real, length)).last_hidden_state
        assert bool((states[0, 0] != states[1, 0]).any()) is moved


def test_padding_goes_to_the_left():
    ids, mask = to_the_right(torch.tensor([[5, 6, 1, 0, 0], [5, 6, 7, 8, 1]]), torch.tensor([[1, 1, 1, 0, 0], [1] * 5]))
    assert ids.tolist() == [[0, 0, 5, 6, 1], [5, 6, 7, 8, 1]] and mask.tolist() == [[0, 0, 1, 1, 1], [1] * 5]


def test_training_meets_every_prefix_and_the_same_again():
    mask = torch.ones(4000, 6, dtype=torch.long)
    found = drawn_prefixes(mask, (0, 1))
    shares = np.bincount(found.numpy(), minlength=6) / 4000
    assert len(shares) == 6 and shares.min() > 0.02
    assert shares[5] == pytest.approx(0.5 + 0.25 / 6, abs=0.03) and shares[0] == pytest.approx(0.25 + 0.25 / 6, abs=0.03)
    assert found.equal(drawn_prefixes(mask, (0, 1))) and not found.equal(drawn_prefixes(mask, (0, 2)))


def test_dropout_is_on_the_residual_stream_while_it_trains(model):
    ids = torch.tensor([[5, 6, 7, 1]])
    with torch.inference_mode():
        before = model(input_ids=ids).logits
        drop_residuals(model, 0.5)
        assert model(input_ids=ids).logits.equal(before)
        assert not model.train()(input_ids=ids).logits.equal(before)
