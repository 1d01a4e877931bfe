"""Where the n-grams of an output stand in it and in its references: what BLEU counts, as places in the texts."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from core.metrics.bleu import chosen, tokens

Span = tuple[int, int]  # characters of a text: start, end
ORDERS = (1, 2, 3, 4)


@dataclass(frozen=True)
class Word:
    """A word as BLEU cuts it, and the characters start:end of the text that it came from."""

    text: str
    start: int
    end: int


@dataclass(frozen=True)
class Match:
    """An n-gram of an output. output, references: every place it has there, for each reference one tuple.

    counted: how often BLEU counts it, which is at most as often as the reference that has it most; 0 where none has it.
    """

    words: tuple[str, ...]
    output: tuple[Span, ...]
    references: tuple[tuple[Span, ...], ...]
    counted: int


def words(text: str, tokenizer: str, lowercase: bool = False) -> list[Word]:
    """The words of `text` with their places. tokenizer: a name of core.metrics.bleu.TOKENIZERS."""
    text = text.rstrip()  # as BLEU does, before anything else
    lowered = text.lower() if lowercase else text
    # One unit for each character that is scored: the character, its start and end in `text` (lower case may be longer).
    sizes = [len(character.lower()) if lowercase else 1 for character in text]
    places = [place for place, size in enumerate(sizes) for _ in range(size)]
    units = [(character, place, place + 1) for character, place in zip(lowered, places)]
    if tokenizer == "13a":
        for old, new in (("<skipped>", ""), ("-\n", ""), ("&quot;", '"'), ("&amp;", "&"), ("&lt;", "<"), ("&gt;", ">")):
            units = _replaced(units, old, new)
    units = [unit for unit in units if not unit[0].isspace()]
    found, at = [], 0
    for word in tokens(text, tokenizer, lowercase):
        own = units[at : at + len(word)]
        found.append(Word(word, own[0][1], own[-1][2]))
        at += len(word)
    return found


def matches(output: str, references: Sequence[str], tokenizer: str = "", lowercase: bool = False) -> list[Match]:
    """Every n-gram of `output`, n = 1 to 4, short ones first and in the order of the output; tokenizer: "" by script."""
    tokenizer = chosen(tokenizer, list(references) or [output])
    ours, theirs = words(output, tokenizer, lowercase), [words(text, tokenizer, lowercase) for text in references]
    found = []
    for n in ORDERS:
        sides = [_places(side, n) for side in theirs]
        for gram, spans in _places(ours, n).items():
            elsewhere = tuple(tuple(side.get(gram, ())) for side in sides)
            found.append(Match(gram, tuple(spans), elsewhere, min(len(spans), max(map(len, elsewhere), default=0))))
    return found


def counts(found: Sequence[Match]) -> tuple[tuple[int, int], ...]:
    """(counted, all) n-grams for each of ORDERS: BLEU's own counts and totals."""
    counted, total = Counter(), Counter()
    for match in found:
        counted[len(match.words)] += match.counted
        total[len(match.words)] += len(match.output)
    return tuple((counted[n], total[n]) for n in ORDERS)


def _places(side: Sequence[Word], n: int) -> dict[tuple[str, ...], list[Span]]:
    found: dict[tuple[str, ...], list[Span]] = {}
    for at in range(len(side) - n + 1):
        part = side[at : at + n]
        found.setdefault(tuple(word.text for word in part), []).append((part[0].start, part[-1].end))
    return found


def _replaced(units: list, old: str, new: str) -> list:
    """As str.replace, on units: what comes in has the place of all that goes."""
    text, found, at = "".join(unit[0] for unit in units), [], 0
    while (next_ := text.find(old, at)) >= 0:
        found += units[at:next_]
        at = next_ + len(old)
        found += [(character, units[next_][1], units[at - 1][2]) for character in new]
    return found + units[at:]
