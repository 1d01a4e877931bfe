"""A scored corpus as what the page draws: every text, its numbers by setting, the scores of the whole, tests."""

from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any

import numpy as np

from app.sentences import translated
from core.corpus_result import NAMES, CorpusResult
from core.metrics.score import ONE
from core.settings import Settings

DIGITS = {"log P": 3, "tokens": 0, "gaps": 0}  # after the point, of numbers that are no score


def pack(result: CorpusResult) -> dict[str, Any]:
    """What the table draws and exports."""
    lower = {score.name for one in result.systems for score in one.scores if score.lower_is_better}
    kept = ("name", "unit", "signature", "tokenizer", "notes")
    return {
        "kind": "corpus", "model": result.settings.model, "made": result.made,
        "systems": [{"name": name, "how": translated(one.how), "settings": one.settings.to_json(),
                     "scores": [{part: getattr(score, part) for part in kept} | {"value": round(score.value, 4)}
                                for score in one.scores]}
                    for name, one in zip(NAMES, result.systems)],
        "rows": rows(result.sources, result.references, [one.outputs for one in result.systems]),
        "measures": [{"name": name, "unit": result.units.get(name, ""), "lower": name in lower,
                      "digits": DIGITS.get(name, 4 if result.units.get(name) == ONE else 2),
                      "values": [[None if np.isnan(x) else round(float(x), 4) for x in system] for system in array]}
                     for name, array in result.values.items()],
        "tests": [asdict(test) for test in result.tests], "notes": list(map(translated, result.notes)),
    }


def rows(
    sources: Sequence[str], references: Sequence[Sequence[str | None]], outputs: Sequence[Sequence[str]], first: int = 1,
) -> list[list[Any]]:
    """[number, source, references, outputs] of each text, from number `first` on."""
    return [[first + at, source, [side[at] for side in references if side[at] is not None], [texts[at] for texts in outputs]]
            for at, source in enumerate(sources)]


def told(result: CorpusResult) -> dict[str, Any]:
    """The same in a sentence with its scores, their intervals and tests, for a session that is looked at again."""
    tests = {(test.system, test.metric): test for test in result.tests}
    notes = []
    for name, one in zip(NAMES, result.systems):
        for score in one.scores:
            test = tests.get((name, score.name))
            tested = "" if test is None else f", 95 % interval {test.mean:.2f} ± {test.half:.2f}, {test.verdict}"
            notes.append(f"{name} {score.name} = {score.value:.2f} ({score.unit}){tested} · {score.signature}")
    warnings = dict.fromkeys(test.warning for test in result.tests if test.warning)
    return {"kind": "found", "sentence": result.sentence, "lines": [], "notes": [*notes, *warnings, *result.notes]}


def line_of(data: object) -> Settings:
    """The settings of one text under one system, as the table tells them; everything is checked."""
    told = data if isinstance(data, dict) else {}
    settings, text = told.get("settings"), told.get("text")
    return replace(Settings.from_json(settings if isinstance(settings, str) else "")[0], text=text)
