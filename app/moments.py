"""What happened in a session, in order: what the person did, and what came of it. A replay goes from one to the next.

An event need not have a record of its own: a run repeats one that is there already, a record was taken out, only a slider moved.
"""

import json
from dataclasses import dataclass
from typing import Any

from core.errors import TwoStacksError
from core.settings import Settings

MOST_TOLD = 200  # characters of one changed setting in an event
MOST_TEXT = 60  # characters of what the bar says of one
LOOKS = ("look", "rank")  # events that only changed how a record is looked at


@dataclass(frozen=True)
class Moment:
    """row: the record in view, or None; event: what was done, or None where only what came of it is known. kind: the record's,
    or "look", "rank", "noise" or "gone". data: of the event, as it was written or imported: nothing in it is sure."""

    made: str
    row: int | None
    event: int | None
    kind: str
    status: str
    text: str
    data: dict[str, Any]


def moments(store: Any, session: Any) -> list[Moment]:
    """All of a session, by time."""
    kept = {one.row: one for one in store.kept(session)}
    found = [_done(event, kept.get(event["record"])) for event in store.events(session)]
    told = {one.row for one in found if one.kind not in LOOKS}
    found += [Moment(one.made, row, None, one.kind, one.status, (one.output or one.input)[:MOST_TEXT], {})
              for row, one in kept.items() if row not in told]
    return sorted(found, key=lambda one: one.made)  # what came at one time stays in the order of above


def _done(event: dict[str, Any], kept: Any) -> Moment:
    data, kind = event["data"] if isinstance(event["data"], dict) else {}, event["kind"]
    if kind in LOOKS and kept:
        text = ", ".join(f"{'step' if name == 'upto' else name} {str(value)[:20]}" for name, value in data.items())
        return Moment(event["made"], kept.row, event["id"], kind, "done", text[:MOST_TEXT], data)
    if kept:
        return Moment(event["made"], kept.row, event["id"], kept.kind, kept.status, (kept.output or kept.input)[:MOST_TEXT], data)
    told = data.get("settings")
    text = str(told.get("text", ""))[:MOST_TEXT] if isinstance(told, dict) else ""
    return Moment(event["made"], None, event["id"], "noise" if kind == "noise" else "gone", "done", text, data)


def settings_of(moment: Moment) -> Settings | None:
    """What was set where no record is; None where that is not known or, in a file from elsewhere, not usable."""
    told = moment.data.get("settings")
    if moment.row is not None or not isinstance(told, dict):
        return None
    try:
        return Settings.from_json(json.dumps(told))[0]
    except (TwoStacksError, ValueError, RecursionError):
        return None


def changed(before: str, after: str) -> dict[str, str]:
    """Setting -> its new value as JSON, of those that differ; a long one is cut."""
    old, new = (_flat(json.loads(text)) if text else {} for text in (before, after))
    names = [name for name in (*new, *(name for name in old if name not in new)) if old.get(name) != new.get(name)]
    told = {name: json.dumps(new.get(name), ensure_ascii=False) for name in names if name != "schema"}
    return {name: text if len(text) <= MOST_TOLD else text[:MOST_TOLD] + "…" for name, text in told.items()}


def _flat(data: dict, before: str = "") -> dict[str, Any]:
    out = {}
    for name, value in data.items():
        out |= _flat(value, f"{before}{name}.") if isinstance(value, dict) else {before + name: value}
    return out
