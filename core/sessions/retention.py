"""Limits: how large one session and all of them may get, and what goes first."""

import os
from collections.abc import Mapping

from sqlite_utils import Database

from core.errors import SessionError

SESSION_BYTES = 24 * 2**20  # of one session: about 400 usual runs of the pocket model
SESSION_RECORDS = 2000
SESSION_EVENTS = 5000
TOTAL_BYTES = 2 * 2**30  # of all
VARIABLE = "SESSIONS_BYTES"


def total_limit(environment: Mapping[str, str] = os.environ) -> int:
    """Bytes that all sessions may take together."""
    given = environment.get(VARIABLE, "")
    if given and not (given.isdigit() and int(given) >= 2**20):
        raise SessionError(f"{VARIABLE} is {given[:30]}; it must be a number of bytes from {2**20:,} on.")
    return int(given) if given else TOTAL_BYTES


def make_room(database: Database, session: str, limit: int | None = None) -> None:
    """Before a record is added: SessionError where its session is full; of all sessions the oldest unshared ones go first."""
    held, count = database.execute(
        "select coalesce(sum(bytes), 0), count(*) from records where session = ?", [session]).fetchone()
    if held >= SESSION_BYTES or count >= SESSION_RECORDS:
        raise SessionError(f"This session holds {count:,} records in {held:,} bytes; at most {SESSION_RECORDS:,} records and "
                           f"{SESSION_BYTES:,} bytes are kept. What is run next goes into a new session.")
    total = database.execute("select coalesce(sum(bytes), 0) from records").fetchone()[0]
    limit = total_limit() if limit is None else limit
    while total >= limit:
        oldest = database.execute(
            "select id, (select coalesce(sum(bytes), 0) from records where session = sessions.id) from sessions"
            " where id != ? order by shared, changed limit 1", [session]).fetchone()
        if oldest is None:
            return
        database.execute("delete from sessions where id = ?", [oldest[0]])
        total -= oldest[1]
