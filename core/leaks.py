"""Leak test: perturb one token, and see which positions change. What a mask hides must not change, to the bit.

And the leak of padding: what pad tokens move while they are hidden, and when they are not.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch

from core import masks
from core.attention import capture
from core.controls import use
from core.errors import InputError
from core.likelihood import logits_of, source_of
from core.runs import Run
from core.shapes import Floats

SIDES = ("source", "target")


@dataclass(frozen=True, eq=False)
class Leak:
    """Largest change at each position when the embedding of token `position` of `side` was perturbed.

    encoder (source,): of the encoder's output, zeros where a target token was perturbed. states (target,): of the last
    decoder layer; logits (target,). Target position t is the row that reads token t - 1 (the start token at 0).
    may_encoder, may_target: whether the masks let the change arrive there, over all layers and the residual.
    """

    side: str
    position: int
    encoder: Floats
    states: Floats
    logits: Floats
    may_encoder: masks.Mask
    may_target: masks.Mask

    @property
    def changed_encoder(self) -> masks.Mask:
        """(source,): whether anything moved."""
        return self.encoder > 0

    @property
    def changed_target(self) -> masks.Mask:
        """(target,): whether anything moved."""
        return (self.states > 0) | (self.logits > 0)

    @property
    def leaked(self) -> float:
        """Largest change at a position that the masks keep apart from the token; 0 when they hold."""
        kept = [self.encoder[~self.may_encoder], self.states[~self.may_target], self.logits[~self.may_target]]
        return max((float(part.max()) for part in kept if part.size), default=0.0)


def leak(
    going: Run, side: str, position: int, target: Sequence[int], amount: float = 1.0, capturing: bool = False
) -> Leak:
    """Perturb one token under the masks of `going` (which need not have made a step) and measure what changed.

    target: the ids that the decoder is to write, start token left out. amount: size of the perturbation, in units of the
    embedding's own root mean square. capturing: on the eager path, as when weights are read; else as sdpa.
    """
    if side not in SIDES:
        raise InputError(f"There is no side {side!r:.40}; it must be source or target.")
    count = len(going.source) if side == "source" else len(target)
    if not 0 <= position < count:
        raise InputError(f"There is no {side} token {position}; the {side} has tokens 0 to {count - 1}.")
    before = _forward(going, target, "", 0, 0.0, capturing)
    after = _forward(going, target, side, position, amount, capturing)
    encoder, states, logits = (
        (b - a).abs().amax(-1)[0].float().cpu().numpy() for a, b in zip(before, after, strict=True)
    )
    return Leak(side, position, encoder, states, logits, *_may(going, side, position, len(target)))


@torch.inference_mode()
def _forward(
    going: Run, target: Sequence[int], side: str, position: int, amount: float, capturing: bool
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Encoder output (1, source, width), last decoder states (1, target, width) and logits (1, target, vocab)."""
    model, (source, real) = going.loaded.model, source_of(going)
    options = {} if real is None else {"attention_mask": real}
    fed = torch.tensor([[going.start.id, *map(int, target)][: len(target)]], device=source.device)
    looking = capture() if capturing else nullcontext()
    with use(going.controls), looking:
        with _perturbed(model.get_encoder(), side == "source", position, amount):
            memory = model.get_encoder()(input_ids=source, return_dict=True, **options)
        with _perturbed(model.get_decoder(), side == "target", position, amount):
            out = model(
                encoder_outputs=memory, decoder_input_ids=fed, use_cache=False, output_hidden_states=True, **options
            )
    return memory[0], out.decoder_hidden_states[-1], out.logits


@contextmanager
def _perturbed(stack: Any, wanted: bool, position: int, amount: float) -> Iterator[None]:
    """Add a fixed random direction to the embedding of one position while inside."""
    if not wanted:
        yield
        return

    def add(module: Any, inputs: Any, output: torch.Tensor) -> torch.Tensor:
        noise = torch.randn(output.shape[-1], generator=torch.Generator().manual_seed(position)).to(output)
        changed = output.clone()
        changed[:, position] += amount * output[:, position].pow(2).mean().sqrt() * noise
        return changed

    hook = stack.get_input_embeddings().register_forward_hook(add)
    try:
        yield
    finally:
        hook.remove()


def _may(going: Run, side: str, position: int, targets: int) -> tuple[masks.Mask, masks.Mask]:
    """(source,) and (target,): where a change of the token may arrive, layer by layer, if the masks hold.

    An encoder out of reach has no mask of ours: everything in it may see everything.
    """
    sites, sources = going.loaded.sites, len(going.source)

    def layers(stack: str, rows: int, columns: int) -> list[masks.Mask]:
        choice, real = going.settings.masks.of(stack), None if stack == "decoder" else going.real
        count = sites.layers(stack)
        return [masks.effective(choice, stack, layer, rows, columns, real=real) for layer in range(count)]

    encoder = np.zeros(sources, bool)
    if side == "source":
        own = layers("encoder", sources, sources) or [masks.bidirectional(sources, sources)]
        encoder = masks.reach(own)[:, position]
    states = np.arange(targets) == (position if side == "target" else -1)
    for own, across in zip(layers("decoder", targets, targets), layers("cross", targets, sources), strict=True):
        states = states | own @ states
        states = states | across @ encoder
    return encoder, states


@dataclass(frozen=True, eq=False)
class PaddingEffect:
    """Largest change of any logit in each target row when `pads` pad tokens are added.

    hidden_rows (target,): with the padding mask. seen_rows (target,): without it, so that the pad tokens are read.
    """

    pads: int
    hidden_rows: Floats
    seen_rows: Floats

    @property
    def hidden(self) -> float:
        """Largest change with the padding mask."""
        return float(self.hidden_rows.max())

    @property
    def seen(self) -> float:
        """Largest change without it."""
        return float(self.seen_rows.max())


def padding_effect(going: Run, target: Sequence[int], pads: int) -> PaddingEffect:
    """Logits of `target` (ids, start token left out) without pad tokens against those with, both ways.

    All else is as in `going`. With the mask the change is rounding alone, since sums run over other lengths.
    """
    def logits(count: int, mask: bool) -> torch.Tensor:
        settings = going.settings
        edits = replace(settings.edits, pads=count, padding_mask=mask)
        return logits_of(Run(replace(settings, edits=edits), going.loaded), target)[0].float()

    plain = logits(0, True)
    hidden, seen = ((logits(pads, mask) - plain).abs().amax(-1).cpu().numpy() for mask in (True, False))
    return PaddingEffect(pads, hidden, seen)
