"""Results as plain JSON for whoever asks over the endpoints: every number with its unit, every matrix with its tokens' order."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from core.errors import InputError
from core.metrics.report import Report
from core.noise import Corruption
from core.records import how_made
from core.search_tree import FATES, REASONS
from core.text import Token, plain
from core.trace import Trace

WEIGHTS = ("none", "mean", "all")
MOST_NUMBERS = 400_000  # of one answer: about 3 MB of JSON
CANDIDATES = 5  # of each step


def trace_of(trace: Trace, weights: str = "none", complete: bool = True) -> dict[str, Any]:
    """A run: tokens, log P of each in nats, and cross-attention where it is asked for. complete: False where it was cut."""
    if weights not in WEIGHTS:
        raise InputError(f"weights is {weights!r:.30}; it must be one of: {', '.join(WEIGHTS)}.")
    place = trace.line()
    path = trace.path()
    return {
        "id": trace.id, "digest": trace.digest, "text": trace.text, "complete": complete, "input": trace.input,
        "settings": trace.settings.to_json(), "source": tokens_of(trace.source), "prefix_tokens": trace.prefix_tokens,
        "target": [_written(token, each) for token, each in zip(trace.target, place, strict=True)],
        "logprob": _number(sum(each.logprob for each in place)), "unit": "nats",
        "coverage": _numbers(path.mean((0, 1)).sum(0)) if path.size else [],
        "weights": _weights(path, weights), "notes": list(trace.notes), "made": _made(trace),
    }


def search_of(trace: Trace, tokenizer: Any) -> dict[str, Any]:
    """A beam search: its hypotheses, best first, and every candidate that was ranked with its fate."""
    tree = trace.tree
    real = tree.real
    place = np.full(len(tree.token) + 1, -1)  # the last one stands for no parent
    place[real] = np.arange(len(real))
    first = np.searchsorted(tree.step, np.arange(len(trace.steps)))
    nodes = [{
        "parent": int(place[tree.parent[n]]), "step": int(tree.step[n]),
        "text": trace.steps[tree.step[n]].ranked_texts[n - first[tree.step[n]]], "logprob": _number(tree.logprob[n]),
        "total": _number(tree.total[n]), "score": _number(tree.score[n]), "fate": FATES[tree.fate[n]],
        "why": REASONS.get(FATES[tree.fate[n]], ""),
    } for n in real.tolist()]
    hypotheses = [{
        "rank": rank, "node": int(place[node]), "text": plain(tokenizer, tree.token[tree.path(node)].tolist()),
        "tokens": int(tree.step[node]) + 1, "logprob": _number(tree.total[node]), "score": _number(tree.score[node]),
    } for rank, node in enumerate(tree.ranking, 1)]
    return {
        "id": trace.id, "text": trace.text, "unit": "nats; score = log P / tokens^length_penalty",
        "settings": trace.settings.to_json(), "source": tokens_of(trace.source), "hypotheses": hypotheses, "nodes": nodes,
        "notes": list(trace.notes), "made": _made(trace),
    }


def corruption_of(made: Corruption) -> dict[str, Any]:
    """A text under noise: what the encoder reads, what the decoder is to write, where each token came from."""
    return {
        "id": made.id, "settings": made.settings.to_json(), "text": made.text,
        "source": tokens_of(made.source), "hidden": [bool(each) for each in made.mask],
        "input": tokens_of(made.corrupted), "input_from": made.corrupted_from.tolist(),
        "target": tokens_of(made.target), "target_from": made.target_from.tolist(), "spans": made.spans,
        "requested": _number(made.requested), "achieved": _number(made.achieved), "unit": "share of 1",
        "notes": list(made.notes), "difference": made.difference,
    }


def report_of(report: Report) -> dict[str, Any]:
    """Scores of all texts with their signatures, and of each text by itself."""
    return {
        "scores": [{"name": score.name, "value": round(score.value, 4), "unit": score.unit, "signature": score.signature,
                    "lower_is_better": score.lower_is_better, "notes": list(score.notes)} for score in report.scores],
        "texts": [row.values for row in report.rows], "left_out": list(report.left_out),
    }


def tokens_of(tokens: Sequence[Token]) -> list[dict[str, Any]]:
    """start, end: where the token stands in the text; both 0 for one that covers none of it."""
    return [{"text": token.text, "id": token.id, "start": token.start, "end": token.end} for token in tokens]


def _written(token: Token, place: Any) -> dict[str, Any]:
    step, row = place.step, place.fed
    best = zip(step.candidate_texts[row], step.candidate_logprobs[row])
    return {
        "text": token.text, "id": token.id, "start": token.start, "end": token.end, "logprob": _number(place.logprob),
        "entropy": _number(step.entropy[row]), "notes": list(step.notes),
        "candidates": [{"text": text, "logprob": _number(logprob)}
                       for text, logprob in best if np.isfinite(logprob)][:CANDIDATES],
    }


def _weights(path: np.ndarray, wanted: str) -> dict[str, Any]:
    if wanted == "none" or not path.size:
        return {}
    values, axes = (path.mean((0, 1)), "target, source") if wanted == "mean" else (path, "layers, heads, target, source")
    if values.size > MOST_NUMBERS:
        raise InputError(f"All weights of this run are {values.size:,} numbers; at most {MOST_NUMBERS:,} are sent. "
                         "Ask for the mean, or shorten the text.")
    return {"of": "cross-attention after softmax", "axes": axes, "values": _numbers(values)}


def _made(trace: Trace) -> str:
    return how_made(trace.settings, trace.made.get("device", "?"), trace.made.get("dtype", ""))


def _number(value: Any) -> float:
    return round(float(value), 6)


def _numbers(values: np.ndarray) -> Any:
    return np.round(values.astype(float), 6).tolist()
