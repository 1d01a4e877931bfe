"""Sheet 004: its 70 displayed formulas are all there; sections 1 and 10 give what torch and transformers give."""

import json
from pathlib import Path

import pytest
import torch
from torch.nn import functional
from transformers import BertConfig, BertModel

from core.formulas import FORMULAS
from core.formulas.decoder_only import FORMULAS_003
from core.formulas.families import FORMULAS_004, positions
from core.formulas.sheets import ALL, SHEETS
from tests.families_reference import TINY, checked, equal, model, normal

LIST = json.loads((Path(__file__).parent / "course" / "004.json").read_text("utf-8"))


# The list against the entries

def cleaned(latex: str) -> list[str]:
    """The lines of a formula; the sheet sets two of them by a command of plain TeX."""
    inner = latex.removeprefix(r"\displaylines{").removesuffix("}") if latex.startswith(r"\displaylines") else latex
    return [line.strip() for line in inner.split(r"\\") if line.strip()] if inner != latex else [latex]


def test_all_seventy_formulas_have_an_entry_that_names_their_section():
    assert len(LIST) == 70
    assert {one["id"] for one in LIST} >= set(FORMULAS_004)
    for one in LIST:
        section = int(one["place"].split(".")[0])
        entry = ALL[one["id"]]
        if (entry.sheet, entry.lesson) == ("004", section):
            assert all(line in entry.latex for line in cleaned(one["latex"])), one["place"]
        else:
            assert f"004.{section}" in entry.also, one["place"]


def test_an_entry_stands_only_where_the_list_has_it():
    listed = {(one["id"], f"004.{one['place'].split('.')[0]}") for one in LIST}
    said = {(id, place) for id, one in ALL.items() for place in (*one.also, f"{one.sheet}.{one.lesson}")}
    said = {(id, place) for id, place in said if place.startswith("004")}
    assert said == listed
    assert said == {(id, f"004.{section}") for section, ids in SHEETS["004"].items() for id in ids}


def test_the_places_count_up_section_by_section():
    places = [tuple(map(int, one["place"].split("."))) for one in LIST]
    assert places == sorted(places)
    assert {section for section, _ in places} == set(SHEETS["004"]) == set(range(1, 19))
    for section in SHEETS["004"]:
        assert [at for number, at in places if number == section] == list(range(1, sum(p[0] == section for p in places) + 1))


def test_no_entry_is_a_copy_of_one_of_another_sheet():
    assert not set(FORMULAS_004) & (set(FORMULAS) | set(FORMULAS_003))


@pytest.mark.parametrize("one", FORMULAS_004.values(), ids=FORMULAS_004)
def test_an_entry_says_all_that_it_must(one):
    assert one.sheet == "004" and callable(one.function) and one.function.__doc__
    assert one.meaning.endswith(".") and len(one.meaning) < 140 and one.shapes
    assert one.reference.split(":")[0] in ("torch", "transformers")


# Sections 1 and 10

def attention_steps(function):
    q, k, v = normal(4, 8), normal(6, 8), normal(6, 5)
    scores, weights, out = function(q, k, v)
    equal(scores, torch.einsum("id,jd->ij", q, k) / 8**0.5)
    equal(weights.sum(-1), torch.ones(4))
    equal(out, functional.scaled_dot_product_attention(q[None], k[None], v[None])[0])


def general_attention(function):
    q, k, v = normal(8), normal(6, 8), normal(6, 5)
    weights, out = function(q, k, v, lambda q, k: k @ q / 8**0.5)
    equal(out, functional.scaled_dot_product_attention(q[None, None], k[None], v[None])[0, 0])
    w, u, vector = normal(8, 8), normal(8, 8), normal(8)

    def additive(q, k):
        return torch.tanh(q @ w + k @ u) @ vector

    weights, out = function(q, k, v, additive)
    by_hand = torch.stack([torch.dot(vector, torch.tanh(q @ w + row @ u)) for row in k]).exp()
    equal(weights, by_hand / by_hand.sum())
    equal(out, (by_hand[:, None] * v).sum(0) / by_hand.sum())


def residual_sum(function):
    x, w = normal(6).requires_grad_(), normal(6, 6)
    found = torch.autograd.functional.jacobian(lambda x: function(x, lambda x: torch.tanh(x @ w)), x)
    equal(found, torch.eye(6) + torch.autograd.functional.jacobian(lambda x: torch.tanh(x @ w), x))


def feed_forward(function):
    x, w_1, b_1, w_2, b_2 = normal(3, 8), normal(8, 16), normal(16), normal(16, 8), normal(8)
    for name, activation in (("relu", functional.relu), ("gelu", functional.gelu)):
        theirs = functional.linear(activation(functional.linear(x, w_1.T, b_1)), w_2.T, b_2)
        equal(function(x, w_1, b_1, w_2, b_2, name), theirs)


def gelu(function):
    x = torch.linspace(-6, 6, 500).double()
    equal(function(x), functional.gelu(x))
    equal(function(torch.tensor(1.0).double()), 0.8413447460685429)  # Φ(1)


def gelu_tanh(function):
    x = torch.linspace(-6, 6, 5000).double()
    equal(function(x), functional.gelu(x, approximate="tanh"))
    gap = (function(x) - functional.gelu(x)).abs().max()
    assert 4.7e-4 < gap < 5e-4  # what the note and the docstring say


def post_norm_block(function):
    layer = model(BertModel, BertConfig(**TINY)).encoder.layer[0]
    x = normal(5, 32)

    def attend(x):
        return layer.attention.output.dense(layer.attention.self(x[None])[0])[0]

    def feed(x):
        return layer.output.dense(layer.intermediate(x[None]))[0]

    z, out = function(x, attend, feed, (layer.attention.output.LayerNorm, layer.output.LayerNorm))
    theirs = layer(x[None])
    equal(out, (theirs[0] if isinstance(theirs, tuple) else theirs).reshape(5, 32))
    equal(z.mean(-1), torch.zeros(5))


def attention_score(function):
    x, w_q, w_k = normal(5, 8), normal(8, 4), normal(8, 4)
    equal(function(x, w_q, w_k), functional.linear(x, w_q.T) @ functional.linear(x, w_k.T).T / 2)


def attention_dropout(function):
    scores, v = normal(4, 6), normal(6, 3)
    whole = scores.softmax(-1)
    equal(function(scores, v, 0.0, 1)[1], functional.dropout(whole, 0.0, True) @ v)
    many = torch.stack([function(scores, v, 0.3, seed)[0] for seed in range(3000)])
    kept = many > 0
    equal(many[kept], (whole / 0.7).expand_as(many)[kept])  # torch's dropout scales the same way
    assert abs(kept.double().mean() - 0.7) < 0.01
    torch.testing.assert_close(many.mean(0), whole, rtol=0.05, atol=0.02)
    torch.manual_seed(3)
    theirs = functional.dropout(torch.ones(20000).double(), 0.3)
    assert set(theirs.unique().tolist()) == {0.0, 1 / 0.7}
    assert not function(scores, v, 1.0, 0)[1].any()


def learned_positions(function):
    table, at = normal(10, 8), torch.tensor([0, 3, 9])
    equal(function(at, table), functional.embedding(at, table))
    with pytest.raises(IndexError):
        function(torch.tensor([10]), table)


def relative_keys(function):
    x, w_q, w_k, table = normal(7, 8), normal(8, 4), normal(8, 4), normal(5, 4)
    found = function(x, w_q, w_k, table)
    q, k = x @ w_q, x @ w_k
    # transformers' relative_key of BERT until version 4: einsum over an embedding at query − key + furthest
    i, j = torch.meshgrid(torch.arange(7), torch.arange(7), indexing="ij")
    rows = functional.embedding((i - j).clamp(-2, 2) + 2, table)
    equal(found, (torch.einsum("ld,rd->lr", q, k) + torch.einsum("ld,lrd->lr", q, rows)) / 2)
    equal(found[6, 0] - found[6, 1], (q[6] @ (k[0] - k[1])) / 2)  # both distances are beyond the table's end
    assert positions.relative_rows(3, 3, 2)[2, 0] == 4 and positions.relative_rows(3, 3, 2)[0, 2] == 0



@pytest.mark.parametrize("name", [id for id, one in FORMULAS_004.items() if one.lesson in (1, 10)])
def test_a_formula_gives_what_its_reference_gives(name):
    checked(globals(), name)
