"""teacher_forcing_losses.json: what the decoder reads, losses and their gradients, label smoothing, distillation."""

import json
import math
from pathlib import Path
from typing import Any

import torch

from core.train.criteria import (
    FAIRSEQ,
    cross_entropy,
    distillation,
    distillation_gradient,
    label_targets,
    logit_gradient,
    sentence_means,
)
from core.train.forcing import IGNORED, rotate, shift_right
from tests.golden import DATA, Report, differs

EXACT = 1e-12  # both sides are float64


def check_teacher_forcing(data: dict, folder: Path, report: Report) -> None:
    """Labels shifted by one or rotated; cross-entropy, smoothed and distilled, with their gradients."""
    for index, case in enumerate(data.get("shift_right", [])):
        report.case(f"shift_right {index} ({case.get('model')} {case.get('name')})", _shifted, case)
    if "cross_entropy" in data:
        report.case("cross_entropy", _cross_entropy, data["cross_entropy"])
    logits = data.get("cross_entropy") or _ours("cross_entropy")
    for index, case in enumerate(data.get("label_smoothing", [])):
        report.case(f"label_smoothing {index}", _smoothed, logits, case)
    if "label_smoothing_gradient" in data:
        report.case("label_smoothing_gradient", _smoothed_gradient, data["label_smoothing_gradient"])
    for index, case in enumerate(data.get("distillation", [])):
        report.case(f"distillation {index}", _distilled, case)
    if "distillation_wrong" in data:
        first = (data.get("distillation") or _ours("distillation"))[0]
        report.case("distillation_wrong", _other_kl, first, data["distillation_wrong"])


def _ours(key: str) -> Any:
    """What a file leaves out that another of its lists needs."""
    return json.loads((DATA / "teacher_forcing_losses.json").read_text("utf-8"))[key]


def _shifted(case: dict) -> str | None:
    labels, start = torch.tensor(case["labels"]), case["decoder_start"]
    ours = shift_right(labels, start, case["pad"]) if isinstance(start, int) else rotate(labels, case["pad"])
    wanted = case["decoder_input_ids"]
    return None if ours.tolist() == wanted else f"{ours.tolist()}, the file has {wanted}"


def _batch(case: dict) -> tuple[torch.Tensor, torch.Tensor]:
    return torch.tensor(case["logits"], dtype=torch.float64), torch.tensor(case["labels"])


def _cross_entropy(case: dict) -> str | None:
    logits, labels = _batch(case)
    loss, tokens = float(cross_entropy(logits, labels)), int((labels != IGNORED).sum())
    nothing = float(cross_entropy(logits, torch.full_like(labels, IGNORED)))
    if tokens != case["n_tokens"]:
        return f"{tokens} tokens, the file has {case['n_tokens']}"
    if math.isnan(nothing) != (case["all_labels_ignored_loss"] == "NaN"):
        return f"a batch without labels has loss {nothing}, the file has {case['all_labels_ignored_loss']}"
    found = {"loss_mean_over_tokens": loss, "sum_nll": loss * tokens, "perplexity": math.exp(loss),
             "mean_of_per_sequence_means": float(sentence_means(logits, labels)),
             "gradient": logit_gradient(logits, labels).tolist()}
    return _first(found, case)


def _smoothed(logits: dict, case: dict) -> str | None:
    batch, epsilon = _batch(logits), case["epsilon"]
    return _first({"loss_hf_and_torch": float(cross_entropy(*batch, epsilon)),
                   "loss_fairseq_variant": float(cross_entropy(*batch, epsilon, FAIRSEQ))}, case)


def _smoothed_gradient(case: dict) -> str | None:
    logits, label = torch.tensor(case["logits"], dtype=torch.float64), torch.tensor(case["label"])
    q = label_targets(label, len(logits), case["epsilon"])
    return _first({"smoothed_target": q.tolist(), "gradient": logit_gradient(logits, label, case["epsilon"]).tolist(),
                   "min_loss_entropy": float(-(q * q.log()).sum())}, case)


def _distilled(case: dict) -> str | None:
    student, teacher = (torch.tensor(case[name], dtype=torch.float64) for name in ("student", "teacher"))
    asked = student, teacher, torch.tensor(case["label"]), case["lam"], case["temperature"]
    found = distillation(*asked)
    return _first({"ce": float(found.ce), "kl_teacher_student": float(found.kl), "loss": float(found.loss),
                   "gradient": distillation_gradient(*asked).tolist()}, case)


def _other_kl(case: dict, wrong: dict) -> str | None:
    """What the loss must not be: KL the other way round, or divided by the vocabulary too; and it is neither."""
    student, teacher = (torch.tensor(case[name], dtype=torch.float64) for name in ("student", "teacher"))
    label = torch.tensor(case["label"])
    ours, reverse = (float(distillation(*sides, label, 1.0, 1.0).kl) for sides in ((student, teacher), (teacher, student)))
    found = {"reverse_kl_T1": reverse, "torch_reduction_mean_T1": ours / len(student)}
    same = next((f"our KL is {key}" for key in found if abs(ours - wrong[key]) < EXACT), None)
    return same or _first(found, wrong)


def _first(found: dict, case: dict) -> str | None:
    """The first number that differs."""
    return next((wrong for key, ours in found.items() if (wrong := differs(key, _flat(ours), _flat(case[key]), EXACT))), None)


def _flat(numbers: object) -> list:
    """The numbers of nested lists, in order."""
    return [one for part in numbers for one in _flat(part)] if isinstance(numbers, list) else [numbers]
