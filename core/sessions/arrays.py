"""Arrays as compressed blobs with shape and dtype."""

import json
import math
import zlib
from collections.abc import Mapping

import numpy as np

from core.errors import RecordError
from core.records import MAX_BYTES

DTYPES = ("bool", "uint8", "int32", "int64", "float16", "float32", "float64")
_NAMES = {np.dtype(name).newbyteorder(order): name for name in DTYPES for order in "<>"}
_LITTLE = {name: np.dtype(name).newbyteorder("<") for name in DTYPES}


def deflate(array: np.ndarray) -> tuple[str, str, bytes]:
    """(dtype, shape as JSON, data) of one array; little-endian, in C order."""
    name, raw = _raw(array)
    return name, json.dumps(array.shape), _packed(raw)


def inflate(dtype: str, shape: str, data: bytes) -> np.ndarray:
    """The array that `deflate` took; RecordError for anything else, before memory is given to it."""
    size, axes = _size(dtype, shape)
    raw = _bounded(data, size)
    return np.frombuffer(raw, np.dtype(dtype).newbyteorder("<")).astype(dtype).reshape(axes)


def deflate_all(arrays: Mapping[str, np.ndarray]) -> tuple[str, bytes]:
    """(layout, data) of several arrays in one blob; layout: name -> [dtype, shape] as JSON."""
    layout, parts = {}, []
    for name, array in arrays.items():
        dtype, raw = _raw(array)
        layout[name] = [dtype, array.shape]
        parts.append(raw)
    return json.dumps(layout), _packed(b"".join(parts))


def _packed(raw: bytes) -> bytes:
    """zlib without a search for repeats: attention weights have none, and shrink as much in half the time."""
    stream = zlib.compressobj(1, zlib.DEFLATED, 15, 9, zlib.Z_HUFFMAN_ONLY)
    return stream.compress(raw) + stream.flush()


def _raw(array: np.ndarray) -> tuple[str, bytes]:
    """(name of its dtype, its bytes)."""
    name = _NAMES.get(array.dtype)
    if name is None:
        raise ValueError(f"an array of {array.dtype} cannot be kept; it must be one of {', '.join(DTYPES)}")
    return name, array.astype(_LITTLE[name], "C", copy=False).tobytes()


def inflate_all(layout: str, data: bytes) -> dict[str, np.ndarray]:
    """The arrays that `deflate_all` took; RecordError for anything else."""
    try:
        named = json.loads(layout)
        sizes = {name: _size(dtype, json.dumps(shape)) for name, (dtype, shape) in named.items()}
    except (ValueError, TypeError, AttributeError, RecursionError):
        raise RecordError("A step's layout is not a list of arrays with dtype and shape.") from None
    raw, at, out = _bounded(data, sum(size for size, _ in sizes.values())), 0, {}
    for name, (size, axes) in sizes.items():
        dtype = np.dtype(named[name][0])
        out[name] = np.frombuffer(raw[at : at + size], dtype.newbyteorder("<")).astype(dtype).reshape(axes)
        at += size
    return out


def _size(dtype: object, shape: str) -> tuple[int, tuple[int, ...]]:
    """(bytes, axes)."""
    axes = json.loads(shape)
    if dtype not in DTYPES or not isinstance(axes, list) or not all(type(n) is int and n >= 0 for n in axes):
        raise RecordError(f"An array of {dtype!s:.20} with shape {shape:.60} cannot be read.")
    size = math.prod(axes) * np.dtype(dtype).itemsize
    if size > MAX_BYTES:
        raise RecordError(f"An array has {size:,} bytes; at most {MAX_BYTES:,} are allowed.")
    return size, tuple(axes)


def _bounded(data: bytes, size: int) -> bytes:
    """Exactly `size` bytes out of compressed ones; no more is ever unpacked."""
    try:
        stream = zlib.decompressobj()
        raw = stream.decompress(data, size + 1)
    except (zlib.error, TypeError):
        raise RecordError("A compressed array is damaged.") from None
    if len(raw) != size:
        raise RecordError(f"A compressed array holds {'more than ' * (len(raw) > size)}{min(len(raw), size):,} bytes, "
                          f"and its shape says {size:,}.")
    return raw
