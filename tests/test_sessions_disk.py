"""Sessions on disk: writers side by side, what is left after something fails, the place, the tables of every version, arrays."""

import json
import os
import sqlite3
import subprocess
import sys
import threading
import time
import zlib
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from sqlite_utils import Database

from core import Settings
from core.errors import RecordError, SessionError
from core.examples import saved
from core.sessions import Store, backup, rows
from core.sessions.arrays import DTYPES, deflate, deflate_all, inflate, inflate_all
from core.sessions.database import File
from core.sessions.place import FILE, data_directory, folder, is_remote
from core.sessions.schema import apply, migrations
from tests.replayed import ANN

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture
def store(tmp_path) -> Store:
    return Store(tmp_path)


@pytest.fixture(scope="module")
def traces():
    return saved()


# Writers side by side

def test_eight_threads_lose_no_row(store, traces):
    sessions = [store.create(ANN) for _ in range(8)]
    problems = []

    def write(session):
        try:
            for number in range(200):
                store.score(session.id, "n", number, "test")
        except Exception as error:
            problems.append(error)

    together = [threading.Thread(target=write, args=(session,)) for session in sessions]
    [thread.start() for thread in together]
    [thread.join() for thread in together]
    assert not problems
    assert [len(store.scores(session)) for session in sessions] == [200] * 8
    assert store.file.database.execute("pragma integrity_check").fetchone() == ("ok",)


WRITES = """
import sys
from pathlib import Path
from core.sessions import Store
from tests.replayed import ANN
store = Store(Path(sys.argv[1]))
session = store.create(ANN)
for number in range(100):
    store.score(session.id, "n", number, "test")
    store.event(session.id, "moved", {"n": number})
store.writer.flush()
"""


def test_four_processes_that_start_together_lose_no_row(tmp_path):
    command = [sys.executable, "-c", WRITES, tmp_path]
    started = [subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE) for _ in range(4)]
    for process_ in started:
        assert process_.communicate(timeout=300)[1] == b"" and process_.returncode == 0
    store = Store(tmp_path)
    for session in store.sessions(ANN):
        assert len(store.scores(session)) == 100 and [e["data"]["n"] for e in store.events(session)] == list(range(100))
    assert len(store.sessions(ANN)) == 4
    assert store.file.database.execute("pragma integrity_check").fetchone() == ("ok",)


def test_what_fails_in_the_middle_leaves_nothing(store, traces, monkeypatch):
    session = store.create(ANN)
    monkeypatch.setattr(rows, "finish", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        store.keep(session.id, traces[0])
    for table in ("records", "steps", "arrays"):
        assert store.file.database[table].count == 0


def test_what_is_written_is_there_after_reopening(tmp_path, traces):
    store = Store(tmp_path)
    session = store.create(ANN, "mine")
    store.keep(session.id, traces[1])
    store.rename(session.id, ANN, "still mine")
    store.file.connections.close()
    again = Store(tmp_path)
    assert again.session(session.id, ANN).name == "still mine" and again.load(session, again.kept(session)[0].row) == traces[1]


def test_a_job_that_fails_takes_no_other_with_it(store):
    session = store.create(ANN)
    store.event(session.id, "before", {})
    store.writer.put(lambda database: database.execute("insert into nowhere values (1)"))
    store.event(session.id, "after", {})
    assert store.writer.flush()
    assert [event["kind"] for event in store.events(session)] == ["before", "after"]


def test_threads_that_come_and_go_leave_no_open_file(store):
    if not Path("/proc/self/fd").is_dir():
        pytest.skip("this system does not list open files")
    session = store.create(ANN)
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(200):
        thread = threading.Thread(target=store.kept, args=(session,))
        thread.start()
        thread.join()
    assert len(os.listdir("/proc/self/fd")) <= before + 6


def test_b99_a_write_that_reads_first_waits_for_the_one_that_writes(tmp_path):
    """Begun as a read it would be refused at once, whatever the timeout, since what it read is no longer so."""
    file, holds, seen = File(tmp_path / FILE), threading.Event(), []

    def slow():
        with file.writing() as database:
            database.execute("insert into meta values ('n', '1')")
            holds.set()
            time.sleep(0.3)

    def reads_then_writes():
        holds.wait()
        with file.writing() as database:
            (before,) = database.execute("select value from meta where name = 'n'").fetchone()
            database.execute("update meta set value = ? where name = 'n'", [str(int(before) + 1)])
            seen.append(before)

    with file.writing() as database:
        database.execute("create table meta (name text primary key, value text)")
    together = [threading.Thread(target=each) for each in (slow, reads_then_writes)]
    [thread.start() for thread in together]
    [thread.join() for thread in together]
    assert seen == ["1"] and file.database.execute("select value from meta").fetchall() == [("2",)]


def test_b102_an_outer_transaction_takes_everything_back(tmp_path):
    file = File(tmp_path / FILE)
    with pytest.raises(ZeroDivisionError), file.writing() as outer:
        with file.writing() as inner:
            inner.execute("create table five (n)")
        for number in range(5):
            outer.execute("insert into five values (?)", [number])
        raise ZeroDivisionError
    assert "five" not in file.database.table_names()


def test_b103_every_table_has_a_key_and_takes_its_first_row(store):
    """An upsert into an empty table needs a key that is named; here keys are the tables' own."""
    database = store.file.database
    for table in database.tables:
        assert table.pks and (table.pks != ["rowid"] or table.name.startswith("_")), table.name
    session = store.create(ANN)
    store.event(session.id, "first", {})
    assert store.writer.flush() and [event["kind"] for event in store.events(session)] == ["first"]


def test_b106_connections_that_are_closed_leave_no_open_file(tmp_path):
    if not Path("/proc/self/fd").is_dir():
        pytest.skip("this system does not list open files")
    file = File(tmp_path / FILE)
    file.connections.close()
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(2000):
        assert file.database.conn
        file.connections.close()
    assert len(os.listdir("/proc/self/fd")) <= before


# Place and tables

def test_the_place_is_the_users_own_and_never_served(tmp_path):
    assert folder({"SESSIONS_DIR": str(tmp_path)}) == tmp_path
    assert folder({"HOME": "/home/ann", "XDG_DATA_HOME": "/home/ann/data"}) == Path("/home/ann/data/two-stacks")
    assert data_directory({"HOME": "/home/ann"}, "linux") == Path("/home/ann/.local/share")
    assert data_directory({"HOME": "/Users/ann"}, "darwin") == Path("/Users/ann/Library/Application Support")
    for served in (ROOT, ROOT / "assets" / "x", Path("runs")):
        with pytest.raises(SessionError, match="must not lie inside"):
            folder({"SESSIONS_DIR": str(served)})


def test_a_network_mount_gets_no_wal(tmp_path, monkeypatch):
    mounts = tmp_path / "mounts"
    mounts.write_text(f"disk / ext4 rw 0 0\nbucket {tmp_path}/a\\040b nfs4 rw 0 0\nhf {tmp_path}/c fuse.hf rw 0 0\n")
    assert is_remote(tmp_path / "a b" / "deep", mounts) and is_remote(tmp_path / "c", mounts)
    assert not is_remote(tmp_path / "d", mounts) and not is_remote(tmp_path, tmp_path / "none")
    assert Store(tmp_path / "local").file.database.journal_mode == "wal"
    monkeypatch.setattr("core.sessions.database.is_remote", lambda place: True)
    assert Store(tmp_path / "far").file.database.journal_mode == "delete"


def test_the_file_is_for_its_user_alone(tmp_path):
    store = Store(tmp_path / "new")
    assert store.file.path.stat().st_mode & 0o077 == 0 and store.file.path.parent.stat().st_mode & 0o077 == 0


NAMES = [migration.name for migration in migrations._migrations]


@pytest.mark.parametrize("upto", range(1, len(NAMES)))
def test_a_file_of_any_earlier_version_is_brought_up_to_date_and_keeps_its_rows(tmp_path, upto):
    old = Database(sqlite3.connect(tmp_path / "sessions.db"))
    migrations.apply(old, stop_before=NAMES[upto])
    old.execute("insert into sessions (id, owner, name, note, made, changed) values ('s', ?, 'old', '', '2025', '2025')", [ANN])
    old.conn.commit()
    old.close()
    store = Store(tmp_path)
    assert [m.name for m in migrations.applied(store.file.database)] == NAMES
    assert store.session("s", ANN).name == "old" and not store.session("s", ANN).shared
    session = store.session("s", ANN)
    store.keep(session.id, saved()[1])
    assert len(store.kept(session)) == 1
    with store.file.writing() as database:
        apply(database)  # again: nothing is left to do
    assert [m.name for m in migrations.applied(store.file.database)] == NAMES


def test_tables_read_well(store, traces):
    """What datasette would show of a step: its token, its numbers, and the shapes of what is in the blob."""
    session = store.create(ANN)
    store.keep(session.id, traces[0])
    step = next(store.file.database["steps"].rows)
    shapes = json.loads(step["layout"])
    assert step["token"] == traces[0].steps[0].texts[0] and step["logprob"] == pytest.approx(float(traces[0].steps[0].logprob[0]))
    assert shapes["cross_weights"] == ["float32", list(traces[0].steps[0].cross_weights.shape)]
    record = next(store.file.database["records"].rows)
    assert Settings.from_json(record["settings"])[0] == traces[0].settings and record["output"] == traces[0].text


# A copy elsewhere

def test_a_disk_that_was_emptied_gets_its_sessions_back(tmp_path, traces):
    live, bucket = tmp_path / "live", tmp_path / "bucket"
    bucket.mkdir()
    store = Store(live)
    session = store.create(ANN, "kept")
    store.keep(session.id, traces[1])
    copy = backup.target({"SESSIONS_BACKUP": str(bucket)})
    backup.back_up(store.file.path, copy)
    assert [path.name for path in bucket.iterdir()] == [copy.name]  # no WAL beside it, nothing half written
    assert not backup.restore(store.file.path, copy)  # what is there stays
    assert backup.restore(tmp_path / "new" / FILE, copy)
    again = Store(tmp_path / "new")
    assert again.load(session, again.kept(again.session(session.id, ANN))[0].row) == traces[1]


def test_a_copy_follows_what_changes_and_a_damaged_one_is_left_alone(tmp_path, caplog):
    store, copy, stop = Store(tmp_path / "live"), tmp_path / FILE, threading.Event()
    thread = backup.keep_backing_up(store.file.path, copy, 0.05, stop)
    session = store.create(ANN, "first")
    until = time.monotonic() + 60
    while time.monotonic() < until and not (copy.exists() and _names(copy) == ["first"]):
        time.sleep(0.02)
    stop.set()
    thread.join(60)
    assert _names(copy) == ["first"] and session.name == "first"
    copy.write_bytes(b"SQLite format 3\0" + b"x" * 5000)
    assert not backup.restore(tmp_path / "other" / FILE, copy) and not (tmp_path / "other" / FILE).exists()
    assert "cannot be used" in caplog.text
    with pytest.raises(SessionError, match="which is no folder"):
        backup.target({"SESSIONS_BACKUP": str(tmp_path / "missing")})
    assert backup.target({}) is None


def _names(path: Path) -> list[str]:
    with closing(sqlite3.connect(path)) as connection:
        return [name for (name,) in connection.execute("select name from sessions")]


# Arrays

@given(arrays.arrays(st.sampled_from([np.dtype(name) for name in DTYPES]), arrays.array_shapes(min_dims=0, min_side=0)))
def test_arrays_come_back_to_the_bit(array):
    again = inflate(*deflate(array))
    assert (again.dtype, again.shape, again.tobytes()) == (array.dtype, array.shape, array.tobytes())
    pair = inflate_all(*deflate_all({"a": array, "b": array[..., :0] if array.ndim else array}))
    assert pair["a"].tobytes() == array.tobytes() and pair["a"].dtype == array.dtype


def test_no_blob_unpacks_to_more_than_its_shape():
    data = zlib.compress(bytes(40_000_000))
    assert len(data) < 200_000
    with pytest.raises(RecordError, match="more than 48 bytes, and its shape says 48"):
        inflate("float32", "[3, 4]", data)
    with pytest.raises(RecordError, match="at most"):
        inflate("float32", "[100000, 100000]", data)
