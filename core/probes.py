"""Probe: one head looked into, from hidden states to output: softmax(scores · scale + bias + mask) = weights."""

import hashlib
import inspect
from collections.abc import Sequence
from typing import Any

import torch

from core.attention import capture
from core.controls import use
from core.errors import InputError
from core.interventions import STACKS
from core.likelihood import source_of
from core.probe_record import Probe
from core.runs import Run
from core.text import Token, piece
from core.trace import run_id

_MEMORY = ("key_value_states", "encoder_hidden_states")  # what families call the states that keys are made of


@torch.inference_mode()
def probe(going: Run, stack: str, layer: int, head: int, target: Sequence[int] = (), step: int | None = None) -> Probe:
    """Look into one head of the run `going` (which need not have made a step), under its masks and edits.

    target: the ids that were written, start token left out; step: the decoder step looked at, by default the last
    (rows 0 to `step` are computed, as that step saw them). The encoder needs neither.
    """
    module = _module(going, stack, layer, head)
    loaded, step = going.loaded, len(target) - 1 if step is None else step
    ids = [going.start.id, *map(int, target)][: max(step, 0) + 1]
    if len(ids) != max(step, 0) + 1:
        raise InputError(f"Step {step} is not there; the output has {len(target)} tokens.")
    held: dict[str, torch.Tensor] = {}

    def hold(module: Any, args: tuple, kwargs: dict) -> None:
        given = inspect.signature(module.forward).bind(*args, **kwargs).arguments
        given = given | given.get("kwargs", {})
        held["hidden"] = given["hidden_states"]
        memory = [given[name] for name in _MEMORY if given.get(name) is not None] if stack == "cross" else []
        held["memory"] = memory[0] if memory else held["hidden"]

    source, real = source_of(going)
    options = {} if real is None else {"attention_mask": real}
    hook = module.register_forward_pre_hook(hold, with_kwargs=True)
    try:
        with use(going.controls), capture(module) as kept:
            fed = torch.tensor([ids], device=loaded.device)
            loaded.model(input_ids=source, decoder_input_ids=fed, use_cache=False, **options)
    finally:
        hook.remove()
    arrays, scale = _arrays(kept.looked_at[id(module)] | held, head)
    rows = tuple(Token(piece(loaded.tokenizer, id), id) for id in ids)
    queries = going.source if stack == "encoder" else rows
    keys = rows if stack == "decoder" else going.source
    asked = f"probe\n{run_id(going.settings, loaded.fingerprint)}\n{stack} {layer} {head}\n{ids}"
    return Probe(
        id=hashlib.sha256(asked.encode()).hexdigest(), settings=going.settings, fingerprint=loaded.fingerprint, stack=stack,
        layer=layer, head=head, queries=queries, keys=keys, scale=scale, arrays=arrays,
    )


def _module(going: Run, stack: str, layer: int, head: int) -> Any:
    """The attention module that is meant, or an error that says which there are."""
    loaded = going.loaded
    if stack not in STACKS:
        raise InputError(f"There is no stack {stack!r:.40}; it must be one of: {', '.join(STACKS)}.")
    loaded.sites.require(stack, loaded.name)
    for name, value, count in (("layer", layer, loaded.sites.layers(stack)), ("head", head, loaded.sites.heads[stack])):
        if not 0 <= value < count:
            raise InputError(f"There is no {stack} {name} {value}; {loaded.name} has {name}s 0 to {count - 1} there.")
    return next(m for m in loaded.model.modules() if loaded.sites.of.get(id(m)) == (stack, layer))


def _arrays(seen: dict[str, Any], head: int) -> tuple[dict[str, Any], float]:
    """The arrays of a Probe for one head, float32 on the host; and the scale. seen: as `Capture.looked_at` fills it."""
    query, key, value, options = seen["query"], seen["key"], seen["value"], seen["options"]
    group = query.shape[1] // key.shape[1]  # query heads that share a key head
    q, k, v = query[0, head].float(), key[0, head // group].float(), value[0, head // group].float()
    scale = options.get("scaling")
    scale = q.shape[-1] ** -0.5 if scale is None else float(scale)
    scores = q @ k.T
    bias = torch.zeros_like(scores)
    if options.get("position_bias") is not None:
        bias = bias + _of_head(options["position_bias"], head)[..., : scores.shape[1]].float()
    if (cap := options.get("softcap")) is not None:  # what capping takes off the scaled score
        bias = bias + torch.tanh(scores * scale / cap) * cap - scores * scale
    mask = torch.zeros_like(scores)
    if seen["mask"] is not None:
        own = _of_head(seen["mask"], head)[..., : scores.shape[1]]
        own = own if own.dtype == torch.bool else own > torch.finfo(own.dtype).min / 2
        mask = mask.masked_fill(~own, -torch.inf)
    if seen.get("dead") is not None:
        mask = mask.masked_fill(_of_head(seen["dead"], head), -torch.inf)
    arrays = {
        "hidden": seen["hidden"][0], "memory": seen["memory"][0], "q": q, "k": k, "v": v, "scores": scores,
        "bias": bias, "mask": mask, "weights": seen["weights"][0, head], "used": seen["used"][0, head],
        "output": seen["output"][0, :, head],
    }
    return {name: array.float().cpu().contiguous().numpy() for name, array in arrays.items()}, scale


def _of_head(tensor: torch.Tensor, head: int) -> torch.Tensor:
    """(query, key) of a tensor (1, heads or 1, query, key)."""
    return tensor[0, head if tensor.shape[1] > 1 else 0]
