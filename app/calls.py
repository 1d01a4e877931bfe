"""A call of an event or an endpoint, as it comes over HTTP: what it must look like before anything of it is used."""

import json
import re
from dataclasses import dataclass
from inspect import signature
from typing import Any

from gradio_client.utils import is_file_obj_with_meta

NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")  # of a tab: Gradio's page and its clients write no others
DEEP = 24  # levels that values may be nested
KINDS = {"event_id": str, "trigger_id": int, "oauth_token": str, "simple_format": bool, "batched": bool}  # beside the values
UNREAD = 64  # answers that wait until a tab reads them: the page never has more than some fifteen on their way


class Refusal(Exception):
    """A request that is not answered: an HTTP status, the key of a sentence in assets/words/, and values for its places."""

    def __init__(self, status: int, key: str, **values: object):
        super().__init__(key)
        self.status, self.key, self.values = status, key, values


@dataclass(frozen=True)
class Call:
    """route: "call", "v2" (a call with arguments by name), "run" or "queue"; name: of an endpoint, where the path says one;
    body: the JSON object that was sent."""

    route: str
    name: str
    body: dict[str, Any]


def call_of(path: str, body: bytes) -> Call:
    """The call in a request; Refusal where it is no JSON object of plain values."""
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):  # also bytes that are not UTF-8, and numbers of thousands of digits
        raise Refusal(400, "door.json") from None
    if not isinstance(found, dict):
        raise Refusal(400, "door.json")
    look_through(found)
    _, route, *names = path.split("/")
    if names[:1] == ["v2"]:
        route, names = "v2", names[1:]
    return Call(route, names[0] if route != "queue" and names else "", found)


def look_through(value: Any) -> None:
    """Refusal for values nested too deep, and for half a character and whole numbers that nothing could write down again."""
    level = [value]
    for _ in range(DEEP):
        for text in (one for one in level if isinstance(one, str)):
            if not text.isascii() and (half := next((c for c in text if "\ud800" <= c <= "\udfff"), "")):
                raise Refusal(422, "door.half", code=f"U+{ord(half):04X}")
        if any(type(one) is int and not -(2**63) <= one < 2**63 for one in level):
            raise Refusal(422, "door.number")
        inner = [one for outer in level if isinstance(outer, dict) for pair in outer.items() for one in pair]
        level = inner + [one for outer in level if isinstance(outer, list) for one in outer]
        if not level:
            return
    raise Refusal(422, "door.deep", most=DEEP)


def check(page: Any, call: Call, browser: bool) -> None:
    """Refusal for a call that no event of the page takes, or that has no room. browser: see app/door.py."""
    body, session = call.body, None
    event = _event(page, call)
    if event is None or event.fn is None:
        raise Refusal(404, "door.event")
    if call.route == "v2":
        _named(event, body)
    else:
        session = body.get("session_hash")
        if session is None and call.route == "queue" or session is not None and not (
                isinstance(session, str) and NAME.fullmatch(session)):
            raise Refusal(422, "door.tab")
        values, needed = body.get("data"), len(event.inputs)
        if not isinstance(values, list) or len(values) not in (needed, sum(not block.skip_api for block in event.inputs)):
            raise Refusal(422, "door.values", needed=needed)
        fields(body, KINDS)
        if body.get("batched") or holds_file(body.get("event_data")):
            raise Refusal(422, "door.field", name="batched" if body.get("batched") else "event_data")
    _room(page, session, call, browser)


def fields(body: dict[str, Any], kinds: dict[str, type], must: bool = False) -> None:
    """Refusal where a field has another kind of value, or, where it must be there, none."""
    for name, kind in kinds.items():
        if type(body.get(name)) is not kind and (must or name in body and not (body[name] is None and kind is not bool)):
            raise Refusal(422, "door.field", name=name)


def holds_file(value: Any) -> bool:
    """Whether anywhere in a value stands what Gradio takes for a file, or for an address to fetch."""
    if isinstance(value, dict):
        return is_file_obj_with_meta(value) or any(map(holds_file, value.values()))
    return isinstance(value, list) and any(map(holds_file, value))


def _named(event: Any, body: dict[str, Any]) -> None:
    """Refusal where the arguments are not those of the endpoint."""
    takes = {name: one.default is one.empty for name, one in signature(event.fn).parameters.items()}
    strange = [name for name in body if name not in takes and name != "oauth_token"]
    missing = [name for name, must in takes.items() if must and name not in body]
    if strange or missing:
        raise Refusal(422, "door.names", names=", ".join(takes))


def _event(page: Any, call: Call) -> Any:
    """The event that is asked for, by its number or its name; None where there is none."""
    number = call.body.get("fn_index")
    if call.route in ("call", "v2") or number is None:
        return next((fn for fn in page.fns.values() if call.name and fn.api_name == call.name), None)
    return page.fns.get(number) if type(number) is int else None


def _room(page: Any, session: str | None, call: Call, browser: bool) -> None:
    """Refusal where the line is full, or where the tab does not read what it asked for: both would fill memory."""
    queue = page._queue
    if queue.max_size is not None and len(queue) >= queue.max_size and call.route != "run":
        raise Refusal(429 if browser else 503, "door.full", waiting=f"{len(queue):,}")  # for 503 the page has a text of Gradio's
    if session and len(queue.pending_event_ids_session.get(session, ())) >= UNREAD:
        raise Refusal(429, "door.unread", most=UNREAD)
