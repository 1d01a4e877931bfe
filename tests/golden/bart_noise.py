"""bart_noise.json: what each noise makes of the choices listed in the file; its table and its counts."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np

from core.noise.bart import (
    hidden_count,
    hide,
    inserted,
    inserts_in_reference,
    poisson_table,
    reordered,
    rotated,
    sentence_ends,
    text_infilling,
    trimmed,
)
from tests.golden import DATA, Report, differs


def check_bart_noise(data: dict, folder: Path, report: Report) -> None:
    """Every example by its kind, with <s> and </s> taken off and put back."""
    ids = data.get("ids") or json.loads((DATA / "bart_noise.json").read_text("utf-8"))["ids"]
    for kind, cases in data.get("examples", {}).items():
        if kind not in KINDS:
            report.not_yet(kind, len(cases))
            continue
        for case in cases:
            report.case(f"{kind} {case['name']}", _noised, KINDS[kind], case, ids)
    for index, case in enumerate(data.get("num_to_mask_float32_differences", [])):
        report.case(f"num_to_mask {index}", _count, case)
    for index, (inserts, length) in enumerate(data.get("insertion_ceil_artefacts_k_n", [])):
        report.case(f"insertion_ceil {index}", _artefact, inserts, length)
    if "infilling_statistics" in data:
        report.case("infilling_statistics", _statistics, data["infilling_statistics"], ids["mask"])
    if "poisson" in data:
        table = poisson_table(data["poisson"]["lam"]).tolist()
        report.case("poisson", differs, "P", table, data["poisson"]["probs"], 1e-9)


def _noised(make: Callable, case: dict, ids: dict) -> str | None:
    body = case["source"][1:-1]
    found = [ids["bos"], *make(body, case, ids), ids["eos"]]
    return None if found == case["noised"] else f"{found} instead of {case['noised']}"


def _count(case: dict) -> str | None:
    found = hidden_count(case["n"], case["p"])
    return None if found == case["fairseq"] else f"{found} instead of {case['fairseq']}"


def _artefact(inserts: int, length: int) -> str | None:
    found = inserts_in_reference(inserts, length)
    return None if found == inserts + 1 else f"{found} masks for {inserts}, the file says one more"


def _statistics(case: dict, mask: int) -> str | None:
    """Our own draws on texts of the same length hide as much, within 2 % of it; never more than the budget."""
    words, hidden, masks = case["doc_tokens"], [], []
    for seed in range(case["docs"]):
        out = text_infilling([7] * words, [True] * words, mask, None, np.random.default_rng(seed), case["budget"] / words - 1e-3)
        masks.append(out.count(mask))
        hidden.append(1 - (len(out) - masks[-1]) / words)
    if max(hidden) > case["budget"] / words + 1e-9:
        return f"{max(hidden)} hidden, more than the budget"
    ours = [float(np.mean(hidden)), float(np.mean(masks)) / 10]
    return differs("hidden share, masks / 10", ours, [case["mean_hidden_fraction"], case["mean_masks"] / 10], 0.05)


def _starts(body: list[int], case: dict) -> list[bool]:
    words = case["word_start_ids"]
    return [words is None or token in words for token in body]


def _masked(body: list[int], case: dict, ids: dict) -> list[int]:
    starts, count = _starts(body, case), case["num_to_mask"]
    if hidden_count(sum(starts), case["mask_ratio"]) != count:
        raise ValueError(f"{hidden_count(sum(starts), case['mask_ratio'])} to hide instead of {count}")
    positions = [position - 1 for position in case["positions"]]
    return hide(body, starts, positions, [1] * count, ids["mask"], case["replace_length"])


def _infilled(body: list[int], case: dict, ids: dict) -> list[int]:
    starts = _starts(body, case)
    budget = hidden_count(sum(starts), case["mask_ratio"])
    lengths = trimmed(case["sampled_lengths"], budget)
    if (budget, lengths) != (case["budget"], case["trimmed_lengths"]):
        raise ValueError(f"budget {budget}, lengths {lengths}")
    chosen = [position - 1 for position in case["chosen_starts"]]
    spans = [length for length in lengths if length]
    out = hide(body, starts, chosen, spans, ids["mask"], case["replace_length"])
    return inserted(out, [slot - 1 for slot in case["insert_slots"]], ids["mask"])


def _permuted(body: list[int], case: dict, ids: dict) -> list[int]:
    ends = sentence_ends(body, case["full_stop_id"])
    if [end + 1 for end in ends] != case["sentence_end_exclusive"]:
        raise ValueError(f"sentences end at {ends}, counted without <s>")
    return reordered(body, ends, case["final_order"])


KINDS: dict[str, Callable] = {
    "insertion": lambda body, case, ids: inserted(body, [slot - 1 for slot in case["slots"]], ids["mask"]),
    "rotation": lambda body, case, ids: rotated(body, case["offset"]),
    "sentence_permutation": _permuted,
    "text_infilling": _infilled,
    "token_deletion": _masked,
    "token_masking": _masked,
    "whole_word": _masked,
}
