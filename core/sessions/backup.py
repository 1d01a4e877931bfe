"""A copy of all sessions in another folder, such as a mounted bucket, by SQLite's own backup: a whole file at any moment.

A disk that is emptied at each restart (a Space) gets its sessions back from there. The live file stays on the local disk, because
neither WAL nor locks hold on a network mount.
"""

import logging
import os
import sqlite3
import threading
from collections.abc import Mapping
from pathlib import Path

from core.errors import SessionError
from core.sessions.place import FILE

log = logging.getLogger("two-stacks")
VARIABLE = "SESSIONS_BACKUP"
EVERY = 300.0  # seconds


def target(environment: Mapping[str, str] = os.environ) -> Path | None:
    """The file that SESSIONS_BACKUP's folder holds; None where no copy is wanted."""
    named = environment.get(VARIABLE)
    if not named:
        return None
    place = Path(named).expanduser().absolute()
    if not place.is_dir():
        raise SessionError(f"{VARIABLE} is {place}, which is no folder; mount it, or leave {VARIABLE} out.")
    return place / FILE


def back_up(live: Path, copy: Path) -> None:
    """Write a whole copy beside the one before, then put it in its place. WAL is folded in: one file is all."""
    fresh = copy.with_suffix(".new")
    fresh.unlink(missing_ok=True)
    source, sink = sqlite3.connect(live, timeout=10), sqlite3.connect(fresh)
    try:
        source.backup(sink, pages=1000, sleep=0.01)
        sink.execute("pragma journal_mode=delete")
    finally:
        sink.close()
        source.close()
    fresh.replace(copy)


def restore(live: Path, copy: Path | None) -> bool:
    """Before the live file is opened: where there is none yet, the copy becomes it. A damaged copy is left alone."""
    if copy is None or live.exists() or not copy.exists():
        return False
    source = sqlite3.connect(copy)
    try:
        if source.execute("pragma integrity_check").fetchone() != ("ok",):
            raise sqlite3.DatabaseError("its integrity check fails")
        live.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        live.touch(mode=0o600)
        sink = sqlite3.connect(live)
        source.backup(sink)
        sink.close()
    except sqlite3.Error as error:
        live.unlink(missing_ok=True)
        log.error("the copy of the sessions in %s cannot be used: %s", copy.parent, error)
        return False
    finally:
        source.close()
    return True


def keep_backing_up(live: Path, copy: Path, every: float = EVERY, stop: threading.Event | None = None) -> threading.Thread:
    """A thread that copies whenever something has changed, until `stop`. A copy that fails is logged and tried again."""
    stop = stop or threading.Event()

    def work() -> None:
        before = None
        while not stop.wait(every):
            try:
                now = [path.stat().st_mtime_ns for path in (live, live.with_name(live.name + "-wal")) if path.exists()]
                if now != before:
                    back_up(live, copy)
                    before = now
            except (OSError, sqlite3.Error):
                log.exception("the sessions could not be copied to %s", copy.parent)

    thread = threading.Thread(target=work, name="back-up-sessions", daemon=True)
    thread.start()
    return thread
