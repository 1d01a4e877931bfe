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
BLOCKS = 128  # a longer source axis may travel in as many blocks of neighbouring tokens
ROW_NUMBERS = 96 * BLOCKS  # weights of one row that travel token by token: 33 kB in base64
FORMAT = "two-stacks-1"
# What reading bytes that are no record may raise beside our own errors.
WRONG = (ValueError, KeyError, TypeError, AttributeError, RecursionError, OverflowError, SafetensorError)
Record = TypeVar("Record")


def pack(kind: str, head: dict, arrays: dict[str, np.ndarray]) -> bytes:
    """Header (JSON) and arrays as one safetensors file."""
    metadata = {"format": FORMAT, "kind": kind, "head": json.dumps(head, ensure_ascii=False)}
    return save({name: np.ascontiguousarray(array) for name, array in arrays.items()}, metadata=metadata)


def unpack(kind: str, data: bytes, read: Callable[[dict, dict[str, np.ndarray]], Record]) -> Record:
    """The record that `read(header, arrays)` makes of what `pack` wrote; anything wrong is a RecordError."""
    try:
        found, head, arrays = split(data)
        if found != kind:
            raise RecordError(f"it is a {found}.")
        return read(head, arrays)
    except TwoStacksError as error:
        raise RecordError(f"This is not a usable {kind}: {error}") from None
    except WRONG as error:
        raise RecordError(f"This is not a usable {kind}: something in it is missing or damaged.") from error


def split(data: bytes) -> tuple[str, dict, dict[str, np.ndarray]]:
    """(kind, header, arrays) of what `pack` wrote; raises RecordError or one of WRONG."""
    if not 8 <= len(data) <= MAX_BYTES:
        raise RecordError(f"A record has between 8 bytes and {MAX_BYTES:,}; this has {len(data):,}.")
    length = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + length])["__metadata__"]
    if header["format"] != FORMAT:
        raise ValueError(f"it is a {header['format']} {header['kind']}, not a {FORMAT} one")
    return str(header["kind"]), json.loads(header["head"]), load(data)


def blocked(weights: np.ndarray) -> tuple[int, list[str]]:
    """(tokens of a block, the maps that travel in blocks) for cross weights (..., layers, heads, source)."""
    block = -(-weights.shape[-1] // BLOCKS)
    if block <= 1:
        return 1, []
    return block, ["encoder", "cross"] if np.prod(weights.shape[-3:]) > ROW_NUMBERS else ["encoder"]


def in_blocks(weights: np.ndarray, block: int, rows: bool = False) -> np.ndarray:
    """Weights over the last axis in blocks of `block` neighbours, whose mass adds up; `rows` of a block are averaged."""
    starts = np.arange(0, weights.shape[-1], block)
    out = np.add.reduceat(weights, starts, axis=-1, dtype=np.float32)
    if not rows:
        return out
    sizes = np.minimum(block, weights.shape[-1] - starts)
    return np.add.reduceat(out, starts, axis=-2) / sizes[:, None].astype(np.float32)


def browser_row(place: Any, token: Any) -> dict:
    """One token of a hypothesis (a search_tree.Place) for the stepper: numbers rounded for show, weights as float16 base64.

    w: cross (layers, heads, source), in blocks where `blocked` says so. d: decoder self (layers, heads, index + 1).
    float16 has 11 significant bits (at most 2.5e-4 off below 1): enough for three digits on hover, and the same
    array is drawn from, so no second uint8 copy travels.
    """
    step, fed = place.step, place.fed
    block, maps = blocked(step.cross_weights)
    top = zip(step.candidate_texts[fed], step.candidates[fed], step.candidate_logprobs[fed], strict=True)
    return {
        "t": browser_token(token),
        "lp": round(place.logprob, 5),
        "H": round(float(step.entropy[fed]), 5),
        "top": [[text, int(id), round(float(lp), 5)] for text, id, lp in top if np.isfinite(lp)],
        "kv": [step.self_cache_bytes, step.cross_cache_bytes],
        "notes": list(step.notes),
        "w": _halves(in_blocks(step.cross_weights[fed], block) if "cross" in maps else step.cross_weights[fed]),
        "d": _halves(step.decoder_weights[fed]),
    }


def _halves(weights: np.ndarray) -> str:
    """float16, little-endian, base64."""
    return base64.b64encode(np.ascontiguousarray(weights, dtype="<f2").tobytes()).decode()


def browser_attribution(run: str, rows: np.ndarray) -> dict:
    """Input × gradient (target, source) of a run, as float32 base64: its range is too wide for float16."""
    data = np.ascontiguousarray(rows, "<f4").tobytes()
    return {"kind": "attribution", "run": run, "g": base64.b64encode(data).decode()}


def browser_token(token: Any) -> list:
    """[text, id, start, end]."""
    return [token.text, token.id, token.start, token.end]


def browser_start(run: str, going: Any, about: str) -> dict:
    """What the stepper needs before the first row: axes, labels, how the numbers are made. `going`: a Run or Trace.

    shapes: (layers, heads) of each map; enc: encoder weights (layers, heads, source, source) as float16 base64.
    Of more than BLOCKS source tokens 512 x 512 x 72 heads would be 50 MB: `block` neighbouring tokens each are one row
    and one column of the maps in `blocked`, columns summed, so that a row keeps its mass, and rows averaged.
    """
    encoder = going.encoder_weights
    shapes = {"encoder": encoder.shape[:2], "cross": (0, 0), "decoder": (0, 0)}
    if going.steps:
        shapes |= {"cross": going.steps[0].cross_weights.shape[1:3], "decoder": going.steps[0].decoder_weights.shape[1:3]}
    block, maps = blocked(going.steps[0].cross_weights if going.steps else encoder[:, :, 0])
    if maps:
        encoder = in_blocks(encoder, block, rows=True)
    return {
        "kind": "start", "run": run, "block": block, "blocked": maps, "input": going.input, "about": about,
        "shapes": {name: list(shape) for name, shape in shapes.items()},
        "source": [browser_token(t) for t in going.source], "prefix": going.prefix_tokens,
        "first": browser_token(going.start), "enc": _halves(encoder),
    }


def how_made(settings: Any, device: object, dtype: object) -> str:
    """The line beside the picture that says how its numbers were made."""
    return f"{settings.model} · {settings.decoding.how} · {device} {str(dtype).removeprefix('torch.')}".strip()


def browser_trace(trace: Any, *notes: str) -> dict:
    """A whole trace for the stepper; a live one and a loaded one look the same. `notes` join the trace's own."""
    made = trace.made
    about = how_made(trace.settings, made.get("device", "?"), made.get("dtype", ""))
    return browser_start(trace.id, trace, about) | {
        "kind": "trace", "done": True, "output": trace.text, "notes": [*trace.notes, *notes],
        "rows": [browser_row(place, token) for place, token in zip(trace.line(), trace.target, strict=True)],
    }
