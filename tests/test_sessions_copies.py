"""Shared sessions of another page, replayed out of the copy that it leaves behind, and nothing else of them."""

import sqlite3
import threading
from contextlib import closing

import pytest

from app.keeper import Keeper
from core.errors import SessionError
from core.examples import saved
from core.sessions import Store, backup
from core.sessions.copies import copies
from core.sessions.exchange import from_file, to_file
from core.sessions.place import FILE
from tests.replayed import ANN


@pytest.fixture
def bucket(tmp_path):
    folder = tmp_path / "bucket of %41 a page?"
    folder.mkdir()
    return folder


@pytest.fixture
def writer(tmp_path) -> Store:
    return Store(tmp_path / "writer")


@pytest.fixture
def reader(tmp_path, bucket) -> Store:
    return Store(tmp_path / "reader", (tmp_path / "nowhere" / FILE, bucket / FILE))


@pytest.fixture
def kept(writer):
    """A session of Ann's on the other page, with a run."""
    session = writer.create(ANN, "a run")
    writer.keep(session.id, saved()[0])
    return session


def test_what_is_shared_there_is_replayed_here_to_the_bit_and_stays_as_it_is(writer, reader, kept, bucket):
    with pytest.raises(SessionError, match="no such session here"):
        reader.session(kept.id)  # no copy yet
    writer.share(kept.id, ANN, {"tab": "attention"})
    backup.back_up(writer.file.path, bucket / FILE)
    before = (bucket / FILE).read_bytes()
    found = reader.session(kept.id)
    assert (found.name, found.view, found.records) == ("a run", {"tab": "attention"}, 1)
    (one,) = reader.kept(found)
    assert reader.load(found, one.row) == saved()[0] and one.digest == saved()[0].digest
    assert list(reader.events(found)) == list(writer.events(writer.session(kept.id))) and reader.scores(found) == []
    assert from_file(reader, to_file(reader, found), "bob").records == 1
    assert (bucket / FILE).read_bytes() == before and [path.name for path in bucket.iterdir()] == [FILE]
    assert reader.sessions(ANN) == []  # only by its id


def test_what_is_private_there_is_not_found_here_even_by_its_owner(writer, reader, kept, bucket):
    backup.back_up(writer.file.path, bucket / FILE)
    for owner in ("", ANN):
        with pytest.raises(SessionError, match="no such session here"):
            reader.session(kept.id, owner)


def test_nothing_there_can_be_changed_from_here(writer, reader, kept, bucket):
    writer.share(kept.id, ANN)
    backup.back_up(writer.file.path, bucket / FILE)
    found = reader.session(kept.id)
    row = reader.kept(found)[0].row
    for deed in (lambda: reader.rename(kept.id, ANN, "mine"), lambda: reader.unshare(kept.id, ANN),
                 lambda: reader.delete(kept.id, ANN)):
        with pytest.raises(SessionError, match="not one of yours"):
            deed()
    with pytest.raises(sqlite3.OperationalError, match="readonly"):
        reader.copies.database(bucket / FILE).execute("delete from records")
    mine = reader.create("bob", "a collection")
    copy = reader.collect(found, row, mine)  # a run may be taken over, as from any shared session
    assert reader.load(mine, copy) == saved()[0]


def test_a_copy_that_is_replaced_is_read_anew_by_every_thread(writer, reader, kept, bucket):
    writer.share(kept.id, ANN)
    backup.back_up(writer.file.path, bucket / FILE)
    assert reader.session(kept.id).name == "a run"
    writer.rename(kept.id, ANN, "another name")
    backup.back_up(writer.file.path, bucket / FILE)
    names = [reader.session(kept.id).name]
    thread = threading.Thread(target=lambda: names.append(reader.session(kept.id).name))
    thread.start()
    thread.join(60)
    assert names == ["another name"] * 2
    writer.unshare(kept.id, ANN)
    backup.back_up(writer.file.path, bucket / FILE)
    with pytest.raises(SessionError, match="no such session here"):
        reader.session(kept.id)


def test_a_copy_that_cannot_be_read_is_passed_over_and_its_session_says_so(writer, reader, kept, bucket, caplog):
    writer.share(kept.id, ANN)
    backup.back_up(writer.file.path, bucket / FILE)
    found = reader.session(kept.id)
    (bucket / FILE).unlink()
    with pytest.raises(SessionError, match="cannot be read now: FileNotFoundError"):
        reader.kept(found)
    for content in (b"SQLite format 3\0" + b"x" * 5000, b""):
        (bucket / FILE).write_bytes(content)
        caplog.clear()
        with pytest.raises(SessionError, match="no such session here"):
            reader.session(kept.id)
        assert str(bucket) in caplog.text
    backup.back_up(writer.file.path, bucket / FILE)
    with closing(sqlite3.connect(bucket / FILE)) as connection, connection:
        connection.execute("delete from _sqlite_migrations where name = 'presenting'")
    with pytest.raises(SessionError, match="no such session here"):
        reader.session(kept.id)
    assert "earlier one" in caplog.text


def test_a_page_reads_the_folders_that_it_is_told(writer, kept, bucket, tmp_path, monkeypatch):
    other = tmp_path / "other"
    other.mkdir()
    writer.share(kept.id, ANN)
    backup.back_up(writer.file.path, other / FILE)
    monkeypatch.setenv("SESSIONS_COPIES", f"{tmp_path / 'other'}:")
    assert copies() == (other / FILE,) and copies({}) == ()
    assert Keeper(tmp_path / "page").store.session(kept.id).name == "a run"
    with pytest.raises(SessionError, match="gone, which is no folder"):
        copies({"SESSIONS_COPIES": f"{other}:{tmp_path / 'gone'}"})
