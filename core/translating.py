"""Many texts under one to three settings, a decoder step at a time; then scored, tested and put into one record."""

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

import numpy as np

from core.batches import side_by_side
from core.corpus_result import MOST_SYSTEMS, NAMES, CorpusResult, System
from core.errors import InputError, TwoStacksError
from core.metrics.corpus import Corpus
from core.metrics.coverage import coverage
from core.metrics.report import INTERVALS, PATIENCE, Report, report
from core.metrics.significance import paired
from core.models import Models
from core.runs import Run, run
from core.settings import Settings

OWN = {"log P": "nats", "tokens": "", "gaps": "source tokens"}  # numbers of each text beside its scores -> unit
NOTED = 5  # texts that are named one by one


@dataclass(frozen=True)
class Written:
    """What one setting made of one text. numbers: those of OWN; why: nothing was written, and the reason."""

    text: str
    numbers: tuple[float, ...]
    why: str = ""


Line = tuple[Written, ...]  # what each setting made of one text


class Translating(Iterator[Line | None]):
    """Each `next` is one decoder step of all settings on one text, or, at a text's end, what each of them wrote.

    A text that cannot be read is passed over with an empty output. `result` scores what there is.

    lines: what the texts became, in their order, where they are made in other processes; None between them is a look at these.
    where: device and dtype there, once the first line has come.
    """

    def __init__(
        self, settings: Sequence[Settings], corpus: Corpus, registry: Models, lines: Iterator[Line | None] | None = None,
        where: Mapping[str, Any] | None = None,
    ):
        if not 1 <= len(settings) <= MOST_SYSTEMS:
            raise InputError(f"{len(settings)} settings are chosen; choose 1 to {MOST_SYSTEMS}.")
        if not corpus.sources:
            raise InputError("There is no source to read; at least one line is needed.")
        if corpus.references and len(corpus.references[0]) != len(corpus.sources):
            raise InputError(f"There are {len(corpus.sources)} sources and {len(corpus.references[0])} lines of references; each "
                             "source needs its own line, or give none.")
        self.settings, self.corpus, self.registry = [replace(one, text="") for one in settings], corpus, registry
        self.loaded = registry.load(settings[0].model)
        self.lines: list[Line] = []
        self.elsewhere, self._where = lines is not None, where or {}
        self._began = time.monotonic()
        self._going = lines or written(self.settings, corpus.sources, registry)

    def __next__(self) -> Line | None:
        line = next(self._going)
        if line is not None:
            self.lines.append(line)
        return line

    def close(self) -> None:
        self._going.close()

    def result(self, names: Sequence[str], tokenizer: str, more: Sequence[str] = ()) -> Iterator[float | CorpusResult]:
        """How far the scoring is, 0..1, and at last the record, of the texts that are written. more: notes to add."""
        count, seconds = len(self.lines), time.monotonic() - self._began
        if not count:
            raise InputError("No text was written before this was stopped, so there is nothing to score.")
        sources = self.corpus.sources[:count]
        references = tuple(side[:count] for side in self.corpus.references)
        outputs = [tuple(line[at].text for line in self.lines) for at in range(len(self.settings))]
        reports: list[Report] = []
        for at, texts in enumerate(outputs):
            for found in report(Corpus(sources, texts, references), names, tokenizer, PATIENCE / len(outputs), 0):
                if isinstance(found, float):
                    yield (at + found) / len(outputs)
                else:
                    reports.append(found)
        yield 1.0
        metrics = [name for name in INTERVALS if name in names] or list(INTERVALS)
        tests = paired(dict(zip(NAMES, outputs)), *references, metrics=metrics, tokenizer=tokenizer) if references else []
        values, units = self._values(reports)
        yield CorpusResult(
            tuple(System(one, texts, found.scores) for one, texts, found in zip(self.settings, outputs, reports, strict=True)),
            self.loaded.fingerprint, sources, references, values, units, tuple(tests), self._notes(reports, more), {
                "device": str(self.loaded.device), "dtype": str(self.loaded.dtype).removeprefix("torch."), **self._where,
                "seconds": round(seconds, 3), "at": datetime.now(UTC).isoformat(timespec="seconds"),
            })

    def _values(self, reports: list[Report]) -> tuple[dict[str, np.ndarray], dict[str, str]]:
        """(name -> (systems, texts), name -> unit)."""
        values = {name: np.array([[np.nan if row.values[name] is None else row.values[name] for row in each.rows]
                                  for each in reports], np.float32) for name in reports[0].rows[0].values}
        for at, name in enumerate(OWN):
            values[name] = np.array([[line[system].numbers[at] for line in self.lines] for system in range(len(reports))],
                                    np.float32)
        units = {score.name: score.unit for score in reports[0].scores}
        return values, {name: units.get(name, OWN.get(name, "")) for name in values}

    def _notes(self, reports: list[Report], more: Sequence[str]) -> tuple[str, ...]:
        left = [f"Text {line} was not read: {each[0].why}" for line, each in enumerate(self.lines, 1) if each[0].why]
        if len(left) > NOTED:
            left = [*left[:NOTED], f"{len(left) - NOTED} more texts were not read either; their outputs are empty."]
        found = (*more, *left, *(note for each in reports for note in each.left_out))
        return tuple(dict.fromkeys(found))


def written(settings: Sequence[Settings], sources: Sequence[str], registry: Models) -> Iterator[Line | None]:
    """None for each decoder step of all settings on one text; at each text's end what they wrote."""
    for text in sources:
        try:
            runs = [run(replace(one, text=text), registry) for one in settings]
            for _ in side_by_side(runs):
                yield None
            line = tuple(map(_written, runs))
        except TwoStacksError as error:
            line = (Written("", (np.nan,) * len(OWN), str(error)),) * len(settings)
        yield line


def _written(going: Run) -> Written:
    trace = going.trace()
    weights = trace.path().mean((0, 1)) if trace.path().size else np.zeros((0, len(trace.source)))
    gaps = float(len(coverage(weights).gaps())) if len(weights) else np.nan
    return Written(trace.text, (float(sum(place.logprob for place in trace.line())), float(len(trace.target)), gaps))
