"""Prefix-LM: one stack, the same weights, and a slider p from causal (0) to bidirectional (n) (sheet 000, lesson 6).

p = 0 and p = 1 are the same mask: the first row sees itself anyway, so a prefix of one token opens nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from transformers import DynamicCache, LlamaConfig, LlamaForCausalLM

from core import masks
from core.attention import Capture, capture, install
from core.controls import Controls, use
from core.decode.processors import RepetitionPenalty
from core.errors import InputError


@dataclass(frozen=True, eq=False)
class PrefixView:
    """logits (batch, n, vocab), weights (batch, layers, heads, n, n), mask (batch, n, n): what one p gives."""

    logits: np.ndarray
    weights: np.ndarray
    mask: masks.Mask


class PrefixLM:
    """A causal language model of transformers whose attention functions can be set, under a prefix mask.

    Padding may stand on either side: `real` (batch, n) is 1 at tokens. p counts the real tokens of each row.
    """

    def __init__(self, model: Any):
        self.model = model.eval().requires_grad_(False)
        install(model)
        with torch.inference_mode(), capture() as kept:
            model(input_ids=torch.full((1, 5), 4, device=model.device), use_cache=False)
        self._sites = {id(module): ("decoder", layer) for layer, (module, _) in enumerate(kept.weights)}
        if not self._sites:
            raise InputError(f"No attention of {type(model).__name__} can be reached, so it cannot be given a prefix mask.")

    def mask(self, real: np.ndarray, p: int) -> masks.Mask:
        """(batch, n, n): j <= i or j < p, counted from each row's first real token; padding columns are hidden."""
        real = np.asarray(real).astype(bool)
        n = real.shape[1]
        lengths = real.sum(1)
        if not 0 <= p <= n:
            raise InputError(f"The prefix length is {p}; it must be between 0 and {n}, the length of the text.")
        if not lengths.all():
            raise InputError("A row of the batch has no real token.")
        return prefix_masks(real, [p] * len(real))

    def view(self, ids: Sequence[Sequence[int]], p: int, real: np.ndarray | None = None) -> PrefixView:
        """One forward over ids (batch, n)."""
        real = np.ones_like(ids) if real is None else np.asarray(real)
        mask = self.mask(real, p)
        with capture() as kept:
            logits = self._forward(ids, real, mask, 0, len(ids[0]), None)
        return PrefixView(logits.float().cpu().numpy(), _stacked(kept), mask)

    def logits(self, ids: Sequence[Sequence[int]], p: int, real: np.ndarray | None = None, cached: bool = False) -> np.ndarray:
        """(batch, n, vocab). cached: the prefix in one forward, then a token a forward with keys and values kept."""
        real = np.ones_like(ids) if real is None else np.asarray(real)
        mask, n = self.mask(real, p), len(ids[0])
        # Rows of the longest prefix see each other, so they must be computed together.
        first = max(1, int((real.astype(bool).argmax(1) + np.minimum(p, real.sum(1))).max())) if cached else n
        cache = DynamicCache() if cached else None
        ends = [first, *range(first + 1, n + 1)]
        parts = [self._forward(ids, real, mask, start, end, cache) for start, end in zip([0, *ends], ends)]
        return torch.cat(parts, dim=1).float().cpu().numpy()

    def write(
        self, ids: Sequence[int], p: int, count: int, end: int | None = None, penalty: float = 1.0, prompt: bool = False
    ) -> list[int]:
        """At most `count` tokens after ids (n,), greedily, with a cache, up to `end`; what is written is suffix, so causal.

        penalty: of repetition, above 1 against it. It counts what was written, as a decoder's does; prompt: and what was
        read, as transformers does where there is one stack. InputError unless it is a fraction above 0.
        """
        penalise, seen = RepetitionPenalty(penalty), 0 if prompt else len(ids)
        cache, written = DynamicCache(), list(map(int, ids))
        start = 0
        for _ in range(count):
            real = np.ones((1, len(written)))
            logits = self._forward([written], real, self.mask(real, p), start, len(written), cache)
            start = len(written)
            last = logits[:, -1].clone()  # what comes out of inference is not to be changed in place
            if written[seen:]:
                penalise(last, [written[seen:]], len(written) - len(ids))
            written.append(int(last[0].argmax()))
            if written[-1] == end:
                break
        return written[len(ids) :]

    @torch.inference_mode()
    def _forward(
        self, ids: Sequence[Sequence[int]], real: np.ndarray, mask: masks.Mask, start: int, end: int, cache: Any
    ) -> torch.Tensor:
        """Logits (batch, end - start, vocab) of those columns; earlier ones are in the cache."""
        device = self.model.device
        places = (np.asarray(real).astype(bool).cumsum(1) - 1).clip(0)  # positions count real tokens
        controls = Controls(self._sites, given={"decoder": torch.from_numpy(mask).to(device)})
        with use(controls):
            return self.model(
                input_ids=torch.tensor([list(row)[start:end] for row in ids], device=device),
                position_ids=torch.from_numpy(places[:, start:end]).to(device), cache=cache,
                use_cache=cache is not None,
            ).logits


def prefix_masks(real: np.ndarray, lengths: Sequence[int]) -> masks.Mask:
    """(batch, n, n): j <= i or j < the row's length, counted from its first real token; columns of padding are hidden."""
    real, n = np.asarray(real).astype(bool), np.shape(real)[1]
    rows = [masks.prefix(n, n, first + min(p, count)) for first, p, count in zip(real.argmax(1), lengths, real.sum(1))]
    return masks.both(np.stack(rows), masks.padding(real))


def _stacked(kept: Capture) -> np.ndarray:
    """(batch, layers, heads, query, key)."""
    return torch.stack([weights for _, weights in kept.weights], dim=1).float().cpu().numpy()


def tiny(vocab: int = 64, seed: int = 0, dtype: torch.dtype = torch.float32) -> PrefixLM:
    """A small Llama with random weights, the same for the same seed: nothing but the mask decides what it does."""
    config = LlamaConfig(
        vocab_size=vocab, hidden_size=64, intermediate_size=128, num_hidden_layers=3, num_attention_heads=4,
        num_key_value_heads=2, max_position_embeddings=256, initializer_range=0.2, pad_token_id=0, eos_token_id=None,
        bos_token_id=None,
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return PrefixLM(LlamaForCausalLM(config).to(dtype))
