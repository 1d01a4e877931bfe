"""One run, written as it happens: a row a step, so that a crash keeps every step that was made."""

import logging
import os
import secrets
import socket
from collections.abc import Iterator, Mapping
from typing import Any

from sqlite_utils import Database

from core.errors import SessionError
from core.sessions import rows
from core.sessions.retention import SESSION_BYTES, make_room
from core.sessions.writer import Failed, Writer
from core.trace import Step, Trace

log = logging.getLogger("two-stacks")
_TOKEN = secrets.token_hex(6)


def process() -> str:
    """This process, for whoever asks later whether it still runs."""
    return f"{socket.gethostname()}/{os.getpid()}/{_TOKEN}"


def alive(writer: str) -> bool:
    """Whether the process that wrote this may still be writing; of another host that cannot be told."""
    if writer == process():
        return True
    host, pid, _ = (*writer.split("/"), "", "")[:3]
    if host != socket.gethostname():
        return True
    if pid in ("", str(os.getpid())) or not pid.isdigit():  # our own number again, as in a container started anew
        return False
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return False
    except OSError:  # it runs, under another user
        pass
    return True


class Recording(Iterator[Step]):
    """A run that is kept in a session while it is made; for whoever steps it, it is the run itself.

    What cannot be written (a full session, a full disk) is logged, `failed` is told, and the run goes on.
    """

    def __init__(self, going: Any, writer: Writer, session: str, event: tuple[str, Mapping[str, Any]] | None = None,
                 failed: Failed | None = None):
        self.going, self._writer, self._session, self._event, self._failed = going, writer, session, event, failed
        self._row: int | None = None  # this and the next are known to the writer's thread only
        self._bytes = 0
        self._ended = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self.going, name)

    def __next__(self) -> Step:
        try:
            step = next(self.going)
        except StopIteration:
            self._end(rows.DONE)
            raise
        except BaseException:
            self._end(rows.CUT)
            raise
        if step.index == 0:
            first = self.going.trace()
            self._writer.put(lambda database: self._begin(database, first), self._failed)
        token, text = self.going.target[-1], self.going.written
        self._writer.put(lambda database: self._step(database, step, token, text), self._failed)
        return step

    def close(self) -> None:
        """Stop; the steps made so far stay."""
        self.going.close()
        self._end(rows.CUT if self._writer.closing else rows.STOPPED)

    def cut(self) -> None:
        """The process ends before this run could: what was made of it is kept."""
        self._end(rows.CUT)

    @property
    def ended(self) -> bool:
        """Whether nothing more of it will be written."""
        return self._ended

    def _end(self, status: str) -> None:
        if self._ended:
            return
        self._ended = True
        if self.going.steps:
            trace = self.going.trace()
            self._writer.put(lambda database: self._finish(database, trace, status), self._failed)

    def _begin(self, database: Database, first: Trace) -> None:
        make_room(database, self._session)
        self._row = rows.begin(database, self._session, first, rows.RUNNING, process())
        if self._event:
            rows.insert_event(database, self._session, *self._event, self._row)

    def _step(self, database: Database, step: Step, token: Any, text: str) -> None:
        if self._row is None:
            return
        self._bytes += rows.insert_step(database, self._row, step, token, text)
        if self._bytes > SESSION_BYTES:
            log.warning("a run of more than %d bytes is kept up to step %d", SESSION_BYTES, step.index + 1)
            rows.cut(database, self._row)
            self._row = None
            if self._failed:
                self._failed(SessionError(f"It is longer than a session may be; {step.index + 1} of its steps are kept."))

    def _finish(self, database: Database, trace: Trace, status: str) -> None:
        if self._row is not None:
            rows.finish(database, self._row, trace, status)
