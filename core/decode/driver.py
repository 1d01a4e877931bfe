"""The driver: encode once, then one decoder forward per step for whatever a search asks. It yields what it saw.

Encode once, decode many: the cross cache is filled by the first step and never again; the self cache grows by one
row a step (sheet 000, lesson 9). Where a mask lets a decoder row see later positions, cached keys and values would
be those of rows that had not seen them yet: then the prefix is computed again at each step.
"""

import copy
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from transformers import EncoderDecoderCache

from core.attention import Sites, capture
from core.controls import Controls, use
from core.decode.cache import GrowingCache, empty
from core.decode.processors import Processor
from core.decode.ranking import Parts, rank, to_host
from core.decode.ranking import ranked as answer
from core.decode.search import Ranked, Request, Search
from core.errors import ModelError
from core.masks import looks_ahead
from core.products import joined

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
    for forwards in together(model, sites, encoded, [(search, processors)]):
        yield forwards[0]


def together(
    model, sites: Sites, encoded: Encoded, searches: Sequence[tuple[Search, Sequence[Processor]]]
) -> Iterator[dict[int, Forward]]:
    """Drive several searches over one encoded source, one forward a step for all rows alive: what each saw, by its place.

    They share the cross cache, and are all fed the same number of tokens first. A search that has finished leaves the batch.
    While there are several their products are those of core.products.
    """
    alive = [_Alive(place, search, processors) for place, (search, processors) in enumerate(searches)]
    memory = _Memory(encoded, sum(len(each.history) for each in alive), len(alive) > 1)
    again = encoded.controls is not None and looks_ahead(encoded.controls.masks.decoder)
    cache = empty()
    while alive:
        fed = np.concatenate([np.array(each.history) if again else each.fed for each in alive])
        if again:
            cache = EncoderDecoderCache(GrowingCache(), cache.cross_attention_cache)
        ids = torch.tensor(fed, dtype=torch.long, device=model.device)
        parts, at = [], 0
        with torch.inference_mode():
            with use(encoded.controls), joined(len(alive) > 1), capture() as kept:
                output = model(decoder_input_ids=ids, cache=cache, use_cache=True, **memory.inputs(len(ids)))
            logits = output.logits[:, -1].float()
            weights = {name: _last_row(sites.stack(kept, name), logits) for name in ("cross", "decoder")}
            for each in alive:
                each.rows = slice(at, at := at + len(each.history))
                own_weights = {name: w[each.rows] for name, w in weights.items()}
                parts.append(each.ranked(logits[each.rows], len(alive) == 1) | own_weights)
            found = to_host(parts)
        memory.share(cache, len(ids))
        own, cross = cache_bytes(cache)
        size = own // len(ids), cross
        forwards = {each.place: each.answered(seen, size, again, model.dtype) for each, seen in zip(alive, found, strict=True)}
        yield forwards
        alive = [each for each in alive if not each.request.finished]
        if alive:
            parents = np.concatenate([each.rows.start + each.request.parents for each in alive])
            memory.share(cache, len(parents))
            if not again:
                reorder(cache, parents, len(ids))


class _Alive:
    """One search under way. rows: its rows of the batch."""

    def __init__(self, place: int, search: Search, processors: Sequence[Processor]):
        self.place, self.search, self.processors = place, search, processors
        self.request = next(search)
        first = self.request.ids
        self.history = first.tolist() if first.ndim == 2 else [[id] for id in first.tolist()]
        self.prompt = len(self.history[0])
        self.rows, self.notes = slice(0), []

    @property
    def fed(self) -> np.ndarray:
        """(beams, tokens) that the model has not seen."""
        ids = self.request.ids
        return ids if ids.ndim == 2 else ids[:, None]

    @property
    def written(self) -> int:
        """Tokens written after the prompt."""
        return len(self.history[0]) - self.prompt

    def ranked(self, logits: torch.Tensor, exact: bool) -> Parts:
        """What its request asks of logits (beams, vocab). exact: in the reference's order even among equals."""
        parts, self.notes = rank(self.request, logits, self.processors, self.history, self.written, exact)
        return parts

    def answered(self, found: dict[str, np.ndarray], size: tuple[int, int], again: bool, dtype: torch.dtype) -> Forward:
        """Send it what was ranked; size: bytes of one row of the self cache, and of the cross cache that all share."""
        if not np.isfinite(found["entropy"]).all():
            raise ModelError(
                f"The model's logits at step {self.written} are not finite numbers; its weights are damaged or overflow in "
                f"{str(dtype).removeprefix('torch.')}."
            )
        notes = [*self.notes, *[RECOMPUTED] * (again and self.written > 0)]
        ranked = answer(found, self.request, self.processors)
        rows = len(self.history)
        self.request = request = self.search.send(ranked)
        self.history = [[*self.history[parent], int(id)] for parent, id in zip(request.parents, request.ids, strict=True)]
        return Forward(
            request, ranked, _own(ranked, request), found["entropy"], found["cross"], found["decoder"],
            (*notes, *request.notes, *[request.stopped] * bool(request.stopped)), size[0] * rows, size[1],
        )


def _own(ranked: Ranked, request: Request) -> np.ndarray:
    """The model's log-probabilities (beams,) of the ids that the search chose."""
    if request.logprobs is not None:
        return request.logprobs
    if ranked.whole is not None:
        return ranked.whole.logprobs[request.parents, request.ids]
    return ranked.logprobs[request.parents][ranked.ids[request.parents] == request.ids[:, None]]


class _Memory:
    """The encoder memory of one source for as many rows as there are; one of several sources is left as it is."""

    def __init__(self, encoded: Encoded, rows: int, several: bool):
        self.encoded, output = encoded, encoded.output
        self.one = len(output.last_hidden_state) == 1
        if self.one and rows > 1:
            output, states = copy.copy(output), output.last_hidden_state
            # For one search copied, not expanded: the reference multiplies by copies, and the bits follow it.
            output.last_hidden_state = states.expand(rows, -1, -1) if several else states.repeat_interleave(rows, 0)
        self.output = output

    def inputs(self, rows: int) -> dict[str, Any]:
        """What the model is given beside the tokens."""
        output, real = self.output, self.encoded.real
        if self.one and rows < len(output.last_hidden_state):
            output = copy.copy(output)
            output.last_hidden_state = output.last_hidden_state[:rows]
        padding = {} if real is None else {"attention_mask": real.expand(rows, -1)}
        return {"encoder_outputs": output} | padding

    def share(self, cache: EncoderDecoderCache, rows: int) -> None:
        """Keys and values of the source are there once: `rows` rows read the same numbers."""
        if not self.one:
            return
        for layer in cache.cross_attention_cache.layers:
            if layer.is_initialized and (len(layer.keys) != rows or rows > 1 and layer.keys.stride(0)):
                layer.keys, layer.values = (t[:1].clone().expand(rows, -1, -1, -1) for t in (layer.keys, layer.values))


def reorder(cache: EncoderDecoderCache, parents: np.ndarray, rows: int) -> None:
    """The self cache's rows become those that `parents` continue, of the `rows` there are."""
    if not np.array_equal(parents, np.arange(rows)):
        cache.self_attention_cache.reorder_cache(torch.from_numpy(parents.astype(np.int64)))


def _last_row(weights: torch.Tensor | None, like: torch.Tensor) -> torch.Tensor:
    """(beams, layers, heads, key) of the newest query, float32; empty where the site cannot be reached."""
    return like.new_zeros(len(like), 0, 0, 0) if weights is None else weights[..., -1, :].float()


def cache_bytes(cache: EncoderDecoderCache) -> tuple[int, int]:
    """Bytes of keys and values over all layers: (growing self cache, fixed cross cache); rows that share them count once."""
    return tuple(
        sum(t.numel() // (1 if t.stride(0) else len(t)) * t.element_size() for layer in part.layers if layer.is_initialized
            for t in (layer.keys, layer.values))
        for part in (cache.self_attention_cache, cache.cross_attention_cache)
    )
