"""What a run holds in memory, counted from the architecture alone."""

from math import isqrt

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
