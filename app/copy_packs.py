"""A pointer-generator made of a run's own numbers, as what the page draws: P_vocab and cross-attention of every step."""

import base64
from typing import Any

import numpy as np

from core.pointer import Extended, extended_ids
from core.records import browser_token, how_made
from core.text import piece
from core.trace import Trace

SHOWN = 8  # words of P_vocab that travel for each step, beside all words of the source


def extended(trace: Trace, unknown: int | None, vocab: int) -> Extended:
    """Ids of the source with extended ones for what the tokenizer lacks; unknown: the id by which it says so."""
    return extended_ids([t.text for t in trace.source], [None if t.id == unknown else t.id for t in trace.source], vocab)


def heads(trace: Trace, best: tuple[int, int] | None) -> tuple[list[list[Any]], np.ndarray]:
    """(names, weights (choices, target, source)): the mean of all heads, the head that follows words best, each layer's mean."""
    path = trace.path()
    layers, count = path.shape[:2]
    found = [(["mean", layers, count], path.mean((0, 1)))]
    if best and best[0] < layers and best[1] < count:
        found.append((["head", best[0] + 1, best[1] + 1], path[best]))
    found += [(["layer", layer + 1, count], path[layer].mean(0)) for layer in range(layers) if layers > 1]
    return [name for name, _ in found], np.stack([weights for _, weights in found])


def pack(trace: Trace, generated: np.ndarray, tokenizer: Any, best: tuple[int, int] | None) -> dict[str, Any]:
    """generated (target, vocab): P_vocab of each step. Rows tell [id, text, P_vocab]: the likeliest, then the source's words."""
    vocab = generated.shape[1]
    found = extended(trace, tokenizer.unk_token_id, vocab)
    names, weights = heads(trace, best)
    words = {id: token.text for id, token in zip(found.ids, trace.source)}
    return {
        "kind": "pointer", "run": trace.id, "vocab": vocab, "ids": list(found.ids), "unknown": list(found.unknown),
        "source": [browser_token(token) for token in trace.source], "target": [browser_token(token) for token in trace.target],
        "about": how_made(trace.settings, trace.made.get("device", "?"), trace.made.get("dtype", "")), "heads": names,
        "weights": base64.b64encode(np.ascontiguousarray(weights, "<f4").tobytes()).decode(),
        "rows": [_row(probabilities, words, tokenizer) for probabilities in generated],
    }


def _row(probabilities: np.ndarray, words: dict[int, str], tokenizer: Any) -> list[list[Any]]:
    top = np.argsort(-probabilities, kind="stable")[:SHOWN].tolist()
    text = {id: piece(tokenizer, id) for id in top} | words
    ids = [*top, *(id for id in words if id not in top)]
    return [[id, text[id], float(probabilities[id]) if id < len(probabilities) else 0.0] for id in ids]
