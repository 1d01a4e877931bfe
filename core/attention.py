"""One attention function for every family: it reads the weights of any encoder, decoder or cross site.

It is registered with transformers. While nothing is captured it is sdpa to the bit, or eager for a family that has no
sdpa in transformers; while something is, it runs the family's own eager function and keeps its weights (after softmax).
Masks, switched-off heads and rows set by hand (core.controls) hold on both paths.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

import torch
from transformers import AttentionInterface, AttentionMaskInterface, PreTrainedModel
from transformers.integrations.sdpa_attention import sdpa_attention_forward
from transformers.masking_utils import eager_mask, sdpa_mask

from core.controlled import under_controls
from core.controls import active
from core.errors import ControlError
from core.interventions import STACKS
from core.products import over_one_source

NAME = "two_stacks"
ALWAYS_EAGER = "two_stacks_eager"  # for families without sdpa: T5Gemma caps its scores, which sdpa cannot
_SOURCE, _TARGET = 5, 3  # lengths of the probe forward; they tell the three stacks apart


@dataclass
class Capture:
    """Weights in the order the sites ran: (module, (batch, heads, query, key)), on the model's device.

    looked_at: id(module) -> what went in and came out there, once it ran; put an id in to have it filled.
    """

    weights: list[tuple[Any, torch.Tensor]] = field(default_factory=list)
    looked_at: dict[int, dict[str, Any]] = field(default_factory=dict)


# A context variable, so that threads that share one model never see each other's capture.
_capture: ContextVar[Capture | None] = ContextVar("capture", default=None)


@contextmanager
def capture(*modules: Any) -> Iterator[Capture]:
    """Keep the weights of every site that runs inside, and all of `modules`. Never hold it across a `yield`: it would leak."""
    kept = Capture(looked_at={id(module): {} for module in modules})
    token = _capture.set(kept)
    try:
        yield kept
    finally:
        _capture.reset(token)


def attend(module, query, key, value, attention_mask, **kwargs):
    """The registered function: query (batch, heads, query, d_k) and so on, as transformers calls it."""
    if _capture.get() is not None:
        return attend_eagerly(module, query, key, value, attention_mask, **kwargs)
    if (state := active()) is None or (site := state.site(module)) is None:
        return sdpa_attention_forward(module, query, key, value, attention_mask, **kwargs)
    return under_controls(site, sdpa_attention_forward, False, module, query, key, value, attention_mask, kwargs)


def attend_eagerly(module, query, key, value, attention_mask, **kwargs):
    """The same by the family's own function, which knows its softcap, position bias and grouped heads."""
    eager = sys.modules[type(module).__module__].eager_attention_forward
    kept, state = _capture.get(), active()
    seen = None if kept is None else kept.looked_at.get(id(module))
    if seen is not None:
        seen |= {"query": query, "key": key, "value": value, "mask": attention_mask, "options": kwargs}
    if state is None or (site := state.site(module)) is None:
        output, weights = (
            seen is None and over_one_source(eager, module, query, key, value, attention_mask, kwargs)
            or eager(module, query, key, value, attention_mask, **kwargs)
        )
    else:
        output, weights = under_controls(site, eager, True, module, query, key, value, attention_mask, kwargs, seen)
    if seen is not None:
        seen |= {"used": weights, "output": output}
        seen.setdefault("weights", weights)
    if kept is not None:
        kept.weights.append((module, weights))
    return output, weights


def mask(*args, **kwargs):
    """The registered mask: what sdpa wants while nothing is captured, else additive and never skipped."""
    return (sdpa_mask if _capture.get() is None else eager_mask)(*args, **kwargs)


AttentionInterface.register(NAME, attend)
AttentionMaskInterface.register(NAME, mask)
AttentionInterface.register(ALWAYS_EAGER, attend_eagerly)
AttentionMaskInterface.register(ALWAYS_EAGER, eager_mask)


def install(model: PreTrainedModel) -> None:
    """Put every site of `model` that can be reached under our function. What cannot be set is left as it is, with a warning."""
    try:
        model.set_attn_implementation("sdpa")  # refused where one part of the model has none
        model.set_attn_implementation(NAME)
    except ValueError:
        model.set_attn_implementation(ALWAYS_EAGER)


@dataclass(frozen=True)
class Sites:
    """Which module is which site: id(module) -> (stack, layer), layers in the order they run. heads: of each stack."""

    of: dict[int, tuple[str, int]]
    heads: dict[str, int] = field(default_factory=dict)

    def layers(self, stack: str) -> int:
        """How many layers of `stack` can be reached."""
        return sum(1 for name, _ in self.of.values() if name == stack)

    @property
    def reached(self) -> tuple[str, ...]:
        """The stacks with at least one reachable layer."""
        return tuple(stack for stack in STACKS if self.layers(stack))

    def require(self, stack: str, model_name: str) -> None:
        """Refuse a stack that cannot be read, naming the ones that can."""
        if stack not in self.reached:
            can = ", ".join(self.reached) or "none"
            raise ControlError(f"The {stack} attention of {model_name} cannot be reached; sites that can: {can}.")

    def stack(self, kept: Capture, name: str) -> torch.Tensor | None:
        """(batch, layers, heads, query, key) of one stack from a capture, or None if nothing of it ran."""
        found = [w for module, w in kept.weights if self.of.get(id(module), ("",))[0] == name]
        return torch.stack(found, dim=1) if found else None


@torch.inference_mode()
def find_sites(model) -> Sites:
    """Run 5 source and 3 target tokens through the model and read the stacks off the shapes of the weights."""
    device = model.device
    with capture() as kept:
        model(
            input_ids=torch.full((1, _SOURCE), 4, device=device), use_cache=False,
            decoder_input_ids=torch.full((1, _TARGET), 4, device=device),
        )
    shapes = {(_SOURCE, _SOURCE): "encoder", (_TARGET, _TARGET): "decoder", (_TARGET, _SOURCE): "cross"}
    of: dict[int, tuple[str, int]] = {}
    counts = dict.fromkeys(STACKS, 0)
    heads: dict[str, int] = {}
    for module, weights in kept.weights:
        stack = shapes.get(tuple(weights.shape[-2:]))
        if stack and id(module) not in of:
            of[id(module)] = (stack, counts[stack])
            counts[stack] += 1
            heads[stack] = weights.shape[1]
    return Sites(of, heads)
