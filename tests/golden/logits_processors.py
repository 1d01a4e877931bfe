"""logits_processors.json: penalties, bans, forced tokens and warpers."""

import math
from collections.abc import Callable, Sequence
from pathlib import Path

import torch

from core.decode.processors import Forced, MinNewTokens, NoRepeatNgram, NoSourceNgram, Processor, RepetitionPenalty
from core.decode.warpers import MinP, Temperature, TopK, TopP, Typical
from tests.golden import Report, differs

# name in the file -> our processors from its params; the start token is the first of a history
OURS: dict[str, Callable[[dict], Sequence[Processor]]] = {
    "repetition_penalty": lambda p: [RepetitionPenalty(p["penalty"])],
    "no_repeat_ngram": lambda p: [NoRepeatNgram(p["n"])],
    "encoder_no_repeat_ngram": lambda p: [NoSourceNgram(p["n"], tuple(p["source"]))],
    "forced_eos": lambda p: [Forced(p["eos"], p["max_length"] - 2, "max_length counts the start token")],
    "min_length": lambda p: [MinNewTokens(p["min_length"] - 1, frozenset([p["eos"]]))],  # it counts the start token
    "min_new_tokens": lambda p: [MinNewTokens(p["min_new_tokens"], frozenset([p["eos"]]))],
    "temperature": lambda p: [Temperature(p["T"])],
    "top_k": lambda p: [TopK(p["k"], p.get("min_tokens_to_keep", 1))],
    "top_p": lambda p: [TopP(p["p"], p.get("min_tokens_to_keep", 1))],
    "min_p": lambda p: [MinP(p["p"], p.get("min_tokens_to_keep", 1))],
    "typical": lambda p: [Typical(p["p"], p.get("min_tokens_to_keep", 1))],
    "chain_temperature2_topk3_topp0.7": lambda p: [Temperature(2.0), TopK(3), TopP(0.7)],
}
SAME = {"top_k_ties": "top_k", "top_k_min_keep2": "top_k", "top_p_min_keep2": "top_p"}
# the scores of the lists that leave them out: equal chances, and chances whose sums float32 holds exactly
LISTS = {"top_p_uniform_4": [0.0] * 4, "top_p_exact_boundary": [math.log(chance) for chance in (0.5, 0.25, 0.125, 0.125)]}


def check_logits_processors(data: dict, folder: Path, report: Report) -> None:
    """Scores after a processor, and what is kept."""
    for index, case in enumerate(data.get("cases", [])):
        name = SAME.get(case["processor"], case["processor"])
        if name in OURS:
            report.case(f"cases {index} ({case['processor']})", _processed, case, name)
        else:
            report.not_yet(case["processor"])
    for name, scores in LISTS.items():
        for index, case in enumerate(data.get(name, [])):
            report.case(f"{name} {index}", _kept, case, scores)


def _processed(case: dict, name: str) -> str | None:
    history = (case["history"] or [[0]])[0]  # warpers look at none
    logits = _after(OURS[name](case["params"]), [float(x) for x in case["scores"]], history)
    return _keeps(logits, case) or differs("score", logits, case["out"], 1e-6)


def _kept(case: dict, scores: list[float]) -> str | None:
    return _keeps(_after([TopP(case["p"])], scores, [0]), case)


def _after(processors: Sequence[Processor], scores: Sequence[float], history: Sequence[int]) -> list[float]:
    logits = torch.tensor([scores])
    for process in processors:
        process(logits, [history], len(history) - 1)
    return logits[0].tolist()


def _keeps(logits: Sequence[float], case: dict) -> str | None:
    kept = [id for id, value in enumerate(logits) if value != -math.inf]
    return None if kept == case.get("kept", kept) else f"keeps {kept}, the file {case['kept']}"
