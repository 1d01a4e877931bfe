"""Visitors who send hostile requests to a page that really runs, and what its answers are held against."""

import json
import re
import secrets
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from queue import Empty, Queue
from typing import Any

import httpx

from tests.hostile import API, Case, Generator, written

PATIENCE = 3.0  # seconds that an event may go on before the attacker presses Stop
LONGEST = 60.0  # and before it counts as one that hangs
HIDDEN = re.compile(
    r"Traceback|\bFile \"|site-packages|/work/|/usr/lib|\b[A-Z][A-Za-z]*(?:Error|Exception|Warning)\b|<class |object at 0x"
    r"|did not foresee|\b(?:NoneType|dict_keys)\b.*\b(?:attribute|subscriptable|iterable)\b|unexpected keyword"
    r"|Internal Server Error|\[Errno")


def faults_of(text: object) -> str:
    """Why a text that a visitor reads is none of ours, or ""."""
    if not isinstance(text, str) or not text.strip():
        return f"no text but {text!r:.80}"
    if found := HIDDEN.search(text):
        return f"tells {found[0]!r}: {text[:160]}"
    if text in ("Not Found", "Error", "Method Not Allowed") or not text.rstrip().endswith((".", ")", '"', "'", "…")):
        return f"is no sentence: {text[:160]!r}"
    return ""


def leaks(answer: Any, secret: str) -> str:
    """What an answer that went well must not hold."""
    text = answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False)
    if secret in text:
        return "holds what is somebody else's"
    found = re.search(r"Traceback \(most|site-packages|did not foresee|/work/\w+/(?:app|core)", text)
    return f"tells {text[max(0, found.start() - 80):found.end() + 80]!r}" if found else ""


def lines_of(answer: httpx.Response) -> Iterator[str]:
    """As a browser reads a stream: httpx takes U+2028 and its like within a text for ends of lines."""
    rest = b""
    for piece in answer.iter_bytes():
        *whole, rest = (rest + piece).split(b"\n")
        yield from (line.decode() for line in whole)


class Attacker:
    """One tab that sends whatever it is given, reads every answer, and presses Stop where one takes long."""

    def __init__(self, address: str, halt: int, secret: str):
        self.address, self.halt, self.secret = address, halt, secret
        self.name = secrets.token_hex(6)
        self.http = httpx.Client(timeout=LONGEST, base_url=address)
        self.counts: Counter = Counter()
        self.faults: list[tuple[Case, str]] = []

    def send(self, case: Case) -> None:
        try:
            why = self._sent(case)
        except httpx.HTTPError as error:
            why = f"was cut off: {type(error).__name__} {error}"
        if why:
            self.counts["faults"] += 1
            self.faults.append((case, why))

    def _sent(self, case: Case) -> str:
        body = case.body
        if case.stream == "queue" and isinstance(body, dict) and body["session_hash"] is None:
            body = body | {"session_hash": self.name}
        elif isinstance(body, dict) and "fn_index" in body and body.get("session_hash") is None:
            body = body | {"session_hash": self.name}
        raw = case.raw if case.raw is not None else None if body is None else written(body)
        got = self.http.request(case.method, case.path, content=raw, headers={"content-type": "application/json"})
        if case.method == "HEAD":
            return "" if got.status_code < 500 else f"HEAD answered {got.status_code}"
        if got.status_code != 200:
            self.counts["refused at the door"] += 1
            return self._refused(got)
        if case.stream == "queue":
            return self._events(f"{API}/queue/data", {"session_hash": body["session_hash"]}, got.json()["event_id"], case)
        if case.stream == "call":
            return self._called(f"{case.path.replace('/v2', '')}/{got.json()['event_id']}")
        self.counts["answered"] += 1
        page = case.path.startswith(("/?", "/config"))
        return "" if page else leaks(got.text, self.secret)  # the page names its script's place

    def _refused(self, got: httpx.Response) -> str:
        if got.status_code in (301, 302, 307, 308, 405):
            return ""
        try:
            told = got.json()
        except ValueError:
            return f"answered {got.status_code}: {got.text[:120]!r}"
        said = told.get("error") or told.get("detail") if isinstance(told, dict) else told
        return faults_of(said) and f"answered {got.status_code} and {faults_of(said)}"

    def _events(self, path: str, params: dict, event: str, case: Case) -> str:
        began, stopped = time.monotonic(), False
        with self.http.stream("GET", path, params=params) as lines:
            for line in lines_of(lines):
                if not line.startswith("data:"):
                    continue
                message = json.loads(line[5:])
                if message["msg"] == "unexpected_error":
                    return f"broke off: {message['message']}"
                if message.get("event_id") == event and message["msg"] == "process_completed":
                    return self._completed(message)
                if why := leaks(message.get("output") or "", self.secret):
                    return why
                if not stopped and time.monotonic() - began > PATIENCE:
                    stopped = True
                    self.stop()
                if time.monotonic() - began > LONGEST:
                    return "goes on for more than a minute after Stop"
        return "ended without an answer"

    def _completed(self, message: dict) -> str:
        if not message["success"]:
            self.counts["refused by a handler"] += 1
            return faults_of(message["output"].get("error"))
        self.counts["answered"] += 1
        return leaks(message["output"].get("data"), self.secret)

    def _called(self, path: str) -> str:
        with self.http.stream("GET", path) as lines:
            event = ""
            for line in lines_of(lines):
                if line.startswith("event:"):
                    event = line[6:].strip()
                elif line.startswith("data:") and event in ("complete", "error"):
                    told = json.loads(line[5:])
                    self.counts["answered" if event == "complete" else "refused by a handler"] += 1
                    return leaks(told, self.secret) if event == "complete" else faults_of((told or {}).get("error"))
        return "ended without an answer"

    def stop(self) -> None:
        httpx.post(f"{self.address}{API}/run/predict", json={
            "data": [], "fn_index": self.halt, "session_hash": self.name, "trigger_id": None}, timeout=LONGEST)


def attack(address: str, generator: Generator, count: int, halt: int, secret: str, tabs: int = 6) -> list[Attacker]:
    """`count` cases, by several tabs at once; each tab with what it met."""
    waiting: Queue[Case] = Queue()
    for case in generator.cases(count):
        waiting.put(case)
    attackers = [Attacker(address, halt, secret) for _ in range(tabs)]
    done = threading.Event()

    def work(attacker: Attacker) -> None:
        while not done.is_set():
            try:
                attacker.send(waiting.get_nowait())
            except Empty:
                return

    with ThreadPoolExecutor(tabs) as pool:
        list(pool.map(work, attackers))
    return attackers
