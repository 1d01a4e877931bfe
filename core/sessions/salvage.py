"""A file of sessions that is damaged: it is put aside whole, and what can still be read of it goes into a new file."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from core.sessions.database import File

TABLES = ("sessions", "records", "steps", "arrays", "events", "scores")  # those that others point to first
BESIDE = ("", "-wal", "-shm", "-journal")  # what SQLite keeps beside a file, and needs to read it
AT_ONCE = 100  # rows that are read together; where that fails, each by itself
EMPTY = 20  # times that nothing was found, after which nothing more is looked for


def healthy(path: Path) -> bool:
    """Whether the file, where there is one, can be read from end to end. Errors of the disk are raised."""
    if not path.exists() or not path.stat().st_size:
        return True
    try:
        with closing(sqlite3.connect(path, timeout=10)) as database:
            return database.execute("pragma quick_check(1)").fetchone() == ("ok",)
    except sqlite3.OperationalError:  # a disk that cannot be read, a lock: no damage of the file
        raise
    except sqlite3.DatabaseError:
        return False


def put_aside(path: Path) -> Path:
    """Give the file and what lies beside it another name; gives that name."""
    number = 1
    while (aside := path.with_name(f"{path.stem}.damaged-{number}{path.suffix}")).exists():
        number += 1
    for end in reversed(BESIDE):
        beside = path.with_name(path.name + end)
        if beside.exists():
            beside.rename(aside.with_name(aside.name + end))
    return aside


def salvage(aside: Path, fresh: Path) -> int:
    """Copy every row that can be read into the file `fresh`, where it is not there yet; gives how many sessions that has then."""
    file = File(fresh)
    with closing(sqlite3.connect(aside, timeout=10)) as damaged, closing(sqlite3.connect(fresh, timeout=10)) as sink:
        damaged.execute("pragma writable_schema = on")  # else a file that was cut short is not read at all
        for table in TABLES:
            columns = [row[1] for row in file.database.execute(f"pragma table_info({table})")]
            places = ", ".join("?" * len(columns))
            for row in _rows(damaged, table, columns):
                sink.execute(f"insert or ignore into {table} ({', '.join(columns)}) values ({places})", row)
        for id, owner, changed in _known(damaged):
            sink.execute("insert or ignore into sessions (id, owner, name, made, changed) values (?, ?, 'Session', ?, ?)",
                         [id, owner, changed, changed])
        # What lost the row that it belongs to can be found by nobody.
        sink.execute("delete from records where session not in (select id from sessions)")
        for table in ("steps", "arrays", "scores"):
            sink.execute(f"delete from {table} where record is not null and record not in (select id from records)")
        for table in ("events", "scores"):
            sink.execute(f"delete from {table} where session not in (select id from sessions)")
        sink.execute("update events set record = null where record not in (select id from records)")
        sink.commit()
        return sink.execute("select count(*) from sessions").fetchone()[0]


def _known(damaged: sqlite3.Connection) -> list[tuple[str, str, str]]:
    """(id, owner, changed) of sessions, out of the two indexes alone: they lie elsewhere in the file than the rows, and find the
    owner of runs whose session cannot be read."""
    try:
        ids = dict(damaged.execute("select rowid, id from sessions order by id").fetchall())
        owners = damaged.execute("select rowid, owner, changed from sessions indexed by sessions_of_owner").fetchall()
    except sqlite3.DatabaseError:
        return []
    return [(ids[row], owner, changed) for row, owner, changed in owners if row in ids]


def _rows(damaged: sqlite3.Connection, table: str, columns: list[str]) -> Iterator[tuple]:
    """The rows of a table that can be read: by hundreds, and where these are damaged, by halves of them."""
    asked = f"select {', '.join(columns)} from {table} not indexed where rowid between ? and ?"
    low, high = _ends(damaged, table)
    nothing = 0
    for first in range(low, high + 1, AT_ONCE):
        found = list(_between(damaged, asked, first, min(first + AT_ONCE - 1, high)))
        yield from found
        nothing = 0 if found else nothing + 1
        if nothing > EMPTY:
            return


def _between(damaged: sqlite3.Connection, asked: str, first: int, last: int) -> Iterator[tuple]:
    try:
        yield from damaged.execute(asked, [first, last]).fetchall()
    except sqlite3.DatabaseError:
        if first < last:
            middle = (first + last) // 2
            yield from _between(damaged, asked, first, middle)
            yield from _between(damaged, asked, middle + 1, last)


def _ends(damaged: sqlite3.Connection, table: str) -> tuple[int, int]:
    """The first and last row numbers; (0, -1) where not even that can be read."""
    ends = []
    for order in ("", "desc"):
        try:
            found = damaged.execute(f"select rowid from {table} not indexed order by rowid {order} limit 1").fetchone()
        except sqlite3.DatabaseError:
            found = None
        ends.append(found[0] if found else None)
    low, high = ends
    if low is None and high is None:
        return 0, -1
    return (1 if low is None else low), (2**31 if high is None else high)
