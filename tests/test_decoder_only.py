"""Sheet 003: the list of its formulas is whole, and each function gives what torch, autograd, transformers or a hand gives."""

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
from core.formulas.decoder_only.losses import anchored, bradley_terry, cross_and_kl, dpo, entropy_and_kl, ppo_clip
from core.formulas.decoder_only.weights import drawn, parameters
from core.train.criteria import logit_gradient

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


def entropy_kl(function):
    p, q = normal(2, 11).softmax(-1)
    cross, own, kl = function(p, q)
    ours, theirs = torch.distributions.Categorical(p), torch.distributions.Categorical(q)
    assert_close(own, ours.entropy())
    assert_close(kl, torch.distributions.kl_divergence(ours, theirs))
    assert_close(cross, functional.cross_entropy(q.log(), p))
    none = torch.tensor([0.5, 0.5, 0.0])
    assert [round(float(one), 6) for one in function(none, torch.tensor([0.25, 0.25, 0.5]))] == [1.386294, 0.693147, 0.693147]
    assert function(none, none.flip(0))[2] == torch.inf


@given(st.lists(numbers, min_size=2, max_size=6), st.integers(0, 2**16))
def test_cross_entropy_is_entropy_and_a_divergence_that_is_never_negative(values, seed):
    p = torch.tensor(values, dtype=torch.float64).softmax(-1)
    q = torch.randn(len(values), generator=torch.Generator().manual_seed(seed), dtype=torch.float64).softmax(-1)
    cross, own, kl = entropy_and_kl(p, q)
    assert_close(cross, own + kl)
    assert kl >= -1e-12 and entropy_and_kl(p, p)[2] == 0


def kl_minimum(function):
    p, z = normal(6).softmax(-1), normal(6).requires_grad_()
    (cross,), (kl,) = (torch.autograd.grad(function(p, z)[at], z) for at in (0, 1))
    assert_close(cross, kl)
    assert_close(cross, z.softmax(-1).detach() - p)
    found = function(p, p.log())
    assert abs(float(found[1])) < 1e-12 and float(function(p, z.detach())[0]) > float(found[0])


def one_hot(function):
    z, ids = normal(5, 11), torch.randint(0, 11, (5,))
    assert_close(function(z.softmax(-1), ids), functional.nll_loss(z.log_softmax(-1), ids, reduction="none"))
    y = functional.one_hot(ids, 11).double()
    assert_close(function(z.softmax(-1), ids), entropy_and_kl(y, z.softmax(-1))[0])


def perplexity(function):
    z, ids = normal(5, 11), torch.randint(0, 11, (5,))
    chosen = z.log_softmax(-1).gather(-1, ids[:, None])[:, 0]
    assert_close(function(chosen), functional.cross_entropy(z, ids).exp())
    assert_close(function(torch.full((7,), -math.log(20.0))), torch.tensor(20.0))


def quadratic(theta):
    return (theta * torch.tensor([1.0, 9.0], dtype=theta.dtype) * theta).sum() / 2 + theta.prod()


def descended(optimizer, steps, **settings):
    """Parameters after each step of torch's optimiser on `quadratic`, and the gradient before each."""
    theta = torch.tensor([2.0, -1.0], dtype=torch.float64, requires_grad=True)
    stepper, path, gradients = optimizer([theta], **settings), [theta.detach().clone()], []
    for _ in range(steps):
        stepper.zero_grad()
        quadratic(theta).backward()
        gradients.append(theta.grad.clone())
        stepper.step()
        path.append(theta.detach().clone())
    return path, gradients, stepper.state[theta]


def gradient_descent(function):
    path, gradients, _ = descended(torch.optim.SGD, 5, lr=0.1)
    for before, after, gradient in zip(path, path[1:], gradients):
        ours = function(quadratic, before, 0.1)
        assert_close(ours, (after, gradient))


def vjp(function):
    w, x, adjoint = normal(3, 4), normal(4), normal(3)
    leaves = w.clone().requires_grad_(), x.clone().requires_grad_()
    torch.tanh(leaves[0] @ leaves[1]).backward(adjoint)
    back, weights = function(lambda a, theta: torch.tanh(theta @ a), x, w, adjoint)
    assert_close((back, weights), (leaves[1].grad, leaves[0].grad))


def linear_adjoints(function):
    w, x, adjoint = normal(3, 4).requires_grad_(), normal(4).requires_grad_(), normal(3)
    (w @ x).backward(adjoint)
    assert_close(function(w.detach(), x.detach(), adjoint), (w.grad, x.grad))


def momentum(function):
    theta = torch.tensor([2.0, -1.0], dtype=torch.float64, requires_grad=True)
    stepper = torch.optim.SGD([theta], lr=0.1, momentum=0.9, dampening=0.9)
    stepper.state[theta]["momentum_buffer"] = torch.zeros_like(theta)  # m_0; torch would begin with g_1 whole
    ours, mean = theta.detach().clone(), torch.zeros(2).double()
    for _ in range(6):
        gradient = torch.func.grad(quadratic)(ours)
        ours, mean = function(ours, mean, gradient, 0.1, 0.9)
        stepper.zero_grad()
        quadratic(theta).backward()
        stepper.step()
        assert_close((ours, mean), (theta.detach(), stepper.state[theta]["momentum_buffer"]))


def adam_moments(function):
    _, gradients, state = descended(torch.optim.Adam, 6, lr=0.1, betas=(0.8, 0.95))
    found = torch.zeros(2, 2).double().unbind()
    for gradient in gradients:
        found = function(*found, gradient, (0.8, 0.95))
    assert_close(found, (state["exp_avg"], state["exp_avg_sq"]))


def adam_bias(function):
    gradient = normal(3)
    moments = FORMULAS_003["adam_moments"].function(torch.zeros(3), torch.zeros(3), gradient)
    assert_close(function(*moments, 1), (gradient, gradient.square()))  # the first step knows nothing else
    path, gradients, state = descended(torch.optim.Adam, 3, lr=0.1)
    mean, square = function(state["exp_avg"], state["exp_avg_sq"], 3)
    assert_close(path[3] - path[2], -0.1 * mean / (square.sqrt() + 1e-8))
    with pytest.raises(InputError, match="the first one is 1"):
        function(*moments, 0)


def adam_update(function):
    moments, unbiased = FORMULAS_003["adam_moments"].function, FORMULAS_003["adam_bias"].function
    for optimizer, decay in ((torch.optim.Adam, 0.0), (torch.optim.AdamW, 0.3)):
        path, gradients, _ = descended(optimizer, 6, lr=0.1, weight_decay=decay)
        theta, running = path[0], torch.zeros(2, 2).double().unbind()
        for step, (gradient, after) in enumerate(zip(gradients, path[1:]), 1):
            running = moments(*running, gradient)
            theta = function(theta, *unbiased(*running, step), 0.1, decay=decay)
            assert_close(theta, after)


def cosine_schedule(function):
    from transformers import get_cosine_schedule_with_warmup

    def rates(made, steps):
        optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=0.3)
        schedule, found = made(optimizer), []
        for _ in range(steps):
            found.append(optimizer.param_groups[0]["lr"])
            optimizer.step()
            schedule.step()
        return found

    theirs = rates(lambda optimizer: get_cosine_schedule_with_warmup(optimizer, 10, 100), 101)
    assert [function(step, 10, 100, 0.3) for step in range(101)] == pytest.approx(theirs)
    theirs = rates(lambda optimizer: torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 50, 0.02), 51)
    assert [function(step, 0, 50, 0.3, 0.02) for step in range(51)] == pytest.approx(theirs)
    assert function(60, 0, 50, 0.3, 0.02) == pytest.approx(0.02)
    with pytest.raises(InputError, match="must end before"):
        function(1, 50, 50, 0.3)


def scaling_law(function):
    # Chinchilla: 1.69 + 406.4/N^0.34 + 410.7/D^0.28 at N = 70e9, D = 1.4e12, where 406.4 = A^α:
    # 70e9^0.34 = e^8.49040 = 4867.8, 1.4e12^0.28 = e^7.83090 = 2517.2; 1.69 + 0.083487 + 0.163158 = 1.936645
    law = dict(floor=1.69, a=406.4 ** (1 / 0.34), alpha=0.34, b=410.7 ** (1 / 0.28), beta=0.28)
    assert function(70e9, 1.4e12, **law) == pytest.approx(1.936645, abs=2e-6)
    assert function(1e30, 1e30, **law) == pytest.approx(1.69, abs=1e-4)


def sft_loss(function):
    z, ids, response = normal(6, 11), torch.randint(0, 11, (6,)), torch.tensor([0, 0, 0, 1, 1, 1]).bool()
    labels = ids.masked_fill(~response, -100)
    assert_close(function(z, ids, response), functional.cross_entropy(z, labels, ignore_index=-100, reduction="sum"))
    assert function(z, ids, torch.zeros(6).bool()) == 0


def lora(function):
    peft = pytest.importorskip("peft")
    base = torch.nn.Sequential(torch.nn.Linear(6, 4, bias=False))
    frozen = base[0].weight.detach().clone()
    model = peft.get_peft_model(base, peft.LoraConfig(r=2, lora_alpha=3, target_modules=["0"]))
    layer = model.base_model.model[0]
    layer.lora_B["default"].weight.data.normal_()
    whole, change = function(frozen, layer.lora_A["default"].weight, layer.lora_B["default"].weight, 3)
    assert_close(change, layer.get_delta_weight("default"))
    assert torch.linalg.matrix_rank(change) == 2
    assert_close(whole, model.merge_and_unload()[0].weight)


def preferred(function):
    better, worse = normal(2, 5)
    assert_close(function(better, worse),
                 functional.binary_cross_entropy_with_logits(better - worse, torch.ones(5).double()))
    assert_close(function(better + 7, worse + 7), function(better, worse))


def kl_anchored(function):
    rewards, reference, beta = normal(5), normal(5).log_softmax(-1), 0.4
    policy = normal(5).log_softmax(-1)
    kl = torch.distributions.kl_divergence(torch.distributions.Categorical(logits=policy),
                                           torch.distributions.Categorical(logits=reference))
    assert_close(function(rewards, policy, reference, beta, policy.exp()), (policy.exp() * rewards).sum() - beta * kl)
    drawn_at = torch.distributions.Categorical(logits=policy).sample((200_000,))
    assert_close(function(rewards[drawn_at], policy[drawn_at], reference[drawn_at], beta),
                 function(rewards, policy, reference, beta, policy.exp()), rtol=0.05, atol=0.02)


@given(st.lists(st.tuples(numbers, numbers, numbers), min_size=2, max_size=6), st.floats(0.05, 3))
def test_no_policy_is_better_than_the_reference_tilted_by_reward_over_beta(rows, beta):
    rewards, first, second = torch.tensor(rows, dtype=torch.float64).T
    reference, other = first.log_softmax(-1), second.log_softmax(-1)
    best = (reference + rewards / beta).log_softmax(-1)
    value = anchored(rewards, best, reference, beta, best.exp())
    assert_close(value, beta * (reference + rewards / beta).logsumexp(-1), rtol=1e-6, atol=1e-6)
    assert value >= anchored(rewards, other, reference, beta, other.exp()) - 1e-9


def ppo(function):
    # Â > 0: flat above 1.2; Â < 0: flat below 0.8, and not above 1.2
    for ratio, advantage, expected in ((1.5, 2.0, 2.4), (0.5, 2.0, 1.0), (1.5, -2.0, -3.0), (0.5, -2.0, -1.6)):
        assert float(function(torch.tensor([ratio]), torch.tensor([advantage]), 0.2)) == pytest.approx(expected)
    with pytest.raises(InputError, match="0 or more"):
        function(torch.ones(1), torch.ones(1), -0.1)


@given(st.floats(0, 5), numbers, st.floats(0, 1))
def test_clipping_never_promises_more_than_the_ratio(ratio, advantage, epsilon):
    clipped = ppo_clip(torch.tensor([ratio]), torch.tensor([advantage]), epsilon)
    assert clipped <= torch.tensor(ratio) * torch.tensor(advantage) + 1e-5


def direct(function):
    policy, reference = normal(2, 5), normal(2, 5)
    assert_close(function(*policy, *policy, 0.1), torch.tensor(math.log(2)).double())
    reward = 0.3 * (policy - reference)
    assert_close(function(*policy, *reference, 0.3), bradley_terry(*reward))
    better = policy[0].clone().requires_grad_()
    dpo(better, policy[1], *reference, 0.3).backward()
    assert_close(better.grad, -0.3 * torch.sigmoid(reward[1] - reward[0]) / 5)


def temperature(function):
    from transformers import TemperatureLogitsWarper

    z = torch.randn(1, 11)
    for value in (0.3, 1.0, 2.5):
        assert_close(function(z, value), TemperatureLogitsWarper(value)(None, z).softmax(-1))
    with pytest.raises(InputError):
        function(z, 0)


def top_p(function):
    from transformers import TopPLogitsWarper

    z = torch.randn(1, 30)
    for mass in (0.1, 0.5, 0.9, 0.99):
        kept, p = function(z, mass)
        theirs = TopPLogitsWarper(mass)(None, z)
        assert (kept == (theirs > -torch.inf)).all()
        assert_close(p, theirs.softmax(-1))


@given(st.lists(numbers, min_size=2, max_size=12), st.floats(0.01, 0.99))
def test_a_nucleus_reaches_p_and_one_token_less_does_not(values, mass):
    z = torch.tensor([values], dtype=torch.float64)
    kept, _ = FORMULAS_003["top_p"].function(z, mass)
    p, best = z.softmax(-1)[0], z.softmax(-1)[0].sort(descending=True).values
    size = int(kept.sum())
    assert float(p[kept[0]].sum()) >= mass - 1e-9 and float(best[: size - 1].sum()) < mass + 1e-9


@torch.no_grad()
def kv_bytes(function):
    from transformers import DynamicCache, LlamaConfig, LlamaForCausalLM

    for groups in (4, 2):  # the sheet's d, and grouped queries
        model = LlamaForCausalLM(LlamaConfig(
            hidden_size=32, num_attention_heads=4, num_key_value_heads=groups, num_hidden_layers=3, intermediate_size=16,
            vocab_size=11, pad_token_id=0))
        cache = DynamicCache()
        model(torch.ones(1, 7, dtype=torch.long), past_key_values=cache)
        held = sum(part.numel() * part.element_size() for layer in cache.layers for part in (layer.keys, layer.values))
        assert function(3, groups, 8, 7, bytes_per=4) == held
    assert function(3, 4, 8, 7, bytes_per=4) == 2 * 7 * 3 * 32 * 4


CHECKS = {
    "model_map": model_map, "factorization_lm": factorization_lm, "risk": risk, "compute": compute, "embedding": embedding,
    "embedding_gradient": embedding_gradient, "sinusoids": sinusoids, "rope": rope, "projections": projections,
    "attention": attention, "attention_row": attention_row, "score_variance": score_variance,
    "softmax_jacobian": softmax_jacobian, "multi_head": multi_head, "block_prenorm": block_prenorm, "mlp": mlp,
    "residual_jacobian": residual_jacobian, "layernorm": layernorm, "layernorm_backward": layernorm_backward, "rmsnorm": rmsnorm,
    "softmax": softmax, "cross_entropy": cross_entropy, "parameters": every_weight, "entropy_kl": entropy_kl,
    "kl_minimum": kl_minimum, "one_hot": one_hot, "perplexity": perplexity, "gradient_descent": gradient_descent, "vjp": vjp,
    "linear_adjoints": linear_adjoints, "momentum": momentum, "adam_moments": adam_moments, "adam_bias": adam_bias,
    "adam_update": adam_update, "cosine_schedule": cosine_schedule, "scaling_law": scaling_law, "sft_loss": sft_loss,
    "lora": lora, "bradley_terry": preferred, "kl_anchored": kl_anchored, "ppo_clip": ppo, "dpo": direct,
    "temperature": temperature, "top_p": top_p, "kv_bytes": kv_bytes,
}


@pytest.mark.parametrize("name", FORMULAS_003)
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
