"""What a list shows of sessions and of their records, and the texts that a person gives them."""

import json
from dataclasses import dataclass, field
from pathlib import Path

from core.errors import SessionError

MOST_NAME, MOST_NOTE, MOST_VIEW = 120, 2000, 2000  # characters
# Gives the rows that session_of takes; a condition follows.
SESSIONS = """select id, name, note, made, changed, shared, view, (select count(*) from records where session = sessions.id),
    (select coalesce(sum(bytes), 0) from records where session = sessions.id) from sessions"""


@dataclass(frozen=True)
class Session:
    """What a list shows of one session. view: what its link shows first, as the page told it; copy: the copy of another page's
    sessions that it is read from, None for a session of this store."""

    id: str
    name: str
    note: str
    made: str
    changed: str
    shared: bool
    view: dict = field(default_factory=dict)
    records: int = 0
    bytes: int = 0
    copy: Path | None = None


@dataclass(frozen=True)
class Kept:
    """What a list shows of one record; `row` finds the whole. status: one of core.sessions.rows.STATUSES; note and hide: for a
    lecture, hide as in core.lectures.HIDES."""

    row: int
    kind: str
    id: str
    digest: str | None
    status: str
    model: str
    input: str
    output: str
    settings: str
    made: str
    steps: int
    note: str
    hide: str


def session_of(row: tuple) -> Session:
    *first, shared, view, records, size = row
    return Session(*first, bool(shared), json.loads(view), records, size)


def text_of(name: str, value: object, most: int, empty: bool = False) -> str:
    """A name or note as a person typed it; control characters become spaces."""
    if not isinstance(value, str):
        raise SessionError(f"The {name} must be a text, not {type(value).__name__}.")
    clean = "".join(c if c == "\n" and empty or ord(c) >= 32 else " " for c in value).strip()
    clean = clean.encode("utf-8", "replace").decode()  # half a character cannot be written down
    if len(clean) > most or not (clean or empty):
        raise SessionError(f"The {name} has {len(clean):,} characters; it must have {0 if empty else 1} to {most:,}.")
    return clean
