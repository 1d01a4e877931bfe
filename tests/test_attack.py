"""Hostile requests through the real endpoints of a page in a process of its own; and that what holds the answers can fail."""

import sqlite3
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import gradio as gr
import httpx
import pytest
from gradio_client import Client

from core import Decoding, Settings, record
from core.examples import OWN
from tests.attack import Attacker, attack, faults_of
from tests.conftest import EXHAUSTIVE
from tests.hostile import API, Case, Generator, written
from tests.visitors import Visitor, free_port, hosted, resident, served

ROOT = Path(__file__).resolve().parents[1]
COUNT = 10_000 if EXHAUSTIVE else 300
SECRET = "The lighthouse keeper hides one green bottle."  # what the other visitor ran
GOOD = Settings("A man plays the guitar near the river.", decoding=Decoding(max_new_tokens=12))


def rows_of(place: Path, session: str) -> list:
    """All that the database holds of one session."""
    with closing(sqlite3.connect(place / "sessions.db")) as database:
        return [database.execute(f"select * from {table} where {key} = ? order by 1", [session]).fetchall()
                for table, key in (("sessions", "id"), ("records", "session"), ("events", "session"))]


def files_of(*places: Path) -> set[str]:
    """Every file below some places but what Python and git write for themselves."""
    return {str(path) for place in places for path in place.rglob("*") if path.is_file()
            and not {"__pycache__", ".git", ".venv", ".pytest_cache", ".hypothesis", ".ruff_cache"} & set(path.parts)}


def test_nothing_hostile_gets_a_traceback_a_file_or_somebody_elses_session(tmp_path, seed):
    home, temporary, place = (tmp_path / name for name in ("home", "tmp", "sessions"))
    for folder in (home, temporary, place):
        folder.mkdir()
    with served(free_port(), place, HOME=str(home), TMPDIR=str(temporary), GRADIO_TEMP_DIR=str(temporary)) as (address, process):
        config = httpx.get(f"{address}/config", timeout=60).json()
        halt = next(one["id"] for one in config["dependencies"] if one["api_name"] == "halt_1")
        victim = Visitor(address, config)
        victim.stay()
        victim.arrive()
        victim.run(SECRET)
        time.sleep(1)  # the thread that writes gathers for a quarter of one
        with closing(sqlite3.connect(place / "sessions.db")) as database:
            (session,) = database.execute("select id from sessions").fetchone()
        before, there = rows_of(place, session), files_of(home, temporary, place, ROOT)
        assert before[0] and before[1]

        generator, began = Generator(config, seed, (session,)), time.monotonic()
        attackers = attack(address, generator, COUNT // 10, halt, SECRET)  # loads models, fills caches
        held = resident(process)
        attackers += attack(address, generator, COUNT - COUNT // 10, halt, SECRET)
        counts = sum((one.counts for one in attackers), Counter())
        took = time.monotonic() - began
        for attacker in attackers:
            attacker.http.close()

        grown = (resident(process) - held) / 2**20
        told = ", ".join(f"{number:,} {what}" for what, number in sorted(counts.items()))
        print(f"seed {seed}: {COUNT:,} hostile requests in {took:.0f} s: {told}; "
              f"memory grew by {grown:.0f} MB after the first tenth")
        faults = [f"case {case.number}: {case.method} {case.path} event {case.fn}: {why}" for one in attackers
                  for case, why in one.faults]
        assert not faults, "\n".join(faults[:20])
        assert counts["answered"] > COUNT / 10 and counts["refused at the door"] and counts["refused by a handler"]
        log = (place / "log").read_text()
        assert "Traceback" not in log and "ERROR" not in log, log[-3000:]
        assert grown < 400, grown
        beside = {str(place / f"sessions.db-{end}") for end in ("wal", "shm")}  # SQLite's own
        assert files_of(home, temporary, place, ROOT) - there <= beside
        assert rows_of(place, session) == before
        everyone_is_answered(address, config)


def everyone_is_answered(address: str, config: dict) -> None:
    """As many runs at once as there are places, each right to the bit; then nobody waits."""
    found = Client(address, verbose=False).predict(GOOD.text, settings={"decoding": {"max_new_tokens": 12}}, api_name="/trace")
    assert found["digest"] == record(GOOD).digest
    people = [Visitor(address, config) for _ in range(16)]
    with ThreadPoolExecutor(16) as pool:
        packs = list(pool.map(Visitor.run, people, [OWN[at % len(OWN)]["en"] for at in range(16)]))
    assert all(pack["kind"] == "trace" and pack["rows"] for pack in packs)
    assert httpx.get(f"{address}/healthz").json() | {"model": ""} == {"up": True, "ready": True, "model": "", "queue": 0}


# What holds the answers can fail

@pytest.fixture(scope="module")
def broken(tmp_path_factory):
    """A page with handlers that raise, one behind our door and one of plain Gradio."""
    def raises() -> str:
        return 1 / 0

    def tells() -> str:
        return SECRET

    def add() -> None:
        gr.api(raises, api_visibility="private")
        gr.api(tells, api_visibility="private")

    with hosted(tmp_path_factory.mktemp("sessions"), add) as page:
        with gr.Blocks() as plain:
            gr.api(raises)
        plain.launch(server_port=free_port(), prevent_thread_lock=True, quiet=True)
        yield page.address, plain.local_url.rstrip("/")
        plain.close()


@pytest.mark.parametrize(("server", "name", "said"), [(0, "raises", "did not foresee"), (0, "tells", "somebody else"),
                                                      (1, "raises", "no text but None")])
def test_a_handler_that_raises_or_tells_a_secret_is_a_fault(broken, server, name, said, caplog):
    attacker = Attacker(broken[server], 0, SECRET)
    attacker.send(Case("POST", f"{API}/call/{name}", {"data": []}, stream="call"))
    ((_, why),) = attacker.faults
    assert said in why
    if (server, name) == (0, "raises"):
        assert "ZeroDivisionError" in caplog.text  # the host's log has the whole error


@pytest.mark.parametrize("text", [
    None, "", "Not Found", "Value: 3 (type: <class 'int'>) is bad.", "KeyError: 'x'.", "It is at /work/x.",
    "no end of a sentence", "Traceback (most recent call last).", "[Errno 2] No such file."])
def test_what_is_no_sentence_of_ours_is_a_fault(text):
    assert faults_of(text)
    assert not faults_of("There is no model 'x'; this host has: pocket-t5.")


def test_one_seed_makes_one_list_of_cases_and_leaves_no_event_out(broken, seed):
    config = httpx.get(f"{broken[0]}/config", timeout=60).json()
    first, again = (
        [(case.path, case.raw or written(case.body)) for case in Generator(config, seed).cases(300)] for _ in range(2))
    assert first == again
    called = {case.fn for case in Generator(config, seed).cases(1000)}
    assert {one["id"] for one in config["dependencies"]} <= called
