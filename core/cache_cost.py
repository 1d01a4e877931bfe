"""What the caches save: the same tokens with and without them, timed in turns, step by step (sheet 000, lesson 9).

Without caches each step reads everything that was written once more, and projects the whole source anew.
"""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
from transformers import DynamicCache, EncoderDecoderCache

from core.controls import use
from core.decode.driver import cache_bytes
from core.errors import ControlError, InputError
from core.masks import looks_ahead
from core.runs import Run
from core.settings import MAX_TOKENS


@dataclass(frozen=True)
class Cost:
    """One step. seconds: (with, without); difference: the largest of any logit; same: both write the same token.

    self_bytes, cross_bytes: measured keys and values after this step.
    """

    seconds: tuple[float, float]
    difference: float
    same: bool
    self_bytes: int
    cross_bytes: int


def with_and_without(going: Run, tokens: int) -> Iterator[Cost | None]:
    """One Cost a step, and None between the two forwards of a step, so that each can have a turn of its own.

    Greedy, by what the forward with caches says, on past the end of the text until `tokens` are written. The encoder runs
    once, before anything is timed, and so does a first step. InputError, ControlError for what cannot be measured.
    """
    check(going, tokens)
    if looks_ahead(going.settings.masks.decoder):
        raise ControlError("The decoder mask shows later positions: nothing cached stays true, so there is nothing to compare.")
    memory, ids = going.encoded(), [going.start.id]
    given: dict[str, Any] = {"encoder_outputs": memory.output} | ({} if memory.real is None else {"attention_mask": memory.real})
    warm, cache = (EncoderDecoderCache(DynamicCache(), DynamicCache()) for _ in range(2))
    for part in (warm, None):
        _timed(going, ids, part, given)
    yield None
    for _ in range(tokens):
        kept, seconds = _timed(going, ids, cache, given)
        yield None
        anew, longer = _timed(going, ids, None, given)
        own, cross = cache_bytes(cache)
        ids.append(int(kept.argmax()))
        yield Cost((seconds, longer), float((kept - anew).abs().max()), ids[-1] == int(anew.argmax()), own, cross)


def check(going: Run, tokens: object) -> None:
    """InputError where so many tokens cannot be written, or it is no number of them."""
    most = min(MAX_TOKENS, going.loaded.max_target)
    if isinstance(tokens, bool) or not isinstance(tokens, int) or not 2 <= tokens <= most:
        raise InputError(f"{str(tokens)[:40]} tokens cannot be written here; choose 2 to {most}.")


@torch.inference_mode()
def _timed(going: Run, ids: list[int], cache: EncoderDecoderCache | None, given: dict[str, Any]) -> tuple[torch.Tensor, float]:
    """(logits (vocab,) after the last of `ids`, seconds); with a cache only that one is read."""
    device = going.loaded.device
    fed = torch.tensor([ids if cache is None else ids[-1:]], device=device)
    with use(going.controls):
        began = time.perf_counter()
        logits = going.loaded.model(
            decoder_input_ids=fed, cache=cache, use_cache=cache is not None, **given).logits[0, -1].float()
        if device.type == "cuda":
            torch.cuda.synchronize(device)
        return logits, time.perf_counter() - began
