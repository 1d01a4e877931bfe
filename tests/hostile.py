"""Hostile requests, generated from a seed: every event and endpoint, values that fit nothing, bodies that are no calls."""

import json
import random
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

API = "/gradio_api"
DEEP = "deep"  # stands for a value that is nested 2,000 levels, which json.dumps could not write
TEXTS = (
    "", " ", "\n\t", "\0", "a\0b", "\x01\x02\x1b[31m", "\u200b\u200d", "\u202egod a\u202c", "\ufeff", "é" * 50,
    "e\u0301" * 40, "👩‍👩‍👧‍👦" * 20, "שלום עולם", "日本語のテキスト", "\ud800", "A dog \udfff.", "𝔄𝔅", "ﷺ" * 30, "z̷̢̛" * 30,
    "\u2028\u2029", "\U0010ffff", "'; drop table sessions; --", "\" or \"\"=\"", "1; attach database '/tmp/x' as y",
    "' union select * from records --", "<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "${7*7}",
    "{{7*7}}", "{0.__class__}", "%s%n%x", "{}", "{text}", "`id`", "$(id)", "../../etc/passwd", "file:///etc/passwd",
    "/proc/self/environ", "C:\\windows\\win.ini", "http://127.0.0.1:1/x", "http://169.254.169.254/latest",
    "<extra_id_0>", "<extra_id_0> <extra_id_99>", "</s>", "<pad>", "<unk>", "▁", "en-de", "pocket-t5", "pocket-bart",
    "owner/name", "../pocket-t5", "null", "NaN", "true", "[]", "0", "-1", "1e309", "9" * 400, "a" * 4001, "a " * 3000,
    "x" * 70_000, "\n" * 5000, "A dog runs.", "Two dogs run.", "spans", "bert", "greedy", "causal", "BLEU", "13a",
    "spm",
)
NUMBERS = (0, 1, -1, 2, 3, 7, 8, 9, 64, 128, 129, 10**6, 2**31, 2**63, 2**64, -(2**63) - 1, 10**30, 0.5, -0.5, 1e-320, 1e300,
           float("nan"), float("inf"), float("-inf"), 3.0000001, True, False)
# what events of the page send, so that a made-up one comes past the first check of a handler
WORDS = tuple("""
    do id row event at last what kind run layer head node step stack masks encoder decoder cross preset hidden open rows
    columns cells edit edits weights values source target beams alpha beta upto map key value index text name note hide view
    file to session token tokens line settings decoding model task noise rate seed a b pair trials lecture steps formula
    dial dials section place side drawn size width sheet experiment item look changed from position
""".split())
SAID = tuple("""
    list open write share unshare delete forget export page import remark remove collect replay present code cards numbers
    distil tune teach budget kinds relatives train wrong bridge causal prefix window diagonal encoder decoder cross row head
    look rank spans none mean all course move text
""".split())
ROUTES = tuple("""
    /gradio_api/component_server /gradio_api/vibe-edit/ /gradio_api/process_recording /gradio_api/deep_link
    /gradio_api/monitoring /gradio_api/proxy=http://127.0.0.1:1/ /gradio_api/file=/etc/passwd /gradio_api/file=../../x
    /gradio_api/file=%00 /login /gradio_api/stream/x/y/z/playlist.m3u8 /gradio_api/custom_component/x/server/y/z
    /assets/../../etc/passwd /static/%2e%2e/x /gradio_api/queue/data /gradio_api/queue/data?session_hash=%ff
    /gradio_api/call/trace/none /gradio_api/heartbeat /%00 /gradio_api/upload_progress /gradio_api/cancel /gradio_api/reset
    /gradio_api/dev/reload /gradio_api/token /?session=%00 /gradio_api/upload /theme.css?v=%ff /gradio_api/startup-events
    /gradio_api/call/v2/trace /gradio_api/run/none /monitoring /gradio_api/runs
""".split()) + ("/config?x=" + "y" * 3000, "/gradio_api/call/" + "x" * 3000)


@dataclass(frozen=True)
class Case:
    """method and path of one request; body: JSON, or bytes as they are; fn: the event's number, where it is a call of one."""

    method: str
    path: str
    body: Any = None
    fn: int | None = None
    raw: bytes | None = None
    number: int = 0
    stream: str = ""  # "queue": the answer comes over the tab's stream; "call": over one of its own


@dataclass
class Generator:
    """Cases of one seed, over the events of one page. ids: sessions and runs that somebody else has."""

    config: dict
    seed: int
    ids: tuple[str, ...] = ()
    rng: random.Random = field(init=False)

    def __post_init__(self):
        self.rng = random.Random(self.seed)
        self.props = {part["id"]: part for part in self.config["components"]}
        self.events = self.config["dependencies"]
        self.public = [one["api_name"] for one in self.events if one["api_visibility"] == "public"]
        self._left: list[dict] = []

    def cases(self, count: int) -> Iterator[Case]:
        """Every event comes by turns, so that none is left out."""
        for number in range(count):
            yield replace(self._case(), number=number)

    def _case(self) -> Case:
        chance = self.rng.random()
        if chance < 0.68:
            return self._event()
        if chance < 0.82:
            return self._endpoint()
        return self._malformed() if chance < 0.93 else self._route()

    # Values

    def value(self, depth: int = 0) -> Any:
        """Anything that JSON can say, and some that it cannot."""
        rng, chance = self.rng, self.rng.random()
        if chance < 0.33:
            return rng.choice(TEXTS)
        if chance < 0.55:
            return rng.choice(NUMBERS)
        if chance < 0.6:
            return None
        if chance < 0.64:
            return rng.choice(self.ids or TEXTS)
        if chance < 0.67:
            return self.file()
        if chance < 0.68:
            return DEEP
        if chance < 0.72:
            tops = (32, 0x250, 0xd7ff, 0x1f600)
            return "".join(chr(rng.randrange(rng.choice(tops))) for _ in range(30))
        if depth > 3:
            return []
        if chance < 0.86:
            return [self.value(depth + 1) for _ in range(rng.choice((0, 1, 2, 3, 30)))]
        keys = WORDS if rng.random() < 0.9 else TEXTS[:60]
        return {rng.choice(keys): self.told(depth + 1) for _ in range(rng.choice((0, 1, 3, 5)))}

    def told(self, depth: int = 0) -> Any:
        """A value as an event of the page might bring it, or any."""
        chance = self.rng.random()
        return self.rng.choice(SAID) if chance < 0.3 else self.rng.choice(NUMBERS[:10]) if chance < 0.45 else self.value(depth)

    def file(self) -> dict:
        """What Gradio takes for a file: to be read from this disk, or fetched from elsewhere."""
        path = self.rng.choice(("/etc/passwd", "../../etc/passwd", "http://127.0.0.1:1/x", "x" * 300, "", "\0", "/tmp"))
        return {"path": path, "url": self.rng.choice((None, path)), "meta": {"_type": "gradio.FileData"},
                "orig_name": "x.csv", "is_stream": self.rng.random() < 0.2}

    def _good(self, id: int) -> Any:
        """What the page itself would send, for a short run."""
        part = self.props[id]["props"]
        label = json.dumps(part.get("label"))
        return 3 if "max_new_tokens" in label else "A dog." if part.get("elem_id") == "ts-text" else part.get("value")

    # Requests

    def _event(self) -> Case:
        """A call of an event: some of its values hostile, sometimes all; sometimes too many, too few, or none."""
        rng = self.rng
        if not self._left:
            self._left = rng.sample(self.events, len(self.events))
        event = self._left.pop()
        share = rng.choice((0, 0, 0.1, 0.3, 1))
        data: Any = [self.value() if rng.random() < share else self._good(id) for id in event["inputs"]]
        if rng.random() < 0.04:
            data = rng.choice((data[:-1], data * 3, [*data, 1], {"a": 1}, None, "x", []))
        told: Any = {rng.choice(WORDS): self.told() for _ in range(rng.randrange(1, 7))} if rng.random() < 0.7 else self.value()
        if isinstance(told, dict) and rng.random() < 0.6:
            told[rng.choice(("do", "what", "kind"))] = rng.choice(SAID)
        body = {"data": data, "fn_index": event["id"], "session_hash": None, "trigger_id": None, "event_data": told}
        if rng.random() < 0.1:
            name = ("fn_index", "trigger_id", "event_id", "batched", "simple_format", "session_hash", "oauth_token")
            body[rng.choice(name)] = self.value()
        queued = event["queue"] is not False and rng.random() < 0.9 or rng.random() < 0.2
        path = f"{API}/queue/join" if queued else f"{API}/run/{rng.choice(('predict', event['api_name'] or 'predict'))}"
        return Case("POST", path, body, event["id"], stream="queue" if queued else "")

    def _endpoint(self) -> Case:
        rng, name = self.rng, self.rng.choice(self.public)
        good = {"trace": ["A dog.", "pocket-t5", "", {"decoding": {"max_new_tokens": 3}}, "none"],
                "search": ["A dog.", 2, 1.0, "pocket-t5", ""],
                "corrupt": ["A dog runs home.", "spans", 0, "pocket-t5", None],
                "score": [["A dog."], [["A dog."]], None, ""],
                "session": [rng.choice(self.ids or ("x",)), 0, "none"]}[name]
        data = [self.value() if rng.random() < 0.4 else one for one in good]
        if rng.random() < 0.15:
            body = {rng.choice(("text", "beams", "id", "outputs", "x", "settings", "seed")): self.value() for _ in range(2)}
            return Case("POST", f"{API}/call/v2/{name}", body, stream="call")
        data = data if rng.random() < 0.93 else rng.choice((data[:-1], data * 2, {}, "x", None))
        return Case("POST", f"{API}/call/{name}", {"data": data}, stream="call")

    def _malformed(self) -> Case:
        """Bodies that are no calls."""
        rng = self.rng
        strange = {"data": [self.value(3)], "fn_index": rng.choice(NUMBERS[:12]), "session_hash": rng.choice(TEXTS)}
        raw = rng.choice((
            b"", b"{", b"[]", b"null", b"7", b'"x"', b"\xff\xfe", b"{" * 5000, b"[" * 200_000, b"a=1&b=2",
            b'{"a":' * 3000 + b"1" + b"}" * 3000, b'{"data": [1' + b"0" * 6000 + b"]}", b'{"data": []}',
            b'{"data": [], "fn_index": null, "session_hash": ""}', json.dumps(strange).encode(),
            json.dumps({"data": [], "fn_index": 10**9, "session_hash": "abc"}).encode(),
        ))
        path = rng.choice((f"{API}/queue/join", f"{API}/call/trace", f"{API}/call/none", f"{API}/run/predict", f"{API}/cancel",
                           f"{API}/call/v2/score", f"{API}/reset", f"{API}/upload", f"{API}/run/\u00fc"))
        return Case("POST", path, raw=raw)

    def _route(self) -> Case:
        rng = self.rng
        body = None if rng.random() < 0.5 else self.value(2)
        return Case(rng.choice(("GET", "GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS")), rng.choice(ROUTES), body)


def written(body: Any) -> bytes:
    """As JSON; half characters as \\uD800, and what is deep deeper than a parser likes."""
    return json.dumps(body).replace(f'"{DEEP}"', "[" * 2000 + "]" * 2000).encode()
