"""Where sessions are kept on this host: opened when first asked for, mended where damaged, copied, and closed at the end."""

import logging
import os
import secrets
import threading
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app import processes
from app.troubles import trouble
from app.words import worded
from core.errors import SessionError, TwoStacksError

if TYPE_CHECKING:  # sqlite-utils takes half a second to import, which the first picture must not wait for
    from core.sessions import Store

log = logging.getLogger("two-stacks")
AGAIN = 60.0  # seconds until a place that could not be used is tried again


class Storage:
    """The one store of this process. A host that has no place for it serves without; what goes wrong is tried again later."""

    def __init__(self, place: Path | None = None):
        self._place, self._store, self._problem, self._tried = place, None, "", 0.0
        self._copy: Path | None = None
        self._mended: dict[str, Any] = {}
        self._opening = threading.Lock()

    @property
    def store(self) -> "Store":
        """The store, opened when first asked for; SessionError where this host has no place for one."""
        with self._opening:
            if self._store is None and (not self._problem or time.monotonic() - self._tried > AGAIN):
                from core.sessions import Store, backup
                from core.sessions.copies import copies
                from core.sessions.place import FILE

                try:
                    live, copy = self.folder() / FILE, backup.target()
                    self._mend(live, copy)
                    self._store, self._copy, self._problem = Store(self.folder(), copies()), copy, ""
                    if copy:
                        backup.keep_backing_up(live, copy)
                except Exception as error:  # no rights, a full disk: the page works without, and tries again later
                    log.exception("sessions cannot be kept")
                    self._problem, self._tried = reason(error), time.monotonic()
            if self._store is None:
                raise SessionError(f"Sessions cannot be kept on this host now. {self._problem} Runs go on.")
            return self._store

    def _mend(self, live: Path, copy: Path | None) -> None:
        """Before the file is opened: one that is not there comes from the copy; a damaged one is put aside and read as far as it
        goes."""
        from core.sessions import backup, salvage

        aside = None if salvage.healthy(live) else salvage.put_aside(live)
        backup.restore(live, copy)
        if aside:
            count = salvage.salvage(aside, live)
            self._mended = {"count": count, "name": aside.name}
            log.error("the file of sessions was damaged; %d sessions could be kept, and the damaged file is %s", count, aside)

    def folder(self) -> Path:
        """Where sessions lie; SessionError where this host has no place."""
        if self._place is None:
            from core.sessions.place import folder

            self._place = folder()
        return self._place

    def claim(self, port: int) -> Any:
        """Mark the sessions as this process's (app/processes.py); keep what is given back while it runs."""
        from core.sessions.place import is_remote

        for place in self.places():  # none where sessions cannot be kept: the page works without
            with _logged("whose the sessions are", OSError):  # no rights, a full disk
                return processes.claim(Path(place), is_remote(Path(place)), port)
        return None

    def places(self) -> list[str]:
        """Where sessions lie, which no file route may read."""
        try:
            return [str(self.folder())]
        except TwoStacksError:
            return []

    def close(self, patience: float) -> None:
        """The process ends: what goes on is kept as cut, everything is written, and the copy is as new as the original."""
        with self._opening, _logged("the last of the sessions"):
            if self._store is None:
                return
            self._store.close(patience)
            if self._copy:
                from core.sessions.backup import back_up

                back_up(self._store.file.path, self._copy)

    def flush(self, seconds: float) -> None:
        """Wait until what was handed over is on disk; nothing where no store has been opened."""
        if self._store is not None:
            self._store.writer.flush(seconds)

    @property
    def mended(self) -> str:
        """A sentence for everyone where the file of sessions was damaged; "" where it was not."""
        return worded("told.mended", **self._mended) if self._mended else ""


def secret(folder: Path) -> bytes:
    """This host's secret, made once and readable by its user alone."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    path = folder / "secret"
    try:
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(secrets.token_bytes(32))
    except FileExistsError:
        pass
    found = path.read_bytes()
    if len(found) != 32:
        raise SessionError(f"{path} is not a secret of 32 bytes; remove it and a new one is made.")
    return found


def reason(error: Exception) -> str:
    """Why something was not kept, in the core's English, for the visitor; the host's log has the whole error."""
    return str(error) if isinstance(error, TwoStacksError) else trouble(error) or "The host's log says why."


@contextmanager
def _logged(what: str, errors: type[Exception] = Exception):
    try:
        yield
    except errors:  # what keeps a run must not end it: the run goes on, and the host's log has the whole error
        log.exception("%s could not be kept", what)
