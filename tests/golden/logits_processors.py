"""logits_processors.json: scores after penalties, bans and warpers; what is refused; and where nothing is left."""

import math
from collections.abc import Callable
from pathlib import Path

import torch

from core.decode.processors import Forced, MinNewTokens, NoRepeatNgram, Processor, RepetitionPenalty
from core.decode.sampling import drawn
from core.decode.warpers import MinP, Temperature, TopK, TopP, Warper, warped
from core.errors import InputError
from tests.golden import Report, differs, number

# name in the file -> our processor from its params; the start token is the first of a history
PROCESSORS: dict[str, Callable[[dict], Processor]] = {
    "repetition_penalty": lambda p: RepetitionPenalty(p["penalty"]),
    "no_repeat_ngram": lambda p: NoRepeatNgram(p["n"]),
    "min_length": lambda p: MinNewTokens(p["min_length"] - 1, frozenset([p["eos"]])),  # it counts the start token
    "min_new_tokens": lambda p: MinNewTokens(p["min_new_tokens"], frozenset([p["eos"]])),
    "forced_eos": lambda p: Forced(p["eos"], p["max_length"] - 2, "max_length counts the start token"),
}
WARPERS: dict[str, Callable[[dict], list[Warper]]] = {
    "temperature": lambda p: [Temperature(p["T"])],
    "top_k": lambda p: [TopK(p["k"])],
    "top_k_ties": lambda p: [TopK(p["k"])],
    "top_k_min_keep2": lambda p: [TopK(p["k"], p["min_tokens_to_keep"])],
    "top_p": lambda p: [TopP(p["p"])],
    "top_p_min_keep2": lambda p: [TopP(p["p"], p["min_tokens_to_keep"])],
    "min_p": lambda p: [MinP(p["p"])],
    "chain_temperature2_topk3_topp0.7": lambda p: [Temperature(2.0), TopK(3), TopP(0.7)],
}
# list in the file -> the probabilities that its top-p cuts
CUTS = {"top_p_uniform_4": (0.25, 0.25, 0.25, 0.25), "top_p_exact_boundary": (0.5, 0.25, 0.125, 0.125)}
ARGUMENTS: dict[str, Callable[[], object]] = {
    "temperature_0": lambda: Temperature(0.0), "temperature_int": lambda: Temperature(1),
    "temperature_neg": lambda: Temperature(-1.0), "top_k_0": lambda: TopK(0), "top_p_1.5": lambda: TopP(1.5),
    "top_p_0": lambda: TopP(0.0), "rep_0": lambda: RepetitionPenalty(0.0), "rep_int": lambda: RepetitionPenalty(2),
}


def check_logits_processors(data: dict, folder: Path, report: Report) -> None:
    """Every case through our processor or warper of that name."""
    for index, case in enumerate(data.get("cases", [])):
        report.case(f"cases {index} ({case['processor']})", _processed, case)
    for name, probabilities in CUTS.items():
        for index, case in enumerate(data.get(name, [])):
            report.case(f"{name} {index}", _cut, probabilities, case)
    for name, wanted in data.get("argument_checks", {}).items():
        report.case(f"argument_checks {name}", _argument, name, wanted)
    if "everything_banned_softmax" in data:
        report.case("everything_banned_softmax", _banned, data["everything_banned_softmax"])


def _processed(case: dict) -> str | None:
    logits = torch.tensor([[float(x) for x in case["scores"]]])
    if case["processor"] in PROCESSORS:
        (history,) = case["history"]
        PROCESSORS[case["processor"]](case["params"])(logits, [history], len(history) - 1)
    elif case["processor"] in WARPERS:
        logits, _ = warped(logits, WARPERS[case["processor"]](case["params"]))
    else:
        return f"no processor {case['processor']!r:.60}"
    if (kept := _kept(logits)) != case.get("kept", kept):
        return f"keeps {kept}, the file {case['kept']}"
    return differs("score", logits[0].tolist(), case["out"], 1e-6)


def _cut(probabilities: tuple[float, ...], case: dict) -> str | None:
    kept = _kept(TopP(case["p"])(torch.tensor([probabilities]).log()))
    return None if kept == case["kept"] else f"keeps {kept}, the file {case['kept']}"


def _argument(name: str, wanted: str) -> str | None:
    """Whether the value is refused; our InputError is a ValueError."""
    try:
        ARGUMENTS[name]()
        found = "accepted"
    except InputError:
        found = "ValueError"
    return None if found == wanted else f"is {found}, the file has {wanted}"


def _banned(softmax: list) -> str | None:
    """The softmax of nothing is no number at all; drawing from it is refused."""
    ours = torch.full((len(softmax),), -torch.inf).softmax(-1)
    if not all(map(math.isnan, map(number, softmax))):
        return differs("softmax", ours.tolist(), softmax, 0.0)
    try:
        drawn(ours.numpy(), 0.5)
    except InputError:
        return None
    return "a token is drawn where none is allowed"


def _kept(logits: torch.Tensor) -> list[int]:
    return [id for id, value in enumerate(logits[0].tolist()) if value != -torch.inf]
