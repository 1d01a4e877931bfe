"""What a record from elsewhere must hold before a view draws it. Every refusal is a ValueError; records.py words it."""

from typing import Any

import numpy as np

from core.search_tree import KEPT, check_level
from core.shapes import Floats

# name -> (dtype, axes)
_KINDS = {
    "token": ("int32", 1), "parent": ("int32", 1), "logprob": ("float32", 1), "entropy": ("float32", 1),
    "candidates": ("int32", 2), "candidate_logprobs": ("float32", 2), "cross_weights": ("float32", 4),
    "decoder_weights": ("float32", 4), "encoder_weights": ("float32", 4),
}
_ABOVE_ONE = 1e-3  # a softmax may round up


def _kind(name: str, array: np.ndarray, where: str) -> None:
    dtype, axes = _KINDS[name]
    if array.dtype != dtype or array.ndim != axes:
        raise ValueError(f"{where}: {name} is {array.dtype} with {array.ndim} axes, not {dtype} with {axes}")


def _weights(array: Floats, where: str) -> None:
    """Every number in [0, 1]; NaN is in no range."""
    if not ((array >= 0) & (array <= 1 + _ABOVE_ONE)).all():
        raise ValueError(f"{where}: weights outside 0 to 1")


def check_step(step: Any, previous: Any, source: int) -> None:
    """What every view relies on in one step; `previous`: the step before it, `source`: how many tokens it has."""
    where = f"step {step.index}"
    for name in _KINDS.keys() - {"encoder_weights"}:
        _kind(name, getattr(step, name), where)
    _shapes(step, previous, source, where)
    _ranked(step, previous, where)
    for array in (step.cross_weights, step.decoder_weights):
        _weights(array, where)
    if not (np.isfinite(step.logprob).all() and np.isfinite(step.entropy).all()):
        raise ValueError(f"{where}: a log-probability or entropy that is not finite")
    if np.isnan(step.candidate_logprobs).any() or (step.candidate_logprobs == np.inf).any():  # -inf is a banned one
        raise ValueError(f"{where}: candidates whose log-probability is no number")
    if min(step.self_cache_bytes, step.cross_cache_bytes) < 0:
        raise ValueError(f"{where}: a cache of {min(step.self_cache_bytes, step.cross_cache_bytes)} bytes")


def _ranked(step: Any, previous: Any, where: str) -> None:
    """All steps have a level, or none has; nothing follows the last one."""
    if previous is not None and (step.ranked is None) != (previous.ranked is None):
        raise ValueError(f"{where}: candidates are ranked at some steps and not at others")
    if step.ranked is None:
        return
    check_level(step, len(step.cross_weights), where)
    if previous is not None and not (previous.ranked.fate == KEPT).any():
        raise ValueError(f"{where}: the search had come to its end before")


def _shapes(step: Any, previous: Any, source: int, where: str) -> None:
    """Axes agree with each other, with the source and with the step before. Rows fed and beams written may differ."""
    beams, rows = len(step.token), len(step.cross_weights)
    wanted = {
        "cross_weights": (rows, *step.cross_weights.shape[1:3], source),
        "decoder_weights": (rows, *step.decoder_weights.shape[1:3], step.index + 1),
        "candidates": (rows, step.candidates.shape[1]), "candidate_logprobs": step.candidates.shape,
        "entropy": (rows,), "parent": (beams,), "logprob": (beams,),
    }
    for name, shape in wanted.items():
        if getattr(step, name).shape != shape:
            raise ValueError(f"{where}: {name} is {getattr(step, name).shape}, not {shape}")
    if 0 in (beams, *step.cross_weights.shape, *step.decoder_weights.shape, *step.candidates.shape):
        raise ValueError(f"{where}: an axis of length 0")
    if step.parent.min() < 0 or step.parent.max() >= rows:
        raise ValueError(f"{where}: parent outside its {rows} rows")
    if len(step.texts) != beams or [len(row) for row in step.candidate_texts] != [step.candidates.shape[1]] * rows:
        raise ValueError(f"{where}: texts for {beams} tokens and {step.candidates.shape} candidates")
    if previous is not None and _after(previous) != step.cross_weights.shape[:3]:
        raise ValueError(f"{where}: rows, layers or heads do not follow from the step before")


def _after(previous: Any) -> tuple[int, int, int]:
    """(rows, layers, heads) of the step after `previous`: every hypothesis written is fed."""
    return (len(previous.token), *previous.cross_weights.shape[1:3])


def check_trace(trace: Any) -> None:
    """The same for what a trace holds beside its steps. An encoder out of reach leaves no layers and no heads."""
    source = len(trace.source)
    written = len(trace.line())
    if len(trace.target) != written:
        raise ValueError(f"{len(trace.target)} target tokens for {written} written ones")
    if not 0 <= trace.prefix_tokens <= source:
        raise ValueError(f"{trace.prefix_tokens} prefix tokens of {source} source tokens")
    encoder = trace.encoder_weights
    _kind("encoder_weights", encoder, "encoder")
    if encoder.shape[2:] != (source, source) or (encoder.shape[0] == 0) != (encoder.shape[1] == 0):
        raise ValueError(f"encoder weights {encoder.shape} for {source} source tokens")
    _weights(encoder, "encoder")


def check_floats(name: str, array: np.ndarray, shape: tuple[int, ...]) -> Floats:
    """`array` if it is float32 of this shape and finite."""
    if array.dtype != "float32" or array.shape != shape:
        raise ValueError(f"{name} is {array.dtype} {array.shape}, not float32 {shape}")
    if not np.isfinite(array).all():
        raise ValueError(f"{name} holds a number that is not finite")
    return array
