"""Lectures: saved runs in an order with notes, for a hall. Ten are ready, and every session is one of its own runs.

Everything asked is checked here; errors are TwoStacksError.
"""

from dataclasses import dataclass
from typing import Any

from app.shelf import Shelf
from core.errors import InputError, SessionError
from core.fields import shown
from core.lectures import LESSONS, lesson, run_of
from core.trace import Trace

READY = "lesson:"  # begins the id of a ready lecture; all others are sessions
TITLES = [f"lecture.lesson.{number}" for number in range(1, len(LESSONS) + 1)]


@dataclass(frozen=True)
class Shown:
    """One slide: what the lecture's bar and the stepper draw, and the run's settings for the controls."""

    bar: dict[str, Any]
    stepper: dict[str, Any]
    settings: Any


def slide(shelf: Shelf, visitor: str, id: object, at: object = 0, last: object = False) -> Shown:
    """Slide `at`, counted from 0, of a lecture. last: as it is when it has been gone through."""
    if not isinstance(id, str) or type(at) is not int or type(last) is not bool:
        raise InputError(f"There is no such slide ({shown(id)}, {shown(at)}).")
    found = _ready(id, at) if id.startswith(READY) else _own(shelf, visitor, id, at)
    trace, before, view, bar = found
    stepping = bar["hide"] in ("token", "row")
    view = {"step": 1 if stepping and not last else max(1, len(trace.steps))} | view
    same = before is not None and before.text == trace.text
    bar |= {"kind": "lecture", "id": id, "at": at, "run": trace.id, "tokens": [token.text for token in trace.target],
            "before": before.text if before and not same else "", "same": same}
    return Shown(bar, shelf.engine.saved_pack(trace) | {"view": {"map": "cross"} | view}, trace.settings)


def _ready(id: str, at: int) -> tuple[Trace, Trace | None, dict, dict]:
    number = id.removeprefix(READY)
    slides = lesson(int(number) if number.isascii() and number.isdecimal() and len(number) < 3 else number)
    _exists(at, len(slides))
    one = slides[at]
    before = run_of(slides[at - 1].run) if at and slides[at - 1].hide == "change" else None
    return run_of(one.run), before, dict(one.view), {
        "lesson": int(number), "slide": at + 1, "title": "", "note": "", "hide": one.hide, "count": len(slides)}


def _own(shelf: Shelf, visitor: str, id: str, at: int) -> tuple[Trace, Trace | None, dict, dict]:
    store = shelf.keeper.store
    store.writer.flush()
    session = store.session(id, shelf.keeper.owner(visitor))
    entries = [one for one in store.kept(session) if one.kind == "trace" and one.steps]
    if not entries:
        raise SessionError("There is no run in this session that a lecture could show.")
    _exists(at, len(entries))
    one = entries[at]
    before = store.load(session, entries[at - 1].row) if at and entries[at - 1].hide == "change" else None
    return store.load(session, one.row), before, {}, {
        "lesson": 0, "slide": 0, "title": session.name, "note": one.note or (session.note if not at else ""), "hide": one.hide,
        "count": len(entries)}


def _exists(at: int, count: int) -> None:
    if not 0 <= at < count:
        raise InputError(f"There is no slide {shown(at + 1)}; this lecture has {count}.")
