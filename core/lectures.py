"""Ten ready lectures, one per lesson of the course: saved runs in an order; `python -m core.lectures` records them.

assets/lectures.json holds the runs, as settings by name, and each lesson's slides. A run named example-N is the saved run of that
example. Sentences are our own; none is taken from the training or test data. What a slide says is in assets/words.
"""

import json
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from core.errors import InputError
from core.examples import ASSETS, TRACES
from core.fields import shown
from core.settings import Settings
from core.trace import Trace

RUNS = ASSETS / "lectures"
HIDES = ("", "token", "row", "change")  # what waits for a key: nothing, the next token, its row, what another setting does
_EXAMPLE = "example-"


@dataclass(frozen=True)
class Slide:
    """One run in view. hide: one of HIDES. view: map, layer, head and step that are shown first."""

    run: str
    hide: str = ""
    view: dict[str, Any] = field(default_factory=dict)


_FILE = json.loads((ASSETS / "lectures.json").read_text("utf-8"))
LESSONS = tuple(tuple(Slide(**slide) for slide in lesson) for lesson in _FILE["lessons"])


def settings_of(name: str) -> Settings:
    """What the run of this name was made with."""
    return Settings.from_json(json.dumps(_FILE["runs"][name]))[0]


def lesson(number: object) -> tuple[Slide, ...]:
    """The slides of one lesson, counted from 1; InputError where there is none."""
    if type(number) is not int or not 1 <= number <= len(LESSONS):
        raise InputError(f"There is no lesson {shown(number)}; it must be 1 to {len(LESSONS)}.")
    return LESSONS[number - 1]


@cache
def run_of(name: str) -> Trace:
    """The saved run of this name."""
    example = name.startswith(_EXAMPLE)
    path = TRACES / f"{name.removeprefix(_EXAMPLE)}.safetensors" if example else RUNS / f"{name}.safetensors"
    return Trace.from_bytes(path.read_bytes())


def main() -> None:
    """Record every run that is no example's."""
    from core import record

    RUNS.mkdir(exist_ok=True)
    for name in _FILE["runs"]:
        trace = record(settings_of(name))
        (RUNS / f"{name}.safetensors").write_bytes(trace.to_bytes())
        print(f"{name}  {trace.text}  ({trace.id[:8]}, {len(trace.steps)} steps)")


if __name__ == "__main__":
    main()
