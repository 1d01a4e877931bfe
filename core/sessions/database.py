"""One SQLite file, one connection a thread: a connection that threads share loses rows without an error.

A local disk gets WAL (readers do not wait for the writer); a network mount has no shared memory for it and gets a DELETE
journal. Every write begins as IMMEDIATE: one that reads first and then writes would be refused at once, whatever the timeout.
"""

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlite_utils import Database

from core.sessions.place import is_remote
from core.sessions.schema import apply

PATIENCE = 10.0  # seconds that a writer waits for another one


class Connection:
    """Closed with the thread that holds it: sqlite-utils' own object is in a cycle and would wait for the collector."""

    def __init__(self, path: Path, remote: bool):
        self.database = Database(sqlite3.connect(path, timeout=PATIENCE, check_same_thread=False))  # closed by whoever drops it
        for pragma in ("journal_mode=delete" if remote else "journal_mode=wal", "foreign_keys=on",
                       f"synchronous={'full' if remote else 'normal'}", "secure_delete=on"):
            self.database.conn.execute(f"pragma {pragma}")

    def __del__(self) -> None:
        self.database.conn.close()


class Connections(threading.local):
    """The connection of this thread to the file at `path`, made when first asked for."""

    def __init__(self, path: Path, remote: bool):
        self.path, self.remote = path, remote
        self.connection: Connection | None = None

    def get(self) -> Database:
        if self.connection is None:
            self.connection = Connection(self.path, self.remote)
        return self.connection.database

    def close(self) -> None:
        """Close the connection of this thread; the next use opens another."""
        self.connection = None


class File:
    """A database file with today's tables."""

    def __init__(self, path: Path):
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        if not path.exists():
            path.touch(mode=0o600)
        self.path, self.remote = path, is_remote(path.parent)
        self.connections = Connections(path, self.remote)
        with self.writing() as database:
            apply(database)

    @property
    def database(self) -> Database:
        """This thread's connection, to read from."""
        return self.connections.get()

    @contextmanager
    def writing(self) -> Iterator[Database]:
        """One transaction that may write: all of it is kept, or, when anything is raised, nothing."""
        database = self.connections.get()
        if database.conn.in_transaction:  # inside another one: a savepoint
            with database.atomic():
                yield database
            return
        database.conn.execute("begin immediate")
        try:
            yield database
        except BaseException:
            database.conn.rollback()
            raise
        try:
            database.conn.commit()
        except BaseException:
            database.conn.rollback()
            raise
