"""Records as rows and back. A trace has a row for each step; what a record holds beside its steps is one row and its arrays.

A record goes through its own bytes (core/records.py), so what is read back is checked as strictly as a file from elsewhere.
"""

import hashlib
import importlib
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import numpy as np
from sqlite_utils import Database

from core.errors import RecordError
from core.records import MAX_BYTES, WRONG, pack, split
from core.search_tree import best_line
from core.sessions.arrays import deflate, deflate_all, inflate, inflate_all
from core.sessions.retention import SESSION_EVENTS
from core.settings import Settings
from core.text import Token
from core.trace import Step, read_steps, step_arrays, step_head

# kind -> where its class is; imported when one is read, because scoring a given output needs torch
KINDS: dict[str, tuple[str, str]] = {
    "comparison": ("core.comparison", "Comparison"),
    "corpus": ("core.corpus_result", "CorpusResult"),
    "corruption": ("core.noise.corruption", "Corruption"),
    "forced": ("core.likelihood", "ForcedPass"),
    "probe": ("core.probe_record", "Probe"),
    "trace": ("core.trace", "Trace"),
}
RUNNING, DONE, STOPPED, CUT = "running", "done", "stopped", "cut"
STATUSES = (RUNNING, DONE, STOPPED, CUT)
_STEPS = "(select coalesce(sum(length(data) + length(layout)), 0) from steps where record = records.id)"


def now() -> str:
    """UTC, to the millisecond, sortable."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def from_bytes(kind: str, data: bytes) -> Any:
    """The record of `kind` that these bytes hold; RecordError for anything else."""
    if kind not in KINDS:
        raise RecordError(f"There is no record of kind {kind!s:.30}; it must be one of: {', '.join(KINDS)}.")
    module, name = KINDS[kind]
    return getattr(importlib.import_module(module), name).from_bytes(data)


def digest_of(record: Any) -> str:
    """SHA-256 of what came out. A trace knows its own, which leaves out timings; of other records everything counts."""
    if record.kind == "trace":
        return record.digest
    kind, head, arrays = split(record.to_bytes())
    sha = hashlib.sha256(json.dumps([kind, head], sort_keys=True).encode())
    for name, array in sorted(arrays.items()):
        sha.update(f"{name}{array.dtype.str}{array.shape}".encode() + np.ascontiguousarray(array).tobytes())
    return sha.hexdigest()


def insert(database: Database, session: str, record: Any, status: str, writer: str, made: str = "") -> int:
    """A whole record; gives its row."""
    row = begin(database, session, record, status, writer, made)
    for step in getattr(record, "steps", ()):
        insert_step(database, row, step, written_at(record, step), "")
    finish(database, row, record, status)
    return row


def written_at(record: Any, step: Step) -> Token:
    """The token that one step wrote: of several beams the one of the first row, which need not be in the best text."""
    return record.target[step.index] if step.ranked is None else Token(step.texts[0], int(step.token[0]))


def begin(database: Database, session: str, record: Any, status: str, writer: str, made: str = "") -> int:
    """The row of a record, before any step of it; gives its number."""
    settings = getattr(record, "settings", None)
    cursor = database.execute(
        "insert into records (session, kind, record, status, model, input, settings, head, made, writer)"
        " values (?, ?, ?, ?, ?, ?, ?, '{}', ?, ?)",
        [session, record.kind, record.id, status, getattr(settings, "model", ""),
         getattr(settings, "text", getattr(record, "text", "")), settings.to_json() if settings else "{}", made or now(), writer],
    )
    head, arrays = _beside(record)
    written = 0
    for name, array in arrays.items():
        dtype, shape, data = deflate(array)
        database.execute("insert into arrays values (?, ?, ?, ?, ?)", [cursor.lastrowid, name, dtype, shape, data])
        written += len(data)
    database.execute("update records set head = ?, bytes = ? where id = ?", [_json(head), written, cursor.lastrowid])
    return cursor.lastrowid


def insert_step(database: Database, row: int, step: Step, token: Any, output: str) -> int:
    """One decoder step, and how many bytes it takes; `token`: the target token it wrote, `output`: the text so far."""
    layout, data = deflate_all(step_arrays(step))
    database.execute(
        "insert into steps values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [row, step.index, step.texts[0], int(step.token[0]), float(step.logprob[0]), float(step.entropy[0]),
         _json([token.text, token.id, token.start, token.end]), output,
         _json(step_head(step)), layout, data],
    )
    return len(data) + len(layout)


def finish(database: Database, row: int, record: Any, status: str) -> None:
    """What is known only at the end: the output, the digest, and all that the record holds beside its steps."""
    head, _ = _beside(record)
    database.execute("update sessions set changed = ? where id = (select session from records where id = ?)", [now(), row])
    said = {"comparison": "sentence", "corpus": "sentence", "trace": "text"}.get(record.kind)
    output = getattr(record, said, "") if said else ""
    database.execute(
        f"update records set status = ?, ended = ?, output = ?, digest = ?, head = ?, bytes = bytes + {_STEPS} where id = ?",
        [status, now(), output, digest_of(record), _json(head), row])


def insert_event(database: Database, session: str, kind: str, data: Mapping[str, Any], row: int | None) -> None:
    """Something the person did; of a session that is full of them no more are kept."""
    count = database.execute("select count(*) from events where session = ?", [session]).fetchone()[0]
    if count < SESSION_EVENTS:
        database.execute("insert into events (session, record, made, kind, data) values (?, ?, ?, ?, ?)",
                         [session, row, now(), kind, _json(dict(data))])


def cut(database: Database, row: int) -> None:
    """The run in this row did not come to its end."""
    database.execute(f"update records set status = ?, ended = ?, bytes = bytes + {_STEPS} where id = ? and status = ?",
                     [CUT, now(), row, RUNNING])


def _beside(record: Any) -> tuple[dict, dict[str, np.ndarray]]:
    """(header, arrays) of all that a record holds beside its steps."""
    if record.kind == "trace":
        return record.head(), record.arrays()
    return split(record.to_bytes())[1:]


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def read(database: Database, row: Mapping[str, Any]) -> Any:
    """The record of one row of `records`, checked against its id and digest; RecordError where it is damaged."""
    try:
        record = from_bytes(row["kind"], to_bytes(database, row))
    except RecordError:
        raise
    except WRONG:
        raise RecordError("This record is damaged and cannot be drawn; all others are as they were.") from None
    if record.id != row["record"] or row["digest"] not in (None, digest_of(record)):
        raise RecordError("This record is damaged: what it holds is not what was written.")
    return record


def to_bytes(database: Database, row: Mapping[str, Any]) -> bytes:
    """The bytes of the record in one row; of a run that was cut, of the steps that are there."""
    head = json.loads(row["head"])
    found = database.execute("select name, dtype, shape, data from arrays where record = ?", [row["id"]]).fetchall()
    arrays = {name: inflate(dtype, shape, data) for name, dtype, shape, data in found}
    if row["kind"] == "trace":
        steps = database.execute("select step, target, output, head, layout, data from steps where record = ? order by step",
                                 [row["id"]]).fetchall()
        head["steps"] = [json.loads(extra) for *_, extra, _, _ in steps]
        held = 0
        for at, (_, _, _, _, layout, data) in enumerate(steps):
            for name, array in inflate_all(layout, data).items():
                arrays[f"steps.{at}.{name}"] = array
                held += array.nbytes
            if held > MAX_BYTES:
                raise RecordError(f"This record has more than {MAX_BYTES:,} bytes.")
        if row["digest"] is None:  # it did not come to its end
            head["target"], head["text"] = [json.loads(target) for _, target, *_ in steps], steps[-1][2] if steps else ""
            if any("ranked_texts" in step for step in head["steps"]):  # the first row changed its text on the way
                made = read_steps(head["steps"], arrays, len(head["source"]))
                beams = Settings.from_json(head["settings"])[0].decoding.beams
                head["target"] = [[place.text, place.id, 0, 0] for place in best_line(made, beams)]
    return pack(row["kind"], head, arrays)
