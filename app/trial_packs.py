"""Settings compared on one source: a row of numbers for each, the token diff and the heatmaps of any two."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from app import mask_packs
from app.masked import Pair
from app.sentences import translated
from app.words import worded
from core.comparison import compare
from core.decode.penalties import PENALTIES
from core.metrics import METRICS, scores
from core.metrics.coverage import GAP, coverage
from core.metrics.score import Score
from core.trace import Trace

NAMES = {"before": "a", "after": "b"}  # words of the findings
TITLES = ("A", "B", "B − A")
ALPHA = 0.6  # of GNMT's normalised score, as its paper has it


@dataclass(frozen=True)
class Trial:
    """One setting and what came of it. seconds: from the start of the batch to the end of this search; None of a saved run.

    beta: above 0 the hypotheses of `search` were ranked by GNMT's penalties, and `trace` is the winner's run.
    """

    trace: Trace
    seconds: float | None
    beta: float = 0.0
    search: Trace | None = None


def rows(trials: Sequence[Trial], reference: str) -> dict[str, Any]:
    """What the table draws. Scores are of one text each, against one reference; without it only repetition is there."""
    found = [_row(trial, reference) for trial in trials]
    names = [score.name for score in found[0][1]]
    return {
        "kind": "compared", "names": names, "rows": [row for row, _ in found],
        "units": [score.unit for score in found[0][1]], "lower": [score.lower_is_better for score in found[0][1]],
        "signatures": [score.signature for score in found[0][1]],
        "texts": len({trial.trace.text for trial in trials}), "gap": GAP,
        "seconds": _rounded(max((t.seconds for t in trials if t.seconds is not None), default=None)),
        "notes": sorted({translated(note) for trial in trials for note in trial.trace.notes}),
    }


def _row(trial: Trial, reference: str) -> tuple[dict[str, Any], list[Score]]:
    trace = trial.trace
    logprob = float(sum(place.logprob for place in trace.line()))
    length, alpha = len(trace.target), (trial.search or trace).settings.decoding.length_penalty
    weights = trace.path().mean((0, 1)) if trace.path().size else np.zeros((0, len(trace.source)))
    made = scores([trace.text], *([[reference]] if reference else []), names=[name for name in METRICS if name != "chrF2++"])
    gnmt = [worded("told.how.gnmt", x=f"{trial.beta:g}")] * bool(trial.beta)
    repeated = next(score for score in made if score.name == "repetition")
    return {
        "run": trace.id, "how": ", ".join([_how(trial.search or trace), *gnmt]),
        "text": trace.text, "logprob": round(logprob, 4), "length": length,
        "score": round(logprob / PENALTIES["transformers"](max(1, length), alpha), 4),
        "gnmt": round(logprob / PENALTIES["GNMT"](max(1, length), ALPHA), 4),
        "scores": [round(score.value, 4) for score in made], "repeats": [round(rate, 4) for rate in repeated.rates],
        "gaps": [trace.source[at].text for at in coverage(weights).gaps()] if weights.size else None,
        "seconds": _rounded(trial.seconds),
    }, made


def _rounded(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds, 3)


def _how(trace: Trace) -> str:
    decoding = trace.settings.decoding
    more = [worded("told.how.gram", n=decoding.no_repeat_ngram_size)] * bool(decoding.no_repeat_ngram_size)
    more += [worded("told.how.penalty", x=f"{decoding.repetition_penalty:g}")] * (decoding.repetition_penalty != 1)
    return ", ".join([translated(decoding.how), *more])


def two(old: Trace, new: Trace) -> tuple[dict[str, Any], dict[str, Any] | None]:
    """(what was found, heatmaps) of two of them, as the masks tab draws two runs, but named A and B as in the table."""
    pair = Pair(old, new, replace(compare(old, new), what=f"{_how(old)} → {_how(new)}") if old is not new else None)
    found = mask_packs.told(pair)
    if pair.comparison is None:
        found["sentence"] = _how(old)
    for line in found["lines"]:
        line["name"] = NAMES[line["name"]]
    maps = mask_packs.heatmaps(pair)
    for panel, title in zip(maps["panels"] if maps else [], TITLES):
        panel["title"] = title
    return found, maps
