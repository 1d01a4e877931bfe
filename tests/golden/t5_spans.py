"""t5_span_corruption.json: the default mask's counts, and inputs and targets from a given mask."""

import re
from pathlib import Path

import numpy as np

from core.noise.packing import raw_length, with_eos
from core.noise.spans import corrupt, span_counts, spans_mask
from tests.golden import Report

SEEDS = 12


def check_t5_spans(data: dict, folder: Path, report: Report) -> None:
    """Every list and table of the file; what is drawn is checked by its rule."""
    first = data.get("sentinel0", 32099)
    for case in data.get("examples", []):
        report.case(f"examples {case['name']}", _example, case, first)
    for index, case in enumerate(data.get("families", [])):
        report.case(f"families {index}", _family, case, first)
    for index, case in enumerate(data.get("infeasible", [])):
        report.case(f"infeasible {index}", _infeasible, case)
    for index, case in enumerate(data.get("zero_density", [])):
        report.case(f"zero_density {index}", _zero, case)
    for index, case in enumerate(data.get("float32_vs_float64_counts", [])):
        report.case(f"float32 {index}", _counts, case)
    for index, case in enumerate(data.get("random_spans_helper", [])):
        report.case(f"random_spans_helper {index}", _helper, case)
    if "over_100_spans" in data:
        report.case("over_100_spans", _over, data["over_100_spans"], first)
    if "uniformity" in data:
        report.case("uniformity", _uniform, data["uniformity"])
    if "append_eos" in data:
        for name, case in data["append_eos"].items():
            report.case(name, _closed, name, case)


def _example(case: dict, first: int) -> str | None:
    found = corrupt(case["tokens"], [bool(x) for x in case["noise_mask"]], first)
    wanted = case["inputs"], case["targets"]
    return None if found == wanted else f"{found} instead of {wanted}"


def _masks(case: dict) -> list[np.ndarray]:
    settings = case["length"], case["noise_density"], case["mean_noise_span_length"]
    return [spans_mask(*settings, np.random.default_rng(seed)) for seed in range(SEEDS)]


def _family(case: dict, first: int) -> str | None:
    """Counts, ends and lengths of the mask; how many masks there are when there is only one."""
    if case["error"]:
        return _infeasible(case)
    masks = _masks(case)
    for mask in masks:
        runs = int(mask[0]) + int((mask[1:] & ~mask[:-1]).sum())
        inputs, targets = corrupt(range(case["length"]), mask, first)
        found = (int(mask.sum()), runs, bool(mask[0]), bool(mask[-1]), len(inputs), len(targets))
        wanted = tuple(case[k] for k in ("num_noise_tokens", "num_spans", "first_is_noise", "last_is_noise",
                                         "inputs_len_without_eos", "targets_len_without_eos"))
        if found != wanted:
            return f"{found} instead of {wanted}"
    distinct = len({mask.tobytes() for mask in masks})
    if (distinct == 1) != (case["distinct_masks_in_12_seeds"] == 1):
        return f"{distinct} distinct masks instead of {case['distinct_masks_in_12_seeds']}"
    return None


def _infeasible(case: dict) -> str | None:
    """The file gives some of these as `infeasible` although they fit; only those that do not are refused."""
    refused = True
    try:
        _masks(case)
        refused = False
    except ValueError:
        pass
    feasible = case.get("feasible", False)
    return None if refused != feasible else f"{'refused' if refused else 'accepted'}, the file says feasible {feasible}"


def _helper(case: dict) -> str | None:
    found = raw_length(case["inputs_length"], case["noise_density"], case["mean_noise_span_length"])
    wanted = case["tokens_length"], case["targets_length"]
    return None if found == wanted else f"{found} instead of {wanted}"


def _over(case: dict, first: int) -> str | None:
    """The fill itself goes on below the sentinels; it is the page that stops at 100."""
    spans = case["n_spans"]
    inputs, _ = corrupt([5] * (2 * spans), [False, True] * spans, first)
    found = [token for token in inputs if token != 5]
    good = (found[-1], min(found)) == (case["last_input_sentinel"], case["lowest_id"])
    return None if good else f"{found[-1]} and {min(found)} instead of {case}"


def _uniform(case: dict) -> str | None:
    """All masks that there are, and no other."""
    rng, settings = np.random.default_rng(0), (case["length"], case["density"], case["mean_span"])
    drawn = [spans_mask(*settings, rng) for _ in range(case["samples"])]
    found = sorted({"".join(".N"[x] for x in mask.astype(int)) for mask in drawn})
    return None if found == sorted(case["masks"]) else f"{found} instead of {case['masks']}"


def _closed(name: str, case: dict) -> str | None:
    """The file gives what came out: eos behind the tokens, which are cut to the lengths in the name, if it has any."""
    cut = {side: int(length) for side, length in re.findall(r"(inputs|targets)(\d+)", name)}
    for side, wanted in case.items():
        longer = [*wanted[:-1], *[9] * 5] if len(wanted) == cut.get(side) else wanted[:-1]
        found = with_eos(longer, wanted[-1], cut.get(side))
        if found != wanted:
            return f"{side}: {found} instead of {wanted}"
    return None


def _zero(case: dict) -> str | None:
    mask = spans_mask(case["length"], case["density"], 3.0, np.random.default_rng(0)).tolist()
    return None if mask == case["mask"] else f"{mask} instead of {case['mask']}"


def _counts(case: dict) -> str | None:
    found = list(span_counts(case["length"], case["density"], case["mean_span"]))
    return None if found == case["float32"] else f"{found} instead of {case['float32']}"
