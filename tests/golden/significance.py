"""significance.json: paired bootstrap, approximate randomisation, and the interval of one system."""

import os
from pathlib import Path
from unittest.mock import patch

from core.metrics.significance import Tested, paired
from tests.golden import Report, differs

TOLERANCE = 1e-6  # scores and p-values
RESAMPLED = 1e-4  # means and intervals are made of float32 statistics


def check_significance(data: dict, folder: Path, report: Report) -> None:
    """Every system of every test and metric. The seed is sacrebleu's: it is read from the environment."""
    with patch.dict(os.environ, SACREBLEU_SEED=str(data.get("seed", 12345))):
        for method, result in data.get("results", {}).items():
            report.case(f"{method} runs", _method, data, method, result, report)
        if "single_system_bootstrap_1000" in data:
            report.case("single system", _single, data)


def _method(data: dict, method: str, result: dict, report: Report) -> str | None:
    systems = {"baseline": data["baseline"], "A": data["system"], "same": data["baseline"]}
    metrics = [name for name in result["scores"] if name != "System"]
    found = paired({name: systems[name] for name in result["scores"]["System"]}, data["references"], metrics=metrics,
                   method=method, samples=result["n"])
    ours = {(each.metric, each.system): each for each in found}
    for metric in metrics:
        for name, row in zip(result["scores"]["System"], result["scores"][metric], strict=True):
            report.case(f"{method} {metric} {name}", _row, ours[metric, name], row, result["signatures"][metric])
    return None


def _row(ours: Tested, row: dict, signature: str) -> str | None:
    if ours.signature != signature:
        return f"signature is {ours.signature}, the file has {signature}"
    if ours.identical and ours.p != 1:
        return f"p of equal scores is {ours.p}"
    for what, mine, theirs, tolerance in (
        ("score", ours.score, row["score"], TOLERANCE), ("p", ours.reported, row["p"], TOLERANCE),
        ("mean", ours.mean, row["mean"], RESAMPLED), ("interval", ours.half, row["ci"], RESAMPLED),
    ):
        if (mine is None) != (theirs is None):
            return f"{what} is {mine}, the file has {theirs}"
        if wrong := mine is not None and differs(what, mine, theirs, tolerance):
            return wrong
    return None


def _single(data: dict) -> str | None:
    wanted = data["single_system_bootstrap_1000"]
    (ours,) = paired({"A": data["system"]}, data["references"], metrics=["BLEU"], samples=1000)
    return differs("score", ours.score, wanted["score"], TOLERANCE) or differs(
        "resampled", (ours.mean, ours.half), (wanted["mean"], wanted["ci"]), RESAMPLED)
