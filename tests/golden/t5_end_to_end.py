"""t5_end_to_end.json: one long text cut, corrupted and closed. Its draws are random; lengths and splicing are not."""

from pathlib import Path

import numpy as np

from core.noise.packing import raw_length, segments, with_eos
from core.noise.spans import corrupt, spans_mask
from tests.golden import Report

DENSITY, MEAN, EOS, FIRST, SEEDS = 0.15, 3.0, 1, 32099, 5


def check_t5_end_to_end(data: dict, folder: Path, report: Report) -> None:
    """The lengths from the helper, the rows of our own draws, and the file's rows from the masks they imply."""
    tokens = _tokens(data.get("tokens", "100..599"))
    sizes = data.get("sequence_length", {"inputs": 64, "targets": 20})
    raw, targets = raw_length(sizes["inputs"], DENSITY, MEAN)
    pieces = segments(tokens, raw)
    for name, found in (("segment_length", raw), ("helper_targets_length", targets), ("rows", len(pieces))):
        if name in data:
            report.case(name, _equal, found, data[name])
    if "lengths_with_eos" in data:
        report.case("lengths_with_eos", _lengths, pieces, sizes, data["lengths_with_eos"])
    if "reconstructs_original" in data:
        report.case("reconstructs_original", _restored, pieces, sizes, tokens, data["reconstructs_original"])
    for name, piece in (("first_row", pieces[0]), ("last_row", pieces[-1])):
        if name in data:
            report.case(name, _row, data[name], piece, sizes)


def _tokens(said: str | list[int]) -> list[int]:
    """A list, or "first..last"."""
    if isinstance(said, list):
        return said
    first, last = map(int, said.split(".."))
    return [*range(first, last + 1)]


def _equal(found: object, wanted: object) -> str | None:
    return None if found == wanted else f"{found} instead of {wanted}"


def _closed(piece: list[int], mask: np.ndarray, sizes: dict) -> tuple[list[int], list[int]]:
    inputs, targets = corrupt(piece, mask, FIRST)
    return with_eos(inputs, EOS, sizes["inputs"]), with_eos(targets, EOS, sizes["targets"])


def _drawn(pieces: list[list[int]], sizes: dict, seed: int) -> list[tuple[list[int], list[int]]]:
    rng = np.random.default_rng(seed)
    return [_closed(piece, spans_mask(len(piece), DENSITY, MEAN, rng), sizes) for piece in pieces]


def _lengths(pieces: list[list[int]], sizes: dict, wanted: list) -> str | None:
    for seed in range(SEEDS):
        found = sorted({(len(inputs), len(targets)) for inputs, targets in _drawn(pieces, sizes, seed)})
        if found != sorted(map(tuple, wanted)):
            return f"{found} instead of {wanted}"
    return None


def spliced(inputs: list[int], targets: list[int]) -> list[int]:
    """The text again: each sentinel of `inputs` replaced by what follows the same one in `targets`; no eos."""
    parts, current = {}, None
    for token in targets[:-1]:
        if token > FIRST - 100:
            current = token
            parts[current] = []
        else:
            parts[current].append(token)
    return [token for token in inputs[:-1] for token in (parts[token] if token > FIRST - 100 else [token])]


def _restored(pieces: list[list[int]], sizes: dict, tokens: list[int], wanted: bool) -> str | None:
    for seed in range(SEEDS):
        found = [token for row in _drawn(pieces, sizes, seed) for token in spliced(*row)]
        if (found == tokens) is not wanted:
            return f"seed {seed}: {len(found)} tokens that are not the text"
    return None


def _row(row: dict, piece: list[int], sizes: dict) -> str | None:
    """The mask is read off the row's inputs; from it our functions must give the row."""
    mask = np.array([token not in row["inputs"] for token in piece])
    return _equal(_closed(piece, mask, sizes), (row["inputs"], row["targets"]))
