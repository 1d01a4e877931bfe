"""A beam search as what the tree component draws: its nodes, what each step's forward gave, and the final ranking."""

import base64
from collections.abc import Sequence
from typing import Any

import numpy as np

from app.sentences import translated
from core.budget import kv_bytes
from core.records import browser_token, how_made
from core.search_tree import SearchTree
from core.text import plain
from core.trace import Step, Trace

SHOWN = 8  # candidates of a row that travel
SIZES = {"bfloat16": "float16", "float16": "float16"}  # dtypes of two bytes

Head = tuple[int, int] | None


def number_bytes(dtype: str) -> int:
    """Bytes of one number of this torch dtype."""
    return np.dtype(SIZES.get(dtype, "float32")).itemsize


def caches(steps: Sequence[Step], source: int, shape: tuple[int, int, int] | None, dtype: str) -> dict[str, Any]:
    """Measured bytes of both caches after each step, and what 2 · N · heads · d_kv · length · bytes says, where shape is known.

    The self cache has a row for each hypothesis fed and a token for each step; the cross cache is there once for all rows.
    """
    rows, bytes_per = [len(step.entropy) for step in steps], number_bytes(dtype)
    formula = shape and {
        "self": [kv_bytes(*shape, length=at, beams=count, bytes_per=bytes_per) for at, count in enumerate(rows, 1)],
        "cross": kv_bytes(*shape, length=source, bytes_per=bytes_per),
    }
    return {"measured": [[step.self_cache_bytes, step.cross_cache_bytes] for step in steps], "formula": formula,
            "shape": shape and [*shape, bytes_per], "rows": rows}


def whole(trace: Trace, tokenizer: Any, head: Head, *notes: str, shape: tuple[int, int, int] | None = None) -> dict[str, Any]:
    """A whole search. head: (layer, head) of the cross-attention that is shown; None is the mean of all."""
    made, tree = trace.made, trace.tree
    about = how_made(trace.settings, made.get("device", "?"), made.get("dtype", ""))
    return start(trace, about, head) | grown(trace.steps, tree, head) | {
        "kind": "tree", "ranking": ranking(trace, tokenizer, head),
        "caches": caches(trace.steps, len(trace.source), shape, made.get("dtype", "")),
        "notes": [*map(translated, trace.notes), *notes],
        "stopped": next((translated(note) for note in reversed(trace.steps[-1].notes) if note.startswith("stopped")), ""),
    }


def start(going: Any, about: str, head: Head) -> dict[str, Any]:
    """What is known before the first step; `going`: a Run or Trace."""
    decoding, shape = going.settings.decoding, going.steps[0].cross_weights.shape[1:3] if going.steps else (0, 0)
    return {
        "run": going.id, "about": about, "source": [browser_token(token) for token in going.source],
        "start": browser_token(going.start), "forced": len(going.settings.edits.forced), "beams": decoding.beams,
        "alpha": decoding.length_penalty, "head": list(head) if head else None, "shape": list(shape),
    }


def grown(steps: Sequence[Step], tree: SearchTree, head: Head, sent: int = 0, told: int = 0) -> dict[str, Any]:
    """What has come since `sent` nodes and `told` steps; fates of all nodes, which a later step may change.

    A node is [parent, step, row, id, logprob, total, score, text]. Nodes that only repeat the first row are left out.
    """
    real = tree.real
    place = np.full(len(tree.token) + 1, -1)  # the last one stands for no parent
    place[real] = np.arange(len(real))
    first = np.searchsorted(tree.step, np.arange(len(steps)))
    nodes = [
        [int(place[tree.parent[n]]), int(tree.step[n]), int(tree.row[n]), int(tree.token[n]), round(float(tree.logprob[n]), 6),
         round(float(tree.total[n]), 6), round(float(tree.score[n]), 6),
         steps[tree.step[n]].ranked_texts[n - first[tree.step[n]]]]
        for n in real[sent:].tolist()
    ]
    return {
        "kind": "levels", "from": sent, "nodes": nodes, "fates": tree.fate[real].tolist(), "best": int(place[tree.best]),
        "told": told, "steps": [_step(step, head) for step in steps[told:]],
    }


def ranking(trace: Trace, tokenizer: Any, head: Head) -> list[dict[str, Any]]:
    """The hypotheses that ended, best first: node, text, tokens written, log P as ranked, what each source token received."""
    tree, place = trace.tree, {int(node): at for at, node in enumerate(trace.tree.real)}
    found = []
    for node in tree.ranking:
        found.append({
            "node": place[node], "text": _text(trace, tokenizer, tree.path(node)),
            "length": int(tree.step[node]) + 1, "logprob": float(tree.total[node]),
            "received": [round(share, 6) for share in received(trace, node, head)],
        })
    return found


def _text(trace: Trace, tokenizer: Any, path: Sequence[int]) -> str:
    """A hypothesis as text; without its vocabulary, which a replay may lack, as its pieces."""
    if tokenizer is not None:
        return plain(tokenizer, trace.tree.token[path].tolist())
    first = np.searchsorted(trace.tree.step, np.arange(len(trace.steps)))
    return " ".join(trace.steps[trace.tree.step[n]].ranked_texts[n - first[trace.tree.step[n]]] for n in path)


def received(trace: Trace, node: int, head: Head) -> list[float]:
    """(source,): attention that each source token received along the path to a node; empty where there is none to read."""
    weights = trace.path(node=node)  # (layers, heads, target, source)
    return _map(weights, head, 0).sum(0).tolist() if weights.size else []


def _step(step: Step, head: Head) -> dict[str, Any]:
    top = [
        [[text, int(id), round(float(logprob), 5)] for text, id, logprob in list(zip(*row, strict=True))[:SHOWN]
         if np.isfinite(logprob)]
        for row in zip(step.candidate_texts, step.candidates, step.candidate_logprobs, strict=True)
    ]
    weights = _map(step.cross_weights, head, 1) if step.cross_weights.size else np.zeros((len(step.entropy), 0))
    return {"top": top, "entropy": [round(float(each), 5) for each in step.entropy], "notes": list(step.notes),
            "w": base64.b64encode(np.ascontiguousarray(weights, "<f2").tobytes()).decode()}


def _map(weights: np.ndarray, head: Head, axis: int) -> np.ndarray:
    """One head of weights whose axes `axis` and `axis` + 1 are layers and heads, or the mean over all."""
    if head and head[0] < weights.shape[axis] and head[1] < weights.shape[axis + 1]:
        return np.take(np.take(weights, head[1], axis + 1), head[0], axis)
    return weights.mean((axis, axis + 1))
