"""logits_processors.json: the penalties and bans that greedy search has."""

from collections.abc import Callable
from pathlib import Path

import torch

from core.decode.processors import Forced, NoRepeatNgram, Processor, RepetitionPenalty
from tests.golden import Report, differs

# name in the file -> our processor from its params; the start token is the first of a history
OURS: dict[str, Callable[[dict], Processor]] = {
    "repetition_penalty": lambda p: RepetitionPenalty(p["penalty"]),
    "no_repeat_ngram": lambda p: NoRepeatNgram(p["n"]),
    "forced_eos": lambda p: Forced(p["eos"], p["max_length"] - 2, "max_length counts the start token"),
}
OTHER_LISTS = ("top_p_uniform_4", "top_p_exact_boundary")


def check_logits_processors(data: dict, folder: Path, report: Report) -> None:
    """Scores after a processor; what only sampling and beam search use waits for them."""
    for index, case in enumerate(data.get("cases", [])):
        if case["processor"] in OURS:
            report.case(f"cases {index} ({case['processor']})", _processed, case)
        else:
            report.not_yet(case["processor"])
    for name in OTHER_LISTS:
        report.not_yet(name, len(data.get(name, [])))


def _processed(case: dict) -> str | None:
    logits = torch.tensor([[float(x) for x in case["scores"]]])
    (history,) = case["history"]
    OURS[case["processor"]](case["params"])(logits, [history], len(history) - 1)
    kept = [id for id, value in enumerate(logits[0].tolist()) if value != -torch.inf]
    if kept != case.get("kept", kept):
        return f"keeps {kept}, the file {case['kept']}"
    return differs("score", logits[0].tolist(), case["out"], 1e-6)
