"""Sessions in SQLite: written as it happens, kept by whom they belong to, replayed exactly and without a model."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from core.comparison import compare
from core.errors import RecordError, SessionError
from core.examples import saved, saved_search
from core.noise import NOISES, corrupt, units
from core.noise.corruption import Corruption
from core.sessions import Store
from core.sessions.recording import Recording, alive, process
from core.sessions.retention import make_room, total_limit
from tests.replayed import ANN, BOB, Going

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture
def store(tmp_path) -> Store:
    return Store(tmp_path)


@pytest.fixture(scope="module")
def traces():
    return [*saved(), saved_search()]


# Written as it happens

def test_a_run_is_the_same_after_it_was_written_a_row_a_step(store, traces):
    session = store.create(ANN)
    for trace in traces:
        recording = store.watch(Going(trace), session.id)
        assert [step.index for step in recording] == list(range(len(trace.steps)))
    store.writer.flush()
    kept = store.kept(session)
    assert [one.status for one in kept] == ["done"] * len(traces)
    for one, trace in zip(kept, traces):
        again = store.load(session, one.row)
        assert again == trace and again.text == trace.text and again.settings == trace.settings
        assert (one.id, one.digest, one.output, one.steps) == (trace.id, trace.digest, trace.text, len(trace.steps))


def test_a_stopped_run_keeps_the_steps_it_made(store, traces):
    session, trace = store.create(ANN), traces[0]
    recording = store.watch(Going(trace), session.id)
    next(recording), next(recording)
    recording.close()
    recording.close()
    store.writer.flush()
    (kept,) = store.kept(session)
    assert (kept.status, kept.steps) == ("stopped", 2)
    assert store.load(session, kept.row).digest == recording.trace().digest


def test_a_run_that_fails_is_cut_and_keeps_its_steps(store, traces):
    session = store.create(ANN)

    class Breaks(Going):
        def __next__(self):
            if len(self.steps) == 3:
                raise MemoryError
            return super().__next__()

    with pytest.raises(MemoryError):
        list(store.watch(Breaks(traces[0]), session.id))
    store.writer.flush()
    (kept,) = store.kept(session)
    assert (kept.status, kept.steps) == ("cut", 3) and len(store.load(session, kept.row).steps) == 3


KILLED = """
import os, signal, sys
from pathlib import Path
from core.examples import saved
from core.sessions import Store
from tests.replayed import ANN, Going
store = Store(Path(sys.argv[1]))
session = store.create(ANN)
recording = store.watch(Going(saved()[0]), session.id)
for _ in range(4):
    next(recording)
store.writer.flush()
print(session.id, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_kill_9_in_the_middle_keeps_every_committed_step_and_marks_the_run_as_cut(tmp_path, traces):
    done = subprocess.run([sys.executable, "-c", KILLED, tmp_path], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == -signal.SIGKILL, done.stderr
    store = Store(tmp_path)
    session = store.session(done.stdout.strip(), ANN)
    (kept,) = store.kept(session)
    assert (kept.status, kept.steps) == ("cut", 4)
    again, whole = store.load(session, kept.row), traces[0]
    assert again.text and whole.text.startswith(again.text) and again.target == whole.target[:4]
    for ours, theirs in zip(again.steps, whole.steps):
        assert np.array_equal(ours.cross_weights, theirs.cross_weights) and ours.texts == theirs.texts


def test_a_run_of_a_process_that_goes_on_is_not_cut(tmp_path, store, traces):
    session = store.create(ANN)
    recording = store.watch(Going(traces[0]), session.id)
    next(recording)
    store.writer.flush()
    other = Store(tmp_path)
    assert [kept.status for kept in other.kept(session)] == ["running"]
    assert alive(process()) and not alive(f"{process()[:-1]}-") and not alive(f"{os.uname().nodename}/999999999/x")
    assert alive("elsewhere/1/x")  # of another host nobody can say
    store.file.database.execute("update records set made = '2020-01-01T00:00:00.000+00:00'")
    store.file.database.conn.commit()
    other.mark_cut()
    assert [kept.status for kept in other.kept(session)] == ["cut"]


def test_a_session_that_is_deleted_in_the_middle_does_not_stop_the_run(store, traces, caplog):
    session = store.create(ANN)
    recording = store.watch(Going(traces[0]), session.id)
    next(recording)
    store.writer.flush()
    store.delete(session.id, ANN)
    assert len(list(recording)) == len(traces[0].steps) - 1
    assert store.writer.flush()
    for table in ("sessions", "records", "steps", "arrays"):
        assert store.file.database[table].count == 0


# Every kind of record

def test_every_kind_of_record_is_replayed(store, traces):
    text = "Two dogs run over the green grass."
    from core.models import Models

    vocabulary, size = Models().vocabulary("pocket-t5")
    noise = next(one for one in NOISES.values() if one.needs == "sentinels")
    noisy = corrupt(units(vocabulary, text, 128, size), noise.usual())
    records = [traces[0], noisy, compare(traces[0], traces[0])]
    session = store.create(ANN)
    found = [store.load(session, store.keep(session.id, record)) for record in records]
    assert [one.kind for one in found] == ["trace", "corruption", "comparison"]
    assert found[:2] == records[:2] and found[2].id == records[2].id and isinstance(found[1], Corruption)
    assert [kept.status for kept in store.kept(session)] == ["done"] * 3


WITHOUT = """
import sys
from pathlib import Path
from core.sessions import Store
from tests.replayed import ANN
store = Store(Path(sys.argv[1]))
(session,) = store.sessions(ANN)
print(*[store.load(session, kept.row).digest for kept in store.kept(session)])
print([name for name in ("torch", "transformers") if name in sys.modules])
"""


def test_a_replay_needs_neither_the_model_nor_torch(tmp_path, traces):
    store = Store(tmp_path)
    session = store.create(ANN)
    for trace in traces[:3]:
        store.keep(session.id, trace)
    done = subprocess.run([sys.executable, "-c", WITHOUT, tmp_path], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    digests, heavy = done.stdout.splitlines()
    assert digests.split() == [trace.digest for trace in traces[:3]] and heavy == "[]"


@pytest.mark.parametrize("spoil", [
    "update steps set data = zeroblob(40) where step = 1",
    "update steps set layout = '{}' where step = 1",
    "update steps set head = '[]' where step = 1",
    "delete from steps where step = 2",
    "update records set head = '{}'",
    "update records set record = 'other'",
    "update arrays set shape = '[1, -1, 3, 4]'",
    "update arrays set dtype = 'object'",
])
def test_a_damaged_record_is_refused_with_a_sentence(store, traces, spoil):
    session = store.create(ANN)
    row = store.keep(session.id, traces[0])
    with store.file.writing() as database:
        assert database.execute(spoil).rowcount
    with pytest.raises(RecordError) as refused:
        store.load(session, row)
    assert len(str(refused.value)) < 500 and str(refused.value).endswith(".")


# Owners, names, limits

def test_a_session_is_its_owners_until_it_is_shared(store, traces):
    mine, other = store.create(ANN, "mine"), store.create(BOB)
    assert [s.id for s in store.sessions(ANN)] == [mine.id] and store.sessions("") == []
    assert len(mine.id) >= 24 and mine.id != other.id
    for owner in (BOB, ""):
        with pytest.raises(SessionError, match="no such session here"):
            store.session(mine.id, owner)
    shared = store.share(mine.id, ANN, {"step": 3})
    assert shared.shared and shared.view == {"step": 3} and store.session(mine.id).name == "mine"
    for change in (lambda: store.rename(mine.id, BOB, "x"), lambda: store.annotate(mine.id, "", "x"),
                   lambda: store.delete(mine.id, BOB), lambda: store.share(mine.id, BOB), lambda: store.unshare(mine.id, BOB)):
        with pytest.raises(SessionError, match="not one of yours"):
            change()
    store.unshare(mine.id, ANN)
    with pytest.raises(SessionError):
        store.session(mine.id)


def test_forget_everything_of_mine_leaves_nothing_of_mine(store, traces):
    for owner in (ANN, ANN, BOB):
        session = store.create(owner)
        store.keep(session.id, traces[1])
        store.event(session.id, "moved", {})
        store.score(session.id, "n", 1, "test")
    assert store.forget("") == 0 and store.forget(ANN) == 2 and store.sessions(ANN) == []
    left = {name: store.file.database[name].count for name in ("sessions", "records", "events", "scores")}
    assert left == {"sessions": 1, "records": 1, "events": 1, "scores": 1}
    assert len(store.kept(store.sessions(BOB)[0])) == 1


@pytest.mark.parametrize("id", ["", "x" * 5000, "../../etc/passwd", "\ud83d", "' or 1=1 --", None, 7, ["a"], "a\0b"])
def test_an_unknown_id_says_so(store, id):
    store.share(store.create(ANN).id, ANN)
    with pytest.raises(SessionError, match="the link is wrong, or it was deleted or is not shared"):
        store.session(id, ANN)


@pytest.mark.parametrize(("name", "said"), [("", "1 to 120"), ("x" * 121, "has 121 characters"), (7, "must be a text"),
                                            ("\0\n", "0 characters")])
def test_a_name_is_checked(store, name, said):
    session = store.create(ANN, "before")
    with pytest.raises(SessionError, match=said):
        store.rename(session.id, ANN, name)
    store.rename(session.id, ANN, "<b>half \ud83d</b>")
    assert store.session(session.id, ANN).name == "<b>half ?</b>"


def test_a_view_of_a_link_is_plain_and_small(store):
    session = store.create(ANN)
    for view in ({"a": float("nan")}, {"a": object()}, {"a": "x" * 5000}):
        with pytest.raises(SessionError, match="What the link shows first"):
            store.share(session.id, ANN, view)


def test_a_full_session_says_so_and_the_run_goes_on(store, traces, monkeypatch, caplog):
    monkeypatch.setattr("core.sessions.retention.SESSION_RECORDS", 1)
    session = store.create(ANN)
    store.keep(session.id, traces[1])
    with pytest.raises(SessionError, match="holds 1 records .* goes into a new session"):
        store.keep(session.id, traces[1])
    assert len(list(store.watch(Going(traces[0]), session.id))) == len(traces[0].steps)
    store.writer.flush()
    assert len(store.kept(session)) == 1 and "goes into a new session" in caplog.text


def test_a_run_larger_than_a_session_is_kept_up_to_there(store, traces, monkeypatch):
    monkeypatch.setattr("core.sessions.recording.SESSION_BYTES", 5000)
    session = store.create(ANN)
    assert len(list(store.watch(Going(traces[0]), session.id))) == len(traces[0].steps)
    store.writer.flush()
    (kept,) = store.kept(session)
    assert kept.status == "cut" and 0 < kept.steps < len(traces[0].steps)
    assert len(store.load(session, kept.row).steps) == kept.steps and store.session(session.id, ANN).bytes > 5000


def test_the_oldest_unshared_sessions_go_first(store, traces):
    kept = [store.create(ANN, name) for name in ("old shared", "old", "newer", "now")]
    for session in kept:
        store.keep(session.id, traces[1])
    store.share(kept[0].id, ANN)
    with store.file.writing() as database:
        for age, session in enumerate(kept):
            database.execute("update sessions set changed = ? where id = ?", [f"202{age}", session.id])
        size = store.session(kept[0].id).bytes
        make_room(database, kept[3].id, 3 * size)
    assert {s.name for s in store.sessions(ANN)} == {"old shared", "now"}
    with store.file.writing() as database:
        make_room(database, kept[3].id, 1)
    assert {s.name for s in store.sessions(ANN)} == {"now"}


@pytest.mark.parametrize("given_", ["-5", "many", "12"])
def test_a_limit_that_is_none_is_refused(given_):
    with pytest.raises(SessionError, match="SESSIONS_BYTES"):
        total_limit({"SESSIONS_BYTES": given_})
    assert total_limit({}) == 2 * 2**30 and total_limit({"SESSIONS_BYTES": "1048576"}) == 2**20


def test_a_recording_is_the_run_itself_for_whoever_steps_it(store, traces):
    going = Going(traces[0])
    recording = Recording(going, store.writer, store.create(ANN).id)
    assert iter(recording) is recording and next(recording) is traces[0].steps[0]
    assert recording.trace().id == traces[0].id and recording.steps is going.steps
