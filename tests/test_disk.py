"""Disks that fail: read-only, full, a damaged file of sessions. Each is told in a sentence, runs go on, nothing is lost."""

import contextlib
import errno
import logging
import os
import random
import shutil
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path

import pytest

from app.engine import Engine
from app.keeper import Keeper
from app.shelf import Shelf
from app.troubles import trouble
from app.views.sessions import not_kept
from core import Settings
from core.errors import RecordError, SessionError
from core.examples import saved
from core.models import Models
from core.sessions import Store, salvage
from core.sessions.place import FILE
from tests.attack import faults_of
from tests.replayed import ANN

ASIDE = "sessions.damaged-1.db"


@pytest.fixture(scope="module")
def models() -> Models:
    models = Models()
    models.load("pocket-t5")
    return models


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> Path:
    """A file with thirty sessions of one or two runs."""
    store = Store(tmp_path_factory.mktemp("whole"))
    for number in range(30):
        session = store.create(ANN, f"session {number}")
        for trace in saved()[: 1 + number % 2]:
            store.keep(session.id, trace)
        store.event(session.id, "moved", {"n": number})
    store.writer.flush()
    store.file.database.execute("pragma wal_checkpoint(truncate)")
    store.file.connections.close()
    return store.file.path


@pytest.fixture
def copied(whole, tmp_path) -> Path:
    return Path(shutil.copy(whole, tmp_path / FILE))


def run(engine: Engine, text: str, visitor: str = "ann") -> dict:
    return list(engine.messages(Settings(text=text), visitor))[-1]


@contextlib.contextmanager
def mounted(place: Path, *options: str):
    """A disk of its own at `place`, where this user may have one."""
    place.mkdir(exist_ok=True)
    if os.geteuid() or not shutil.which("mount") or subprocess.run(["mount", "-t", "tmpfs", *options, "tmpfs", place],
                                                                   capture_output=True).returncode:
        pytest.skip("only root may mount a disk")
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", place], check=True)


# Read-only

def test_a_disk_that_is_read_only_from_the_start_is_said_and_runs_go_on(models, tmp_path, caplog):
    with mounted(tmp_path / "disk", "-o", "ro") as place:
        shelf = Shelf(Engine(models, Keeper(place / "sessions")))
        assert shelf.keeper.arrive("ann", "") == ""
        assert run(shelf.engine, "A bird sings.")["kind"] == "trace"
        assert not_kept(shelf, "ann").endswith("The disk of this host cannot be written to.")
        with pytest.raises(SessionError, match="cannot be written to. Runs go on."):
            shelf.listed("ann")


def test_a_disk_that_turns_read_only_keeps_what_is_there_and_takes_more_once_it_can(models, tmp_path, caplog):
    """SQLite itself refuses: a disk with a file that is open for writing cannot be mounted anew."""
    shelf = Shelf(Engine(models, Keeper(tmp_path)))
    shelf.keeper.arrive("ann", "")
    run(shelf.engine, "A bird sings.")
    assert not_kept(shelf, "ann") == ""
    store, theirs = shelf.keeper.store, []
    store.writer.put(theirs.append)  # the connection of the thread that writes
    assert store.writer.flush()
    theirs[0].execute("pragma query_only = on")
    assert run(shelf.engine, "A bird sleeps.")["kind"] == "trace"
    assert not_kept(shelf, "ann").endswith("The disk of this host cannot be written to.")
    assert shelf.listed("ann")["count"] == 1  # and is still read
    theirs[0].execute("pragma query_only = off")
    run(shelf.engine, "A bird flies.")
    assert not_kept(shelf, "ann") == ""
    entries = shelf.opened("ann", shelf.keeper.current("ann"))["open"]["entries"]
    assert [one["input"] for one in entries] == ["A bird sings.", "A bird flies."]


# Full

def test_a_disk_that_fills_up_keeps_what_is_there_and_takes_more_once_it_can(models, tmp_path, caplog):
    with mounted(tmp_path / "disk", "-o", "size=1m") as place:
        shelf = Shelf(Engine(models, Keeper(place / "sessions")))
        shelf.keeper.arrive("ann", "")
        run(shelf.engine, "A bird sings.")
        assert not_kept(shelf, "ann") == ""
        ballast = place / "ballast"
        with contextlib.suppress(OSError), ballast.open("wb", buffering=0) as file:
            while True:
                file.write(bytes(4096))
        assert run(shelf.engine, "Several children in blue shirts are playing football on the grass.")["kind"] == "trace"
        assert not_kept(shelf, "ann").endswith("The disk of this host is full.")
        ballast.unlink()
        run(shelf.engine, "A bird flies.")
        assert not_kept(shelf, "ann") == ""
        entries = shelf.opened("ann", shelf.keeper.current("ann"))["open"]["entries"]
        assert [one["input"] for one in entries if one["status"] == "done"] == ["A bird sings.", "A bird flies."]
        assert shelf.keeper.store.file.database.execute("pragma integrity_check").fetchone() == ("ok",)


def test_sqlite_says_that_it_is_full_and_so_do_we(models, tmp_path, caplog):
    """The same without a disk of its own: SQLite is told how many pages there are."""
    shelf = Shelf(Engine(models, Keeper(tmp_path)))
    shelf.keeper.arrive("ann", "")
    run(shelf.engine, "A bird sings.")
    assert not_kept(shelf, "ann") == ""
    limits = []

    def limited(database):
        limits.append(database.execute("pragma max_page_count").fetchone()[0])
        database.execute("pragma max_page_count = 1")  # no more than there are

    store = shelf.keeper.store
    store.writer.put(limited)
    assert store.writer.flush()
    assert run(shelf.engine, "Several children in blue shirts are playing football.")["kind"] == "trace"
    assert not_kept(shelf, "ann").endswith("The disk of this host is full.")
    store.writer.put(lambda database: database.execute(f"pragma max_page_count = {limits[0]}"))
    run(shelf.engine, "A bird flies.")
    assert not_kept(shelf, "ann") == ""


def test_a_place_that_could_not_be_used_is_tried_again(models, tmp_path, monkeypatch, caplog):
    keeper = Keeper(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr("core.sessions.Store", lambda *places: (_ for _ in ()).throw(OSError(errno.ENOSPC, "No space left")))
        with pytest.raises(SessionError, match="disk of this host is full"):
            _ = keeper.store
    with pytest.raises(SessionError, match="disk of this host is full"):  # not at every step of every visitor
        _ = keeper.store
    monkeypatch.setattr("app.storage.AGAIN", 0)
    assert keeper.store.sessions(ANN) == []


@pytest.mark.parametrize("error", [
    OSError(errno.ENOSPC, "x"), OSError(errno.EROFS, "x"), PermissionError(errno.EACCES, "x"),
    *(sqlite3.OperationalError(text) for text in ("database or disk is full", "attempt to write a readonly database",
                                                  "unable to open database file", "database is locked")),
    *(sqlite3.DatabaseError(text) for text in ("database disk image is malformed", "file is not a database")),
])
def test_what_disks_and_sqlite_say_is_told_in_a_sentence(error):
    assert not faults_of(trouble(error))


def test_other_errors_are_no_trouble_of_a_disk():
    assert trouble(KeyError("full")) == trouble(OSError(errno.EPIPE, "x")) == trouble(sqlite3.IntegrityError("x")) == ""


# A damaged file

def opened(place: Path, caplog) -> Shelf:
    with caplog.at_level(logging.ERROR):
        shelf = Shelf(Engine(Models({}), Keeper(place)))
        _ = shelf.keeper.store
    return shelf


def is_told(shelf: Shelf, place: Path, damaged: bytes, caplog) -> None:
    """The damaged file is kept as it was, its visitors and its host know, and the new one is whole."""
    assert (place / ASIDE).read_bytes() == damaged
    assert ASIDE in shelf.keeper.storage.mended and not faults_of(shelf.keeper.storage.mended) and "was damaged" in caplog.text
    database = shelf.keeper.store.file.database
    assert database.execute("pragma integrity_check").fetchone() == ("ok",) and not database.execute(
        "pragma foreign_key_check").fetchall()
    session = shelf.keeper.store.create(ANN, "new")
    shelf.keeper.store.keep(session.id, saved()[0])


@pytest.mark.parametrize("kind", ["garbage at its beginning", "a text file", "cut in the middle", "cut to 3,000 bytes"])
def test_a_damaged_file_is_put_aside_and_told(kind, copied, caplog):
    whole = copied.read_bytes()
    damaged = {"garbage at its beginning": b"\xff" * 4096 + whole[4096:], "a text file": b"not a database at all\n" * 99,
               "cut in the middle": whole[: len(whole) // 2], "cut to 3,000 bytes": whole[:3000]}[kind]
    copied.write_bytes(damaged)
    shelf = opened(copied.parent, caplog)
    is_told(shelf, copied.parent, damaged, caplog)
    if kind == "cut in the middle":
        assert len(shelf.keeper.store.sessions(ANN)) == 31  # with the new one


def test_a_page_of_garbage_in_the_middle_costs_what_was_on_it_and_no_more(copied, seed, caplog):
    rng, data = random.Random(seed), bytearray(copied.read_bytes())
    pages, costs = len(data) // 4096, []
    for _ in range(12):
        page, now = rng.randrange(1, pages), bytearray(data)
        now[page * 4096:(page + 1) * 4096] = rng.randbytes(4096)
        place = copied.parent / f"page-{page}"
        place.mkdir(exist_ok=True)
        (place / ASIDE).unlink(missing_ok=True)
        (place / FILE).write_bytes(now)
        caplog.clear()
        shelf = opened(place, caplog)
        if shelf.keeper.storage.mended:
            is_told(shelf, place, bytes(now), caplog)
        store, lost = shelf.keeper.store, 0
        sessions = [one for one in store.sessions(ANN) if one.name != "new"]
        for session in sessions:
            for kept in store.kept(session):
                try:
                    assert store.load(session, kept.row) in saved()  # what is there is right
                except RecordError as error:
                    assert not faults_of(str(error))
                    lost += 1
        print(f"page {page} of {pages} of garbage: {len(sessions)} of 30 sessions, {lost} of their runs damaged")
        costs.append((30 - len(sessions), lost))
    assert sum(sessions == 0 and lost <= 3 for sessions, lost in costs) >= 9, costs  # a root of a table may cost the table


def test_with_a_copy_elsewhere_nothing_is_lost(copied, tmp_path, monkeypatch, caplog):
    bucket = tmp_path / "bucket"
    bucket.mkdir()
    shutil.copy(copied, bucket / FILE)
    monkeypatch.setenv("SESSIONS_BACKUP", str(bucket))
    damaged = b"\0" * 4096 + copied.read_bytes()[4096:]
    copied.write_bytes(damaged)
    shelf = opened(copied.parent, caplog)
    assert len(shelf.keeper.store.sessions(ANN)) == 30
    is_told(shelf, copied.parent, damaged, caplog)


def test_a_second_damaged_file_does_not_take_the_place_of_the_first(copied):
    for number in (1, 2):
        copied.write_bytes(b"x" * number * 100)
        assert salvage.put_aside(copied).name == f"sessions.damaged-{number}.db"
    assert not copied.exists() and salvage.healthy(copied)


def test_a_file_that_breaks_while_it_is_open_is_told_and_runs_go_on(models, tmp_path, caplog):
    shelf = Shelf(Engine(models, Keeper(tmp_path)))
    shelf.keeper.arrive("ann", "")
    run(shelf.engine, "A bird sings.")
    assert not_kept(shelf, "ann") == ""
    with closing(sqlite3.connect(tmp_path / FILE)) as database:
        database.execute("pragma wal_checkpoint(truncate)")
    data = (tmp_path / FILE).read_bytes()
    (tmp_path / FILE).write_bytes(data[:4096] + b"\xa5" * (len(data) - 4096))
    for connections in (shelf.keeper.store.file.connections,):
        connections.close()  # nothing of the file is in this thread's memory
    assert run(shelf.engine, "A bird sleeps.")["kind"] == "trace"
    told = not_kept(shelf, "ann")
    assert "The file of sessions is damaged" in told and not faults_of(told)
