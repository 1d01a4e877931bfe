"""Weights in fewer bits: every product reads bfloat16 or int8 weights, half or a quarter of the bytes; the rest stays float32.

A decoder step with few rows is bound by reading its weights from memory. What that buys and what it changes is measured, not
promised: `compare` writes with the full weights and asks the lighter models for the same positions. Embeddings, norms,
attention and everything that is shown stay float32. int8: symmetric, one scale a row of the weight (LLM.int8(), Dettmers et al.
2022, section 2, without its outliers).
"""

import copy
import hashlib
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import torch

from core.attention import find_sites
from core.cache_cost import check
from core.controls import use
from core.decode.cache import empty
from core.errors import ControlError, ModelError
from core.masks import looks_ahead
from core.models import PRECISIONS
from core.products import INT8, ORDERED, REORDER

if TYPE_CHECKING:
    from core.models.loading import Loaded
    from core.runs import Run




class Lighter(torch.nn.Module):
    """A linear layer with its weight (out, in) in fewer bits; inputs and outputs stay float32. bias: (out,) or None."""

    def __init__(self, linear: torch.nn.Linear, precision: str):
        super().__init__()
        self.in_features, self.out_features, self.bias = linear.in_features, linear.out_features, linear.bias
        self.packed, self.scale = None, None
        weight = linear.weight.detach()
        if precision == "int8":
            scale = (weight.float().abs().amax(1) / 127).clamp(min=torch.finfo(torch.float32).tiny).bfloat16()
            weight, self.scale = (weight.float() / scale.float()[:, None]).round().clamp(-127, 127).to(torch.int8), scale
        elif weight.device.type == "cpu" and ORDERED:
            self.packed = REORDER(weight.bfloat16())
        self.kept = weight if self.scale is not None else weight.bfloat16() if self.packed is None else weight[:0]

    @property
    def weight(self) -> torch.Tensor:
        """What is stored, (out, in); empty where only oneDNN can read it."""
        return self.kept

    @property
    def stored(self) -> int:
        """Bytes of the weight and its scales."""
        bits = 1 if self.scale is not None else 2
        return bits * self.in_features * self.out_features + (0 if self.scale is None else 2 * self.out_features)

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        if input.ndim == 3 and len(input) > 1 and not input.stride(0):  # the memory of one source, expanded
            return self(input[:1]).expand(len(input), -1, -1)
        flat = input.reshape(-1, self.in_features).bfloat16()
        if self.packed is not None:
            out = ORDERED(flat, self.packed, None, "none", [], "")
        elif self.scale is None:
            out = torch.nn.functional.linear(flat, self.kept)
        elif flat.device.type == "cpu" and INT8:
            out = INT8(flat, self.kept, self.scale)
        else:
            out = torch.nn.functional.linear(flat, self.kept.bfloat16()) * self.scale
        out = out.float() if self.bias is None else out.float() + self.bias
        return out.reshape(*input.shape[:-1], self.out_features)


def lighter(loaded: "Loaded", precision: str, name: str) -> "Loaded":
    """The same model with lighter products, as `name`; what it does not change is shared with `loaded`, its tokenizer too."""
    if precision not in PRECISIONS:
        raise ModelError(f"Weights can be read as {' or '.join(PRECISIONS)}, not as {precision!r:.40}.")
    if loaded.dtype is not torch.float32:
        raise ModelError(f"{loaded.name} is read as {loaded.dtype} already; only float32 weights are made lighter.")
    shared = {id(one): one for one in (*loaded.model.parameters(), *loaded.model.buffers())}
    model = copy.deepcopy(loaded.model, shared)
    for parent in list(model.modules()):
        for child, module in list(parent.named_children()):
            if isinstance(module, torch.nn.Linear):
                setattr(parent, child, Lighter(module, precision))
    mark = hashlib.sha256(f"{loaded.fingerprint} {precision}".encode()).hexdigest()
    return replace(loaded, name=name, model=model, sites=find_sites(model), fingerprint=mark)


def product_bytes(model: Any) -> int:
    """Bytes of the weights of all products of a model, of either kind."""
    return sum(one.stored if isinstance(one, Lighter) else one.weight.numel() * one.weight.element_size()
               for one in model.modules() if isinstance(one, Lighter | torch.nn.Linear))


@dataclass(frozen=True)
class Change:
    """A lighter model at one position. difference: the largest of any logit; kl: nats, D(full ‖ lighter); id: its choice."""

    difference: float
    kl: float
    id: int
    seconds: float


@dataclass(frozen=True)
class Position:
    """One position: what the full weights write, in how many seconds, and what each lighter model makes of it."""

    id: int
    seconds: float
    changes: tuple[Change, ...]


def compare(full: "Run", lights: Sequence["Run"], tokens: int) -> Iterator[Position | None]:
    """A Position a step, and None between the forwards, so that each can have a turn of its own. Greedy by the full weights, on
    past the end of the text until `tokens` are written; each model reads its own encoder memory and keeps its own caches."""
    check(full, tokens)
    if looks_ahead(full.settings.masks.decoder):
        raise ControlError("The decoder mask shows later positions, so nothing can be read a token at a time here.")
    runs = (full, *lights)
    readers = []
    for one in runs:
        readers.append(_Reader(one))
        yield None
    fed = full.start.id
    for _ in range(tokens):
        seen = []
        for reader in readers:
            seen.append(reader.read(fed))
            yield None
        (logits, seconds), *others = seen
        fed = int(logits.argmax())
        yield Position(fed, seconds, tuple(_change(logits, other, took) for other, took in others))


def _change(full: torch.Tensor, other: torch.Tensor, seconds: float) -> Change:
    """logits (vocab,) of both."""
    own, theirs = full.log_softmax(-1), other.log_softmax(-1)
    kl = (own.exp() * (own - theirs)).nan_to_num(0.0).sum()
    return Change(float((full - other).abs().max()), max(0.0, float(kl)), int(other.argmax()), seconds)


class _Reader:
    """One model on its way through the tokens."""

    def __init__(self, going: "Run"):
        self.going, self.cache, memory = going, empty(), going.encoded()
        self.given = {"encoder_outputs": memory.output} | ({} if memory.real is None else {"attention_mask": memory.real})
        self.read(going.start.id)  # a first step takes longer: it fills the cross cache, and is not counted
        self.cache = empty()

    @torch.inference_mode()
    def read(self, id: int) -> tuple[torch.Tensor, float]:
        """(logits (vocab,) after `id`, seconds)."""
        ids = torch.tensor([[id]], device=self.going.loaded.device)
        with use(self.going.controls):
            began = time.perf_counter()
            found = self.going.loaded.model(decoder_input_ids=ids, cache=self.cache, use_cache=True, **self.given)
            return found.logits[0, -1].float().cpu(), time.perf_counter() - began
