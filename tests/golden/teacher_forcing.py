"""teacher_forcing_losses.json: what the decoder reads; the losses wait for the formulas."""

from pathlib import Path

import torch

from core.train.forcing import rotate, shift_right
from tests.golden import Report

OTHER_LISTS = ("label_smoothing", "distillation")
OTHER_CASES = ("cross_entropy", "label_smoothing_gradient")


def check_teacher_forcing(data: dict, folder: Path, report: Report) -> None:
    """Labels shifted by one, or rotated where the last token names the language."""
    for index, case in enumerate(data.get("shift_right", [])):
        report.case(f"shift_right {index} ({case.get('model')} {case.get('name')})", _shifted, case)
    for name in OTHER_LISTS:
        report.not_yet(name, len(data.get(name, [])))
    for name in OTHER_CASES:
        report.not_yet(name, int(name in data))


def _shifted(case: dict) -> str | None:
    labels, start = torch.tensor(case["labels"]), case["decoder_start"]
    ours = shift_right(labels, start, case["pad"]) if isinstance(start, int) else rotate(labels, case["pad"])
    wanted = case["decoder_input_ids"]
    return None if ours.tolist() == wanted else f"{ours.tolist()}, the file has {wanted}"
