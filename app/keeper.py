"""Who is here, and what is kept of what they do: every run of every tab goes into the visitor's session as it happens.

A browser is known by a key that this host signed and the browser keeps; the database knows only its hash. What cannot be kept is
logged and never stops a run.
"""

import hashlib
import hmac
import json
import logging
import secrets
import threading
from collections import OrderedDict
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app.moments import changed
from app.sentences import translated
from app.storage import Storage, reason, secret
from app.words import worded
from core.errors import SessionError, TwoStacksError
from core.settings import Settings

if TYPE_CHECKING:  # sqlite-utils takes half a second to import, which the first picture must not wait for
    from core.sessions import Store

log = logging.getLogger("two-stacks")
VISITORS = 1000  # that are remembered


@dataclass
class Visit:
    """One open page: its owner, the session it writes to, the settings of its last run, whose session it went on from, and why
    the last run was not kept."""

    owner: str
    session: str = ""
    last: str = ""
    branched: str = ""
    unkept: str = ""

    def failed(self, error: Exception) -> None:
        """Something of the last run was not kept; a session that is full is left."""
        self.unkept = reason(error)
        if isinstance(error, SessionError):
            self.session = ""


class Keeper:
    """Shared by all visitors; holds names only."""

    def __init__(self, place: Path | None = None):
        self.storage, self._nowhere = Storage(place), ""
        self._visits: OrderedDict[str, Visit] = OrderedDict()
        self._lock, self._secret = threading.Lock(), b""

    @property
    def store(self) -> "Store":
        """The store, opened when first asked for; SessionError where this host has no place for one."""
        return self.storage.store

    # Visitors

    def arrive(self, visitor: str, key: object) -> str:
        """The key of this visitor's browser: the one it brings if this host signed it, or a new one; "" where none is kept."""
        try:
            if not (isinstance(key, str) and self._signed(key)):
                token = secrets.token_urlsafe(18)
                key = f"{token}.{self._sign(token)}"
        except (OSError, TwoStacksError) as error:
            log.exception("sessions cannot be kept")
            self._nowhere = reason(error)
            return ""
        owner = hashlib.sha256(f"owner\n{key.partition('.')[0]}".encode()).hexdigest()
        with self._lock:
            self._visits[visitor] = Visit(owner)
            while len(self._visits) > VISITORS:
                self._visits.popitem(last=False)
        return key

    def leave(self, visitor: str) -> None:
        """The page was closed."""
        with self._lock:
            self._visits.pop(visitor, None)

    def owner(self, visitor: str) -> str:
        """Who has this page open; "" for a browser that has not said."""
        visit = self._visits.get(visitor)
        return visit.owner if visit else ""

    def current(self, visitor: str) -> str:
        """The session that this page writes to, or "" before the first run."""
        visit = self._visits.get(visitor)
        return visit.session if visit else ""

    def leave_session(self, visitor: str, session: str = "", branched: str = "") -> None:
        """What is run next goes into a new session: this one is gone, or somebody's run is gone on from."""
        visit = self._visits.get(visitor)
        if visit and session in ("", visit.session):
            visit.session = ""
        if visit and branched:
            visit.branched = branched

    def _signed(self, key: str) -> bool:
        token, _, signature = key.partition(".")
        return len(key) < 200 and key.isascii() and hmac.compare_digest(signature, self._sign(token))

    def _sign(self, token: str) -> str:
        with self._lock:
            if not self._secret:
                self._secret = secret(self.storage.folder())
        return hmac.new(self._secret, token.encode(), hashlib.sha256).hexdigest()[:32]

    # What is kept

    def watch(self, visitor: str, going: Any) -> Any:
        """The run, kept while it is made; the run itself where nothing can be kept."""
        with self._telling(visitor, "a run"):
            if visit := self._writing(visitor, going.settings):
                return self.store.watch(going, visit.session, self._changed(visit, going.settings), visit.failed)
        return going

    def keep(self, visitor: str, make: Callable[[], Any], asked: bool = True) -> None:
        """A whole record that `make` gives: an answer that was there already, or what was found out about a run.

        asked: it answers what the person changed, which then becomes an event.
        """
        with self._telling(visitor, "a record"):
            record = make()
            settings = getattr(record, "settings", None)
            if visit := self._writing(visitor, settings):
                event = self._changed(visit, settings) if asked and record.kind == "trace" else None
                self.store.keep_soon(visit.session, record, event, visit.failed)

    def looked(self, visitor: str, kind: str, data: dict[str, Any], record: str) -> None:
        """How a record of the visitor's session is looked at now: a layer that was chosen, a penalty that was moved."""
        visit = self._visits.get(visitor)
        if visit and visit.session:
            with self._telling(visitor, "a look"):
                self.store.event_at(visit.session, kind, data, record)

    def moved(self, visitor: str, settings: Settings) -> None:
        """A slider of the noise was moved: no run and no record, and yet a replay can show it."""
        with self._telling(visitor, "a move"):
            if visit := self._writing(visitor, settings):
                self.store.event(visit.session, "noise", {"settings": json.loads(settings.to_json())})

    def unkept(self, visitor: str) -> str:
        """Why the visitor's last run was not kept, or "" where it was; waits until it is on disk."""
        visit = self._visits.get(visitor)
        if visit:
            self.storage.flush(2)
        return translated(visit.unkept if visit else self._nowhere) or ("" if visit else worded("page.unkept.away"))

    @contextmanager
    def _telling(self, visitor: str, what: str):
        try:
            yield
        except Exception as error:  # what keeps a run must not end it: the run goes on, and the host's log has the whole error
            log.exception("%s could not be kept", what)
            if visit := self._visits.get(visitor):
                visit.failed(error)

    def _writing(self, visitor: str, settings: Any) -> Visit | None:
        """The visit, with a session to write to."""
        visit = self._visits.get(visitor)
        if visit:
            visit.unkept = ""
        if visit and not visit.session:
            name = " ".join(getattr(settings, "text", "").split())[:60]
            visit.session = self.store.create(visit.owner, name).id
        return visit

    def _changed(self, visit: Visit, settings: Settings) -> tuple[str, dict[str, Any]] | None:
        """What the person changed since the last run, as an event; None for nothing."""
        told = settings.to_json()
        if told == visit.last:
            return None
        data: dict[str, Any] = {"changed": changed(visit.last, told)}
        if visit.branched:
            data["from"] = visit.branched
        visit.last, visit.branched = told, ""
        return "run", data
