"""Sheet 004, sections 11 to 18: pooling, distances and SBERT's objectives against torch, autograd and a BertModel."""

import math

import pytest
import torch
from torch.autograd import grad
from torch.nn import functional
from transformers import BertConfig, BertModel

from core.formulas.families import FORMULAS_004
from core.formulas.families.sentences import POOLS
from tests.families_reference import TINY, checked, equal, ids, model, normal

# Sections 11 to 18

def sentence_embedding(function):
    bert, tokens = model(BertModel, BertConfig(**TINY)), ids(6)
    states = bert(input_ids=tokens[None]).last_hidden_state[0]

    def encode(tokens):
        return bert(input_ids=tokens[None]).last_hidden_state[0]

    for pool, theirs in (("mean", states.mean(0)), ("cls", states[0]), ("max", states.max(0).values)):
        equal(function(encode, tokens, pool), theirs)


def cls_pooling(function):
    bert, tokens = model(BertModel, BertConfig(**TINY)), ids(6)
    states = bert(input_ids=tokens[None]).last_hidden_state
    equal(bert.pooler.dense(function(states[0])).tanh(), bert(input_ids=tokens[None]).pooler_output[0])


def mean_pooling(function):
    u, real = normal(6, 8), torch.tensor([1, 1, 1, 1, 0, 0])
    equal(function(u), functional.adaptive_avg_pool1d(u.T, 1)[:, 0])
    equal(function(u, real), u[:4].mean(0))


def max_pooling(function):
    u, real = normal(6, 8), torch.tensor([1, 1, 1, 1, 0, 0])
    equal(function(u), functional.adaptive_max_pool1d(u.T, 1)[:, 0])
    u[5] = 100
    equal(function(u, real), functional.adaptive_max_pool1d(u[:4].T, 1)[:, 0])


def attention_pooling(function):
    u, w = normal(6, 8), normal(8)
    shares, s = function(u, w)
    equal(s, functional.scaled_dot_product_attention(w[None, None], u[None], u[None], scale=1.0)[0, 0])
    equal(shares.sum(), 1.0)


def sbert_classifier(function):
    u, v, w = normal(8), normal(8), normal(3, 24)
    theirs = functional.linear(torch.cat([u, v, functional.l1_loss(u, v, reduction="none")]), w).softmax(0)
    equal(function(u, v, w), theirs)
    assert not torch.allclose(function(v, u, w), theirs)


def cosine(function):
    u, v = normal(8), normal(8)
    equal(function(u, v), functional.cosine_similarity(u, v, dim=0))
    equal(function(3 * u, 0.1 * v), function(u, v))
    assert function(u, torch.zeros(8).double()).isnan()


def regression_loss(function):
    for similarity, label in ((0.3, 1.0), (-0.8, 0.2), (0.5, 0.5)):
        given = torch.tensor(similarity), torch.tensor(label)
        equal(function(*given), functional.mse_loss(*given))


def siamese(function):
    bert, a, b = model(BertModel, BertConfig(**TINY)), ids(6), ids(4)

    def encode(tokens):
        return bert(input_ids=tokens[None]).last_hidden_state[0]

    u, v = function(encode, a, b)
    equal(u, encode(a).mean(0))
    weight = bert.encoder.layer[0].output.dense.weight
    probe = normal(32)
    (both,) = grad((u * v).sum() + u @ probe, weight)
    fixed_u, fixed_v = u.detach(), v.detach()
    one = grad(encode(a).mean(0) @ (fixed_v + probe), weight)[0] + grad(encode(b).mean(0) @ fixed_u, weight)[0]
    equal(both, one)  # the two sides' gradients add up in the same weights


def triplet_loss(function):
    for margin in (0.0, 1.0, 50.0):
        a, p, n = (normal(8).requires_grad_() for _ in range(3))
        near, far = (functional.pairwise_distance(a[None], x[None], eps=0.0)[0] ** 2 for x in (p, n))
        equal(function(a, p, n, margin), functional.relu(near - far + margin))
    (slope,) = grad(function(a, p, n, 50.0), a)
    equal(slope, 2 * (n - p))
    points = torch.tensor([0.0]), torch.tensor([2.0]), torch.tensor([1.0])
    equal(function(*points, 0.5), 3.5)  # 4 − 1 + 0.5; torch's unsquared distances give 2 − 1 + 0.5
    equal(functional.triplet_margin_loss(*(x[None] for x in points), margin=0.5), 1.5, 1e-5)


def negatives_loss(function):
    positive, negatives = torch.tensor(0.7).double(), normal(5)
    every = torch.cat([positive[None], negatives])
    equal(function(positive, negatives, scale=20.0), functional.cross_entropy(20 * every[None], torch.tensor([0])))
    equal(function(positive, negatives, with_positive=False), -torch.log(positive.exp() / negatives.exp().sum()))
    assert function(torch.tensor(0.9), torch.tensor([-0.5]), with_positive=False) < 0 < function(
        torch.tensor(0.9), torch.tensor([-0.5]))


def euclidean(function):
    u, v = normal(8), normal(8)
    equal(function(u, v), torch.cdist(u[None], v[None], p=2)[0, 0])
    equal(function(torch.tensor([0.0, 0.0]), torch.tensor([3.0, 4.0])), 5.0)


def manhattan(function):
    u, v = normal(8), normal(8)
    equal(function(u, v), torch.cdist(u[None], v[None], p=1)[0, 0])
    equal(function(torch.tensor([0.0, 0.0]), torch.tensor([3.0, 4.0])), 7.0)


def pair_logits(function):
    u, v, w, b = normal(8), normal(8), normal(3, 32), normal(3)
    equal(function(u, v, w, b), functional.linear(torch.cat([u, v, torch.mul(u, v), torch.abs(torch.sub(u, v))]), w, b))
    assert math.isclose(float(function(u, u, w, b)[0]), float(w[0, :8] @ u + w[0, 8:16] @ u + w[0, 16:24] @ u**2 + b[0]))


@pytest.mark.parametrize("name", [id for id, one in FORMULAS_004.items() if one.lesson in (11, 12, 13, 14, 15, 16, 17, 18)])
def test_a_formula_gives_what_its_reference_gives(name):
    checked(globals(), name)


def test_pools_by_name_are_the_three_of_the_sheet():
    assert set(POOLS) == {"cls", "mean", "max"}
