"""Losses and their gradients by the logits: lessons 8 and 10, exact and small, on plain arrays in float64.

The mean is over the tokens of the whole batch; a label of -100 is ignored everywhere.
"""

import numpy as np

from core.formulas.attention import weights

Array = np.ndarray
IGNORED = -100


def logit_gradient(logits: Array, labels: Array) -> Array:
    """∂L/∂z (target, vocab) = (p̂ − y) / tokens; rows of ignored labels are 0. Lesson 8, where a position stands alone."""
    real = np.asarray(labels) != IGNORED
    gradient = weights(logits)
    gradient[np.flatnonzero(real), np.asarray(labels)[real]] -= 1
    return gradient * real[:, None] / max(1, int(real.sum()))


def distillation(student: Array, teacher: Array, labels: Array, temperature: float, share: float) -> tuple[float, float, float]:
    """(CE, T² KL, L_KD = (1 − λ) CE + λ T² KL) in nats a token; logits (target, vocab), λ = share. Lesson 10.

    CE is at T = 1. KL runs from the teacher to the student, both softened: what the teacher never says costs nothing.
    """
    real = np.asarray(labels) != IGNORED
    student, teacher, labels = np.asarray(student, float)[real], np.asarray(teacher, float)[real], np.asarray(labels)[real]
    hard = -_log(student)[np.arange(len(labels)), labels].mean()
    of_teacher, of_student = _log(teacher / temperature), _log(student / temperature)
    soft = temperature**2 * (np.exp(of_teacher) * (of_teacher - of_student)).sum(-1).mean()
    return float(hard), float(soft), float((1 - share) * hard + share * soft)


def distillation_gradient(student: Array, teacher: Array, labels: Array, temperature: float, share: float) -> Array:
    """∂L_KD/∂z of the student (target, vocab): ((1 − λ)(p̂ − y) + λ T (p̂_T − p̂ᵗ_T)) / tokens."""
    real = np.asarray(labels) != IGNORED
    soft = weights(student / temperature) - weights(teacher / temperature)
    rest = share * temperature * soft * real[:, None] / max(1, int(real.sum()))
    return (1 - share) * logit_gradient(student, labels) + rest


def _log(logits: Array) -> Array:
    """log softmax."""
    top = logits - logits.max(-1, keepdims=True)
    return top - np.log(np.exp(top).sum(-1, keepdims=True))
