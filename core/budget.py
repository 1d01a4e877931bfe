"""What a run holds in memory, counted from the architecture alone."""

from collections.abc import Mapping
from math import isqrt
from typing import Any

# Encoder weights of one run, float32: with it a whole record of 128 steps stays below records.MAX_BYTES.
MAX_ENCODER_BYTES = 192 * 2**20


def longest_source(layers: int, heads: int) -> int:
    """Source tokens whose encoder weights (layers, heads, source, source) fit into MAX_ENCODER_BYTES."""
    return isqrt(MAX_ENCODER_BYTES // (4 * max(1, layers * heads)))


def kv_bytes(
    layers: int, heads: int, d_kv: int, length: int, batch: int = 1, beams: int = 1, bytes_per: int = 4
) -> int:
    """Bytes of keys and values of one cache: 2 · N_dec · heads · d_kv · length · batch · beams · bytes_per.

    layers: of the decoder. heads · d_kv: inner width of its attention. bytes_per: of one number (float32: 4).
    length of the self cache is the decoder inputs seen (start token + written - 1), it grows by one a step; of the
    cross cache it is the source tokens, padding included, fixed after the first step (sheet 000, lesson 9).
    """
    return 2 * layers * heads * d_kv * length * batch * beams * bytes_per


def cache_shape(config: Mapping[str, Any]) -> tuple[int, int, int] | None:
    """(decoder layers, heads, d_kv) that a checkpoint's config names, T5's way or BART's; None where it says it otherwise."""
    if all(type(config.get(name)) is int for name in ("num_decoder_layers", "num_heads", "d_kv")):
        return config["num_decoder_layers"], config["num_heads"], config["d_kv"]
    if all(type(config.get(name)) is int for name in ("decoder_layers", "decoder_attention_heads", "d_model")):
        heads = config["decoder_attention_heads"]
        return config["decoder_layers"], heads, config["d_model"] // max(1, heads)
    return None
