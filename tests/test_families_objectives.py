"""Sheet 004, sections 2 to 9: each objective gives the loss of transformers' own model of that family, with random weights."""

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

from core.formulas.families import FORMULAS_004, objectives, positions, sharing
from tests.families_reference import FLOAT32, TINY, checked, equal, ids, model, normal

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
    equal(function(theirs.logits[0], tokens), 8 * theirs.loss, FLOAT32)


def causal_attention(function):
    q, k, v = normal(6, 4), normal(6, 4), normal(6, 3)
    weights, out = function(q, k, v)
    equal(out, functional.scaled_dot_product_attention(q[None], k[None], v[None], is_causal=True)[0])
    assert not weights.triu(1).any()
    shrunk = ((q @ k.T + torch.full((6, 6), -8.0).triu(1)) / 2).softmax(-1)  # what the note says of a finite fill
    after = (q @ k.T / 2 + torch.full((6, 6), -8.0).triu(1)).softmax(-1)
    assert (shrunk.triu(1).sum() > after.triu(1).sum())


def t5_loss(function):
    net = model(T5ForConditionalGeneration, T5Config(vocab_size=50, d_model=32, d_kv=8, d_ff=64, num_layers=2, num_heads=4,
                                                        decoder_start_token_id=0))
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
    equal(ours, 9 * theirs.loss, FLOAT32)
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
    equal(positions.disentangled_scores(*given, 4).softmax(-1), theirs.reshape(7, 7), FLOAT32)
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


@pytest.mark.parametrize("name", [id for id, one in FORMULAS_004.items() if one.lesson in (2, 3, 4, 5, 6, 7, 8, 9)])
def test_a_formula_gives_what_its_reference_gives(name):
    checked(globals(), name)
