"""Four kinds of transformer as one machinery under different masks (appendix B): each run live on the same two texts.

Encoder-only, decoder-only and prefix-LM are one small stack with random weights (core.prefix.tiny), which nothing but the mask
tells apart; encoder-decoder is the loaded model itself. What conditions what is measured: one token of the source is changed,
and the positions whose states or logits move are counted.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any
from zlib import crc32

import numpy as np
import torch

from core.attention import capture
from core.errors import InputError
from core.models.loading import Loaded
from core.shapes import Floats
from core.train.forcing import decoder_input, forward

ONE_STACK = {"encoder-only": "all", "decoder-only": "none", "prefix-lm": "source"}  # kind -> what its prefix covers
KINDS = (*ONE_STACK, "encoder-decoder")
MOVED = 1e-9  # of a logit in float64: more than rounding


@dataclass(frozen=True, eq=False)
class Kind:
    """weights: name -> (query, key), mean over layers and heads; axes: its tokens, (queries, keys).

    moved: which of the source's and of the target's positions change when token `changed` of the source does.
    """

    name: str
    weights: dict[str, Floats]
    axes: dict[str, tuple[tuple[str, ...], tuple[str, ...]]]
    source_moved: tuple[bool, ...]
    target_moved: tuple[bool, ...]
    changed: int


@cache
def _stack() -> Any:
    from core.prefix import tiny

    return tiny(dtype=torch.float64)


def one_stack(name: str, source: Sequence[str], target: Sequence[str]) -> Kind:
    """A row of the table run on words source and target, in one sequence; an encoder-only stack reads the source alone."""
    if name not in ONE_STACK:
        raise InputError(f"There is no kind {name!r:.40}; it must be one of: {', '.join(KINDS)}.")
    words = tuple(source) if name == "encoder-only" else (*source, *target)
    if not source or not words:
        raise InputError("There is no text to read. Write a source.")
    ids = [crc32(word.encode()) % 63 + 1 for word in words]
    p = {"all": len(words), "none": 0, "source": len(source)}[ONE_STACK[name]]
    changed = len(source) - 1
    other = [*ids]
    other[changed] = ids[changed] % 63 + 1
    stack = _stack()
    view, moved = stack.view([ids], p), abs(stack.logits([ids], p)[0] - stack.logits([other], p)[0]).max(-1) > MOVED
    return Kind(name, {"self": view.weights[0].mean((0, 1)).astype(np.float32)}, {"self": (words, words)},
                tuple(moved[: len(source)].tolist()), tuple(moved[len(source) :].tolist()), changed)


@torch.inference_mode()
def two_stacks(loaded: Loaded, source: Sequence[int], labels: Sequence[int], pieces: tuple[Sequence[str], ...]) -> Kind:
    """The encoder-decoder row on ids source and labels; pieces: texts of the source, of the decoder's input."""
    if len(source) < 2 or not labels:
        raise InputError("There is no text to read. Write a source and a target.")
    ids, wanted = (torch.tensor([list(side)], device=loaded.device) for side in (source, labels))
    fed = decoder_input(loaded.model, wanted)
    changed = max(0, len(source) - 2)  # the last token before the end token
    other = ids.clone()
    rows = loaded.model.get_input_embeddings().num_embeddings
    other[0, changed] = ids[0, changed - 1] if ids[0, changed] != ids[0, changed - 1] else (ids[0, changed] + 1) % rows
    real = torch.ones_like(ids)
    with capture() as kept:
        first = forward(loaded.model, ids, real, fed)
        states = loaded.model.get_encoder()(input_ids=ids, attention_mask=real).last_hidden_state
        moved = loaded.model.get_encoder()(input_ids=other, attention_mask=real).last_hidden_state
        second = forward(loaded.model, other, real, fed)
    axes = {"encoder": (pieces[0], pieces[0]), "decoder": (pieces[1], pieces[1]), "cross": (pieces[1], pieces[0])}
    weights = {}
    for stack in ("encoder", "decoder", "cross"):
        seen: list[torch.Tensor] = []
        for module, one in kept.weights:
            place = loaded.sites.of.get(id(module))
            if place and place[0] == stack and len(seen) < loaded.sites.layers(stack):
                seen.append(one[0].float().mean(0))
        weights[stack] = torch.stack(seen).mean(0).cpu().numpy()
    tolerance = 1e-5
    return Kind("encoder-decoder", weights, {name: (tuple(a), tuple(b)) for name, (a, b) in axes.items()},
                tuple(((states - moved)[0].abs().amax(-1) > tolerance).tolist()),
                tuple(((first - second)[0].abs().amax(-1) > tolerance).tolist()), changed)
