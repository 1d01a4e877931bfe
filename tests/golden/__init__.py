"""Golden vectors: numbers from reference implementations, checked here through the product's own functions.

`python -m tests.golden DIR` runs every vector file of a folder. A file may hold only some of its lists, or other cases
of the same format; the weights `tiny_<model>.safetensors` lie beside it. The same format: the same keys.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

DATA = Path(__file__).parent / "data"
LOGITS = 1e-4  # how close logits, and what is summed from them, must be
SHOWN = 20  # failures listed


@dataclass
class Report:
    """What one file gave: cases passed, what failed and why, and which lists have no product function yet."""

    name: str
    passed: int = 0
    failed: list[str] = field(default_factory=list)
    pending: dict[str, int] = field(default_factory=dict)

    @property
    def total(self) -> int:
        return self.passed + len(self.failed) + sum(self.pending.values())

    @property
    def good(self) -> bool:
        return self.passed == self.total

    def case(self, label: str, check: Callable[..., str | None], *args: Any) -> None:
        """Run one case: `check(*args)` returns None, or what is wrong; an exception is wrong too, whatever it is."""
        try:
            wrong = check(*args)
        except Exception as error:  # a file from elsewhere may hold anything; the other cases still run
            wrong = f"{type(error).__name__}: {(str(error).splitlines() or [''])[0][:160]}"
        if wrong:
            self.failed.append(f"{label}: {wrong}")
        else:
            self.passed += 1

    def not_yet(self, what: str, count: int = 1) -> None:
        """Cases whose product function does not exist yet; they count as failed."""
        if count:
            self.pending[what] = self.pending.get(what, 0) + count

    def __str__(self) -> str:
        line = f"{self.name:30} {self.passed} of {self.total} passed"
        if self.pending:
            line += "; not yet: " + ", ".join(f"{what} ({count})" for what, count in self.pending.items())
        return line if self.total else line + "; nothing in it is a case"


def number(value: Any) -> float:
    """A number of a vector file; NaN and infinities are written as strings."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ValueError(f"{value!r:.60} is not a number")
    return float(value)


def differs(what: str, ours: Any, theirs: Any, absolute: float, relative: float = 0.0) -> str | None:
    """None when two numbers, or two equally long flat lists of them, are close; else a phrase with the worst pair."""
    ours, theirs = (list(x) if isinstance(x, list | tuple) else [x] for x in (ours, theirs))
    if len(ours) != len(theirs):
        return f"{what} has {len(ours)} numbers, the file {len(theirs)}"
    for mine, other in zip(map(number, ours), map(number, theirs)):
        both_nan = mine != mine and other != other
        if not (both_nan or mine == other or abs(mine - other) <= absolute + relative * abs(other)):
            return f"{what} is {mine:.9g}, the file has {other:.9g}"
    return None


def check_file(path: Path) -> Report:
    """Run one vector file; a name that nothing is known of counts as one failed case."""
    from tests.golden.checks import CHECKS

    report = Report(path.name)
    if path.name not in CHECKS:
        report.not_yet("all of it")
        return report
    try:
        data = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        report.failed.append(f"not readable as JSON: {str(error)[:160]}")
        return report
    if not isinstance(data, dict):
        report.failed.append(f"a vector file is a JSON object, this is a {type(data).__name__}")
        return report
    try:
        CHECKS[path.name](data, path.parent, report)
    except Exception as error:  # malformed beyond its cases
        report.failed.append(f"malformed: {type(error).__name__}: {str(error)[:160]}")
    return report


def check_folder(folder: Path) -> list[Report]:
    """Run every *.json of a folder, in order of name."""
    return [check_file(path) for path in sorted(folder.glob("*.json"))]


def summary(reports: list[Report]) -> str:
    """A line per file, the total, and the first failures."""
    lines = [str(report) for report in reports]
    lines.append(f"{'total':30} {sum(r.passed for r in reports)} of {sum(r.total for r in reports)} passed")
    failures = [f"  {r.name}: {text}" for r in reports for text in r.failed]
    if failures:
        lines += ["failed:", *failures[:SHOWN]]
    if len(failures) > SHOWN:
        lines.append(f"  and {len(failures) - SHOWN} more")
    return "\n".join(lines)
