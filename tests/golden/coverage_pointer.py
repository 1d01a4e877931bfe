"""coverage_pointer.json: coverage and its loss, GNMT's scores, and the pointer-generator's mixture."""

from pathlib import Path

import numpy as np

from core.decode.penalties import coverage_penalty
from core.decode.rescoring import Hypothesis, ranked
from core.metrics.coverage import batch_loss, coverage
from core.pointer import mixture
from tests.golden import Report, differs

TOLERANCE = 1e-9  # float64 formulas


def check_coverage_pointer(data: dict, folder: Path, report: Report) -> None:
    """Every case. Columns that were never attended give -∞ where the file keeps them in, and are left out where it does."""
    for case in data.get("coverage", []):
        report.case(f"coverage {case['name']}", _coverage, case)
    if "batch_masked_mean" in data:
        report.case("batch_masked_mean", _batch, data["batch_masked_mean"])
    for case in data.get("gnmt_scores", []):
        report.case(f"gnmt_scores {case['name']}", _gnmt, case)
    for case in data.get("pointer_generator", []):
        report.case(f"pointer_generator {case['name']}", _pointer, case)


def _coverage(case: dict) -> str | None:
    found = coverage(np.array(case["attention"], float))
    attended = [each for each in found.final if each > 0]
    wanted = np.array(case["coverage_before_step"], float).ravel()
    return (
        differs("coverage before a step", found.before.ravel().tolist(), wanted.tolist(), TOLERANCE)
        or differs("coverage", found.final.tolist(), case["coverage_final"], TOLERANCE)
        or differs("loss of a step", found.losses.tolist(), case["loss_per_step"], TOLERANCE)
        or differs("loss", (found.loss, found.mean_loss), (case["loss_sum"], case["loss_mean_over_steps"]), TOLERANCE)
        or differs("penalty", coverage_penalty(found.final, 0.2, floor=0), case["gnmt_cp_beta0_2_all_columns"], TOLERANCE)
        or differs("penalty", coverage_penalty(attended, 0.2), case["gnmt_cp_beta0_2_attended_columns"], TOLERANCE)
    )


def _batch(case: dict) -> str | None:
    return differs("loss", batch_loss(np.array(case["attention"]), np.array(case["dec_mask"]) > 0), case["loss"], TOLERANCE)


def _gnmt(case: dict) -> str | None:
    given = [Hypothesis(case["name"], case["sum_logprob"], case["length"], tuple(case["attention_sum"]))]
    ours = [ranked(given, "GNMT", 0.6, beta, floor=0)[0].score for beta in (0, 0.2)]
    return differs("score", ours, [case["score_alpha0_6_beta0"], case["score_alpha0_6_beta0_2"]], TOLERANCE)


def _pointer(case: dict) -> str | None:
    ours = mixture(np.array(case["p_vocab"]), np.array(case["attention"]), case["source_extended_ids"], case["p_gen"])
    return differs("probability", ours.tolist(), case["final"], TOLERANCE) or differs(
        "sum", float(ours.sum()), case["final_sum"], TOLERANCE)
