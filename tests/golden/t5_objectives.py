"""t5_objectives.json: masks and fills of T5's other objectives on one text; what is drawn is checked by its rule."""

from collections import Counter
from pathlib import Path

import numpy as np

from core.noise import objectives as t5
from core.noise.spans import with_sentinels
from tests.golden import Report, differs

SEEDS = 2000


def check_t5_objectives(data: dict, folder: Path, report: Report) -> None:
    """Every list and table of the file; the fills need its tokens and mask."""
    first, tokens, mask = data.get("sentinel0", 32099), data.get("tokens"), data.get("mask")
    if tokens and mask:
        noise = np.array(mask, bool)
        fills = {
            "noise_token_to_sentinel": lambda: t5.token_to_sentinel(tokens, noise, first),
            "noise_span_to_sentinel": lambda: t5.span_to_sentinel(tokens, noise, first),
            "noise_span_to_unique_sentinel": lambda: with_sentinels(tokens, noise, first),
            "nonnoise_span_to_sentinel": lambda: t5.span_to_sentinel(tokens, ~noise, first),
            "nonnoise_span_to_unique_sentinel": lambda: with_sentinels(tokens, ~noise, first),
            "drop_noise_tokens": lambda: t5.dropped(tokens, noise),
            "drop_nonnoise_tokens": lambda: t5.dropped(tokens, ~noise),
        }
        for name, fill in fills.items():
            if name in data:
                report.case(name, _same, fill, data[name])
        if "permute_noise_tokens_invariant" in data:
            report.case("permute_noise_tokens", _permuted, tokens, noise)
        if "random_or_sentinel_random_fraction_300_seeds" in data:
            report.case("random_or_sentinel", _random, tokens, noise, first, data["random_or_sentinel_random_fraction_300_seeds"])
        if "prefix_lm_len3" in data:
            report.case("prefix_lm_len3", _prefix, tokens, data["prefix_lm_len3"])
    for name in (key for key in data if key.startswith("prefix_lengths_density_")):
        for length, found in data[name].items():
            report.case(f"{name} {length}", _lengths, int(length), float(name.rpartition("_")[2]), found)
    for index, case in enumerate(data.get("regular_examples", [])):
        report.case(f"regular_examples {index}", _regular, case)
    iid = data.get("iid", {})
    if "mean_density_2000x5" in iid:
        report.case("iid mean_density", _density, iid["mean_density_2000x5"])
    if "edge" in iid:
        report.case("iid edge", _empty, iid["edge"])


def _same(fill, wanted: list[int]) -> str | None:
    found = fill()
    return None if found == wanted else f"{found} instead of {wanted}"


def _permuted(tokens: list[int], noise: np.ndarray) -> str | None:
    """The multiset is kept, clean positions do not change, and some seed changes the others."""
    draws = [t5.permuted(tokens, noise, np.random.default_rng(seed)) for seed in range(20)]
    for out in draws:
        if Counter(out) != Counter(tokens) or [o for o, n in zip(out, noise) if not n] != t5.dropped(tokens, noise):
            return f"{out} of {tokens}"
    return None if any(out != tokens for out in draws) or noise.sum() < 2 else "nothing ever moves"


def _random(tokens: list[int], noise: np.ndarray, first: int, share: float) -> str | None:
    """A tenth of the noise is random, at any number of seeds; the rest is the sentinel."""
    random = 0
    for seed in range(SEEDS):
        out = t5.random_or_sentinel(tokens, noise, first, lambda k: -1, 0.1, np.random.default_rng(seed))
        random += out.count(-1)
        kept, hidden = [o for o, n in zip(out, noise) if not n], out.count(-1) + out.count(first)
        if kept != t5.dropped(tokens, noise) or hidden != noise.sum():
            return f"{out} of {tokens}"
    return differs("the random share", random / (SEEDS * int(noise.sum())), share, 0.05)


def _prefix(tokens: list[int], case: dict) -> str | None:
    noise = np.arange(len(tokens)) < len(case["inputs"])
    found = {"inputs": t5.dropped(tokens, ~noise), "targets": t5.dropped(tokens, noise)}
    return None if found == case else f"{found} instead of {case}"


def _lengths(length: int, density: float, wanted: list[int]) -> str | None:
    low, high = t5.prefix_range(length, density)
    found = [*range(low, high + 1)]
    return None if found == wanted else f"{found} instead of {wanted}"


def _regular(case: list[int]) -> str | None:
    """The file does not say which span and offset were drawn: one of those that can be must give it, at density 0.25."""
    for span in range(1, 6):
        for offset in range(round(span / 0.25)):
            if t5.regular_mask(len(case), 0.25, span, offset).tolist() == [bool(x) for x in case]:
                return None
    return "no span and offset give this mask"


def _density(theirs: list[float]) -> str | None:
    found = [float(t5.iid_mask(5, 0.15, np.random.default_rng(seed)).mean()) for seed in range(SEEDS)]
    return differs("the density", [float(np.mean(found))] * len(theirs), theirs, 0.03)


def _empty(edge: dict) -> str | None:
    empty = np.mean([not t5.iid_mask(4, 0.15, np.random.default_rng(seed)).any() for seed in range(SEEDS)])
    return differs("the share of empty masks", float(empty), edge["theory"], 0.04)
