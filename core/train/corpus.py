"""Text from a folder, and pairs of token ids cut into length-bucketed batches."""

import gzip
import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import torch

from core.train.forcing import IGNORED


def read_lines(folder: Path, split: str, language: str) -> list[str]:
    """Lines of `<split>.<language>` or its `.gz`, without line ends."""
    for name, opener in ((f"{split}.{language}", open), (f"{split}.{language}.gz", gzip.open)):
        path = folder / name
        if path.exists():
            with opener(path, "rt", encoding="utf-8") as file:
                return [line.strip() for line in file]
    raise FileNotFoundError(f"neither {split}.{language} nor {split}.{language}.gz is in {folder}")


@dataclass(frozen=True)
class Pair:
    """One training pair as token ids, both ending in eos."""

    source: list[int]
    target: list[int]


def batches(pairs: list[Pair], batch_tokens: int, rng: random.Random) -> Iterator[list[Pair]]:
    """Every pair once, similar lengths together, at most `batch_tokens` padded source + target tokens a batch."""
    # A little noise on the length, so that a pair does not meet the same neighbours every epoch.
    order = sorted(pairs, key=lambda p: (len(p.source) + len(p.target)) + rng.uniform(-2, 2))
    groups, group, longest = [], [], (0, 0)
    for pair in order:
        wider = max(longest[0], len(pair.source)), max(longest[1], len(pair.target))
        if group and sum(wider) * (len(group) + 1) > batch_tokens:
            groups.append(group)
            group, wider = [], (len(pair.source), len(pair.target))
        group, longest = [*group, pair], wider
    if group:
        groups.append(group)
    rng.shuffle(groups)
    yield from groups


def collate(pairs: list[Pair], pad: int) -> dict[str, torch.Tensor]:
    """input_ids and attention_mask (batch, source), labels (batch, target); padded labels are -100."""
    def padded(rows: list[list[int]], fill: int) -> torch.Tensor:
        width = max(map(len, rows))
        return torch.tensor([row + [fill] * (width - len(row)) for row in rows])

    sources = [pair.source for pair in pairs]
    return {
        "input_ids": padded(sources, pad),
        "attention_mask": padded([[1] * len(row) for row in sources], 0),
        "labels": padded([pair.target for pair in pairs], IGNORED),
    }
