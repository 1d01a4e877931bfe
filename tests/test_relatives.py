"""BERT, GPT, ELECTRA, DeBERTa, ALBERT and SBERT on one text: losses against transformers' own, masks against what moves."""

from dataclasses import replace
from math import log

import numpy as np
import pytest
import torch

from core.errors import InputError
from core.forced import force
from core.models import Models
from core.noise import NOISES, corrupt
from core.relatives import RELATIVES, Reading, beside, falling, look, made, model, read
from core.relatives.deberta import terms
from core.relatives.electra import sampled
from core.relatives.family import forward
from core.relatives.reading import IGNORED, Fed, alone, joined, masked

TEXT = "A man is riding a bicycle down the street. He wears a red helmet and waves."


@pytest.fixture(scope="module")
def loaded():
    return Models().load("pocket-t5")


@pytest.fixture(scope="module")
def reading(loaded) -> Reading:
    return read(loaded.tokenizer, TEXT, 3)


@pytest.fixture(scope="module")
def found(reading):
    return {name: look(family, model(name, reading.rows), reading) for name, family in RELATIVES.items()}


def close(number: float):
    return pytest.approx(number, abs=2e-5)


def rows(*fed: Fed) -> dict[str, torch.Tensor]:
    """A padded batch, as transformers is given it."""
    most = max(len(row.ids) for row in fed)
    pad = lambda values, filler: torch.tensor([[*one, *[filler] * (most - len(one))] for one in values])  # noqa: E731
    return {"input_ids": pad([row.ids for row in fed], 0), "token_type_ids": pad([row.segments for row in fed], 0),
            "attention_mask": pad([[1] * len(row.ids) for row in fed], 0), "labels": pad([row.labels for row in fed], IGNORED)}


# Losses, against what transformers computes when it is given labels

@torch.inference_mode()
def test_bert_masked_tokens_and_next_sentence(reading, found):
    network, fed = model("bert", reading.rows), masked(reading, 0.1, 0.1)[0]
    whole = network(**rows(fed, RELATIVES["bert"].foreign(reading)), next_sentence_label=torch.tensor([0, 1])).loss
    assert found["bert"].losses["total"] == close(float(whole))
    alone_ = network(**rows(fed), next_sentence_label=torch.tensor([0])).loss
    assert found["bert"].losses["mlm"] + found["bert"].losses["next"] == close(float(alone_))


@torch.inference_mode()
def test_albert_masked_tokens_and_sentence_order(reading, found):
    fed, family = masked(reading, 0.1, 0.1)[0], RELATIVES["albert"]
    whole = model("albert", reading.rows)(**rows(fed, family.swapped(reading)), sentence_order_label=torch.tensor([0, 1])).loss
    assert found["albert"].losses["total"] == close(float(whole))
    assert family.swapped(reading).ids[1 : 1 + len(reading.parts[1])] == reading.parts[1]


@torch.inference_mode()
def test_gpt_next_token(reading, found):
    ids = torch.tensor([reading.units.ids])
    assert found["gpt"].losses["lm"] == close(float(model("gpt", reading.rows)(input_ids=ids, labels=ids).loss))


@torch.inference_mode()
def test_deberta_masked_tokens(reading, found):
    fed = rows(masked(reading, 0.1, 0.1)[0])
    assert found["deberta"].losses["mlm"] == close(float(model("deberta", reading.rows)(**fed).loss))


@torch.inference_mode()
def test_electra_generator_and_replaced_tokens(reading, found):
    two, fed, one = model("electra", reading.rows), masked(reading, 0.0, 0.0)[0], found["electra"]
    clean = joined(reading, *reading.parts).ids
    assert one.losses["mlm"] == close(float(two.generator(**rows(fed)).loss))
    shown, _ = sampled(reading, fed, two.generator(**rows(replace(fed, labels=[IGNORED] * len(fed.ids)))).logits[0])
    ids = shown.ids
    assert [reading.name(id) for id in ids] == one.columns["written"]
    labels = torch.tensor([[int(new != old) for new, old in zip(ids, clean, strict=True)]])
    assert labels[0].tolist() == [int(on) for on in one.columns["replaced"]] and labels.sum() > 0
    own = two.discriminator(input_ids=torch.tensor([ids]), token_type_ids=torch.tensor([fed.segments]), labels=labels).loss
    assert one.losses["rtd"] == close(float(own))
    assert one.losses["total"] == pytest.approx(one.losses["mlm"] + 50 * one.losses["rtd"])
    assert two.generator.generator_lm_head.weight is two.discriminator.electra.embeddings.word_embeddings.weight


@torch.inference_mode()
def test_sbert_finds_each_second_part_by_cosine(reading, found):
    network, one = model("sbert", reading.rows), found["sbert"]
    pairs = [reading.parts, *reading.others]
    means = []
    for side in (0, 1):
        batch = rows(*(alone(reading, pair[side]) for pair in pairs))
        del batch["labels"]
        real = batch["attention_mask"][..., None]
        means.append(((network(**batch).last_hidden_state * real).sum(1) / real.sum(1)).numpy())
    u, v = (side / np.linalg.norm(side, axis=1, keepdims=True) for side in means)
    assert np.allclose(one.matrix, u @ v.T, atol=1e-5)
    scores = 20 * (u @ v.T)
    by_hand = np.mean([np.log(np.exp(row).sum()) - row[k] for k, row in enumerate(scores.astype(float))])
    assert one.losses["negatives"] == pytest.approx(by_hand, abs=2e-4)
    assert one.losses["cosine"] == pytest.approx((1 - one.matrix[0, 0]) ** 2, abs=1e-5)


@torch.inference_mode()
def test_deberta_adds_three_terms(reading):
    network, fed = model("deberta", reading.rows), masked(reading, 0.1, 0.1)[0]
    weights = forward(network, fed, output_attentions=True).attentions[0][0]
    three = terms(network, fed)
    assert torch.allclose(sum(three.values()).softmax(-1), weights, atol=1e-6)
    assert not torch.allclose((three["c2c"] + three["c2p"]).softmax(-1), weights, atol=1e-6)


def test_random_weights_know_nothing(found):
    for name, one in found.items():
        if name == "sbert":
            continue  # cosines of random states differ by more
        for key, even in one.even.items():
            assert one.losses[key] == pytest.approx(even, rel=0.03), (name, key)
    assert found["bert"].even["mlm"] == log(8003)


# Masks, and what moves

def test_the_masks_are_what_the_models_do(found):
    n = len(found["gpt"].tokens)
    assert (found["gpt"].mask == np.tri(n, dtype=bool)).all()
    for name in ("bert", "albert", "electra", "deberta"):
        assert found[name].mask.all() and all(found[name].moved)
    one = found["sbert"]
    first = one.columns["text"].count("A")
    blocks = np.zeros_like(one.mask)
    blocks[:first, :first] = blocks[first:, first:] = True
    assert (one.mask == blocks).all()


@pytest.mark.parametrize("name", RELATIVES)
def test_what_moves_is_who_sees_the_changed_token(found, name):
    one = found[name]
    assert one.moved == tuple(one.mask[:, one.changed].tolist())
    assert any(one.moved) and len(one.moved) == len(one.tokens)
    if name == "gpt":
        assert not any(one.moved[: one.changed]) and all(one.moved[one.changed :])


# Input representations

@torch.inference_mode()
@pytest.mark.parametrize("name", ["bert", "albert", "electra"])
def test_token_segment_and_position_are_added(reading, name):
    family = RELATIVES[name]
    network, [fed] = family.reader(model(name, reading.rows)), family.fed(reading)
    table = network.base_model.embeddings
    added = (table.word_embeddings.weight[fed.ids] + table.token_type_embeddings.weight[fed.segments]
             + table.position_embeddings.weight[: len(fed.ids)])
    own = table(input_ids=torch.tensor([fed.ids]), token_type_ids=torch.tensor([fed.segments]))[0]
    assert torch.allclose(table.LayerNorm(added), own, atol=1e-6)


@torch.inference_mode()
def test_deberta_reads_no_position(reading):
    table = model("deberta", reading.rows).deberta.embeddings
    twice = table(input_ids=torch.tensor([[7, 9, 7]]))[0]
    assert torch.equal(twice[0], twice[2])


def test_parts_say_their_tables(reading, found):
    shapes = {name: {part.name: part.shape for part in one.parts} for name, one in found.items()}
    assert shapes["bert"] == {"token": (8003, 32), "segment": (2, 32), "position": (64, 32)}
    assert shapes["gpt"] == {"token": (8003, 32), "position": (64, 32)}
    assert shapes["albert"] == {"token": (8003, 8), "segment": (2, 8), "position": (64, 8), "widening": (32, 8)}
    assert shapes["deberta"] == {"token": (8003, 32), "distance": (32, 32)}


def test_albert_shares_and_factorises(reading, found):
    facts = dict(found["albert"].facts)
    network = model("albert", reading.rows).albert
    widened = network.embeddings.word_embeddings.weight.numel() + network.encoder.embedding_hidden_mapping_in.weight.numel()
    assert facts["factorised"]["factored"] == widened < facts["factorised"]["plain"] == 8003 * 32
    bert = model("bert", reading.rows).bert.encoder.layer
    assert facts["shared"]["block"] == sum(p.numel() for p in bert[0].parameters())
    assert facts["shared"]["apart"] == sum(p.numel() for p in bert.parameters())


# Noise, seeds, the encoder-decoder beside them

def test_the_noise_is_the_noise_tabs(reading):
    fed, counts = masked(reading, 0.1, 0.1)
    own = corrupt(reading.units, NOISES["bert"].usual(seed=3, mode="paper"))
    assert [id for id in fed.ids if id not in (reading.cls, reading.sep)] == [token.id for token in own.corrupted][:-1]
    assert counts["chosen"] == counts["masked"] + counts["random"] + counts["kept"] == round(0.15 * len(reading.units.body))
    clean = joined(reading, *reading.parts).ids
    assert all(label in (IGNORED, id) for label, id in zip(fed.labels, clean, strict=True))


def test_the_same_seed_is_the_same_and_another_is_not(loaded, reading, found):
    fresh = made(RELATIVES["bert"], reading.rows)
    assert look(RELATIVES["bert"], fresh, reading).losses == found["bert"].losses
    other = replace(reading, seed=4)
    assert look(RELATIVES["bert"], fresh, other).losses["mlm"] != found["bert"].losses["mlm"]


def test_the_encoder_decoder_on_the_same_text(loaded, reading):
    one = beside(loaded, reading)
    noise = reading.noised("spans")
    assert one.loss == force(loaded, [t.id for t in noise.corrupted], [t.id for t in noise.target]).loss < log(8000)
    hidden = [token for token in one.written if not token.startswith("<")]
    assert len(hidden) == one.hidden and "<extra_id_0>" in one.read and "<extra_id_0>" in one.written


@pytest.mark.parametrize("name", RELATIVES)
def test_a_few_steps_on_one_text_lower_the_loss(reading, found, name):
    before = [p.clone() for p in model(name, reading.rows).parameters()]
    losses = list(falling(name, reading, 12))
    assert len(losses) == 13 and losses[0] == pytest.approx(found[name].losses["total"], abs=1e-4)
    assert losses[-1] < 0.95 * losses[0]
    assert all(torch.equal(old, new) for old, new in zip(before, model(name, reading.rows).parameters(), strict=True))


# What is read

def test_a_text_is_cut_after_its_first_sentence_or_in_its_middle(loaded):
    two = read(loaded.tokenizer, TEXT)
    assert not two.alone and two.name(two.parts[0][-1]) == "."
    one = read(loaded.tokenizer, "A dog runs on the beach.")
    assert one.alone and 2 <= one.first <= len(one.units.body) - 2
    long = read(loaded.tokenizer, TEXT * 20)
    assert len(long.units.body) == 32 and long.units.cut > 0


@pytest.mark.parametrize(("text", "seed", "said"), [
    (7, 0, "must be a text"), ("x" * 5000, 0, "at most 4,000"), (" ", 0, "empty"), ("a\ud800", 0, "half a character"),
    ("A", 0, "at least two words"), (TEXT, -1, "whole number from 0"), (TEXT, True, "whole number"), (TEXT, 2**32, "seed is"),
])
def test_what_cannot_be_read_is_refused(loaded, text, seed, said):
    with pytest.raises(InputError, match=said):
        read(loaded.tokenizer, text, seed)
