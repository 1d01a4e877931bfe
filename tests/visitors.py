"""Visitors who press Run over real HTTP as a browser does; the page in this process, or in one of its own."""

import json
import os
import secrets
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import gradio as gr
import httpx
import pytest

ENDLESS = "A <img src=x onerror=alert(1)> dog."  # the model writes on until it may not


def free_port() -> int:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def until(true: Callable[[], object], seconds: float = 60) -> None:
    """Wait for what is to become true; fail where it does not."""
    waiting, end = threading.Event(), time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end
        waiting.wait(0.005)


def pack_of(message: dict) -> dict:
    """What a message brings the stepper."""
    return json.loads(message["output"]["data"][0])


class Visitor:
    """One open tab. `press` starts a run; `messages` gives what the queue says of it, the last one whole."""

    def __init__(self, address: str, config: dict):
        self.address, self.name = f"{address}/gradio_api", secrets.token_hex(6)
        self.http = httpx.Client(timeout=120)
        parts = {part["id"]: part["props"] for part in config["components"]}
        run = next(id for id, props in parts.items() if props.get("elem_id") == "ts-run")
        self.event = next(d for d in config["dependencies"] if [run, "click"] in [list(t) for t in d["targets"]])
        self.load = next(d for d in config["dependencies"] if d["api_name"] == "arrive")
        self.text = next(id for id, props in parts.items() if props.get("elem_id") == "ts-text")
        self.inputs = {id: parts[id].get("value") for id in self.event["inputs"]}
        self.named = {name: id for name in ("max_new_tokens", "repetition_penalty", "task") for id in self.inputs
                      if f'page.{name}"' in json.dumps(parts[id].get("label")).replace("\\", "")}
        self._beat: socket.socket | None = None

    def arrive(self) -> None:
        """What a browser says when the page opens: from now on its runs are kept."""
        self.http.post(f"{self.address}/run/predict", json={
            "data": [""], "fn_index": self.load["id"], "session_hash": self.name, "trigger_id": None}).raise_for_status()

    def press(self, text: str, **settings: object) -> None:
        """settings: by their names, where they are not what the page begins with."""
        chosen = {self.named[name]: value for name, value in settings.items()}
        data = list((self.inputs | {self.text: text} | chosen).values())
        self.http.post(f"{self.address}/queue/join", json={
            "data": data, "fn_index": self.event["id"], "session_hash": self.name, "trigger_id": None}).raise_for_status()

    def messages(self) -> Iterator[dict]:
        with self.http.stream("GET", f"{self.address}/queue/data", params={"session_hash": self.name}) as lines:
            for line in lines.iter_lines():
                if line.startswith("data:"):
                    message = json.loads(line[5:])
                    yield message
                    if message["msg"] in ("process_completed", "close_stream"):
                        return

    def run(self, text: str, **settings: object) -> dict:
        """The whole pack that the stepper got."""
        self.press(text, **settings)
        *_, last = self.messages()
        return pack_of(last)

    def stay(self) -> None:
        """Keep the tab open, as a browser's heartbeat does, until `leave`."""
        place = urlsplit(self.address)
        self._beat = socket.create_connection((place.hostname, place.port))
        self._beat.sendall(f"GET {place.path}/heartbeat/{self.name} HTTP/1.1\r\nHost: {place.netloc}\r\n\r\n".encode())
        assert self._beat.recv(12).endswith(b"200")

    def leave(self) -> None:
        """Close the tab."""
        if self._beat:
            self._beat.close()
        self.http.close()


@contextmanager
def hosted(sessions: Path, add: Callable[[], object] | None = None, **choices: object) -> Iterator[gr.Blocks]:
    """The page in this process, its model loaded, so that a test reaches what is behind it; with its `address`, and what /config
    tells as `told`.

    add: called while the page can still be added to. choices: fields of AppConfig.
    """
    from app.config import AppConfig
    from app.page import build
    from app.serving import serve

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SESSIONS_DIR", str(sessions))
        config = AppConfig(port=free_port(), **choices)
        page = build(config)
        if add:
            with page:
                add()
        serve(page, config)
        try:
            page.engine.models.load("pocket-t5")
            page.address = f"http://127.0.0.1:{config.port}"
            page.told = httpx.get(f"{page.address}/config", timeout=60).json()
            yield page
        finally:
            page.close()


@contextmanager
def arriving(page: gr.Blocks) -> Iterator[Callable[[int], list[Visitor]]]:
    """arriving(page) as make: make(n) gives n visitors of a hosted page; at the end they leave, and their runs stop."""
    made: list[Visitor] = []

    def make(count: int) -> list[Visitor]:
        made.extend(Visitor(page.address, page.told) for _ in range(count))
        return made[-count:]

    yield make
    for visitor in made:
        page.engine.latest.stop(visitor.name)
        visitor.leave()
    until(lambda: not page.engine.making._told and not len(page._queue))


@contextmanager
def served(port: int, sessions: Path, *options: str, **environment: str) -> Iterator[tuple[str, int]]:
    """The page in another process, with its model loaded; its address and its process's number. Its log is in `sessions`.

    options and environment: more of them for the page.
    """
    command = [sys.executable, "-m", "app", "--port", str(port), *options]
    with (sessions / "log").open("w") as out:
        process = subprocess.Popen(command, stdout=out, stderr=out,
                                   env=os.environ | {"SESSIONS_DIR": str(sessions)} | environment)
    address, end = f"http://127.0.0.1:{port}", time.monotonic() + 120
    try:
        while True:
            assert process.poll() is None and time.monotonic() < end, (sessions / "log").read_text()
            try:
                told = httpx.get(f"{address}/config", timeout=10).json()
                break
            except (httpx.HTTPError, ValueError):
                time.sleep(0.2)
        Visitor(address, told).run("A dog.")  # waits for the model
        yield address, process.pid
    finally:
        process.terminate()
        process.wait(30)


def resident(process: int) -> int:
    """Bytes of memory that a process holds."""
    return int(Path(f"/proc/{process}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
