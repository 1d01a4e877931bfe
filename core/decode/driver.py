"""The driver: encode once, then one decoder forward per step for whatever a search asks. It yields what it saw.

Encode once, decode many: the cross cache is filled by the first step and never again; the self cache grows by one
row a step (sheet 000, lesson 9). Where a mask lets a decoder row see later positions, cached keys and values would
be those of rows that had not seen them yet: then the prefix is computed again at each step.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from transformers import DynamicCache, EncoderDecoderCache

from core.attention import Sites, capture
from core.controls import Controls, use
from core.decode.processors import Processor
from core.decode.search import Ranked, Request, Search
from core.errors import ModelError
from core.masks import looks_ahead

CANDIDATES = 10
RECOMPUTED = "The decoder mask shows later positions: nothing cached stays true, so the prefix was computed again."


@dataclass(frozen=True)
class Encoded:
    """The encoder memory of one source (STATE): the model's own output, and weights (layers, heads, source, source).

    real: (1, source), 0 at hidden pad tokens; None without them. controls: it was made under these, and is decoded so.
    """

    output: Any
    weights: np.ndarray
    real: torch.Tensor | None = None
    controls: Controls | None = None


@dataclass(frozen=True)
class Forward:
    """One decoder forward: the rows fed, what was ranked, what the search then chose. Arrays as in `trace.Step`."""

    request: Request
    ranked: Ranked
    logprob: np.ndarray
    entropy: np.ndarray
    cross_weights: np.ndarray
    decoder_weights: np.ndarray
    notes: tuple[str, ...]
    self_cache_bytes: int
    cross_cache_bytes: int


def encode(
    model, sites: Sites, ids: Sequence[int], controls: Controls | None = None, real: Sequence[int] | None = None
) -> Encoded:
    """Run the encoder once over `ids` (source,); real (source,): 0 at pad tokens that are to be hidden."""
    source = torch.tensor([list(ids)], device=model.device)
    padding = None if real is None else torch.tensor([list(real)], device=model.device)
    options = {} if padding is None else {"attention_mask": padding}
    with torch.inference_mode(), use(controls), capture() as kept:
        output = model.get_encoder()(input_ids=source, return_dict=True, **options)
    weights = sites.stack(kept, "encoder")
    if weights is None:
        weights = torch.zeros(1, 0, 0, len(ids), len(ids))
    return Encoded(output, weights[0].float().cpu().numpy(), padding, controls)


def decode(model, sites: Sites, encoded: Encoded, search: Search, processors: Sequence[Processor]) -> Iterator[Forward]:
    """Drive `search` over one encoded source until it says finished. Closing the iterator stops it at once."""
    cache = EncoderDecoderCache(DynamicCache(), DynamicCache())
    options = {} if encoded.real is None else {"attention_mask": encoded.real}
    again = encoded.controls is not None and looks_ahead(encoded.controls.masks.decoder)
    request = next(search)
    history = [[int(id)] for id in request.ids]
    while not request.finished:
        written = len(history[0]) - 1
        fed = np.array(history) if again else request.ids[:, None]
        if again:
            cache = EncoderDecoderCache(DynamicCache(), cache.cross_attention_cache)
        ids = torch.tensor(fed, dtype=torch.long, device=model.device)
        with torch.inference_mode():
            with use(encoded.controls), capture() as kept:
                output = model(
                    encoder_outputs=encoded.output, decoder_input_ids=ids, cache=cache, use_cache=True, **options
                )
            logits = output.logits[:, -1].float()
            logprobs = logits.log_softmax(-1)
            allowed = logits.clone()
            notes = [note for process in processors for note in process(allowed, history, written)]
            notes += [RECOMPUTED] * (again and written > 0)
            weights = (sites.stack(kept, "cross"), sites.stack(kept, "decoder"))
            found = _to_host(logprobs, allowed, *weights, request.whole)
        if not np.isfinite(found["entropy"]).all():
            raise ModelError(
                f"The model's logits at step {written} are not finite numbers; its weights are damaged or overflow in "
                f"{str(model.dtype).removeprefix('torch.')}."
            )
        ranked = Ranked(found["candidates"], found["candidate_logprobs"], found.get("scores"), found.get("own"))
        request = search.send(ranked)
        yield Forward(
            request, ranked, _own(ranked, request), found["entropy"],
            found["cross"], found["decoder"], (*notes, *request.notes), *cache_bytes(cache),
        )
        history = [[*history[parent], int(id)] for parent, id in zip(request.parents, request.ids, strict=True)]


def _own(ranked: Ranked, request: Request) -> np.ndarray:
    """The model's log-probabilities (beams,) of the ids that the search chose."""
    if ranked.own is not None:
        return ranked.own[request.parents, request.ids]
    return ranked.logprobs[request.parents][ranked.ids[request.parents] == request.ids[:, None]]


def _to_host(
    logprobs: torch.Tensor, allowed: torch.Tensor, cross: torch.Tensor | None, decoder: torch.Tensor | None, whole: bool
) -> dict[str, np.ndarray]:
    """All that a step keeps, in one device-to-host copy: ids travel as the bits of floats."""
    value, ids = allowed.topk(min(CANDIDATES, allowed.shape[-1]), dim=-1)
    # topk may order equal logits otherwise than argmax, which is what the reference takes: swap them.
    best = allowed.argmax(-1, keepdim=True)
    ids = torch.cat([best, torch.where(ids == best, ids[:, :1], ids)[:, 1:]], dim=1)
    kept = torch.where(value > -torch.inf, logprobs.gather(1, ids), -torch.inf)
    probability = logprobs.exp()
    entropy = -torch.where(probability == 0, 0.0, probability * logprobs).sum(-1)  # NaN stays NaN: `decode` refuses it
    parts = {
        "candidates": ids.to(torch.int32).view(torch.float32), "candidate_logprobs": kept, "entropy": entropy,
        "cross": _last_row(cross, logprobs), "decoder": _last_row(decoder, logprobs),
    }
    if whole:
        parts |= {"scores": allowed, "own": logprobs}
    flat = torch.cat([part.reshape(-1) for part in parts.values()]).cpu().numpy()
    out, at = {}, 0
    for name, part in parts.items():
        out[name] = flat[at : at + part.numel()].reshape(part.shape).copy()
        at += part.numel()
    out["candidates"] = out["candidates"].view(np.int32)
    return out


def _last_row(weights: torch.Tensor | None, like: torch.Tensor) -> torch.Tensor:
    """(beams, layers, heads, key) of the newest query, float32; empty where the site cannot be reached."""
    return like.new_zeros(len(like), 0, 0, 0) if weights is None else weights[..., -1, :].float()


def cache_bytes(cache: EncoderDecoderCache) -> tuple[int, int]:
    """Bytes of keys and values over all layers: (growing self cache, fixed cross cache)."""
    return tuple(
        sum(t.numel() * t.element_size() for layer in part.layers if layer.is_initialized
            for t in (layer.keys, layer.values))
        for part in (cache.self_attention_cache, cache.cross_attention_cache)
    )
