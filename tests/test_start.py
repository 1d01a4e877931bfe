"""Starting: both ways of starting are the same, the first picture needs no torch, and it stays small."""

import json
import os
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

from tests.browser.conftest import free_port

ROOT = Path(__file__).resolve().parents[1]
OWN_BYTES = 1_600_000  # what may be sent before the first picture, of ours
BUILD = """
import sys
from app.config import read_config
from app.page import build
page = build(read_config([], {}))
print([name for name in ("torch", "transformers", "plotly.graph_objects") if name in sys.modules])
"""


@pytest.mark.parametrize("command", [["-m", "app"], ["app/__main__.py"]])
def test_it_starts_as_a_module_and_as_a_file(command, tmp_path):
    """The Procfile, `make run` and a Space use one or the other."""
    port = free_port()
    with (tmp_path / "log").open("w") as log:
        process = subprocess.Popen(
            [sys.executable, *command, "--port", str(port)], cwd=ROOT, stdout=log, stderr=log,
            env=os.environ | {"PYTHONSAFEPATH": ""},
        )
        try:
            page = _answer(f"http://127.0.0.1:{port}/", process)
        finally:
            process.terminate()
            process.wait(20)
    assert "Two Stacks" in page and "ts-root" in page, (tmp_path / "log").read_text()


def _answer(address: str, process: subprocess.Popen) -> str:
    until = time.monotonic() + 90
    while time.monotonic() < until and process.poll() is None:
        try:
            with urllib.request.urlopen(address, timeout=5) as response:
                return response.read().decode()
        except OSError:
            time.sleep(0.2)
    return ""


def test_the_first_picture_needs_no_torch():
    done = subprocess.run([sys.executable, "-c", BUILD], cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert done.stdout.strip().splitlines()[-1:] == ["[]"], done.stdout + done.stderr


def test_what_is_sent_before_the_first_picture_is_small():
    """Our components' templates, scripts, styles and the first pack all travel in the page's config."""
    from gradio.routes import ORJSONResponse

    from app.config import AppConfig
    from app.page import build
    from app.theme import CSS
    from app.words import FIRST

    config = build(AppConfig()).get_config_file()
    assert any("ts-root" in str(c) for c in config["components"] if c["type"] == "html")
    sent = [ORJSONResponse(config).body, json.dumps(FIRST).encode(), CSS.encode()]
    assert sum(map(len, sent)) < OWN_BYTES
