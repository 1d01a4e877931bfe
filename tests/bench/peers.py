"""A whole traced run against every peer, at three sizes and three ways to read the weights; and how it grows with both lengths.

All sides write as many tokens from the same source, encoder included, and are timed in turn. Ours gives weights, candidates,
entropy and cache bytes of every step, which the peers do not compute.
"""

import time
from collections.abc import Callable, Iterator

import torch

from core.attention import NAME
from core.decode.driver import encode
from core.models import PRECISIONS
from core.models.loading import Loaded
from core.precision import lighter, product_bytes
from tests.bench import Spread, ratios
from tests.bench.ctranslate import MISSING, translator
from tests.bench.decoding import SHAPES, TOKENS, Shape, build, source_of, traced

BART_BASE = Shape("BART-base", dict(d_model=768, num_layers=6, num_decoder_layers=6, num_heads=12, d_kv=64, d_ff=3072), 50265)
SIZES = (*SHAPES, BART_BASE)
SOURCE = 64
GROWN = ((64, 16), (64, 128), (64, 512), (256, 64), (1024, 64))  # source, target
PEER = "CTranslate2 float32"

Call = Callable[[list[int], int], list[int]]


def whole(loaded: Loaded) -> Call:
    """Our traced run, encoder included."""
    return lambda ids, tokens: traced(loaded, encode(loaded.model, loaded.sites, ids), tokens)


def plain(loaded: Loaded) -> Call:
    """`generate`, encoder included."""
    def call(ids: list[int], tokens: int) -> list[int]:
        loaded.model.set_attn_implementation("sdpa")
        try:
            given = torch.tensor([ids])
            options = dict(attention_mask=torch.ones_like(given), max_new_tokens=tokens, do_sample=False)
            return loaded.model.generate(given, **options)[0, 1:].tolist()
        finally:
            loaded.model.set_attn_implementation(NAME)
    return call


def sides(loaded: Loaded) -> dict[str, Call]:
    """Every side by its name, the peers first; those of CTranslate2 only where it is installed."""
    loaded.model.set_attn_implementation(NAME)
    found: dict[str, Call] = {"generate float32": plain(loaded)}
    for compute in ("float32", "int8"):
        if translate := translator(loaded, compute):
            found[f"CTranslate2 {compute}"] = lambda ids, tokens, translate=translate: translate(ids, tokens, 1)
    return found | {"ours float32": whole(loaded)} | {
        f"ours {name}": whole(lighter(loaded, name, f"{loaded.name}@{name}")) for name in PRECISIONS}


def timed(
    calls: dict[str, Call], ids: list[int], tokens: int, repeats: int,
) -> tuple[dict[str, list[float]], dict[str, list[int]]]:
    """Seconds of each side, turn by turn, and what it wrote; a first turn is not counted."""
    seconds: dict[str, list[float]] = {name: [] for name in calls}
    written = {}
    for turn in range(repeats + 1):
        for name, call in calls.items():
            began = time.perf_counter()
            written[name] = call(ids, tokens)
            seconds[name] += [time.perf_counter() - began][: bool(turn)]
    return seconds, written


def lines(repeats: int, quick: bool) -> Iterator[str]:
    """The whole part, a line as soon as it is measured."""
    sizes, tokens = (SIZES[:1], 8) if quick else (SIZES, TOKENS)
    yield f"A traced run, its peers, {SOURCE} tokens to {tokens}, encoder included; relative to {PEER} where there is one:"
    for shape in sizes:
        yield from sized(shape, tokens, repeats)
    yield "Growth of a traced run (T5-small), source and target tokens; relative to generate float32:"
    yield from grown(SHAPES[0] if quick else SHAPES[1], GROWN[:1] if quick else GROWN, repeats)


def sized(shape: Shape, tokens: int, repeats: int) -> Iterator[str]:
    """One size: every side beside the peer, with the bytes of its weights and how many tokens are those of float32."""
    loaded = build(shape, [SOURCE])
    calls, ids = sides(loaded), source_of(loaded, SOURCE)
    seconds, written = timed(calls, ids, tokens, repeats)
    base = PEER if PEER in calls else "generate float32"
    for name in calls:
        same = sum(a == b for a, b in zip(written[name], written["generate float32"], strict=True))
        yield (f"{shape.name:<9} {name:<20} {ratios(seconds[name], seconds[base])!s:<18} of {base} "
               f"({Spread.of(seconds[name]).middle:.2f} s), {same} of {tokens} tokens equal")
    if PEER not in calls:
        yield MISSING
    yield f"{shape.name:<9} weights of all products: {product_bytes(loaded.model) / 1e6:.1f} MB in float32"


def grown(shape: Shape, lengths: tuple[tuple[int, int], ...], repeats: int) -> Iterator[str]:
    """Ours beside generate at each pair of lengths."""
    loaded = build(shape, [source for source, _ in lengths])
    loaded.model.set_attn_implementation(NAME)
    for source, target in lengths:
        calls = {"generate": plain(loaded), "ours": whole(loaded)}
        seconds, written = timed(calls, source_of(loaded, source), target, repeats)
        same = sum(a == b for a, b in zip(written["ours"], written["generate"], strict=True))
        yield (f"{source:>6} -> {target:<4} {ratios(seconds['ours'], seconds['generate'])!s:<18} "
               f"({1000 * Spread.of(seconds['ours']).middle / target:.2f} ms a token), {same} of {target} tokens equal")
