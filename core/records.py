"""What every result can do: go to bytes and back without pickle. And the compact form that the browser draws from."""

import base64
import json
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load, save

from core.errors import RecordError, TwoStacksError

MAX_BYTES = 256 * 2**20
FORMAT = "two-stacks-1"
Record = TypeVar("Record")


def pack(kind: str, head: dict, arrays: dict[str, np.ndarray]) -> bytes:
    """Header (JSON) and arrays as one safetensors file."""
    metadata = {"format": FORMAT, "kind": kind, "head": json.dumps(head, ensure_ascii=False)}
    return save({name: np.ascontiguousarray(array) for name, array in arrays.items()}, metadata=metadata)


def unpack(kind: str, data: bytes, read: Callable[[dict, dict[str, np.ndarray]], Record]) -> Record:
    """The record that `read(header, arrays)` makes of what `pack` wrote; anything wrong is a RecordError."""
    if not 8 <= len(data) <= MAX_BYTES:
        raise RecordError(f"A record has between 8 bytes and {MAX_BYTES:,}; this has {len(data):,}.")
    try:
        length = int.from_bytes(data[:8], "little")
        header = json.loads(data[8 : 8 + length])["__metadata__"]
        if header["format"] != FORMAT or header["kind"] != kind:
            raise ValueError(f"it is a {header['format']} {header['kind']}, not a {FORMAT} {kind}")
        return read(json.loads(header["head"]), load(data))
    except TwoStacksError as error:
        raise RecordError(f"This is not a usable {kind}: {error}") from None
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, SafetensorError) as error:
        raise RecordError(f"This is not a usable {kind}: {type(error).__name__} ({error}).") from None


def browser_row(step: Any, token: Any, row: int = 0) -> dict:
    """One decoder step for the stepper: numbers rounded for show, weights (layers, heads, source) as float16 base64.

    float16 has 11 significant bits (at most 2.5e-4 off below 1): enough for three digits on hover, and the same
    array is drawn from, so no second uint8 copy travels.
    """
    source_row = int(step.parent[row])
    weights = np.ascontiguousarray(step.cross_weights[source_row], dtype="<f2")
    top = zip(step.candidate_texts[source_row], step.candidates[source_row], step.candidate_logprobs[source_row])
    return {
        "t": [token.text, token.id, token.start, token.end],
        "lp": round(float(step.logprob[row]), 5),
        "H": round(float(step.entropy[source_row]), 5),
        "top": [[text, int(id), round(float(lp), 5)] for text, id, lp in top if np.isfinite(lp)],
        "kv": [step.self_cache_bytes, step.cross_cache_bytes],
        "notes": list(step.notes),
        "w": base64.b64encode(weights.tobytes()).decode(),
    }
