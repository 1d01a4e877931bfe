"""Closer looks at a stack: T5's relative positions, what pad tokens move, one stack from causal to bidirectional."""

from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np

from app.mask_looks import Looks, fits, within
from core.errors import InputError
from core.fields import shown
from core.interventions import STACKS
from core.masks import Mask
from core.models import ONE_STACK
from core.settings import Settings
from core.shapes import Floats
from core.text import Token, plain, tokenize, usable
from core.trace import Trace

REACH = 256  # distances whose buckets are looked up; the last bucket begins well before
MOST_PADS = 32
MOST_WORDS = 12  # of the text that the prefix slider runs over
MOST_PIECES = 36  # of them, with the task's prefix
MOST_WRITTEN = 40  # tokens that it may write
SHORTER = 3  # pieces fewer in the padded row of the batch


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
    """One stack over the source tokens `pieces` (n) with a prefix of p.

    mask (n, n); weights (n, n), mean over layers and heads; distance (n + 1, n): for each p the largest change of any logit of
    each position from the causal ones. cached: largest difference between decoding with a cache and one whole forward.
    written: for some p, the last one n, what it then writes; penalty: of repetition, prompt: which counts what was read too.
    """

    pieces: list[str]
    p: int
    mask: Mask
    weights: Floats
    distance: Floats
    cached: float
    written: dict[int, str]
    penalty: float
    prompt: bool


@cache
def _stack() -> tuple[Any, Any]:
    """pocket-prefix and its tokenizer, for all visitors; nothing in it ever changes.

    In float64: cached and whole are compared to the last bits.
    """
    from core.models import ASSETS
    from core.prefix import PrefixLM
    from core.prefix_model import load_prefix

    (name,) = ONE_STACK
    loaded = load_prefix(name, ASSETS / name)
    return PrefixLM(loaded.model.double()), loaded


def pieces_of(settings: Settings, loaded: Any) -> tuple[list[Token], list[Token]]:
    """What the prefix slider runs over: the task's prefix and the first words of the text; and the </s> that closes them."""
    from core.models.families import prefix_for

    words = " ".join(usable(settings.text).split()[:MOST_WORDS])
    tokens, _ = tokenize(loaded.tokenizer, prefix_for(loaded, "") + words, MOST_PIECES + 1)
    return tokens[:-1], tokens[-1:]


def prefix(looks: Looks, settings: Settings, p: object, prompt: object = False) -> Prefixed:
    """The first words of the text through one trained stack; p beyond them means all of them.

    prompt: whether the repetition penalty of the settings counts what was read, beside what was written.
    """
    if not isinstance(prompt, bool):
        raise InputError(f"Whether the penalty counts the prompt is {shown(prompt)}; it must be on or off.")
    penalty = settings.decoding.repetition_penalty
    p = counted("prefix length", p, MOST_PIECES)
    with looks.engine.turn:
        stack, loaded = _stack()
        tokens, end = pieces_of(settings, loaded)
        ids, p = [token.id for token in tokens], min(p, len(tokens))
        view = stack.view([ids], p)
        causal = stack.logits([ids], 0)[0]
        distance = np.stack([abs(stack.logits([ids], length)[0] - causal).max(-1) for length in range(len(ids) + 1)])
        batch, p, real = _batch(ids, p)
        whole, cached = (stack.logits(batch, p, real, cached=way) for way in (False, True))
        read = [*ids, end[0].id]
        written = {length: plain(loaded.tokenizer, stack.write(read, length, MOST_WRITTEN, end[0].id, penalty, prompt))
                   for length in dict.fromkeys((0, p, len(ids)))}
    return Prefixed([token.text for token in tokens], p, view.mask[0], view.weights[0].mean((0, 1)), distance,
                    float(abs(whole - cached)[real.astype(bool)].max()), written, penalty, prompt)


def _batch(ids: list[int], p: int) -> tuple[list[list[int]], int, np.ndarray]:
    """(ids (2, n), p, real (2, n)): the text, and beside it a shorter one that is padded on the left."""
    gone = min(SHORTER, len(ids) - 1)
    real = np.ones((2, len(ids)))
    real[1, :gone] = 0
    return [ids, [0] * gone + ids[gone:]], p, real


