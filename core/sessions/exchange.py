"""One session as one file, for another machine: a zip of `session.json` and one safetensors file a record.

Whatever comes in was made by somebody else: every name, size and type is checked before it is used, no more is unpacked than
a session may hold, every record goes through its own checks (core/checks.py), and a file that is wrong anywhere leaves nothing.
"""

import io
import json
import math
import re
import struct
import zipfile
import zlib
from typing import Any

from core.errors import RecordError, SessionError, TwoStacksError
from core.lectures import HIDES
from core.records import MAX_BYTES
from core.sessions import rows
from core.sessions.listing import MOST_NAME, MOST_NOTE, Session, text_of
from core.sessions.recording import process
from core.sessions.retention import SESSION_EVENTS, SESSION_RECORDS, make_room
from core.sessions.store import Store

FORMAT = "two-stacks-session-1"
MOST_FILE = 32 * 2**20  # bytes, packed
MOST_UNPACKED = 128 * 2**20
MOST_LIST = 4 * 2**20  # bytes of session.json
MOST_DATA = 2**16  # characters of one event, which may hold the settings of a run
LIST = "session.json"
# What reading a file that is no session may raise beside our own errors.
BROKEN = (*rows.WRONG, zipfile.BadZipFile, zlib.error, struct.error, NotImplementedError, RuntimeError, EOFError, OSError,
          IndexError)
_RECORD = re.compile(r"records/\d{4}\.safetensors", re.ASCII)
_KIND = re.compile(r"[a-z][a-z_.]{0,39}", re.ASCII)
_DATE = re.compile(r"\d{4}-\d\d-\d\d[T ][\d:.]{5,15}(\+00:00)?", re.ASCII)


def to_file(store: Store, session: Session) -> bytes:
    """Everything in a session but its owner and its place."""
    store.writer.flush()
    out, listed, numbers = io.BytesIO(), [], {}
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=4) as archive:
        for number, kept in enumerate(store.kept(session)):
            if kept.status == rows.RUNNING:
                continue
            name = f"records/{number:04}.safetensors"
            archive.writestr(name, store.load(session, kept.row).to_bytes())
            numbers[kept.row] = len(listed)
            listed.append({"file": name, "kind": kept.kind, "id": kept.id, "digest": kept.digest, "status": kept.status,
                           "made": kept.made, "note": kept.note, "hide": kept.hide})
        told = {
            "format": FORMAT, "name": session.name, "note": session.note, "made": session.made, "records": listed,
            "events": [{"kind": e["kind"], "data": e["data"], "made": e["made"], "record": numbers.get(e["record"])}
                       for e in store.events(session)],
            "scores": [{"metric": s["metric"], "value": s["value"], "signature": s["signature"], "made": s["made"],
                        "record": numbers.get(s["record"])} for s in store.scores(session)],
        }
        archive.writestr(LIST, json.dumps(told, ensure_ascii=False, indent=1))
    return out.getvalue()


def from_file(store: Store, data: bytes, owner: str) -> Session:
    """A new private session of `owner` with what `to_file` wrote; SessionError says what is wrong with anything else."""
    if not isinstance(data, bytes):
        raise SessionError(f"A session file must be bytes, not {type(data).__name__}.")
    if len(data) > MOST_FILE:
        raise SessionError(f"A session file has at most {MOST_FILE:,} bytes; this has {len(data):,}.")
    if data.count(b"PK\x01\x02") > 2 * SESSION_RECORDS:  # before a directory of millions of entries is read
        raise SessionError(f"A session file has at most {SESSION_RECORDS:,} records; this has more entries.")
    try:
        told, records = _read(data)
        with store.file.writing() as database:  # all of it or nothing
            session = store.create(owner, told["name"])
            make_room(database, session.id)
            _insert(database, session.id, told, records)
        return store.session(session.id, owner)
    except SessionError:
        raise
    except TwoStacksError as error:
        raise SessionError(f"This is not a usable session file: {error}") from None
    except BROKEN as error:
        raise SessionError("This is not a usable session file: something in it is missing or damaged.") from error


def _read(data: bytes) -> tuple[dict, list[Any]]:
    """(the checked list, its records)."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        entries = {entry.filename: entry for entry in archive.infolist()}
        if len(entries) != len(archive.infolist()):
            raise RecordError("two entries have one name")
        strange = [name for name in entries if name != LIST and not _RECORD.fullmatch(name)]
        if strange or LIST not in entries:
            raise RecordError(f"it holds {strange[0]!r:.60}" if strange else f"it has no {LIST}")
        if len(entries) > SESSION_RECORDS + 1:
            raise RecordError(f"it has {len(entries):,} entries; at most {SESSION_RECORDS:,} records are kept")
        room = [MOST_UNPACKED]
        told = _told(json.loads(_unpacked(archive, entries[LIST], MOST_LIST, room), parse_constant=_no_number))
        if [record["file"] for record in told["records"]] != sorted(entries.keys() - {LIST}):
            raise RecordError("its list and its records do not belong together")
        records = []
        for record in told["records"]:
            made = rows.from_bytes(record["kind"], _unpacked(archive, entries[record["file"]], MAX_BYTES, room))
            if record["id"] != made.id or record["digest"] not in (None, rows.digest_of(made)):
                raise RecordError(f"{record['file']} is not the record that the list names")
            records.append(made)
    return told, records


def _unpacked(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, most: int, room: list[int]) -> bytes:
    """The bytes of one entry, of which no more than allowed are ever unpacked, whatever its header says."""
    most = min(most, room[0])
    with archive.open(entry) as stream:
        data = stream.read(most + 1)
    if len(data) > most:
        raise RecordError(f"{entry.filename} unpacks to more than {most:,} bytes")
    room[0] -= len(data)
    return data


def _no_number(name: str) -> None:
    raise RecordError(f"{LIST} holds {name}, which is no number")


def _told(told: Any) -> dict:
    """The list with its types, counts and sizes checked."""
    if not isinstance(told, dict) or told.get("format") != FORMAT:
        raise RecordError(f"{LIST} does not say that it is {FORMAT}")
    lists = {"records": SESSION_RECORDS, "events": SESSION_EVENTS, "scores": SESSION_EVENTS}
    for name, most in lists.items():
        if not isinstance(told.get(name), list) or len(told[name]) > most or not all(isinstance(one, dict) for one in told[name]):
            raise RecordError(f"{name} of {LIST} must be a list of at most {most:,} objects")
    told["name"] = text_of("name", told.get("name"), MOST_NAME)
    told["note"] = text_of("note", told.get("note"), MOST_NOTE, empty=True)
    count = len(told["records"])
    for record in told["records"]:
        if record.get("status") not in (rows.DONE, rows.STOPPED, rows.CUT) or not isinstance(record.get("file"), str):
            raise RecordError(f"a record of {LIST} has the status {record.get('status')!r:.30}")
        record["note"] = text_of("note", record.get("note", ""), MOST_NOTE, empty=True)
        if record.setdefault("hide", "") not in HIDES:
            raise RecordError(f"a record of {LIST} hides {record['hide']!r:.30}")
    for one in (*told["events"], *told["scores"]):
        at = one.get("record")
        if at is not None and not (type(at) is int and 0 <= at < count):
            raise RecordError(f"an event or score points at record {at!r:.30} of {count}")
    for event in told["events"]:
        data = event.get("data")
        if not isinstance(event.get("kind"), str) or not _KIND.fullmatch(event["kind"]) or not isinstance(data, dict) \
                or len(json.dumps(data)) > MOST_DATA:
            raise RecordError(f"an event {event.get('kind')!r:.40} is not one of ours")
    for score in told["scores"]:
        value = score.get("value")
        if type(value) not in (int, float) or not math.isfinite(value) or abs(value) > 1e300 \
                or not all(isinstance(score.get(name), str) and len(score[name]) <= 200 for name in ("metric", "signature")):
            raise RecordError(f"a score {score.get('metric')!r:.40} is {value!r:.30}")
    return told


def _insert(database: Any, session: str, told: dict, records: list[Any]) -> None:
    database.execute("update sessions set note = ? where id = ?", [told["note"], session])
    places = []
    for entry, record in zip(told["records"], records, strict=True):
        places.append(rows.insert(database, session, record, entry["status"], process(), _date(entry)))
        database.execute("update records set note = ?, hide = ? where id = ?", [entry["note"], entry["hide"], places[-1]])
    for event in told["events"]:
        row = None if event["record"] is None else places[event["record"]]
        database.execute("insert into events (session, record, made, kind, data) values (?, ?, ?, ?, ?)",
                         [session, row, _date(event), event["kind"], json.dumps(event["data"], ensure_ascii=False)])
    for score in told["scores"]:
        row = None if score["record"] is None else places[score["record"]]
        database.execute("insert into scores (session, record, made, metric, value, signature) values (?, ?, ?, ?, ?, ?)",
                         [session, row, _date(score), score["metric"], float(score["value"]), score["signature"]])


def _date(entry: dict) -> str:
    made = entry.get("made")
    return made if isinstance(made, str) and _DATE.fullmatch(made) else rows.now()
