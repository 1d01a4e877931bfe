"""length_penalty.json: both length penalties, and the ranking of five hypotheses under each."""

from pathlib import Path

from core.decode.penalties import PENALTIES
from core.decode.rescoring import Hypothesis, ranked
from tests.golden import Report, differs

NAMES = {"gnmt": "GNMT", "hf_divisor": "transformers", "hf": "transformers"}
TOLERANCE = 1e-9  # float64 formulas


def check_length_penalty(data: dict, folder: Path, report: Report) -> None:
    """Every row of the table and every ranking."""
    table = data.get("table", {})
    for kind, rows in table.items():
        for alpha, wanted in rows.items() if kind in NAMES else ():
            report.case(f"table {kind} {alpha}", _row, kind, float(alpha), table["lengths"], wanted)
    for name, wanted in data.get("rankings", {}).items():
        report.case(f"ranking {name}", _ranking, data["hypotheses"], name, wanted)


def _row(kind: str, alpha: float, lengths: list[int], wanted: list[float]) -> str | None:
    return differs("penalty", [PENALTIES[NAMES[kind]](length, alpha) for length in lengths], wanted, TOLERANCE, TOLERANCE)


def _ranking(hypotheses: list[dict], name: str, wanted: list) -> str | None:
    kind, alpha = name.split("_")
    given = [Hypothesis(h["name"], h["sum_logprob"], h["length"]) for h in hypotheses]
    found = ranked(given, NAMES[kind], float(alpha))
    order = [each.hypothesis.name for each in found]
    if order != [row[0] for row in wanted]:
        return f"order is {order}, the file has {[row[0] for row in wanted]}"
    return differs("score", [each.score for each in found], [row[1] for row in wanted], TOLERANCE)
