"""Closer looks at a stack: T5's relative positions, what pad tokens move, one stack from causal to bidirectional."""

from dataclasses import dataclass, replace
from functools import cache
from typing import Any
from zlib import crc32

import numpy as np

from app.mask_looks import Looks, fits, within
from core.errors import InputError
from core.fields import shown
from core.interventions import STACKS
from core.masks import Mask
from core.settings import Settings
from core.shapes import Floats
from core.text import usable
from core.trace import Trace

REACH = 256  # distances whose buckets are looked up; the last bucket begins well before
MOST_PADS = 32
MOST_WORDS = 12  # of the text that the prefix slider runs over
SHORTER = 3  # words fewer in the padded row of the batch


def bias(looks: Looks, settings: Settings, stack: object, layer: object) -> Any:
    """A RelativeBias of one stack; layer counts from 1. ControlError where the model has none, with the reason."""
    from core.positions import relative_bias

    if stack not in STACKS:
        raise InputError(f"There is no site {shown(stack)}; it must be one of: {', '.join(STACKS)}.")
    loaded = looks.engine.models.load(settings.model)
    at = within("layer", layer, max(1, loaded.sites.layers(stack)), f"{loaded.name} in its {stack} attention")
    return relative_bias(loaded, stack, at, reach=REACH)


@dataclass(frozen=True, eq=False)
class Padded:
    """What pad tokens move: effect is a core.leaks.PaddingEffect; old and new are the runs without and with them."""

    effect: Any
    mask: bool
    old: Trace
    new: Trace


def padding(looks: Looks, settings: Settings, pads: object, mask: object) -> Padded:
    """`pads` tokens after the source; mask: whether they are hidden in the run that is written with them."""
    from core.leaks import padding_effect

    count = counted("number of pad tokens", pads, MOST_PADS)
    if not isinstance(mask, bool):
        raise InputError(f"The padding mask is {shown(mask)}; it must be on or off.")
    alone = replace(settings, edits=replace(settings.edits, pads=0, padding_mask=True))
    going, ids = looks.ready(alone)
    fits(going, len(ids), 3, "sets of log-probabilities")
    with looks.engine.turn:
        effect = padding_effect(going, ids, count)
    padded = replace(alone, edits=replace(alone.edits, pads=count, padding_mask=mask or not count))
    return Padded(effect, mask, looks.made.trace(alone), looks.made.trace(padded))


def counted(name: str, value: object, most: int) -> int:
    """A whole number from 0 to `most`, whatever was sent."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if type(value) is not int or not 0 <= value <= most:
        raise InputError(f"The {name} is {shown(value)}; it must be between 0 and {most}.")
    return value


@dataclass(frozen=True, eq=False)
class Prefixed:
    """One stack over `words` (n) with a prefix of p.

    mask (n, n); weights (n, n), mean over layers and heads; distance (n + 1, n): for each p the largest change of any logit of
    each position from the causal ones. cached: largest difference between decoding with a cache and one whole forward.
    """

    words: list[str]
    p: int
    mask: Mask
    weights: Floats
    distance: Floats
    cached: float


@cache
def _stack() -> Any:
    """The stack that all visitors share; nothing in it ever changes. float64: cached and whole are compared to the last bits."""
    import torch

    from core.prefix import tiny

    return tiny(dtype=torch.float64)


def words_of(settings: Settings) -> list[str]:
    """What the prefix slider runs over: the first words of the text."""
    return usable(settings.text).split()[:MOST_WORDS]


def prefix(looks: Looks, settings: Settings, p: object) -> Prefixed:
    """The first words of the text through one small stack; p beyond them means all of them."""
    words = words_of(settings)
    p = min(counted("prefix length", p, MOST_WORDS), len(words))
    ids = [crc32(word.encode()) % 63 + 1 for word in words]
    with looks.engine.turn:
        stack = _stack()
        view = stack.view([ids], p)
        logits = np.stack([stack.logits([ids], length)[0] for length in range(len(ids) + 1)])
        whole, cached = (stack.logits(*_batch(ids, p), cached=way) for way in (False, True))
    real = _batch(ids, p)[2].astype(bool)
    return Prefixed(words, p, view.mask[0], view.weights[0].mean((0, 1)), abs(logits - logits[0]).max(-1),
                    float(abs(whole - cached)[real].max()))


def _batch(ids: list[int], p: int) -> tuple[list[list[int]], int, np.ndarray]:
    """(ids (2, n), p, real (2, n)): the text, and beside it a shorter one that is padded on the left."""
    gone = min(SHORTER, len(ids) - 1)
    real = np.ones((2, len(ids)))
    real[1, :gone] = 0
    return [ids, [0] * gone + ids[gone:]], p, real


