"""Sheet 003: the list of its formulas is whole; lessons 1 to 5 give what torch, autograd or transformers gives."""

import json
import math
from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn import functional
from torch.testing import assert_close

from core.errors import InputError
from core.formulas import FORMULAS
from core.formulas.decoder_only import FORMULAS_003
from core.formulas.decoder_only.block import rmsnorm_gradient
from core.formulas.decoder_only.language import logits
from core.formulas.decoder_only.losses import cross_and_kl
from core.formulas.decoder_only.weights import drawn, parameters
from core.train.criteria import logit_gradient
from tests import test_decoder_only_training

LISTED = json.loads((Path(__file__).parent / "course/003.json").read_text("utf-8"))
ALL = FORMULAS | FORMULAS_003
DEPTH = (4, 4, 7, 6, 4, 4, 3, 6, 6, 4)  # displayed formulas of each lesson
AXES = {"batch", "target", "vocab", "width", "parameters", "query", "key", "heads", "heads · d_v", "d_k", "d_v", "d_ff", "pairs",
        "d_in", "d_out", "rank", "samples"}
SIZES = dict(layers=2, width=16, inner=64, vocab=11)
HEADS = 4
numbers = st.floats(-5, 5, allow_nan=False)


def normal(*shape: int) -> torch.Tensor:
    return torch.randn(*shape, dtype=torch.float64)


def causal(length: int) -> torch.Tensor:
    return torch.full((length, length), -torch.inf, dtype=torch.float64).triu(1)


# The list

def test_all_48_displayed_formulas_are_listed_in_order_and_each_has_an_entry_that_says_the_same():
    wanted = [f"{lesson}.{at}" for lesson, count in enumerate(DEPTH, 1) for at in range(1, count + 1)]
    assert len(wanted) == 48 and [one["place"] for one in LISTED] == wanted
    for one in LISTED:
        entry, lesson = ALL[one["id"]], int(one["place"].partition(".")[0])
        if one["id"] in FORMULAS_003:
            assert (entry.sheet, entry.lesson, entry.latex) == ("003", lesson, one["latex"])
        else:
            assert f"003.{lesson}" in entry.also
    assert [one["id"] for one in LISTED if one["id"] in FORMULAS_003] == list(FORMULAS_003)
    shared = {one["id"] for one in LISTED} - set(FORMULAS_003)
    assert shared == {"causal_mask", "logit_gradient", "factorization"} and not set(FORMULAS_003) & set(FORMULAS)


@pytest.mark.parametrize("one", FORMULAS_003.values(), ids=lambda one: one.id)
def test_an_entry_says_all_that_it_must(one):
    assert callable(one.function) and one.meaning.endswith(".") and len(one.meaning) < 140
    assert one.reference.split(":")[0] in ("torch", "transformers", "peft", "by hand")
    assert one.shapes and {axis for axes in one.shapes.values() for axis in axes} <= AXES
    assert not one.note or one.note.endswith(".")


# Each function against its reference

def gpt2():
    """A GPT-2 that holds θ: positions are the sinusoids, projections have no bias."""
    from transformers import GPT2Config, GPT2LMHeadModel

    theta = drawn(parameters(**SIZES))
    width = SIZES["width"]
    model = GPT2LMHeadModel(GPT2Config(
        vocab_size=SIZES["vocab"], n_positions=32, n_embd=width, n_layer=SIZES["layers"], n_head=HEADS, n_inner=SIZES["inner"],
        activation_function="gelu", tie_word_embeddings=False, bos_token_id=0, eos_token_id=0)).double().eval()
    with torch.no_grad():
        for weight in model.parameters():
            weight.zero_()
        trunk = model.transformer
        trunk.wte.weight.copy_(theta["E"])
        trunk.wpe.weight.copy_(FORMULAS_003["sinusoids"].function(32, width))
        for layer, block in enumerate(trunk.h):
            own = {name.partition(".")[2]: value for name, value in theta.items() if name.startswith(f"{layer}.")}
            for norm, at in ((block.ln_1, 1), (block.ln_2, 2)):
                norm.weight.copy_(own[f"γ_{at}"])
            block.attn.c_attn.weight.copy_(torch.cat([own["W_Q"], own["W_K"], own["W_V"]], 1))
            block.attn.c_proj.weight.copy_(own["W_O"])
            block.mlp.c_fc.weight.copy_(own["W_1"].T)
            block.mlp.c_proj.weight.copy_(own["W_2"].T)
        trunk.ln_f.weight.copy_(theta["γ"])
        model.lm_head.weight.copy_(theta["W_U"].T)
    return model, theta


@torch.no_grad()
def model_map(function):
    model, theta = gpt2()
    ids = torch.tensor([3, 1, 4, 1, 5])
    found = function(ids, theta, HEADS)
    assert_close(found, model(ids[None]).logits[0, -1].softmax(-1))
    assert_close(found.sum(), torch.tensor(1.0).double())
    assert not torch.allclose(found, function(ids.flip(0), theta, HEADS))
    for wrong in ([], [11], [-1]):
        with pytest.raises(InputError, match="0 to 10"):
            function(torch.tensor(wrong, dtype=torch.long), theta, HEADS)


@torch.no_grad()
def factorization_lm(function):
    model, theta = gpt2()
    ids = torch.tensor([0, 3, 1, 4, 1, 5])  # the first one is what starts a text
    each, total = function(logits(ids, theta, HEADS)[:-1], ids[1:])
    loss = model(ids[None], labels=ids[None]).loss
    assert_close(total, -5 * loss, check_dtype=False)
    assert_close(each.sum(), total)


def risk(function):
    z, ids = normal(3, 5, 11), torch.randint(0, 11, (3, 5))
    assert_close(function(z, ids), functional.cross_entropy(z.flatten(0, 1), ids.flatten(), reduction="sum") / 3)


def compute(function):
    from torch.utils.flop_counter import FlopCounterMode

    layers = torch.nn.Sequential(*[torch.nn.Linear(32, 32, bias=False) for _ in range(4)])
    x = torch.randn(7, 32, requires_grad=True)
    with FlopCounterMode(display=False) as counter:
        layers(x).sum().backward()
    assert counter.get_total_flops() == function(4 * 32 * 32, 7)
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        layers(x)
    assert counter.get_total_flops() == function(4 * 32 * 32, 7) / 3


def embedding(function):
    ids, table = torch.tensor([2, 0, 2, 9]), normal(11, 6)
    assert_close(function(ids, table), functional.embedding(ids, table))


def embedding_gradient(function):
    ids, table, upstream = torch.tensor([2, 0, 2, 9]), normal(11, 6).requires_grad_(), normal(4, 6)
    functional.embedding(ids, table).backward(upstream)
    found = function(ids, upstream, 11)
    assert_close(found, table.grad)
    assert found.abs().sum(-1).nonzero().flatten().tolist() == [0, 2, 9]


def sinusoids(function):
    from transformers.models.marian.modeling_marian import MarianSinusoidalPositionalEmbedding

    theirs = MarianSinusoidalPositionalEmbedding(40, 16)
    weight = theirs.create_weight()  # sines first, then cosines
    assert_close(function(40, 16).float(), torch.stack([weight[:, :8], weight[:, 8:]], -1).flatten(-2))
    with pytest.raises(InputError, match="even"):
        function(4, 7)


def rope(function):
    from transformers import LlamaConfig
    from transformers.models.llama.modeling_llama import LlamaRotaryEmbedding, apply_rotary_pos_emb

    q, at = torch.randn(1, 1, 9, 16), torch.arange(9)
    turning = LlamaRotaryEmbedding(LlamaConfig(hidden_size=16, num_attention_heads=1, head_dim=16))
    halves = torch.cat([q[..., 0::2], q[..., 1::2]], -1)  # Llama pairs k with k + d/2
    theirs, _ = apply_rotary_pos_emb(halves, halves, *turning(halves, at[None]))
    assert_close(function(q, at), torch.stack([theirs[..., :8], theirs[..., 8:]], -1).flatten(-2), rtol=1e-4, atol=1e-5)


@given(st.integers(0, 500), st.integers(0, 500), st.integers(0, 500), st.integers(0, 2**16))
def test_turned_scores_depend_on_the_distance_alone_and_lengths_stay(p, s, shift, seed):
    q, k = torch.randn(2, 8, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    turned = FORMULAS_003["rope"].function(torch.stack([q, q, k, k]), torch.tensor([p, p + shift, s, s + shift]))
    assert_close(turned[0] @ turned[2], turned[1] @ turned[3], rtol=1e-9, atol=1e-9)
    assert_close(turned[0].norm(), q.norm())


def projections(function):
    h, w = normal(5, 8), normal(3, 8, 4)
    for ours, weight in zip(function(h, h, *w), w):
        assert_close(ours, functional.linear(h, weight.T))


def attention(function):
    q, k, v = normal(2, 5, 4), normal(2, 6, 4), normal(2, 6, 3)
    mask = torch.where(torch.rand(5, 6) < 0.3, -torch.inf, 0.0).double()
    mask[:, 0] = 0
    out, weights = function(q, k, v, mask)
    assert_close(out, functional.scaled_dot_product_attention(q, k, v, mask))
    assert_close(weights.sum(-1), torch.ones(2, 5).double())
    assert_close(function(q, k, v)[0], functional.scaled_dot_product_attention(q, k, v))


def attention_row(function):
    q, k, v = normal(4), normal(6, 4), normal(6, 3)
    out, weights, scores = function(q, k, v)
    assert_close(out, functional.scaled_dot_product_attention(q[None], k, v)[0])
    assert_close(scores, k @ q / 2)
    assert_close(weights, scores.softmax(-1))


def score_variance(function):
    for width in (4, 64, 256):
        q, k = normal(2, 20000, width)
        scores, mean, variance = function(q, k)
        assert_close(scores[3], torch.dot(q[3], k[3]))
        assert_close((mean, variance), (scores.mean(), torch.var(scores)))
        assert abs(float(mean)) < 5 * (width / 20000) ** 0.5 and abs(float(variance) / width - 1) < 0.1


def softmax_jacobian(function):
    scores = normal(6)
    found = function(scores)
    assert_close(found, torch.autograd.functional.jacobian(lambda s: s.softmax(-1), scores))
    assert_close(found.sum(-1), torch.zeros(6).double(), rtol=0, atol=1e-12)
    assert_close(found, found.T)


def multi_head(function):
    theirs = torch.nn.MultiheadAttention(16, 4, bias=False, batch_first=True).double()
    q, k, v = (w.T.unflatten(1, (4, 4)).movedim(1, 0) for w in theirs.in_proj_weight.detach().chunk(3))
    h = normal(5, 16)
    out, weights = function(h, q, k, v, theirs.out_proj.weight.detach().T, causal(5))
    expected, shares = theirs(h[None], h[None], h[None], attn_mask=causal(5), average_attn_weights=False)
    assert_close(out, expected[0].detach())
    assert_close(weights, shares[0].detach())


@torch.no_grad()
def block_prenorm(function):
    model, _ = gpt2()
    block, h = model.transformer.h[0], normal(5, 16)
    between, out = function(h, lambda x: block.attn(x[None])[0][0], lambda x: block.mlp(x[None])[0], (block.ln_1, block.ln_2))
    theirs = block(h[None])
    assert_close(out, (theirs[0] if isinstance(theirs, tuple) else theirs).reshape(5, 16))
    assert not torch.allclose(between, h) and not torch.allclose(between, out)


def mlp(function):
    theirs = torch.nn.Sequential(torch.nn.Linear(6, 20), torch.nn.GELU(), torch.nn.Linear(20, 6)).double()
    x = normal(3, 6)
    weights = [theirs[0].weight, theirs[0].bias, theirs[2].weight, theirs[2].bias]
    assert_close(function(x, *weights), theirs(x))
    theirs[1] = torch.nn.ReLU()
    assert_close(function(x, *weights, torch.relu), theirs(x))


def residual_jacobian(function):
    w, x = normal(5, 5), normal(5)
    assert_close(function(lambda a: torch.tanh(w @ a), x),
                 torch.autograd.functional.jacobian(lambda a: a + torch.tanh(w @ a), x))


def layernorm(function):
    x, gain, bias = normal(4, 8), normal(8), normal(8)
    for epsilon in (1e-5, 0.1):
        assert_close(function(x, gain, bias, epsilon), functional.layer_norm(x, (8,), gain, bias, epsilon))
    assert function(torch.ones(3)).tolist() == [0, 0, 0]  # what σ without ε could not do


def layernorm_backward(function):
    x, gain, upstream = normal(4, 8).requires_grad_(), normal(8), normal(4, 8)
    functional.layer_norm(x, (8,), gain, None, 0.01).backward(upstream)
    assert_close(function(x.detach(), upstream, gain, 0.01), x.grad)


def rmsnorm(function):
    from transformers.models.llama.modeling_llama import LlamaRMSNorm

    theirs = LlamaRMSNorm(8, eps=0.01)
    theirs.weight.data = torch.randn(8)
    x, upstream = torch.randn(4, 8, requires_grad=True), torch.randn(4, 8)
    out = theirs(x)
    assert_close(function(x, theirs.weight, 0.01), out)
    out.backward(upstream)
    assert_close(rmsnorm_gradient(x.detach(), upstream, theirs.weight.detach(), 0.01), x.grad)


@given(st.lists(numbers, min_size=3, max_size=8), st.floats(0.1, 10), numbers)
def test_layernorm_forgets_scale_and_shift_and_rmsnorm_scale_alone(values, scale, shift):
    x = torch.tensor(values, dtype=torch.float64)
    if x.std() < 0.1:
        return
    layer, rms = FORMULAS_003["layernorm"].function, FORMULAS_003["rmsnorm"].function
    assert_close(layer(scale * x + shift, epsilon=0), layer(x, epsilon=0), rtol=1e-6, atol=1e-6)
    assert_close(rms(scale * x, epsilon=0), rms(x, epsilon=0), rtol=1e-6, atol=1e-6)


def softmax(function):
    h, w = normal(3, 8), normal(8, 11)
    z, p = function(h.numpy(), w.numpy())
    assert_close(torch.from_numpy(z), h @ w)
    assert_close(torch.from_numpy(p), (h @ w).softmax(-1))


def cross_entropy(function):
    z, ids = normal(6, 11), torch.randint(0, 11, (6,))
    total, loss = function(z, ids)
    assert_close(loss, functional.cross_entropy(z, ids))
    assert_close(total, -functional.cross_entropy(z, ids, reduction="sum"))


def every_weight(function):
    model, theta = gpt2()
    shapes = function(**SIZES)
    counted = sum(math.prod(shape) for shape in shapes.values())
    extra = model.transformer.wpe.weight.numel() + sum(
        block.attn.c_attn.bias.numel() + block.attn.c_proj.bias.numel() for block in model.transformer.h)
    assert counted == model.num_parameters() - extra  # the sheet has neither learned positions nor biases of attention
    assert {name: tuple(weight.shape) for name, weight in theta.items()} == shapes


CHECKS = {
    "model_map": model_map, "factorization_lm": factorization_lm, "risk": risk, "compute": compute, "embedding": embedding,
    "embedding_gradient": embedding_gradient, "sinusoids": sinusoids, "rope": rope, "projections": projections,
    "attention": attention, "attention_row": attention_row, "score_variance": score_variance,
    "softmax_jacobian": softmax_jacobian, "multi_head": multi_head, "block_prenorm": block_prenorm, "mlp": mlp,
    "residual_jacobian": residual_jacobian, "layernorm": layernorm, "layernorm_backward": layernorm_backward,
    "rmsnorm": rmsnorm, "softmax": softmax, "cross_entropy": cross_entropy, "parameters": every_weight,
}


def test_every_entry_has_a_check():
    assert [*CHECKS, *test_decoder_only_training.CHECKS] == list(FORMULAS_003)


@pytest.mark.parametrize("name", CHECKS)
def test_a_formula_gives_what_its_reference_gives(name):
    torch.manual_seed(0)
    CHECKS[name](FORMULAS_003[name].function)


def test_what_sheet_000_has_already_holds_for_a_decoder_alone():
    mask = FORMULAS["causal_mask"].function(6, 6)
    assert (torch.from_numpy(mask) == (causal(6) == 0)).all()
    z = normal(4, 11).requires_grad_()
    ids = torch.randint(0, 11, (4,))
    functional.cross_entropy(z, ids, reduction="sum").backward()
    assert_close(4 * logit_gradient(z.detach(), ids), z.grad)  # of each position's own loss, as the sheet has it
    assert_close(cross_and_kl(functional.one_hot(ids, 11).double(), z.detach())[0],
                 functional.cross_entropy(z.detach(), ids, reduction="none"))
