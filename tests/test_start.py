"""Starting and ending: as a Space, a Procfile and `make run` do; the first picture needs no torch, and it stays small."""

import json
import os
import signal
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import httpx
import pytest

from core.sessions import Store
from tests.visitors import Visitor, free_port

ROOT = Path(__file__).resolve().parents[1]
# What may be sent before the first picture, of ours; 15 kB of it describe the public endpoints, and 16 kB are there for
# those who do not see it or use no mouse: every picture as a table, the focus in sight, pointers that hit in a zoomed page;
# 2 kB open the sections of the two wider sheets and of the families.
OWN_BYTES = 1_350_000
PROCFILE = (ROOT / "Procfile").read_text("utf-8").removeprefix("web: ").strip()
ENDLESS = "A <img src=x onerror=alert(1)> dog."  # the model writes on until it may not
# What a Space sets for its process, as far as Gradio or we look at it.
SPACE = {"SYSTEM": "spaces", "SPACE_ID": "someone/two-stacks", "SPACE_HOST": "someone-two-stacks.hf.space",
         "GRADIO_SERVER_NAME": "0.0.0.0", "GRADIO_SSR_MODE": "True", "GRADIO_ANALYTICS_ENABLED": "True"}
BUILD = """
import sys
from app.config import read_config
from app.page import build
page = build(read_config([], {}))
print([name for name in ("torch", "transformers", "plotly.graph_objects", "spaces", "mcp") if name in sys.modules])
"""


@pytest.fixture
def start(tmp_path):
    """start(command, variables) runs it from the root as a host does; (process, address) once it answers."""
    running = []

    def begin(command: str, **variables: str) -> tuple[subprocess.Popen, str]:
        port = free_port()
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"  # `python` is the one that runs the tests
        plain = {name: value for name, value in os.environ.items() if name not in ("PORT", "GRADIO_SERVER_PORT")}
        with (tmp_path / "log").open("w") as log:
            process = subprocess.Popen(
                ["sh", "-c", command], cwd=ROOT, stdout=log, stderr=log, start_new_session=True,
                env=plain | {"PATH": path, "PYTHONSAFEPATH": "", "SESSIONS_DIR": str(tmp_path / "sessions")}
                | {name: value.replace("$PORT", str(port)) for name, value in variables.items()},
            )
        running.append(process)
        address, until = f"http://127.0.0.1:{port}", time.monotonic() + 90
        while time.monotonic() < until and process.poll() is None:
            try:
                with urllib.request.urlopen(f"{address}/healthz", timeout=5):
                    if "Two Stacks on" in (tmp_path / "log").read_text():
                        return process, address
            except OSError:
                time.sleep(0.1)
        pytest.fail(f"{command} does not answer:\n{(tmp_path / 'log').read_text()}")

    yield begin
    for process in running:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.wait(20)


def ended(process: subprocess.Popen) -> float:
    """Seconds from SIGTERM to an end with exit code 0."""
    began = time.monotonic()
    os.killpg(process.pid, signal.SIGTERM)
    assert process.wait(30) == 0
    return time.monotonic() - began


@pytest.mark.parametrize(("command", "variables"), [
    ("exec python app/__main__.py", SPACE | {"GRADIO_SERVER_PORT": "$PORT"}),
    ("exec python -m app --port $ASKED", {"ASKED": "$PORT"}),
], ids=["a Space", "make run"])
def test_it_starts_as_a_host_starts_it_and_ends_when_asked(start, tmp_path, command, variables):
    process, address = start(command, **variables)
    page = httpx.get(f"{address}/", timeout=60).text
    assert "Two Stacks" in page and "ts-root" in page
    config = httpx.get(f"{address}/config", timeout=60).json()
    assert not config.get("analytics_enabled") and not config.get("ssr_mode")
    assert ended(process) < 10
    log = (tmp_path / "log").read_text()
    # Gradio's thread for hot reloading on a Space ends without the package spaces, which a Space has and we need not.
    assert log.count("Traceback") == log.count("required to run hot-reloading in Spaces"), log


def test_the_procfile_starts_it_and_a_run_that_goes_on_is_kept_as_cut(start, tmp_path):
    """The line is a shell's, as it stands. SIGTERM in mid-run: the visitor is told, and what was made can be replayed."""
    process, address = start(f"exec {PROCFILE}", PORT="$PORT", WEB_CONCURRENCY="4")
    other, *people = [Visitor(address, httpx.get(f"{address}/config", timeout=60).json()) for _ in range(9)]
    other.run("A cat sleeps.")  # the model is loaded now; of this browser nothing is known, so nothing is kept
    for beginning, visitor in zip("ABCDEFGH", people, strict=True):
        visitor.arrive()
        visitor.press(f"{beginning} {ENDLESS}")
    streams = [visitor.messages() for visitor in people]
    for stream in streams:  # each has begun; eight share the model, so few are at their end
        next(message for message in stream if message["msg"] == "process_generating")
    took = ended(process)
    print(f"{took:.1f} s from SIGTERM to the end")
    assert took < 10
    store = Store(tmp_path / "sessions")
    kept = [(session, one) for (id,) in store.file.database.execute("select id from sessions").fetchall()
            for (owner,) in store.file.database.execute("select owner from sessions where id = ?", [id]).fetchall()
            for session in [store.session(id, owner)] for one in store.kept(session)]
    assert len(kept) == 8 and "cut" in {one.status for _, one in kept} <= {"cut", "done"}
    for session, one in kept:
        trace = store.load(session, one.row)
        assert 0 < len(trace.steps) == one.steps and (one.steps < 128 or one.status == "done")
        assert trace.path().shape[2] == one.steps
    log = (tmp_path / "log").read_text()
    assert "WEB_CONCURRENCY is 4 and is ignored" in log


@pytest.mark.parametrize(("variables", "said"), [
    ({"MODELS_DIR": "/nowhere"}, "Two Stacks does not start: MODELS_DIR is '/nowhere', which is not a folder."),
    ({"GRADIO_ROOT_PATH": "stacks"}, "Two Stacks does not start: The root path is 'stacks'"),
    ({"PORT": "many"}, "argument --port: invalid int value: 'many'"),
])
def test_what_the_host_set_wrongly_is_said_in_a_sentence(variables, said):
    done = subprocess.run([sys.executable, "-m", "app"], cwd=ROOT, env=os.environ | variables, capture_output=True, text=True,
                          timeout=60)
    assert done.returncode and said in done.stderr and "Traceback" not in done.stderr


def test_a_port_that_is_taken_is_said_in_a_sentence(tmp_path):
    import socket

    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        done = subprocess.run([sys.executable, "-m", "app"], cwd=ROOT, env=os.environ | {"PORT": port}, capture_output=True,
                              text=True, timeout=60)
    assert done.returncode == 1 and f"Port {port} of 127.0.0.1 cannot be used" in done.stderr and "Traceback" not in done.stderr


def test_the_first_picture_needs_no_torch():
    done = subprocess.run([sys.executable, "-c", BUILD], cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert done.stdout.strip().splitlines()[-1:] == ["[]"], done.stdout + done.stderr


def test_what_is_sent_before_the_first_picture_is_small():
    """Our components' templates, scripts, styles and the first pack all travel in the page's config."""
    from gradio.routes import ORJSONResponse

    from app.config import AppConfig
    from app.page import build
    from app.theme import CSS
    from app.widgets.scripts import head
    from app.words import FIRST

    config = build(AppConfig()).get_config_file()
    assert any("ts-root" in str(c) for c in config["components"] if c["type"] == "html")
    sent = [ORJSONResponse(config).body, json.dumps(FIRST).encode(), CSS.encode(), head().encode()]
    assert sum(map(len, sent)) < OWN_BYTES
