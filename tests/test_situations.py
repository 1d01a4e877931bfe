"""What happens to people: a full line, a slow or dropped connection, a clock that is set, a model that is gone."""

import datetime
import shutil
import socket
import time
from urllib.parse import urlsplit

import httpx
import pytest

import core.sessions.rows
from app.answers import sentence
from app.calls import UNREAD
from app.engine import Engine
from app.keeper import Keeper
from app.presence import Presence
from core import Settings
from core.examples import saved
from core.models import ASSETS, Models, folders_in
from core.sessions import Store
from tests import models as tiny
from tests.attack import faults_of
from tests.replayed import ANN
from tests.visitors import ENDLESS, Visitor, arriving, hosted, until

WAITING = 3  # places in the line of this file's page


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    with hosted(tmp_path_factory.mktemp("sessions"), queue_size=WAITING) as page:
        yield page


@pytest.fixture
def visitors(page):
    with arriving(page) as make:
        yield make


def asked(visitor: Visitor, text: str, **headers: str) -> httpx.Response:
    """A press of Run, whatever comes of it."""
    data = list((visitor.inputs | {visitor.text: text}).values())
    return visitor.http.post(f"{visitor.address}/queue/join", headers=headers, json={
        "data": data, "fn_index": visitor.event["id"], "session_hash": visitor.name, "trigger_id": None})


# The line

def test_a_full_line_says_so_and_whoever_waited_is_answered(page, visitors):
    people = visitors(16 + WAITING + 1)
    with page.engine.turn:  # nobody's step is made
        for number, visitor in enumerate(people[:16]):
            assert asked(visitor, f"Dog number {number}.").status_code == 200
        until(lambda: page._queue.get_active_worker_count() == 16)
        for number, visitor in enumerate(people[16:-1]):
            assert asked(visitor, f"Cat number {number}.").status_code == 200
        browser = {"sec-fetch-site": "same-origin"}
        for language, words in (("en-GB,en;q=0.9", "3 requests are waiting, and no more fit. Wait half a minute"),
                                ("de-DE,de;q=0.9,en;q=0.5", "3 Anfragen warten"), ("fr", "3 requests are waiting")):
            refused = asked(people[-1], "One more.", **browser, **{"accept-language": language})
            assert refused.status_code == 429 and words in refused.json()["detail"] and not faults_of(refused.json()["detail"])
        assert asked(people[-1], "One more.").status_code == 503  # what other clients know
    for visitor in people[:-1]:
        *_, last = visitor.messages()
        assert last["success"]
    assert people[-1].run("One more.")["kind"] == "trace"


def test_who_reads_none_of_the_answers_is_refused_more(page, visitors):
    visitor, other = visitors(2)
    visitor.run("A dog.")
    look = next(one for one in page.told["dependencies"] if one["api_name"] == "look_9")
    body = {"data": [None] * len(look["inputs"]), "fn_index": look["id"], "session_hash": visitor.name, "trigger_id": None}
    status = []
    for _ in range(UNREAD + 5):
        status.append(visitor.http.post(f"{visitor.address}/queue/join", json=body))
        until(lambda: not len(page._queue))  # else the line is full before it is the answers that are too many
    told = [one for one in status if one.status_code != 200]
    assert len(told) >= 5 and "answers that it has not read yet" in told[-1].json()["detail"]
    assert other.run("A dog.")["kind"] == "trace"
    list(visitor.messages())
    until(lambda: not page._queue.pending_event_ids_session.get(visitor.name) or list(visitor.messages()) is None)


# Connections

def test_a_slow_reader_holds_nobody_up(page, visitors):
    slow, other = visitors(2)
    slow.press(ENDLESS)
    place = urlsplit(slow.address)
    line = socket.create_connection((place.hostname, place.port))
    line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    line.sendall(f"GET {place.path}/queue/data?session_hash={slow.name} HTTP/1.1\r\nHost: {place.netloc}\r\n\r\n".encode())
    line.recv(5)
    began = time.monotonic()
    assert other.run("A cat sleeps.")["kind"] == "trace"
    assert time.monotonic() - began < 20
    until(lambda: not page.engine.making._told)  # the run comes to its end, whoever reads it
    for _ in range(5):
        line.recv(5)
        time.sleep(0.2)
    line.close()
    assert other.run("A bird sleeps.")["kind"] == "trace"


def test_a_dropped_reader_ends_the_run_and_what_was_made_is_kept(page, visitors):
    visitor = visitors(1)[0]
    visitor.arrive()
    text = "E " + ENDLESS
    visitor.press(text)
    messages = visitor.messages()
    for message in messages:
        if message["msg"] == "process_generating":
            break
    messages.close()  # the connection goes, in the middle of the run
    until(lambda: not page.engine.making._told)
    store = page.engine.keeper.store
    store.writer.flush()
    session = store.session(page.engine.keeper.current(visitor.name), page.engine.keeper.owner(visitor.name))
    (kept,) = store.kept(session)
    assert kept.status in ("stopped", "done") and 0 < kept.steps <= 128 and kept.input == text
    assert store.load(session, kept.row).steps


def test_a_tab_that_is_closed_is_forgotten_and_one_that_is_open_is_not(page, visitors):
    open_, closed = visitors(2)
    for visitor in (open_, closed):
        visitor.arrive()
        assert visitor.http.post(f"{page.address}/beat/{visitor.name}").status_code == 204
    assert closed.http.post(f"{page.address}/beat/{closed.name}?left=1").status_code == 204
    assert page.engine.keeper.owner(open_.name) and not page.engine.keeper.owner(closed.name)
    assert closed.name not in page.state_holder.session_data and open_.name in page.state_holder.session_data
    for name in ("", "../x", "a" * 65, "%00"):
        assert closed.http.post(f"{page.address}/beat/{name}").status_code == 404


def test_who_is_silent_for_long_is_gone_and_who_beats_is_not(monkeypatch):
    now, gone, held = [0.0], [], {"program": 1}

    def leave(name: str) -> None:
        gone.append(name)
        held.pop(name, None)

    monkeypatch.setattr("app.presence.time.monotonic", lambda: now[0])
    presence = Presence(leave, lambda: held)
    presence.beat("asleep")
    for minute in range(40):
        now[0] = 60.5 * minute
        presence.beat("awake")
        assert minute > 10 or not gone
    assert sorted(gone) == ["asleep", "program"]


# The clock

@pytest.mark.parametrize("hours", [-1, 1])
def test_a_clock_that_is_set_in_mid_run_changes_no_order_and_no_key(page, visitors, monkeypatch, hours):
    visitor = visitors(1)[0]
    visitor.arrive()
    keeper, shift = page.engine.keeper, [0.0]
    plain, clock = time.time, core.sessions.rows.datetime

    class Clock(datetime.datetime):
        @classmethod
        def now(cls, zone=None):
            return clock.now(zone) + datetime.timedelta(seconds=shift[0])

    monkeypatch.setattr(core.sessions.rows, "datetime", Clock)
    monkeypatch.setattr(time, "time", lambda: plain() + shift[0])
    visitor.run("A first dog.")
    visitor.press(f"{hours} {ENDLESS}")
    for message in visitor.messages():
        if message["msg"] == "process_generating":
            shift[0] = hours * 3600.0
            assert all(value is None or value >= 0 for value in (message.get("time_limit"), message.get("eta")))
    assert message["msg"] == "close_stream" or message["success"]
    visitor.run("A last dog.")
    store = keeper.store
    store.writer.flush()
    session = store.session(keeper.current(visitor.name), keeper.owner(visitor.name))
    assert [one.input for one in store.kept(session)] == ["A first dog.", f"{hours} {ENDLESS}", "A last dog."]
    assert [one["record"] for one in store.events(session)] == [one.row for one in store.kept(session)]
    assert all(one.status == "done" for one in store.kept(session))
    store.share(session.id, keeper.owner(visitor.name), {})
    assert store.session(session.id).shared  # the link is good for whoever has it
    key = keeper.arrive("again", "")
    assert keeper.arrive("once more", key) == key


def test_a_process_that_starts_after_the_clock_was_set_back_cuts_no_run_of_another(tmp_path, monkeypatch):
    store = Store(tmp_path)
    session = store.create(ANN)
    store.keep(session.id, saved()[0], status="running")
    with store.file.writing() as database:
        database.execute("update records set made = ?", [
            (datetime.datetime.now(datetime.UTC) + datetime.timedelta(hours=1)).isoformat(timespec="milliseconds")])
    again = Store(tmp_path)
    assert again.kept(again.session(session.id, ANN))[0].status == "running"


# A model that is not there

@pytest.mark.parametrize("missing", ["model.safetensors", "tokenizer.json", "config.json", "damaged weights", "the folder"])
@pytest.mark.parametrize("name", ["pocket-t5", "mine"])
def test_a_model_that_is_not_whole_is_told_and_saved_runs_are_shown(missing, name, tmp_path, monkeypatch, caplog):
    """A bundled model, and one that the host has registered."""
    folder = tmp_path / "host-secret" / name
    if bundled := name == "pocket-t5":
        monkeypatch.setattr("core.models.ASSETS", folder.parent)
        shutil.copytree(ASSETS / name, folder)
    else:
        folder.mkdir(parents=True)
        tiny.save("t5", folder)
    models = Models({} if bundled else folders_in(folder.parent))
    if missing == "the folder":
        shutil.rmtree(folder)
    elif missing == "damaged weights":
        weights = folder / "model.safetensors"
        weights.write_bytes(weights.read_bytes()[:2000])
    else:
        (folder / missing).unlink()
    monkeypatch.setattr("app.engine.HEAD_START", 0)
    engine = Engine(models, Keeper(tmp_path / "sessions"))
    engine._load()
    told = [] if not bundled else [engine.status.partition(": ")[2]]  # stands on the page
    try:
        list(engine.messages(Settings("A dog runs far away.", model=name), "ann"))
    except Exception as error:
        told.append(sentence(error))
    assert len(told) == 1 + bundled
    for text in told:
        assert not faults_of(text) and name in text and "host-secret" not in text
    assert list(engine.messages(saved()[0].settings, "ann"))[-1]["kind"] == "trace"
