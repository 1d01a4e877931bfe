"""The training losses as functions of logits, and their gradients in closed form (sheet 000, lessons 7, 8 and 10).

Labels are ids; a position whose label is IGNORED (-100) takes part in no mean and has no gradient. Everything is in nats.
"""

from dataclasses import dataclass

import torch
from torch.nn.functional import one_hot

from core.errors import InputError
from core.train.forcing import IGNORED

TORCH, FAIRSEQ = "torch", "fairseq"  # ε/V on every class, the true one too; ε/(V−1) on the others


def label_targets(labels: torch.Tensor, vocab: int, smoothing: float = 0.0, variant: str = TORCH) -> torch.Tensor:
    """q (..., vocab), what the prediction is held against: one-hot at `labels` (...), or smoothed by ε; zeros where ignored.

    variant "torch" (also Hugging Face's): (1 − ε) y + ε/V. "fairseq": 1 − ε on the label, ε/(V − 1) on each other class.
    """
    _check_smoothing(smoothing, variant)
    real = labels != IGNORED
    y = one_hot(labels.masked_fill(~real, 0), vocab).double()
    if variant == FAIRSEQ:
        q = (1 - smoothing) * y + smoothing / (vocab - 1) * (1 - y)
    else:
        q = (1 - smoothing) * y + smoothing / vocab
    return q * real.unsqueeze(-1)


def cross_entropy(logits: torch.Tensor, labels: torch.Tensor, smoothing: float = 0.0, variant: str = TORCH) -> torch.Tensor:
    """Mean over the real positions of −Σ_v q_v log p̂_v; logits (..., vocab), labels (...). NaN where all are ignored.

    It is the mean over the tokens of the whole batch, not a mean of the sentences' means.
    """
    _check_smoothing(smoothing, variant)
    logprobs, vocab = _wide(logits).log_softmax(-1), logits.size(-1)
    nll = -logprobs.gather(-1, labels.masked_fill(labels == IGNORED, 0).unsqueeze(-1)).squeeze(-1)
    if not smoothing:
        return _mean(nll, labels)
    even = -logprobs.mean(-1)
    other = even if variant == TORCH else (vocab * even - nll) / (vocab - 1)
    return _mean((1 - smoothing) * nll + smoothing * other, labels)


def sentence_means(logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    """The other mean, for comparison: of each sentence's own mean; logits (batch, target, vocab), labels (batch, target)."""
    each = [cross_entropy(*row) for row in zip(logits, labels, strict=True) if (row[1] != IGNORED).any()]
    return torch.stack(each).mean() if each else logits.new_tensor(torch.nan)


def logit_gradient(logits: torch.Tensor, labels: torch.Tensor, smoothing: float = 0.0, variant: str = TORCH) -> torch.Tensor:
    """∂L/∂z = (p̂ − q) / real positions, (..., vocab), of `cross_entropy`: p̂ − y without smoothing (sheet 000, lesson 8)."""
    real = labels != IGNORED
    q = label_targets(labels, logits.size(-1), smoothing, variant)
    return (_wide(logits).softmax(-1) - q) * real.unsqueeze(-1) / max(1, int(real.sum()))


@dataclass(frozen=True, eq=False)
class Distilled:
    """Means over the real positions: ce = CE(y, p̂ˢ) at T = 1, kl = KL(p̂ᵗ_T ‖ p̂ˢ_T), loss = (1 − λ) ce + λ T² kl."""

    ce: torch.Tensor
    kl: torch.Tensor
    loss: torch.Tensor


def distillation(
    student: torch.Tensor, teacher: torch.Tensor, labels: torch.Tensor, mix: float, temperature: float
) -> Distilled:
    """L_KD of logits (..., vocab) and labels (...): the teacher is what the student is held against, KL(teacher ‖ student).

    mix is λ in [0, 1]; temperature T > 0 softens both sides of the KL, never the cross-entropy (sheet 000, lesson 10).
    """
    _check(mix, temperature)
    ours, theirs = ((_wide(z) / temperature).log_softmax(-1) for z in (student, teacher))
    kl = _mean((theirs.exp() * (theirs - ours)).sum(-1), labels)
    ce = cross_entropy(student, labels)
    return Distilled(ce, kl, (1 - mix) * ce + mix * temperature**2 * kl)


def distillation_gradient(
    student: torch.Tensor, teacher: torch.Tensor, labels: torch.Tensor, mix: float, temperature: float
) -> torch.Tensor:
    """∂L_KD/∂z of the student, (..., vocab): (1 − λ)(p̂ − y) + λ T (p̂ˢ_T − p̂ᵗ_T), over the real positions."""
    _check(mix, temperature)
    real = labels != IGNORED
    ours, theirs = ((_wide(z) / temperature).softmax(-1) for z in (student, teacher))
    soft = (ours - theirs) * real.unsqueeze(-1) / max(1, int(real.sum()))
    return (1 - mix) * logit_gradient(student, labels) + mix * temperature * soft


def _wide(logits: torch.Tensor) -> torch.Tensor:
    """At least float32: half precision has too few digits for a logarithm of small chances."""
    return logits.float() if logits.dtype in (torch.float16, torch.bfloat16) else logits


def _check_smoothing(smoothing: float, variant: str) -> None:
    if not 0 <= smoothing < 1:
        raise InputError(f"Label smoothing is {smoothing}; it must be at least 0 and below 1.")
    if variant not in (TORCH, FAIRSEQ):
        raise InputError(f"Label smoothing is {variant!r:.40}; it must be {TORCH} or {FAIRSEQ}.")


def _check(mix: float, temperature: float) -> None:
    if not 0 <= mix <= 1:
        raise InputError(f"λ is {mix}; it must lie between 0 and 1.")
    if not temperature > 0:
        raise InputError(f"The temperature is {temperature}; it must be above 0.")


def _mean(each: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    """Mean of (...) over the positions whose label is real."""
    real = labels != IGNORED
    return each[real].mean() if real.any() else each.new_tensor(torch.nan)
