"""Sheet 003, lessons 6 to 10: each function gives what torch, autograd, transformers, peft or a hand gives."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn import functional
from torch.testing import assert_close

from core.errors import InputError
from core.formulas.decoder_only import FORMULAS_003
from core.formulas.decoder_only.losses import anchored, bradley_terry, dpo, entropy_and_kl, ppo_clip

numbers = st.floats(-5, 5, allow_nan=False)


def normal(*shape: int) -> torch.Tensor:
    return torch.randn(*shape, dtype=torch.float64)


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
    import peft
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
        model(torch.ones(1, 7, dtype=torch.long), cache=cache)
        held = sum(part.numel() * part.element_size() for layer in cache.layers for part in (layer.keys, layer.values))
        assert function(3, groups, 8, 7, bytes_per=4) == held
    assert function(3, 4, 8, 7, bytes_per=4) == 2 * 7 * 3 * 32 * 4


CHECKS = {
    "entropy_kl": entropy_kl, "kl_minimum": kl_minimum, "one_hot": one_hot, "perplexity": perplexity,
    "gradient_descent": gradient_descent, "vjp": vjp, "linear_adjoints": linear_adjoints, "momentum": momentum,
    "adam_moments": adam_moments, "adam_bias": adam_bias, "adam_update": adam_update, "cosine_schedule": cosine_schedule,
    "scaling_law": scaling_law, "sft_loss": sft_loss, "lora": lora, "bradley_terry": preferred, "kl_anchored": kl_anchored,
    "ppo_clip": ppo, "dpo": direct, "temperature": temperature, "top_p": top_p, "kv_bytes": kv_bytes,
}


@pytest.mark.parametrize("name", CHECKS)
def test_a_formula_gives_what_its_reference_gives(name):
    torch.manual_seed(0)
    CHECKS[name](FORMULAS_003[name].function)
