"""The store: sessions of their owners, and the records, events and scores in them."""

import hashlib
import json
import secrets
import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any
from weakref import WeakSet

from sqlite_utils import Database

from core.errors import SessionError
from core.lectures import HIDES
from core.sessions import rows
from core.sessions.copies import Copies
from core.sessions.database import File
from core.sessions.listing import MOST_NAME, MOST_NOTE, MOST_VIEW, SESSIONS, Kept, Session, session_of, text_of
from core.sessions.place import FILE, folder
from core.sessions.recording import Recording, alive, process
from core.sessions.retention import make_room
from core.sessions.writer import Failed, Writer

Event = tuple[str, Mapping[str, Any]]


def owner_of(key: str) -> str:
    """Who holds `key`, in a form that does not give the key away."""
    return hashlib.sha256(f"owner\n{key}".encode()).hexdigest() if key else ""


class Store:
    """Sessions at one place. Threads and processes may share it; SessionError for what is not there or not yours.

    copies: files of other pages' sessions (core/sessions/copies.py); only what is shared there can be read, by its id.
    """

    def __init__(self, place: Path | None = None, copies: tuple[Path, ...] = ()):
        self.file = File((place or folder()) / FILE)
        self.copies = Copies(copies)
        self.writer = Writer(self.file)
        self._watched: WeakSet[Recording] = WeakSet()
        self.mark_cut()

    def close(self, patience: float) -> None:
        """The process ends: runs have `patience` seconds to come to their next step, then what was made is written as cut."""
        self.writer.closing = True
        until = time.monotonic() + patience
        while any(not each.ended for each in list(self._watched)) and time.monotonic() < until:
            time.sleep(0.02)
        for each in list(self._watched):
            each.cut()
        self.writer.flush(patience)

    def mark_cut(self) -> None:
        """Runs of processes that are gone, or that began more than a day ago, did not come to their end."""
        running = self.file.database.execute(
            "select id, writer, julianday('now') - julianday(made) from records where status = ?", [rows.RUNNING]).fetchall()
        gone = [row for row, writer, days in running if days > 1 or not alive(writer)]
        if gone:
            with self.file.writing() as database:
                for row in gone:
                    rows.cut(database, row)

    # Sessions

    def create(self, owner: str, name: str = "") -> Session:
        """A new session of `owner`, private, under an id that nobody can guess."""
        if not owner:
            raise SessionError("A session needs an owner; this browser has not said who it is yet.")
        id, made = secrets.token_urlsafe(18), rows.now()
        with self.file.writing() as database:
            database["sessions"].insert(
                {"id": id, "owner": owner, "name": text_of("name", name or "Session", MOST_NAME), "made": made, "changed": made},
                pk="id")
        return self.session(id, owner)

    def session(self, id: object, owner: str = "") -> Session:
        """The session with this id: the owner's, or a shared one, here or in a copy."""
        if isinstance(id, str) and len(id) <= 64 and id.isascii():
            found = self.file.database.execute(
                f"{SESSIONS} where id = ? and (shared or (owner = ? and owner != ''))", [id, owner]).fetchone()
            if found:
                return session_of(found)
            for path, database in self.copies.databases():
                if found := database.execute(f"{SESSIONS} where id = ? and shared", [id]).fetchone():
                    return replace(session_of(found), copy=path)
        raise SessionError("There is no such session here: the link is wrong, or it was deleted or is not shared.")

    def _of(self, session: Session) -> Database:
        """The database that a session is read from."""
        return self.copies.database(session.copy) if session.copy else self.file.database

    def own(self, id: object, owner: str) -> Session:
        """The same, of the owner only."""
        mine = isinstance(id, str) and len(id) <= 64 and id.isascii() and owner and self.file.database.execute(
            "select 1 from sessions where id = ? and owner = ?", [id, owner]).fetchone()
        if not mine:
            raise SessionError("This session is not one of yours, so it can only be looked at.")
        return self.session(id, owner)

    def sessions(self, owner: str) -> list[Session]:
        """All of one owner, the last changed first."""
        found = self.file.database.execute(f"{SESSIONS} where owner = ? and owner != '' order by changed desc", [owner])
        return [session_of(row) for row in found.fetchall()]

    def rename(self, id: str, owner: str, name: object) -> None:
        self._set(id, owner, name=text_of("name", name, MOST_NAME))

    def annotate(self, id: str, owner: str, note: object) -> None:
        """A note of the owner's own."""
        self._set(id, owner, note=text_of("note", note, MOST_NOTE, empty=True))

    def share(self, id: str, owner: str, view: Mapping[str, Any] | None = None) -> Session:
        """Let whoever has the id read it; `view`: what is shown first."""
        try:
            text = json.dumps(dict(view or {}), allow_nan=False)
        except (TypeError, ValueError, RecursionError):
            raise SessionError("What the link shows first must be plain numbers and texts.") from None
        if len(text) > MOST_VIEW:
            raise SessionError(f"What the link shows first has {len(text):,} characters; at most {MOST_VIEW:,} are kept.")
        self._set(id, owner, shared=1, view=text)
        return self.session(id, owner)

    def unshare(self, id: str, owner: str) -> None:
        self._set(id, owner, shared=0)

    def delete(self, id: str, owner: str) -> None:
        """The session with all that is in it."""
        self.own(id, owner)
        with self.file.writing() as database:
            database.execute("delete from sessions where id = ? and owner = ?", [id, owner])

    def forget(self, owner: str) -> int:
        """Delete everything of one owner; gives how many sessions that was."""
        self.writer.flush()
        with self.file.writing() as database:
            return database.execute("delete from sessions where owner = ? and owner != ''", [owner]).rowcount

    def _set(self, id: str, owner: str, **values: Any) -> None:
        self.own(id, owner)
        with self.file.writing() as database:
            database["sessions"].update(id, values | {"changed": rows.now()})

    # What is in them

    def watch(self, going: Any, session: str, event: Event | None = None, failed: Failed | None = None) -> Recording:
        """A run that is kept while it is made; `event`: (kind, data) of what led to it; `failed` is told what is not kept."""
        recording = Recording(going, self.writer, session, event, failed)
        self._watched.add(recording)
        return recording

    def keep_soon(self, session: str, record: Any, event: Event | None = None, failed: Failed | None = None) -> None:
        """A whole record, by the thread that writes; one that the session has already only gets the event."""
        def job(database: Any) -> None:
            there = database.execute("select max(id) from records where session = ? and record = ? and status = ?",
                                     [session, record.id, rows.DONE]).fetchone()[0]
            row = there or self._keep(database, session, record, rows.DONE)
            if event:
                rows.insert_event(database, session, *event, row)

        self.writer.put(job, failed)

    def keep(self, session: str, record: Any, status: str = rows.DONE) -> int:
        """A whole record, now; gives its row."""
        with self.file.writing() as database:
            return self._keep(database, session, record, status)

    def _keep(self, database: Any, session: str, record: Any, status: str) -> int:
        make_room(database, session)
        return rows.insert(database, session, record, status, process())

    def kept(self, session: Session) -> list[Kept]:
        """Every record of a session, in order."""
        found = self._of(session).execute(
            "select id, kind, record, digest, status, model, input, output, settings, made, (select count(*) from steps"
            " where steps.record = records.id), note, hide from records where session = ? order by id",
            [session.id])
        return [Kept(*row) for row in found.fetchall()]

    def remark(self, session: Session, row: object, note: object, hide: object) -> None:
        """What a lecture says of a record of one's own session, and what it hides until a key is pressed."""
        if hide not in HIDES:
            raise SessionError(f"A lecture hides one of {', '.join(map(repr, HIDES))}, not {hide!r:.30}.")
        text = text_of("note", note, MOST_NOTE, empty=True)
        with self.file.writing() as database:
            self._found(session, row)
            database.execute("update records set note = ?, hide = ? where id = ?", [text, hide, row])

    def remove(self, session: Session, row: object) -> None:
        """One record, out of one's own session. What was done to make it stays, with the settings that it had."""
        with self.file.writing() as database:
            found = self._found(session, row)
            database.execute("update events set data = json_set(data, '$.settings', json(?)) where record = ? and kind = 'run'"
                             " and length(?1) < 20000", [found["settings"], found["id"]])
            database.execute("delete from records where id = ?", [found["id"]])

    def collect(self, source: Session, row: object, target: Session) -> int:
        """A copy of a record, with its note, at the end of one's own session `target`; gives its row there."""
        found, record = self._found(source, row), self.load(source, row)
        with self.file.writing() as database:
            copy = self._keep(database, target.id, record, found["status"])
            database.execute("update records set note = ?, hide = ? where id = ?", [found["note"], found["hide"], copy])
        return copy

    def load(self, session: Session, row: object) -> Any:
        """The record in one row of a session, equal to the one that was made, by id and digest."""
        return rows.read(self._of(session), self._found(session, row))

    def _found(self, session: Session, row: object) -> dict[str, Any]:
        found = []
        if type(row) is int and 0 < row < 2**63:
            found = list(self._of(session).query("select * from records where session = ? and id = ?", [session.id, row]))
        if not found:
            raise SessionError("There is no such run in this session.")
        return found[0]

    def event(self, session: str, kind: str, data: Mapping[str, Any], row: int | None = None) -> None:
        """Something the person did; written soon."""
        self.writer.put(lambda database: rows.insert_event(database, session, kind, data, row))

    def event_at(self, session: str, kind: str, data: Mapping[str, Any], record: str) -> None:
        """The same, at the newest record of this id; nothing where the session has none."""
        def job(database: Any) -> None:
            row = database.execute("select max(id) from records where session = ? and record = ?",
                                   [session, record]).fetchone()[0]
            if row is not None:
                rows.insert_event(database, session, kind, data, row)

        self.writer.put(job)

    def events(self, session: Session) -> Iterator[dict[str, Any]]:
        """Everything the person did, in order."""
        for row in self._of(session).query("select * from events where session = ? order by id", [session.id]):
            yield row | {"data": json.loads(row["data"])}

    def score(self, session: str, metric: str, value: float, signature: str, row: int | None = None) -> None:
        """A number about a record, with how it was made."""
        with self.file.writing() as database:
            database["scores"].insert({"session": session, "record": row, "made": rows.now(), "metric": metric,
                                       "value": float(value), "signature": signature})

    def scores(self, session: Session) -> list[dict[str, Any]]:
        return list(self._of(session).query("select * from scores where session = ? order by id", [session.id]))
