"""Sheet 004: its 70 displayed formulas are all there, and each function gives what torch, autograd or transformers gives."""

import json
import math
from pathlib import Path

import pytest
import torch
from torch.nn import functional
from transformers import (
    AlbertConfig,
    AlbertForPreTraining,
    AlbertModel,
    BartConfig,
    BartForConditionalGeneration,
    BertConfig,
    BertForMaskedLM,
    BertForNextSentencePrediction,
    BertForPreTraining,
    BertModel,
    DebertaV2Config,
    ElectraConfig,
    ElectraForMaskedLM,
    ElectraForPreTraining,
    GPT2Config,
    GPT2LMHeadModel,
    RobertaConfig,
    RobertaForMaskedLM,
    T5Config,
    T5ForConditionalGeneration,
)
from transformers.models.deberta_v2.modeling_deberta_v2 import DisentangledSelfAttention, build_relative_position

from core.formulas import FORMULAS
from core.formulas.families import ALSO_004, FORMULAS_004, SECTIONS_004, objectives, positions, sentences, sharing

LIST = json.loads((Path(__file__).parent / "course" / "004.json").read_text("utf-8"))
TINY = {"vocab_size": 50, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 64,
        "hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}


@pytest.fixture(autouse=True)
def drawn():
    torch.manual_seed(0)


def normal(*shape: int) -> torch.Tensor:
    return torch.randn(*shape, dtype=torch.float64)


def ids(length: int) -> torch.Tensor:
    return torch.randint(5, 50, (length,))


def model(kind, config):
    torch.manual_seed(0)
    return kind(config).double().eval()


def equal(ours, theirs, within: float = 1e-9) -> None:
    torch.testing.assert_close(torch.as_tensor(ours).double(), torch.as_tensor(theirs).double(), rtol=within, atol=within)


def grad(value: torch.Tensor, *of: torch.Tensor) -> tuple[torch.Tensor, ...]:
    return torch.autograd.grad(value, of)


# The list against the entries

def cleaned(latex: str) -> list[str]:
    """The lines of a formula; the sheet sets two of them by a command of plain TeX."""
    inner = latex.removeprefix(r"\displaylines{").removesuffix("}") if latex.startswith(r"\displaylines") else latex
    return [line.strip() for line in inner.split(r"\\") if line.strip()] if inner != latex else [latex]


def test_all_seventy_formulas_have_an_entry_that_names_their_section():
    assert len(LIST) == 70
    assert {one["id"] for one in LIST} == set(FORMULAS_004) | set(ALSO_004)
    for one in LIST:
        section = int(one["place"].split(".")[0])
        assert section in SECTIONS_004
        if (entry := FORMULAS_004.get(one["id"])) is None:
            assert f"004.{section}" in ALSO_004[one["id"]]
        elif entry.lesson != section:
            assert f"004.{section}" in entry.also
        else:
            assert all(line in entry.latex for line in cleaned(one["latex"])), one["place"]


def test_the_places_count_up_section_by_section():
    places = [tuple(map(int, one["place"].split("."))) for one in LIST]
    assert places == sorted(places)
    assert {section for section, _ in places} == set(SECTIONS_004) == set(range(1, 19))
    for section in SECTIONS_004:
        assert [at for number, at in places if number == section] == list(range(1, sum(p[0] == section for p in places) + 1))


def test_no_entry_is_a_copy_of_one_of_sheet_000():
    assert not set(FORMULAS_004) & set(FORMULAS)


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


def causal_attention(function):
    q, k, v = normal(6, 4), normal(6, 4), normal(6, 3)
    weights, out = function(q, k, v)
    equal(out, functional.scaled_dot_product_attention(q[None], k[None], v[None], is_causal=True)[0])
    assert not weights.triu(1).any()
    shrunk = ((q @ k.T + torch.full((6, 6), -8.0).triu(1)) / 2).softmax(-1)  # what the note says of a finite fill
    after = (q @ k.T / 2 + torch.full((6, 6), -8.0).triu(1)).softmax(-1)
    assert (shrunk.triu(1).sum() > after.triu(1).sum())


# Sections 2 to 9

def bert_input(function):
    bert, tokens, segments = model(BertModel, BertConfig(**TINY)), ids(8), torch.tensor([0] * 5 + [1] * 3)
    table = bert.embeddings
    ours = function(tokens, segments, table.word_embeddings.weight, table.token_type_embeddings.weight,
                    table.position_embeddings.weight)
    equal(table.LayerNorm(ours), table(tokens[None], segments[None])[0])


def masked(kind, config, function):
    """−Σ over the masked places is their number times transformers' mean."""
    net, tokens, hidden = model(kind, config), ids(9), torch.zeros(9, dtype=torch.bool)
    hidden[[1, 4, 7]] = True
    labels = tokens.masked_fill(~hidden, -100)
    theirs = net(input_ids=tokens.masked_fill(hidden, 4)[None], labels=labels[None])
    equal(function(theirs.logits[0], tokens, hidden), 3 * theirs.loss)
    assert (function(theirs.logits[0], tokens, ~hidden) - 3 * theirs.loss).abs() > 1


def mlm_loss(function):
    masked(BertForMaskedLM, BertConfig(**TINY), function)


def nsp_loss(function):
    net, tokens = model(BertForNextSentencePrediction, BertConfig(**TINY)), ids(8)[None]
    for answer in (0, 1):
        theirs = net(input_ids=tokens, labels=torch.tensor([answer]))
        equal(function(theirs.logits[0], answer), theirs.loss)


def bert_loss(function):
    net, tokens = model(BertForPreTraining, BertConfig(**TINY)), ids(8)
    hidden = torch.arange(8) % 3 == 0
    theirs = net(input_ids=tokens[None], labels=tokens.masked_fill(~hidden, -100)[None], next_sentence_label=torch.tensor([1]))
    mlm = objectives.masked_loss(theirs.prediction_logits[0], tokens, hidden) / hidden.sum()
    equal(function(mlm, objectives.pair_loss(theirs.seq_relationship_logits[0], 1)), theirs.loss)


def gpt_loss(function):
    net = model(GPT2LMHeadModel, GPT2Config(vocab_size=50, n_positions=16, n_embd=32, n_layer=2, n_head=4))
    tokens = ids(9)
    theirs = net(input_ids=tokens[None], labels=tokens[None])
    equal(function(theirs.logits[0], tokens), 8 * theirs.loss)


def t5_loss(function):
    net = model(T5ForConditionalGeneration, T5Config(vocab_size=50, d_model=32, d_kv=8, d_ff=64, num_layers=2, num_heads=4))
    source, target = ids(7), ids(5)
    theirs = net(input_ids=source[None], labels=target[None])
    equal(function(theirs.logits[0], target), 5 * theirs.loss)


def bart_loss(function):
    net = model(BartForConditionalGeneration, BartConfig(
        vocab_size=50, d_model=32, encoder_layers=1, decoder_layers=1, encoder_attention_heads=4, decoder_attention_heads=4,
        encoder_ffn_dim=64, decoder_ffn_dim=64, max_position_embeddings=32))
    whole = ids(8)
    spoiled = torch.cat([whole[:2], torch.tensor([4]), whole[5:]])  # three tokens behind one mask
    theirs = net(input_ids=spoiled[None], labels=whole[None])
    equal(function(theirs.logits[0], whole), 8 * theirs.loss)


def roberta_loss(function):
    masked(RobertaForMaskedLM, RobertaConfig(**TINY, max_position_embeddings=32), function)
    masks = objectives.dynamic_masks(20, 0.15, range(200))
    assert (masks.sum(1) == 3).all() and len(masks.unique(dim=0)) > 150
    assert (masks.double().mean(0) - 0.15).abs().max() < 0.1
    assert (objectives.dynamic_masks(20, 0.15, [7]) == masks[7]).all()


def generator_loss(function):
    masked(ElectraForMaskedLM, ElectraConfig(**TINY, embedding_size=16), function)


def discriminator_loss(function):
    net, tokens = model(ElectraForPreTraining, ElectraConfig(**TINY, embedding_size=16)), ids(9)
    replaced = torch.tensor([0, 1, 0, 0, 1, 0, 0, 0, 1])
    theirs = net(input_ids=tokens[None], labels=replaced[None])
    ours = function(-theirs.logits[0], 1 - replaced)  # their logit is of "replaced"
    equal(ours, 9 * theirs.loss, 1e-6)  # theirs is in float32
    d = torch.sigmoid(-theirs.logits[0])
    equal(ours, -(torch.where(replaced == 0, d, 1 - d)).log().sum())  # the sheet's letter


def electra_loss(function):
    logits, real, token_logits, tokens = normal(6), torch.tensor([1, 1, 0, 1, 0, 1]), normal(6, 50), ids(6)
    places = real == 0
    d = functional.binary_cross_entropy(logits.sigmoid(), real.double(), reduction="sum")
    g = functional.cross_entropy(token_logits[places], tokens[places], reduction="sum")
    parts = objectives.discriminator_loss(logits, real), objectives.masked_loss(token_logits, tokens, places)
    for weight in (0.0, 0.02, 1.0):
        equal(function(*parts, weight), d + weight * g)
    # the paper's sum is 50 times this one at λ = 1/50: the gradients point the same way
    equal(50 * function(*parts), g + 50 * d)


def disentangled(function):
    config = DebertaV2Config(**TINY | {"num_attention_heads": 1}, relative_attention=True, pos_att_type=["c2p", "p2c"],
                             max_relative_positions=4, position_buckets=-1, max_position_embeddings=4)
    layer, states, table = model(DisentangledSelfAttention, config), normal(7, 32), normal(8, 32)
    distance = build_relative_position(states[None], states[None], -1, 4)
    _, theirs = layer(states[None], torch.ones(1, 1, 7, 7), output_attentions=True, relative_pos=distance, rel_embeddings=table)
    given = (layer.query_proj(states), layer.key_proj(states), layer.pos_query_proj(table), layer.pos_key_proj(table))
    content, to_place, from_place = function(*given, 4)
    equal(positions.disentangled_scores(*given, 4).softmax(-1), theirs.reshape(7, 7), 1e-7)
    q, k, q_r, k_r = given
    equal(content[5, 2], q[5] @ k[2])
    equal(to_place[5, 2], q[5] @ k_r[4 + 3])
    equal(from_place[5, 2], q_r[4 + 3] @ k[2])
    equal(function(*given, 4, paper=True)[2][5, 2], q_r[4 - 3] @ k[2])
    equal(to_place[0, 6], q[0] @ k_r[0])  # cut at the table's end


def mask_decoder(function):
    states, places, w, b = normal(5, 8), normal(5, 8), normal(8, 20), normal(20)
    equal(function(states, places, w, b), functional.linear(states + places, w.T, b).softmax(-1))


def albert(**more):
    return AlbertConfig(vocab_size=50, embedding_size=8, hidden_size=32, num_hidden_layers=3, num_attention_heads=4,
                        intermediate_size=64, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0, **more)


def weights_of(module) -> int:
    return sum(one.numel() for one in module.parameters())


def factorized_embedding(function):
    net = model(AlbertModel, albert())
    whole, factors = function(50, 32, 8)
    up = net.encoder.embedding_hidden_mapping_in.weight
    assert (whole, factors) == (50 * 32, net.embeddings.word_embeddings.weight.numel() + up.numel())
    assert function(30000, 768, 128) == (23_040_000, 3_938_304)  # ALBERT-base, by hand
    table = net.embeddings.word_embeddings.weight
    equal(sharing.factorized(table, up.T), functional.linear(table, up))
    assert torch.linalg.matrix_rank(sharing.factorized(table, up.T)) == 8


def shared_layers(function):
    shared, own = model(AlbertModel, albert()), model(BertModel, BertConfig(**TINY | {"num_hidden_layers": 3}))
    assert function(3, 32, 64) == (weights_of(own.encoder), weights_of(shared.encoder.albert_layer_groups))
    layer, x = shared.encoder.albert_layer_groups[0].albert_layers[0], normal(5, 32)

    def once(x):
        found = layer(x[None])
        return (found[0] if isinstance(found, tuple) else found).reshape(5, 32)

    equal(sharing.shared_stack(x, once, 3)[-1], once(once(once(x))))


def sop_loss(function):
    net, tokens, labels = model(AlbertForPreTraining, albert()), ids(8), torch.full((1, 8), -100)
    labels[0, 2] = tokens[2]
    for answer in (0, 1):
        theirs = net(input_ids=tokens[None], labels=labels, sentence_order_label=torch.tensor([answer]))
        mlm = objectives.masked_loss(theirs.prediction_logits[0], tokens, labels[0] != -100)
        equal(function(theirs.sop_logits[0], answer) + mlm, theirs.loss)


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


@pytest.mark.parametrize("name", FORMULAS_004)
def test_a_formula_gives_what_its_reference_gives(name):
    with torch.random.fork_rng():
        torch.manual_seed(1)
        globals()[name](FORMULAS_004[name].function)


def test_pools_by_name_are_the_three_of_the_sheet():
    assert set(sentences.POOLS) == {"cls", "mean", "max"}
