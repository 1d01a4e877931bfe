"""One text as every relative reads it: pieces of one vocabulary, cut into two parts, and three ids that BERT needs."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from core.errors import InputError
from core.examples import OWN
from core.fields import shown
from core.noise import NOISES, Corruption, Units, corrupt, units
from core.settings import MAX_CHARACTERS
from core.text import usable

EXTRA = ("[CLS]", "[SEP]", "[MASK]")  # ids behind the vocabulary's own, in this order
MOST_PIECES = 32
ENDS = ".!?…。！？"
OTHERS = 3  # sentences of ours that stand beside the person's: foreign second parts, negatives
MOST_SEED = 2**32 - 1


@dataclass(frozen=True)
class Reading:
    """units: the text, with a mask token added. first: pieces of its first part. alone: one sentence, cut in its middle.

    others: two parts each, ids. rows: ids that a model of this vocabulary has a row for. seed: of noises and draws.
    """

    units: Units
    first: int
    alone: bool
    others: tuple[tuple[list[int], list[int]], ...]
    rows: int
    seed: int

    @property
    def cls(self) -> int:
        return self.rows - len(EXTRA)

    @property
    def sep(self) -> int:
        return self.rows - len(EXTRA) + 1

    @property
    def mask(self) -> int:
        return self.rows - len(EXTRA) + 2

    @property
    def parts(self) -> tuple[list[int], list[int]]:
        """Ids of the two parts."""
        return self.units.ids[: self.first], self.units.ids[self.first :]

    def name(self, id: int) -> str:
        """The display text of any id."""
        return EXTRA[id - self.cls] if id >= self.cls else self.units.names(id)

    def noised(self, name: str, **settings: Any) -> Corruption:
        """The text under one of core.noise's noises, by the paper where paper and code differ."""
        return corrupt(self.units, NOISES[name].usual(seed=self.seed, mode="paper", **settings))


def read(tokenizer: Any, text: str, seed: int = 0) -> Reading:
    """A text's reading; InputError for one that is empty, too long, or a single piece."""
    if not isinstance(text, str) or len(text) > MAX_CHARACTERS:
        raise InputError(f"The text must be a text of at most {MAX_CHARACTERS:,} characters.")
    if type(seed) is not int or not 0 <= seed <= MOST_SEED:
        raise InputError(f"The seed is {shown(seed)}; it must be a whole number from 0 to {MOST_SEED:,}.")
    found = units(tokenizer, usable(text), MOST_PIECES + 1)
    if len(found.body) < 2:
        raise InputError("The text is a single piece of the vocabulary; two are needed. Write at least two words.")
    rows = found.rows + len(EXTRA)
    found = replace(found, mask=rows - 1)
    first, alone = _cut(found)
    others = []
    for row in OWN[:OTHERS]:
        other = units(tokenizer, row["en"], MOST_PIECES + 1)
        at, _ = _cut(other)
        others.append((other.ids[:at], other.ids[at:]))
    return Reading(found, first, alone, tuple(others), rows, seed)


def _cut(found: Units) -> tuple[int, bool]:
    """(pieces of the first sentence, False), or of the first half of the words where there is one sentence, and True."""
    texts = [token.text for token in found.body]
    for at, text in enumerate(texts[:-1], 1):
        if text[-1:] in ENDS and found.starts[at]:
            return at, False
    starts = [at for at, start in enumerate(found.starts) if start and at] or list(range(1, len(texts)))
    return min(starts, key=lambda at: abs(at - len(texts) / 2)), True


@dataclass(frozen=True)
class Fed:
    """One row as a model reads it: ids (tokens,), segments (tokens,). labels (tokens,): what is to be predicted at
    each place, -100 where nothing is."""

    ids: list[int]
    segments: list[int]
    labels: list[int]


IGNORED = -100  # torch's label for a place that is not scored


def joined(reading: Reading, first: Sequence[int], second: Sequence[int], labels: Sequence[int] | None = None) -> Fed:
    """[CLS] first [SEP] second [SEP]; labels: of first and second, one after the other."""
    ids = [reading.cls, *first, reading.sep, *second, reading.sep]
    given = list(labels) if labels is not None else [IGNORED] * (len(first) + len(second))
    scored = [IGNORED, *given[: len(first)], IGNORED, *given[len(first) :], IGNORED]
    return Fed(ids, [0] * (len(first) + 2) + [1] * (len(second) + 1), scored)


def alone(reading: Reading, part: Sequence[int]) -> Fed:
    """[CLS] part [SEP]."""
    return Fed([reading.cls, *part, reading.sep], [0] * (len(part) + 2), [IGNORED] * (len(part) + 2))


def masked(reading: Reading, random_share: float, keep_share: float) -> tuple[Fed, dict[str, int]]:
    """Both parts under BERT's masking, with the labels; and how many of the chosen are masked, random and unchanged."""
    noise = reading.noised("bert", random_share=random_share, keep_share=keep_share)
    body = slice(reading.units.head, len(noise.corrupted) - reading.units.tail)
    ids = [token.id for token in noise.corrupted[body]]
    chosen = [span >= 0 for span in noise.corrupted_span[body].tolist()]
    labels = [id if hidden else IGNORED for id, hidden in zip(reading.units.ids, chosen, strict=True)]
    same = [new == old for new, old in zip(ids, reading.units.ids, strict=True)]
    counts = {"chosen": sum(chosen), "masked": ids.count(reading.mask), "kept": sum(c and s for c, s in zip(chosen, same))}
    counts["random"] = counts["chosen"] - counts["masked"] - counts["kept"]
    return joined(reading, ids[: reading.first], ids[reading.first :], labels), counts
