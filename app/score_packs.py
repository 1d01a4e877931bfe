"""A report of scores, and the n-gram matches of one text, as what the scores tab draws."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from core.metrics import bleu
from core.metrics.matches import Match, matches
from core.metrics.report import Report
from core.metrics.significance import Tested

MOST = 200  # n-grams of one order that are sent


def scored(report: Report, tests: Sequence[Tested] = ()) -> dict[str, Any]:
    """The report as JSON, which is also what is downloaded, its CSV, and the tests against another system.

    Infinities and NaN cannot be in it: no score is either.
    """
    return {"kind": "scored", "json": report.to_json(), "csv": report.to_csv(),
            "tests": [asdict(test) | {"verdict": test.verdict} for test in tests]}


def matched(line: int, output: str, references: Sequence[str], tokenizer: str) -> dict[str, Any]:
    """Text `line` (from 1) with its n-grams, short ones first; places count characters. tokenizer: of the whole corpus."""
    found = matches(output, references, tokenizer)
    score = bleu.score([output], *([text] for text in references), tokenizer=tokenizer) if references else None
    return {
        "kind": "matched", "line": line, "output": output, "references": list(references), "tokenizer": tokenizer,
        "bleu": None if score is None else round(score.value, 2),
        "orders": [_order([match for match in found if len(match.words) == n]) for n in range(1, 5)],
    }


def _order(found: Sequence[Match]) -> dict[str, Any]:
    best_first = sorted(found, key=lambda match: not match.counted)
    return {
        "counted": sum(match.counted for match in found), "total": sum(len(match.output) for match in found),
        "left_out": max(0, len(found) - MOST),
        "grams": [[" ".join(match.words), match.counted, match.output, match.references] for match in best_first[:MOST]],
    }
