"""Shared sessions of other pages, read out of the copies that those leave (SESSIONS_BACKUP), so that a link opens on any page.

A copy is only read, and a page that leaves one puts a whole new file in its place: each is opened as a file that nobody changes.
"""

import logging
import os
import sqlite3
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.parse import quote

from sqlite_utils import Database

from core.errors import SessionError
from core.sessions.place import FILE
from core.sessions.schema import migrations

log = logging.getLogger("two-stacks")
VARIABLE = "SESSIONS_COPIES"


def copies(environment: Mapping[str, str] = os.environ) -> tuple[Path, ...]:
    """The files in the folders that SESSIONS_COPIES names, parted as in PATH; a copy may come later, its folder must be there."""
    places = [Path(named).expanduser().absolute() for named in environment.get(VARIABLE, "").split(os.pathsep) if named]
    for place in places:
        if not place.is_dir():
            raise SessionError(f"{VARIABLE} names {place}, which is no folder; mount it, or leave it out.")
    return tuple(place / FILE for place in places)


class Copy:
    """One copy as it was when it was opened. Closed with the thread that holds it."""

    def __init__(self, path: Path, stamp: tuple[int, int]):
        self.stamp = stamp
        address = f"file:{quote(str(path))}?mode=ro&immutable=1"
        self.database = Database(sqlite3.connect(address, uri=True, check_same_thread=False))  # closed by whoever drops it
        if migrations.pending(self.database):
            raise SessionError("This session lies on another page, whose version is an earlier one.")

    def __del__(self) -> None:
        if hasattr(self, "database"):
            self.database.conn.close()


class Copies(threading.local):
    """The copies at `paths`, for this thread; each is opened anew when another file took its place."""

    def __init__(self, paths: tuple[Path, ...] = ()):
        self.paths = paths
        self._open: dict[Path, Copy] = {}

    def databases(self) -> Iterator[tuple[Path, Database]]:
        """Each copy that can be read now."""
        for path in self.paths:
            try:
                yield path, self.database(path)
            except SessionError as error:  # not there yet, damaged, or of another version
                log.warning("the copy of sessions %s: %s", path, error)

    def database(self, path: Path) -> Database:
        """The copy as it is now; SessionError where it cannot be read."""
        try:
            found = path.stat()
            stamp = found.st_ino, found.st_mtime_ns
            if path not in self._open or self._open[path].stamp != stamp:
                self._open[path] = Copy(path, stamp)
            return self._open[path].database
        except (OSError, sqlite3.Error) as error:
            reason = type(error).__name__
            raise SessionError(f"This session lies on another page, whose copy cannot be read now: {reason}.") from error
