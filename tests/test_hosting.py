"""Health, one process, a GPU that is lent, and runs that are cut at the end, without a server."""

import json
import logging
import pickle
import subprocess
import sys
import types
from pathlib import Path
from types import SimpleNamespace

import gradio as gr
import pytest

from app import health, processes, zero
from app.engine import Engine
from app.keeper import Keeper
from app.steps import Steps
from core import Settings, record
from core.borrowed import Borrowed
from core.errors import InputError, SessionError
from core.examples import saved
from core.models import BUNDLED, Models
from core.sessions import Store
from tests.replayed import ANN, Going

ROOT = Path(__file__).resolve().parents[1]
HOLD = """
import sys, time
from pathlib import Path
from app.processes import claim
held = claim(Path(sys.argv[1]), False, 7860)
print("held", flush=True)
time.sleep(60)
"""


# One process

@pytest.fixture
def held(tmp_path):
    """A folder that another process has."""
    other = subprocess.Popen([sys.executable, "-c", HOLD, str(tmp_path)], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert other.stdout.readline() == "held\n"
    yield tmp_path, other
    other.kill()
    other.wait(10)
    other.stdout.close()


def test_a_second_process_on_a_local_disk_is_told_of_the_first_and_goes_on(held, caplog):
    folder, other = held
    with caplog.at_level(logging.WARNING):
        assert processes.claim(folder, False, 7861) is None
    assert f"process {other.pid} on port 7860" in caplog.text and "do not put both behind one address" in caplog.text


def test_a_second_process_on_a_network_mount_is_refused_until_the_first_is_gone(held):
    folder, other = held
    with pytest.raises(SessionError, match=f"process {other.pid} on port 7860 keeps sessions in .* network mount"):
        processes.claim(folder, True, 7861)
    other.kill()
    other.wait(10)
    mine = processes.claim(folder, True, 7861)
    assert mine
    mine.close()


@pytest.mark.parametrize("asked", ["4", "auto"])
def test_workers_that_a_host_asks_for_are_ignored_aloud(asked):
    assert f"WEB_CONCURRENCY is {asked} and is ignored: one process serves" in processes.ignored({"WEB_CONCURRENCY": asked})


@pytest.mark.parametrize("environment", [{}, {"WEB_CONCURRENCY": "1"}])
def test_one_worker_is_what_there_is(environment):
    assert processes.ignored(environment) == ""


# Health

def test_health_tells_what_it_promises_and_nothing_else(tmp_path):
    engine = Engine(Models(), Keeper(tmp_path))
    waiting = {"model": SimpleNamespace(queue=[1, 2]), "scores": SimpleNamespace(queue=[])}
    page = SimpleNamespace(engine=engine, _queue=SimpleNamespace(event_queue_per_concurrency_id=waiting))
    route = health.route(page)
    assert route.path == "/healthz" and route.methods == {"GET", "HEAD"}

    def asked() -> tuple[int, dict]:
        answer = route.endpoint(None)
        return answer.status_code, json.loads(answer.body)

    assert asked() == (200, {"up": True, "ready": False, "model": engine.status, "queue": 2})
    engine.models.load("pocket-t5")
    assert asked()[1]["ready"]
    engine.latest.close()
    status, told = asked()
    assert status == 503 and not told["up"]


# The end

def test_at_the_end_what_goes_on_is_cut_and_replays_and_nothing_begins(tmp_path, monkeypatch):
    copy = tmp_path / "copy"
    copy.mkdir()
    monkeypatch.setenv("SESSIONS_BACKUP", str(copy))
    engine = Engine(Models(), Keeper(tmp_path / "live"))
    store = engine.keeper.store
    session = store.create(ANN)
    whole = saved()[0]
    stopped, cut, stuck = (store.watch(Going(whole), session.id) for _ in range(3))
    next(stopped), stopped.close()
    [next(cut) for _ in range(3)], [next(stuck) for _ in range(2)]
    engine.latest.close()
    store.writer.closing = True
    cut.close()  # as its own thread does at the next step; the other's never comes
    engine.keeper.storage.close(0.2)
    for place in (tmp_path / "live", copy):  # the backup has it, too
        kept = Store(place).kept(store.session(session.id, ANN))
        assert [(one.status, one.steps) for one in kept] == [("stopped", 1), ("cut", 3), ("cut", 2)]
    again = store.load(session, kept[1].row)
    assert [step.texts for step in again.steps] == [step.texts for step in whole.steps[:3]]
    with pytest.raises(InputError, match="being restarted"):
        next(engine.messages(Settings(text="A dog."), "ann"))


# A GPU that is lent

@pytest.fixture
def lent(monkeypatch):
    """ZeroGPU's decorator as far as it can be without one: what goes in and what comes out is pickled, or no GPU is free."""
    asked = SimpleNamespace(calls=0, refused="")

    def gpu(duration):
        def decorate(function):
            def call(*args):
                asked.calls += 1
                if asked.refused:
                    raise gr.Error(asked.refused)
                for each in function(*pickle.loads(pickle.dumps(args))):
                    yield pickle.loads(pickle.dumps(each))
            return call
        return decorate

    monkeypatch.setitem(sys.modules, "spaces", types.SimpleNamespace(GPU=gpu))
    asked.lend = zero.lend("cpu")
    return asked


def test_a_run_on_a_lent_gpu_is_the_run_made_here(lent, tmp_path):
    engine = Engine(Models(), Keeper(tmp_path), elsewhere=lent.lend)
    for beams in (1, 4):
        settings, _ = Settings.from_json(f'{{"text":"A man plays the guitar.","decoding":{{"beams":{beams}}}}}')
        going = engine.start(settings)
        with engine.turn:  # it needs no turn here: the GPU's own process makes it
            assert list(Steps(going, engine.turn, lambda: True))
        assert going.trace() == record(settings)
    assert lent.calls == 2


def test_where_no_gpu_is_free_the_run_is_made_here_and_says_so(lent, tmp_path):
    engine = Engine(Models(), Keeper(tmp_path), elsewhere=lent.lend)
    lent.refused = "You have used your share"
    last = list(engine.messages(Settings(text="A man plays the drums."), "ann"))[-1]
    assert last["output"] == record(Settings(text="A man plays the drums.")).text
    assert "ZeroGPU lends no GPU now (You have used your share). This run was made on the cpu instead." in last["notes"]


def test_stopping_stops_what_is_made_elsewhere():
    closed = []

    def elsewhere():
        try:
            yield from forwards
        finally:
            closed.append(True)

    from core.borrowed import forwards as made
    from core.models import models

    forwards = made(settings := Settings(text="A man plays the guitar."), models())
    going = Borrowed(settings, models().load("pocket-t5"), elsewhere())
    next(going), next(going)
    going.close()
    assert closed and len(going.steps) == 2


def test_only_bundled_models_are_lent_a_gpu(lent, tmp_path):
    folder = ROOT / "assets" / "models" / "pocket-t5"
    engine = Engine(Models({"own": folder}), Keeper(tmp_path), elsewhere=lent.lend)
    assert not isinstance(engine.start(Settings(text="A dog.", model="own")), Borrowed) and "own" not in BUNDLED
