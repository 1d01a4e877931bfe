"""Word alignments read off cross-attention, and how far they are from alignments made by hand."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from core.forced import force
from core.models.families import prefix_for
from core.shapes import Floats

WORD = re.compile(r"\w+|[^\w\s]")
Links = frozenset[tuple[int, int]]  # (source word, target word)


@dataclass(frozen=True)
class Aligned:
    """A sentence pair whose words (`WORD`) a person has linked."""

    source: str
    target: str
    links: Links

    @classmethod
    def read(cls, path: Path, source: str = "en", target: str = "de") -> list["Aligned"]:
        """A JSON list of {source language: text, target language: text, "pairs": "0-0 1-2"}."""
        rows = json.loads(path.read_text(encoding="utf-8"))
        return [cls(row[source], row[target], links_of(row["pairs"])) for row in rows]


@dataclass(frozen=True, eq=False)
class AlignmentErrors:
    """Alignment error rates (layers, heads), and of the mean over heads (layers,): 0 all right, 1 all wrong."""

    heads: Floats
    means: Floats
    sentences: int

    @property
    def best(self) -> tuple[int, int]:
        """(layer, head) with the lowest rate, both counted from 0."""
        layer, head = np.unravel_index(self.heads.argmin(), self.heads.shape)
        return int(layer), int(head)

    def lines(self) -> list[str]:
        """A sentence a layer."""
        return [
            f"layer {layer + 1}: AER = {row.min():.3f} of its best head, {row.argmin() + 1}; {mean:.3f} of the mean of its heads"
            f"  sentences:{self.sentences}|links:sure|argmax per target word"
            for layer, (row, mean) in enumerate(zip(self.heads, self.means, strict=True))
        ]


def links_of(pairs: str) -> Links:
    """"0-0 1-2" as a set of (source word, target word)."""
    return frozenset((int(i), int(j)) for i, _, j in (pair.partition("-") for pair in pairs.split()))


def error_rate(found: Sequence[Links], true: Sequence[Links]) -> float:
    """1 − 2|A ∩ S| / (|A| + |S|) over all sentences together; all links by hand are sure ones.

    Source: Och and Ney 2003, with P = S. NaN where neither side has a link.
    """
    both = sum(len(a & s) for a, s in zip(found, true, strict=True))
    total = sum(map(len, found)) + sum(map(len, true))
    return 1 - 2 * both / total if total else float("nan")


def pooling(text: str, offsets: Sequence[tuple[int, int]], start: int = 0) -> np.ndarray:
    """(words, tokens): 1 where the token, at characters `offsets` of a prefix of length `start` and `text`, is of the word.

    A token that touches several words is of the first one; eos, the prefix and lone spaces are of none.
    """
    words = [match.span() for match in WORD.finditer(text)]
    belongs = np.zeros((len(words), len(offsets)))
    for token, (first, last) in enumerate(offsets):
        touched = [k for k, (a, b) in enumerate(words) if max(first - start, a) < min(last - start, b)]
        if touched:
            belongs[touched[0], token] = 1
    return belongs


def word_links(weights: np.ndarray, source: np.ndarray, target: np.ndarray) -> Links:
    """The source word that each target word looks at most.

    weights (target, source); source and target are `pooling`s. Columns of a word are summed, rows averaged.
    """
    rows = target / np.maximum(target.sum(1, keepdims=True), 1)
    words = rows @ weights @ source.T
    return frozenset((int(row.argmax()), j) for j, row in enumerate(words) if row.size and row.any())


def alignment_errors(loaded, task: str, pairs: Sequence[Aligned]) -> AlignmentErrors:
    """The references of `pairs` written by force under `task`; every head's argmax alignment against the hand-made one.

    Row t of the attention is that of the step which writes token t.
    """
    prefix, tokenizer = prefix_for(loaded, task), loaded.tokenizer
    shape = loaded.cross_shape
    found: dict[tuple[int, int], list[Links]] = {(k, h): [] for k in range(shape[0]) for h in range(-1, shape[1])}
    for pair in pairs:
        read = tokenizer(prefix + pair.source, return_offsets_mapping=True)
        written = tokenizer(text_target=pair.target, return_offsets_mapping=True)
        weights = force(loaded, read["input_ids"], written["input_ids"]).cross_weights
        source = pooling(pair.source, read["offset_mapping"], len(prefix))
        target = pooling(pair.target, written["offset_mapping"])
        for (layer, head), links in found.items():
            chosen = weights[layer].mean(0) if head < 0 else weights[layer, head]
            links.append(word_links(chosen, source, target))
    true = [pair.links for pair in pairs]
    rates = np.array([[error_rate(found[k, h], true) for h in range(-1, shape[1])] for k in range(shape[0])])
    return AlignmentErrors(rates[:, 1:], rates[:, 0], len(pairs))
