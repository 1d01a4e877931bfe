"""Scores of a corpus and of each of its texts, with intervals; made in slices of time, so that it can be watched and stopped."""

import csv
import io
import json
import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace

from core.metrics import METRICS, WITHOUT_REFERENCES, bound, rouge, scores, ter
from core.metrics.corpus import Corpus
from core.metrics.score import Score, checked, empty_notes
from core.metrics.significance import Tested, paired

SLOW = ("TER", "ROUGE-L", "ROUGE-Lsum")  # their time grows with the square of a text's length and more
SLICE = 0.2  # seconds between two reports of how far it is
PATIENCE = 30.0  # seconds of this thread for the slow scores; a text that was not reached has none
TER_WORDS = 100  # of one text; at most: 100 words that repeat themselves took 5 s, 300 took 22 s
INTERVALS = ("BLEU", "chrF2")
SAMPLES = 1000


@dataclass(frozen=True)
class Row:
    """One text: its number from 1, what it was, and score -> value; None where there was no time for it."""

    line: int
    source: str
    output: str
    references: tuple[str | None, ...]
    values: dict[str, float | None]


@dataclass(frozen=True)
class Report:
    """scores: of the corpus; rows: of each text; intervals: of INTERVALS; left_out: a sentence for each score without time."""

    scores: tuple[Score, ...]
    rows: tuple[Row, ...]
    intervals: tuple[Tested, ...] = ()
    left_out: tuple[str, ...] = ()

    def to_json(self) -> str:
        """All of it, one object."""
        return json.dumps(asdict(self), ensure_ascii=False, indent=1)

    def to_csv(self) -> str:
        """A line for each text, after a line of names."""
        names = list(self.rows[0].values) if self.rows else []
        several = len(self.rows[0].references) if self.rows else 0
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(["line", "source", "output", *(f"reference{k}" for k in range(1, several + 1)), *names])
        for row in self.rows:
            texts = (row.source, row.output, *(reference or "" for reference in row.references))
            values = ("" if value is None else f"{value:.4f}" for value in row.values.values())
            writer.writerow([row.line, *map(_harmless, texts), *values])
        return text.getvalue()


def report(
    corpus: Corpus, names: Sequence[str] = tuple(METRICS), tokenizer: str = "", patience: float = PATIENCE,
    samples: int = SAMPLES,
) -> Iterator[float | Report]:
    """How far it is, 0..1, about five times a second, and at last the Report. tokenizer: "" by the script of the corpus.

    Options that follow from the texts (tokenisers, normalisation) are those of the whole corpus for each text too.
    InputError for unusable input.
    """
    outputs, references = list(corpus.outputs), [list(side) for side in corpus.references]
    checked(outputs, references, needed=False)
    wanted, too_long = _possible(names, outputs, references)
    alone = _Alone(bound(wanted, tokenizer, outputs, *references), patience)
    rows, spoken = [], time.monotonic()
    for line, (output, *own) in enumerate(zip(outputs, *references), 1):
        source = corpus.sources[line - 1] if corpus.sources else ""
        rows.append(Row(line, source, output, tuple(own), alone.values(output, own)))
        if time.monotonic() - spoken > SLICE:
            yield line / len(outputs)
            spoken = time.monotonic()
    quick = scores(outputs, *references, names=[name for name in wanted if name not in SLOW], tokenizer=tokenizer)
    found = {score.name: score for score in quick} | alone.together(outputs, references)
    left_out = [f"{name} needs more than {patience:g} s for these texts; {len(alone.made[name])} of {len(outputs)} have it."
                for name in wanted if name not in found]
    tested = [name for name in INTERVALS if name in found] if references and samples else []
    intervals = paired({"": outputs}, *references, metrics=tested, samples=samples, tokenizer=tokenizer) if tested else []
    yield Report(tuple(found[name] for name in wanted if name in found), tuple(rows), tuple(intervals), (*too_long, *left_out))


class _Alone:
    """Each text by itself: the slow scores as long as there is time, and in the end put together to those of the corpus."""

    def __init__(self, metrics: dict[str, Callable[..., Score]], patience: float):
        self.metrics, self.left = metrics, patience
        self.made: dict[str, list[Score]] = {name: [] for name in metrics}

    def values(self, output: str, references: Sequence[str | None]) -> dict[str, float | None]:
        """Score -> value of one text."""
        found: dict[str, float | None] = {}
        for name, metric in self.metrics.items():
            found[name] = None
            if name in SLOW and self.left < 0:
                continue
            began = time.thread_time()
            score = metric([output], *[[reference] for reference in references])
            # the first text has to load a library, too: that is not counted
            self.left -= (time.thread_time() - began) * (name in SLOW and bool(self.made[name]))
            self.made[name].append(score)
            found[name] = score.value
        return found

    def together(self, outputs: Sequence[str], references: Sequence[Sequence[str | None]]) -> dict[str, Score]:
        """The slow scores of the corpus, those that every text has: TER adds up edits and words, ROUGE is a mean."""
        found = {}
        for name, each in self.made.items():
            if name in SLOW and len(each) == len(outputs):
                said = () if name == "TER" else rouge.chosen("", outputs, *references)[1]
                found[name] = _together(name, each, said + empty_notes(outputs, references))
        return found


def _possible(
    names: Sequence[str], outputs: Sequence[str], references: Sequence[Sequence[str | None]],
) -> tuple[list[str], list[str]]:
    """(scores that can be made, in the registry's order; why TER is none of them)."""
    wanted = [name for name in METRICS if name in names and (references or name in WITHOUT_REFERENCES)]
    apart = ter.spaceless(*references)
    for line, texts in enumerate(zip(outputs, *references), 1):
        words = max(len("".join(text.split()) if apart else text.split()) for text in texts if text is not None)
        if "TER" in wanted and words > TER_WORDS:
            wanted.remove("TER")
            return wanted, [f"TER is left out: text {line} has {words} words, and its time grows with more than their square; "
                            f"at most {TER_WORDS}."]
    return wanted, []


def _together(name: str, each: Sequence[Score], notes: tuple[str, ...]) -> Score:
    """A score of the corpus from those of its texts."""
    signature = each[0].signature
    if len({score.signature for score in each}) > 1:  # texts differ in how many references they have
        signature = re.sub(r"nrefs:\d+", "nrefs:var", signature)
    if name != "TER":
        return replace(each[0], value=sum(score.value for score in each) / len(each), signature=signature, notes=notes)
    edits, words = (sum(getattr(score, part)[0] for score in each) for part in ("counts", "totals"))
    value = 100 * edits / words if words else 100.0 * bool(edits)
    return replace(each[0], value=value, signature=signature, counts=(edits,), totals=(words,), notes=notes)


def _harmless(text: str) -> str:
    """A leading sign that a spreadsheet would take for a formula is quoted."""
    return "'" + text if text[:1] in ("=", "+", "-", "@", "\t", "\r") else text
