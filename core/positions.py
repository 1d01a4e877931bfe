"""T5's relative position bias: added to scores by distance, key position minus query position (sheet 000, lesson 5).

The sheet writes bucket(i - j); as computed here, and in transformers, the distance is key - query: negative is the past.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from core.errors import ControlError, InputError
from core.shapes import Floats

if TYPE_CHECKING:
    from core.models.loading import Loaded


def bucket(distance: np.ndarray, bidirectional: bool, buckets: int = 32, max_distance: int = 128) -> np.ndarray:
    """Bucket of each distance key - query, any shape, int64 (Raffel et al. 2020, section 2.1).

    bidirectional (encoder): the upper half of the buckets is for keys to the right. Otherwise (decoder) every key to
    the right is bucket 0. Half of what is left is one bucket a distance, the rest grows in logarithmic steps, and
    everything from max_distance on (in fact from somewhat before) shares the last.
    """
    distance = np.asarray(distance, np.int64)
    size = buckets // 2 if bidirectional else buckets
    right = np.where(distance > 0, size, 0) if bidirectional else 0
    far = abs(distance) if bidirectional else np.maximum(-distance, 0)
    return right + np.searchsorted(_first_distances(size, max_distance), far, side="right") - 1


def _first_distances(size: int, max_distance: int) -> np.ndarray:
    """The smallest distance in each of `size` buckets, by whole numbers: no logarithm, so no rounding.

    Bucket exact + b begins where (d / exact) ** steps >= (max_distance / exact) ** b, with steps = size - exact.
    """
    exact = size // 2
    steps = size - exact
    if exact < 1 or max_distance <= exact:
        raise InputError(f"{size} buckets up to distance {max_distance} leave no room for logarithmic steps.")
    firsts = list(range(exact))
    at = exact
    for step in range(steps):
        while at**steps * exact**step < max_distance**step * exact**steps:
            at += 1
        firsts.append(at)
    return np.array(firsts)


@dataclass(frozen=True, eq=False)
class RelativeBias:
    """bias (heads, distances) and buckets (distances,), for distances key - query, ascending; keys to the left first.

    bidirectional: whether keys to the right have buckets of their own. shared: whether all layers add this one table.
    """

    stack: str
    layer: int
    distances: np.ndarray
    buckets: np.ndarray
    bias: Floats
    bidirectional: bool
    shared: bool


def relative_bias(loaded: "Loaded", stack: str, layer: int = 0, reach: int = 24) -> RelativeBias:
    """The bias of one stack for distances -reach to reach. T5 and mT5 have one table a stack, in layer 0, for all
    layers; UMT5 one in each; cross-attention has none."""
    tables = [m for m in loaded.model.modules() if hasattr(m, "relative_attention_bias") and _stack(loaded, m) == stack]
    if not tables:
        raise ControlError(
            f"{loaded.name} adds no relative position bias to its {stack} attention; T5-like models do, in encoder and decoder."
        )
    module = tables[min(layer, len(tables) - 1)]
    distances = np.arange(-reach, reach + 1)
    found = bucket(
        distances, not module.is_decoder, module.relative_attention_num_buckets, module.relative_attention_max_distance
    )
    table = module.relative_attention_bias.weight.detach().float().cpu().numpy()  # (buckets, heads)
    bias = np.ascontiguousarray(table[found].T)
    return RelativeBias(stack, layer, distances, found, bias, not module.is_decoder, len(tables) == 1)


def _stack(loaded: "Loaded", module: object) -> str:
    """The stack that an attention module belongs to."""
    return loaded.sites.of.get(id(module), ("", 0))[0]
