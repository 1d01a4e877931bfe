"""Lessons 5, 6 and 9 of sheet 003 on torch tensors: likelihood, entropy and KL, perplexity, and the losses of fine-tuning."""

import torch
from torch.nn.functional import logsigmoid

from core.errors import InputError
from core.train import criteria
from core.train.forcing import IGNORED

Tensor = torch.Tensor


def cross_entropy(logits: Tensor, ids: Tensor) -> tuple[Tensor, Tensor]:
    """log P(x_1:n) and L = −log P / n, nats: logits (target, vocab), ids (target,)."""
    loss = criteria.cross_entropy(logits, ids)
    return -len(ids) * loss, loss


def entropy_and_kl(p: Tensor, q: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """H(p, p̂), H(p) and D_KL(p ‖ p̂), nats, of p and q = p̂ (..., vocab). 0 log 0 is 0."""
    cross, own = -torch.xlogy(p, q).sum(-1), -torch.xlogy(p, p).sum(-1)
    return cross, own, torch.where(p > 0, p * (p / q).log(), 0).sum(-1)


def cross_and_kl(p: Tensor, logits: Tensor) -> tuple[Tensor, Tensor]:
    """H(p, p̂_θ) and D_KL(p ‖ p̂_θ) of p (vocab,) and logits (..., vocab): they differ by H(p), which θ does not move."""
    cross, _, kl = entropy_and_kl(p, logits.softmax(-1))
    return cross, kl


def one_hot_loss(p: Tensor, token: Tensor) -> Tensor:
    """H(y, p̂) = −log p̂_token (...), nats: p (..., vocab), token (...)."""
    return -p.gather(-1, token.unsqueeze(-1)).squeeze(-1).log()


def perplexity(logprobs: Tensor) -> Tensor:
    """exp(−mean log p̂) of the log-probabilities (target,) of the seen tokens, in nats."""
    return (-logprobs.mean(-1)).exp()


def sft_loss(logits: Tensor, ids: Tensor, response: Tensor) -> Tensor:
    """−Σ log P(y_t) over the tokens of the response: logits (target, vocab), ids (target,), response (target,) of bool."""
    labels = ids.masked_fill(~response, IGNORED)
    return criteria.cross_entropy(logits, labels) * response.sum() if response.any() else logits.new_zeros(())


def bradley_terry(preferred: Tensor, rejected: Tensor) -> Tensor:
    """−mean log σ(r(y_w) − r(y_l)) over pairs of rewards (pairs,). Bradley and Terry 1952."""
    return -logsigmoid(preferred - rejected).mean()


def anchored(rewards: Tensor, logp: Tensor, reference: Tensor, beta: float, shares: Tensor | None = None) -> Tensor:
    """E[r − β log(π/π_ref)] over samples of π; logp and reference are log π and log π_ref (samples,), nats.

    shares (samples,): how probable each is, where all are listed and not drawn; else each counts the same.
    """
    each = rewards - beta * (logp - reference)
    return each.mean() if shares is None else (shares * each).sum()


def ppo_clip(ratio: Tensor, advantage: Tensor, epsilon: float = 0.2) -> Tensor:
    """E_t[min(ρ Â, clip(ρ, 1 − ε, 1 + ε) Â)] of ratio and advantage (target,): to be made large. Schulman et al. 2017."""
    if epsilon < 0:
        raise InputError(f"ε is {epsilon}; it must be 0 or more.")
    return torch.minimum(ratio * advantage, ratio.clamp(1 - epsilon, 1 + epsilon) * advantage).mean()


def dpo(preferred: Tensor, rejected: Tensor, preferred_reference: Tensor, rejected_reference: Tensor, beta: float) -> Tensor:
    """−mean log σ(β log π/π_ref (y_w) − β log π/π_ref (y_l)), of log-probabilities (pairs,) in nats. Rafailov et al. 2023."""
    return bradley_terry(beta * (preferred - preferred_reference), beta * (rejected - rejected_reference))
