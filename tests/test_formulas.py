"""Formulas: the registries hold what the course has, and each function gives what its reference gives on random input."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
import sacrebleu
import torch
from rouge_score.rouge_scorer import RougeScorer
from torch.nn import functional
from transformers import AutoModelForSeq2SeqLM, BartConfig, T5Config, T5ForConditionalGeneration
from transformers.models.bart.modeling_bart import shift_tokens_right

from core import masks
from core.formulas import FORMULAS, GLOSSARY, ITEMS
from core.formulas.foundations import NEEDS
from core.parameters import Architecture
from core.train.criteria import distillation_gradient
from tests import models

COURSE = Path(__file__).parent / "course"
VOCAB = models.VOCABULARY
AXES = {"batch", "source", "target", "heads", "width", "vocab", "query", "key", "d_k", "d_v", "buckets", "4", "2", "heads · d_k",
        "heads · d_v", "vocab + unknown"}


def listed(name: str):
    return json.loads((COURSE / f"{name}.json").read_text("utf-8"))


def normal(*shape: int) -> np.ndarray:
    return np.random.standard_normal(shape)


def tensor(array: np.ndarray) -> torch.Tensor:
    return torch.from_numpy(np.ascontiguousarray(array))


def equal(ours, theirs, within: float = 1e-10) -> None:
    theirs = theirs.detach().numpy() if isinstance(theirs, torch.Tensor) else theirs
    np.testing.assert_allclose(np.asarray(ours, float), theirs, rtol=within, atol=within)


@pytest.fixture(scope="module")
def t5() -> T5ForConditionalGeneration:
    torch.manual_seed(0)
    return T5ForConditionalGeneration(T5Config(**models._T5)).double().eval()


def ids(count: int) -> list[int]:
    return np.random.randint(8, VOCAB, count).tolist()


# The registries against the documents

def test_every_displayed_formula_is_there_as_the_course_writes_it():
    wanted = listed("formulas")
    assert [one["id"] for one in wanted] == list(FORMULAS)
    for one in wanted:
        formula = FORMULAS[one["id"]]
        assert formula.lesson == one["lesson"]
        assert one["latex"] in (None, formula.latex), one["id"]
    assert [one["id"] for one in wanted if one["latex"] is None] == ["rouge"]  # the sheet has no formula of it


def test_every_item_is_there():
    wanted = listed("items")
    assert [one["number"] for one in wanted] == list(ITEMS)
    assert all(one["latex"] == ITEMS[one["number"]].latex for one in wanted if "latex" in one)


def test_every_acronym_and_symbol_is_there():
    wanted = listed("glossary")
    assert [term.term for term in GLOSSARY.values() if not term.latex] == wanted["acronyms"]
    assert [term.latex for term in GLOSSARY.values() if term.latex] == wanted["symbols"]


@pytest.mark.parametrize("one", [*FORMULAS.values(), *ITEMS.values()], ids=lambda one: one.id)
def test_an_entry_says_all_that_it_must(one):
    assert callable(one.function) and one.meaning.endswith(".") and len(one.meaning) < 140
    assert one.reference.split(":")[0] in ("torch", "transformers", "sacrebleu", "rouge-score")
    assert one.shapes and {axis for axes in one.shapes.values() for axis in axes} <= AXES


def test_an_item_stands_on_earlier_ones_and_all_lead_to_the_last():
    assert set(NEEDS) == set(ITEMS)
    reached, todo = set(), [11]
    while todo:
        reached.add(at := todo.pop())
        todo += NEEDS[at]
    assert reached == set(ITEMS)
    order, left = [], dict(NEEDS)
    while left:
        ready = [number for number, needed in left.items() if set(needed) <= set(order)]
        assert ready, f"a circle among {sorted(left)}"
        order += ready
        left = {number: needed for number, needed in left.items() if number not in ready}


# Each function against its reference

def probability(function, t5):
    source, target = torch.tensor([ids(6)]), torch.tensor([ids(4)])
    with torch.no_grad():
        loss = t5(input_ids=source, labels=target)
    logits = loss.logits[0].numpy()
    logprobs = [math.log(masks.softmax(row, np.ones(VOCAB, bool))[at]) for row, at in zip(logits, target[0].tolist())]
    equal(function(np.array(logprobs)), math.exp(-float(loss.loss) * 4), 1e-6)


def two_maps(function, t5):
    source, target = ids(6), ids(4)
    memory, p = function(t5, source, target)
    whole = t5(input_ids=torch.tensor([source]), decoder_input_ids=torch.tensor([target]))
    equal(memory.detach(), whole.encoder_last_hidden_state[0], 1e-9)
    equal(p.detach(), whole.logits[0].softmax(-1), 1e-5)
    equal(p.detach().sum(-1), np.ones(4), 1e-5)


def encoder_attention(function, t5):
    states, w_q, w_k, w_v, real = normal(5, 8), normal(8, 4), normal(8, 4), normal(8, 3), np.array([1, 1, 0, 1, 0])
    q, k, v = (tensor(states) @ tensor(w) for w in (w_q, w_k, w_v))
    mask = torch.tensor(real, dtype=torch.bool).expand(5, 5)
    theirs = functional.scaled_dot_product_attention(q[None], k[None], v[None], mask[None])
    equal(function(states, w_q, w_k, w_v, real), theirs[0])


def part(module, *others):
    """A sublayer of transformers' block as a function of arrays."""
    def call(states, *more):
        given = [tensor(each)[None] for each in (states, *more)]
        found = module(*given[:1], *([None, given[1]] if more else []))
        return (found[0] if isinstance(found, tuple) else found)[0].detach().numpy()
    return call


def encoder_block(function, t5):
    block, states = t5.encoder.block[1], normal(5, 32)
    attention, feed = block.layer
    between, out = function(states, part(attention.SelfAttention), part(feed.DenseReluDense),
                            (part(attention.layer_norm), part(feed.layer_norm)))
    equal(out, block(tensor(states)[None])[0].reshape(5, 32), 1e-5)
    assert not np.allclose(between, states) and not np.allclose(between, out)


def decoder_block(function, t5):
    block, states, memory = t5.decoder.block[1], normal(4, 32), normal(6, 32)
    own, cross, feed = block.layer
    causal = tensor(masks.additive(masks.causal(4, 4))).double()[None, None]

    def attend(states):
        return own.SelfAttention(tensor(states)[None], mask=causal)[0][0].detach().numpy()

    def read(states, memory):
        return cross.EncDecAttention(tensor(states)[None], key_value_states=tensor(memory)[None])[0][0].detach().numpy()

    found = function(states, memory, attend, read, part(feed.DenseReluDense),
                     (part(own.layer_norm), part(cross.layer_norm), part(feed.layer_norm)))
    theirs = block(tensor(states)[None], attention_mask=causal, encoder_hidden_states=tensor(memory)[None])[0]
    equal(found[2], theirs.reshape(4, 32), 1e-5)


def output_head(function, t5):
    states, table = normal(3, 8), normal(20, 8)
    logits, p = function(states, table.T, 0.7)
    theirs = functional.linear(tensor(states), tensor(table))
    equal(logits, theirs)
    equal(p, (theirs / 0.7).softmax(-1))


def projections(function, t5):
    reading, read, w_q, w_k, w_v = normal(3, 8), normal(5, 8), normal(8, 4), normal(8, 4), normal(8, 6)
    for ours, states, w in zip(function(reading, read, w_q, w_k, w_v), (reading, read, read), (w_q, w_k, w_v), strict=True):
        equal(ours, functional.linear(tensor(states), tensor(w).T))


def cross_attention(function, t5):
    q, k, v, real = normal(3, 4), normal(6, 4), normal(6, 5), np.array([1, 1, 1, 1, 0, 0])
    weights, out = function(q, k, v, real)
    mask = torch.tensor(real, dtype=torch.bool).expand(1, 3, 6)
    equal(out, functional.scaled_dot_product_attention(tensor(q)[None], tensor(k)[None], tensor(v)[None], mask)[0])
    equal(weights.sum(-1), np.ones(3))
    assert not weights[:, 4:].any()


def blend(function, t5):
    weights, v = masks.softmax(normal(3, 6), np.ones((3, 6), bool)), normal(6, 4)
    equal(function(weights, v), torch.bmm(tensor(weights)[None], tensor(v)[None])[0])


def bridge(function, t5):
    loaded, source, target = models.loaded("t5"), ids(6), ids(4)
    found = function(loaded, source, target)
    memory = loaded.model.get_encoder()(torch.tensor([source])).last_hidden_state.detach().requires_grad_()
    with torch.enable_grad():
        loss = loaded.model(encoder_outputs=(memory,), labels=torch.tensor([target])).loss
    (theirs,) = torch.autograd.grad(loss, memory)
    equal(found.keys.sum(0) + found.values.sum(0), theirs[0], 1e-5)
    assert np.abs(found.keys).max() > 1e-5 and np.abs(found.values).max() > 1e-5


def budget(function, t5):
    for name, layers, width, exact in (("t5-small", 6, 512, 60_506_624), ("t5-base", 12, 768, 222_903_552)):
        heads = width // 64
        shape = T5Config(num_layers=layers, d_model=width, d_kv=64, num_heads=heads, d_ff=4 * width, vocab_size=32128)
        with torch.device("meta"):
            theirs = AutoModelForSeq2SeqLM.from_config(shape).num_parameters()
        assert theirs == exact, name
        assert abs(function(Architecture("t5", width, layers, layers, heads, 64, 4 * width, 32128)) / exact - 1) < 3e-4
    assert function(Architecture("t5", 512, 6, 6, 8, 64, 2048, 32128)) == 60_489_728


def t5_bias(function, t5):
    for module, bidirectional in ((t5.encoder, True), (t5.decoder, False)):
        attention = module.block[0].layer[0].SelfAttention
        q, k, head = normal(7, 8), normal(7, 8), np.random.randint(4)
        table = attention.relative_attention_bias.weight.detach().numpy()[:, head]
        theirs = tensor(q) @ tensor(k).T / 8**0.5 + attention.compute_bias(7, 7)[0, head]
        equal(function(q, k, table, bidirectional, 16), theirs, 1e-6)


def causal_mask(function, t5):
    theirs = torch.full((6, 6), -torch.inf).triu(1)
    assert (masks.additive(function(6, 6)) == theirs.numpy()).all()


def prefix_mask(function, t5):
    theirs = torch.ones(7, 7).tril()
    theirs[:, :3] = 1
    assert (function(7, 7, 3) == theirs.bool().numpy()).all()


def denoising_loss(function, t5):
    logits, labels = torch.randn(2, 5, 20), torch.randint(0, 20, (2, 5))
    labels[0, 3:] = -100
    found = function(logits, labels)
    equal(found.loss, functional.cross_entropy(logits.reshape(-1, 20), labels.reshape(-1)), 1e-6)
    assert found.tokens == 8


def shift(function, t5):
    labels = torch.tensor([[5, 6, 1, -100], [7, 8, 9, 1]])
    assert function(labels, 0, 0).tolist() == t5.prepare_decoder_input_ids_from_labels(labels).tolist()
    assert function(labels, 2, 1).tolist() == shift_tokens_right(labels, 1, 2).tolist()
    assert BartConfig().decoder_start_token_id == 2


def logit_gradient(function, t5):
    logits, labels = tensor(normal(5, 20)).requires_grad_(), torch.randint(0, 20, (5,))
    labels[1] = -100
    functional.cross_entropy(logits, labels).backward()
    equal(function(logits.detach(), labels), logits.grad)


def beam_score(function, t5):
    logprobs = -np.random.exponential(size=7)
    for alpha in (0.0, 0.6, 1.0, -0.5):
        equal(function(logprobs.tolist(), alpha), tensor(logprobs).sum() / (torch.tensor(12.0).double() ** alpha / 6**alpha))


def coverage(function, t5):
    weights = masks.softmax(normal(6, 9), np.ones((6, 9), bool))
    found, total = function(weights), tensor(weights).cumsum(0)
    before = torch.cat([torch.zeros(1, 9).double(), total[:-1]])
    equal(found.before, before)
    equal(found.loss, torch.minimum(tensor(weights), before).sum())


def pointer(function, t5):
    generated, weights = np.random.dirichlet(np.ones(20)), np.random.dirichlet(np.ones(6))
    source = [3, 7, 3, 20, 21, 20]
    for gate in (0.0, 0.35, 1.0):
        theirs = torch.zeros(22).double().scatter_add(0, torch.tensor(source), (1 - gate) * tensor(weights))
        theirs[:20] += gate * tensor(generated)
        equal(function(generated, weights, source, gate), theirs)


HYPOTHESES = ["ein hund läuft am strand entlang .", "zwei kinder spielen im garten mit einem ball"]
REFERENCES = ["ein hund läuft am strand .", "zwei kinder spielen mit einem roten ball im garten"]


def bleu(function, t5):
    found = function(HYPOTHESES, REFERENCES, tokenizer="13a")
    equal(found.value, sacrebleu.corpus_bleu(HYPOTHESES, [REFERENCES]).score, 1e-9)
    c, r = found.lengths
    by_hand = min(1, math.exp(1 - r / c)) * math.exp(sum(math.log(p / 100) for p in found.precisions) / 4)
    equal(found.value / 100, by_hand, 1e-9)


def rouge(function, t5):
    scorer = RougeScorer(["rougeL"])
    theirs = [scorer.score(b, a)["rougeL"] for a, b in zip(HYPOTHESES, REFERENCES)]
    found = function(HYPOTHESES, REFERENCES, kind="rougeL", tokenizer="rouge-score")
    equal(found.value, np.mean([one.fmeasure for one in theirs]))
    for one in theirs:
        equal(one.fmeasure, 2 * one.precision * one.recall / (one.precision + one.recall))


def distillation(function, t5):
    student, teacher, labels = tensor(normal(6, 20)).requires_grad_(), tensor(normal(6, 20)), torch.randint(0, 20, (6,))
    labels[2] = -100
    real = labels != -100
    for temperature, share in ((1.0, 0.5), (2.5, 0.3), (0.7, 1.0), (4.0, 0.0)):
        hard = functional.cross_entropy(student, labels)
        soft = temperature**2 * functional.kl_div(
            (student[real] / temperature).log_softmax(-1), (teacher[real] / temperature).softmax(-1), reduction="batchmean")
        whole = (1 - share) * hard + share * soft
        given = (student.detach(), teacher, labels, share, temperature)
        found = function(*given)
        equal([found.ce, temperature**2 * found.kl, found.loss], [one.item() for one in (hard, soft, whole)])
        (gradient,) = torch.autograd.grad(whole, student)
        equal(distillation_gradient(*given), gradient)


CHECKS = {
    "factorization": probability, "maps": two_maps, "encoder_attention": encoder_attention, "encoder_block": encoder_block,
    "causal_mask": causal_mask, "decoder_block": decoder_block, "output_head": output_head, "cross_projections": projections,
    "cross_attention": cross_attention, "cross_output": blend, "bridge": bridge, "budget": budget, "t5_bias": t5_bias,
    "prefix_mask": prefix_mask, "denoising_loss": denoising_loss, "shift": shift, "logit_gradient": logit_gradient,
    "beam_score": beam_score, "coverage": coverage, "pointer": pointer, "bleu": bleu, "rouge": rouge,
    "distillation": distillation,
}


@pytest.mark.parametrize("name", FORMULAS)
def test_a_formula_gives_what_its_reference_gives(name, t5):
    CHECKS[name](FORMULAS[name].function, t5)


# The items

def sequence(function, t5):
    tokenizer = models.tokenizer()
    tokens, cut = function(tokenizer, models.TEXT, 64)
    assert [token.id for token in tokens] == tokenizer(models.TEXT)["input_ids"] and cut == 0


def pairs(function, t5):
    i, j = torch.meshgrid(torch.arange(5), torch.arange(5), indexing="ij")
    assert (function(5) == torch.stack([i, j], -1).numpy()).all()


def embed(function, t5):
    table, at = normal(20, 8), np.random.randint(0, 20, 6)
    equal(function(at, table), functional.embedding(torch.from_numpy(at), tensor(table)))


def dot(function, t5):
    q, k = normal(32), normal(32)
    equal(function(q, k), torch.dot(tensor(q), tensor(k)))


def match(function, t5):
    q, k = normal(4, 8), normal(6, 8)
    equal(function(q, k), torch.einsum("id,jd->ij", tensor(q), tensor(k)))


def softmax(function, t5):
    scores = normal(4, 6) * 30
    equal(function(scores), tensor(scores).softmax(-1))


def scale(function, t5):
    q, k = normal(400, 64), normal(400, 64)
    scores = function(q, k)
    equal(scores, tensor(q) @ tensor(k).T / 8)
    assert 0.9 < scores.std() < 1.1 and 7 < (scores * 8).std() < 9  # what the division is for


def mask(function, t5):
    may, scores = np.random.random((5, 6)) < 0.6, normal(5, 6)
    may[:, 0] = True
    added = function(may)
    equal(masks.softmax(scores, may), tensor(scores).masked_fill(~tensor(may), -torch.inf).softmax(-1))
    equal((tensor(scores) + tensor(added)).softmax(-1), masks.softmax(scores, may))


ITEM_CHECKS = (sequence, pairs, embed, dot, match, projections, softmax, blend, scale, mask, probability, cross_attention)


@pytest.mark.parametrize("number", ITEMS)
def test_an_item_gives_what_its_reference_gives(number, t5):
    ITEM_CHECKS[number](ITEMS[number].function, t5)
