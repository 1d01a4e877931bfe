"""What the sessions tab shows and does: own sessions, one that is open, and a record of it drawn again without the model."""

import base64
import binascii
import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

from app.engine import Engine
from app.moments import LOOKS, Moment, moments
from app.replays import Replay, Replays, view_of
from app.standalone import MOST_BYTES, page_of
from core.errors import InputError, SessionError
from core.fields import shown

MOST_LISTED = 200  # sessions, and records of one
MOST_TEXT = 200  # characters of a text in the list
MOST_MOMENTS = 1000  # of one session in the bar of a replay


class Shelf:
    """Shared by all visitors. Everything asked is checked here; errors are TwoStacksError."""

    def __init__(self, engine: Engine):
        self.engine, self.keeper = engine, engine.keeper
        self.replays = Replays(engine)

    def listed(self, visitor: str, **more: Any) -> dict[str, Any]:
        """The visitor's own sessions, the newest first; `more` goes into the pack."""
        store = self.keeper.store
        store.writer.flush()
        own = store.sessions(self.keeper.owner(visitor))
        current = self.keeper.current(visitor)
        return {"kind": "sessions", "sessions": [_row(one, current) for one in own[:MOST_LISTED]], "count": len(own),
                "ends": ends_with_restart(store.file.path.parent, store.file.remote), **more}

    def opened(self, visitor: str, id: object, **more: Any) -> dict[str, Any]:
        """The same with one session open: the visitor's, or a shared one."""
        store, owner = self.keeper.store, self.keeper.owner(visitor)
        store.writer.flush()
        session = store.session(id, owner)
        mine = any(one.id == session.id for one in store.sessions(owner))
        events = {}
        for event in store.events(session):
            events.setdefault(event["record"], event["data"])
        entries = [{
            "row": one.row, "kind": one.kind, "status": one.status, "input": one.input[:MOST_TEXT],
            "output": one.output[:MOST_TEXT], "made": one.made, "steps": one.steps, "model": one.model,
            "note": one.note, "hide": one.hide,
            "changed": _changes(events.get(one.row)),
        } for one in store.kept(session)]
        told = _row(session, "") | {"note": session.note, "mine": mine, "entries": entries[:MOST_LISTED], "total": len(entries)}
        return self.listed(visitor, open=told, **more)

    def act(self, visitor: str, data: object) -> dict[str, Any]:
        """One thing that a person asks of the list; gives the list as it is then."""
        deed = data.get("do") if isinstance(data, dict) else None
        if not isinstance(deed, str) or deed not in self._DEEDS:
            raise InputError(f"There is no such thing to do ({shown(deed)}).")
        return self._DEEDS[deed](self, visitor, data)

    def _open(self, visitor: str, data: dict) -> dict:
        return self.opened(visitor, data.get("id"))

    def _list(self, visitor: str, data: dict) -> dict:
        return self.listed(visitor, keep=True)  # whatever is open

    def _write(self, visitor: str, data: dict) -> dict:
        store, owner = self.keeper.store, self.keeper.owner(visitor)
        store.own(data.get("id"), owner)
        store.annotate(data["id"], owner, data.get("note"))
        store.rename(data["id"], owner, data.get("name"))
        return self.opened(visitor, data["id"])

    def _share(self, visitor: str, data: dict) -> dict:
        self.keeper.store.share(data.get("id"), self.keeper.owner(visitor), view_of(data.get("view")))
        return self.opened(visitor, data["id"], link=data["id"])

    def _unshare(self, visitor: str, data: dict) -> dict:
        self.keeper.store.unshare(data.get("id"), self.keeper.owner(visitor))
        return self.opened(visitor, data["id"])

    def _delete(self, visitor: str, data: dict) -> dict:
        self.keeper.store.delete(data.get("id"), self.keeper.owner(visitor))
        self.keeper.leave_session(visitor, data["id"])
        return self.listed(visitor)

    def _forget(self, visitor: str, data: dict) -> dict:
        count = self.keeper.store.forget(self.keeper.owner(visitor))
        self.keeper.leave_session(visitor)
        return self.listed(visitor, forgotten=count)

    def _remark(self, visitor: str, data: dict) -> dict:
        store = self.keeper.store
        store.remark(store.own(data.get("id"), self.keeper.owner(visitor)), data.get("row"), data.get("note"), data.get("hide"))
        return self.opened(visitor, data["id"])

    def _remove(self, visitor: str, data: dict) -> dict:
        store = self.keeper.store
        store.remove(store.own(data.get("id"), self.keeper.owner(visitor)), data.get("row"))
        return self.opened(visitor, data["id"])

    def _collect(self, visitor: str, data: dict) -> dict:
        """A run goes into another session of one's own, or into a new one; that one is opened."""
        store, owner = self.keeper.store, self.keeper.owner(visitor)
        source = store.session(data.get("id"), owner)
        store.load(source, data.get("row"))  # before anything is made for it
        target = store.own(data["to"], owner) if data.get("to") else store.create(owner, data.get("name"))
        store.collect(source, data["row"], target)
        return self.opened(visitor, target.id)

    def _export(self, visitor: str, data: dict) -> dict:
        from core.sessions.exchange import to_file

        session = self.keeper.store.session(data.get("id"), self.keeper.owner(visitor))
        file = base64.b64encode(to_file(self.keeper.store, session)).decode()
        return self.opened(visitor, session.id, file=[f"two-stacks-{session.made[:10]}.zip", "application/zip", file])

    def _page(self, visitor: str, data: dict) -> dict:
        session = self.keeper.store.session(data.get("id"), self.keeper.owner(visitor))
        packs, size = [], 0
        for one in self.keeper.store.kept(session):
            if one.kind == "trace" and one.steps:
                packs.append(self.engine.saved_pack(self.keeper.store.load(session, one.row)))
                size += len(json.dumps(packs[-1]))
            if size > MOST_BYTES:
                raise SessionError(f"The page would have more than {MOST_BYTES:,} bytes. Download the session as a file instead.")
        if not packs:
            raise SessionError("There is no run in this session that a page could replay.")
        page = base64.b64encode(page_of(session.name, session.note, packs).encode()).decode()
        return self.opened(visitor, session.id, file=[f"two-stacks-{session.made[:10]}.html", "text/html", page])

    def _import(self, visitor: str, data: dict) -> dict:
        from core.sessions.exchange import MOST_FILE, from_file

        packed = data.get("file")
        if not isinstance(packed, str) or len(packed) > MOST_FILE * 4 // 3 + 4:
            raise SessionError(f"A session file has at most {MOST_FILE:,} bytes.")
        try:
            file = base64.b64decode(packed, validate=True)
        except (ValueError, binascii.Error):
            raise SessionError("The file did not arrive whole. Choose it once more.") from None
        session = from_file(self.keeper.store, file, self.keeper.owner(visitor))
        return self.opened(visitor, session.id)

    _DEEDS = {"list": _list, "open": _open, "write": _write, "share": _share, "unshare": _unshare, "delete": _delete,
              "forget": _forget, "export": _export, "page": _page, "import": _import,
              "remark": _remark, "remove": _remove, "collect": _collect}

    # Replay

    def replay(self, visitor: str, id: object, row: object = None, view: dict | None = None, event: object = None) -> Replay:
        """One moment of a session, by its event or its record's row, or by default the last run: what was shown then, from what
        was kept."""
        store = self.keeper.store
        store.writer.flush()
        session = store.session(id, self.keeper.owner(visitor))
        all = moments(store, session)
        if not all:
            raise SessionError("Nothing has been run in this session yet.")
        at = _place(all, row, event)
        found = self.replays.of(session, all[at], view)
        bar = {"kind": "replay", "id": session.id, "name": session.name, "note": session.note, "at": at, "row": all[at].row,
               "event": all[at].event, "tab": found.tab,
               "entries": [[one.row, one.event, one.kind, one.status, one.text] for one in all[:MOST_MOMENTS]]}
        self.keeper.leave_session(visitor, branched=session.id)
        return replace(found, bar=bar)

def _place(all: list[Moment], row: object, event: object) -> int:
    """Which moment is asked for: that of an event, the first of a record, or the last run."""
    if event is not None or row is not None:
        for at, one in enumerate(all):
            if (event is not None and type(event) is int and one.event == event) or (
                    event is None and type(row) is int and one.row == row and one.kind not in LOOKS):
                return at
        raise SessionError("There is no such run in this session.")
    return next((at for at in reversed(range(len(all))) if all[at].kind == "trace"), len(all) - 1)


def _changes(data: object) -> dict[str, str]:
    """What an event says was changed, as texts; an imported one may say anything."""
    told = data.get("changed") if isinstance(data, dict) else None
    told = told if isinstance(told, dict) else {}
    return {name: text[:MOST_TEXT] for name, text in told.items() if name != "text" and isinstance(text, str)}


def ends_with_restart(place: Path, remote: bool, environment: Any = os.environ) -> bool:
    """Whether this is a Space whose disk is emptied when it restarts."""
    return "SPACE_ID" in environment and not remote and not Path(place).is_relative_to("/data")


def _row(session: Any, current: str) -> dict[str, Any]:
    return {"id": session.id, "name": session.name, "made": session.made, "changed": session.changed, "shared": session.shared,
            "records": session.records, "bytes": session.bytes, "current": session.id == current}
