"""The door of the page: what is asked over HTTP is looked at before Gradio reads it; what goes wrong is told in a sentence.

Gradio has routes that nobody here needs, and takes what it cannot use for an error of ours: a traceback in the log and
"error: null" for the visitor. Only what the page and its documented endpoints ask is let in, and a call is checked whole
(app/calls.py).
"""

import logging
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any
from urllib.parse import parse_qs

import orjson
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse

from app.calls import Refusal, call_of, check, fields
from app.words import LANGUAGES, asked

log = logging.getLogger("two-stacks")
API = "/gradio_api"
MOST = 48 * 2**20  # bytes of a body
FILES = ("/assets/", "/static/", "/svelte/")  # of Gradio's page
PATHS = {"/", "/config", "/config/", "/theme.css", "/favicon.ico", "/manifest.json", "/robots.txt", "/healthz", *(
    API + path for path in (
        "/info", "/info/", "/openapi.json", "/queue/join", "/queue/data", "/queue/status", "/cancel", "/reset", "/upload",
        "/upload_progress", "/app_id", "/app_id/", "/startup-events", "/theme.css", "/mcp"))}
BELOW = ("/beat/", *(API + path for path in ("/call/", "/run/", "/heartbeat/", "/file=", "/mcp/")))
CALLS = tuple(API + path for path in ("/call/", "/run/", "/queue/join"))
OTHERS = {f"{API}/cancel": {"session_hash": str, "fn_index": int, "event_id": str}, f"{API}/reset": {"event_id": str}}  # bodies
TOLD = {400: "door.json", 401: "door.closed", 403: "door.closed", 404: "door.nothing", 405: "door.nothing", 413: "door.upload"}
Scope, Message = MutableMapping[str, Any], MutableMapping[str, Any]
Receive, Send = Callable[[], Awaitable[Message]], Callable[[Message], Awaitable[None]]


class Door:
    """An ASGI middleware around everything that a page answers. `page`: the Blocks behind it."""

    def __init__(self, app: Any, page: Any):
        self.app, self.page = app, page

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        path = path_of(scope)
        answer, begun = Answer(send), False
        try:
            if not (path in PATHS or path.startswith((*FILES, *BELOW))):
                raise Refusal(404, "door.nothing")
            if scope["method"] == "POST" and (path in OTHERS or path.startswith(CALLS)):
                body = await whole(receive)
                if body is None:
                    return
                call = call_of(path.removeprefix(API), body)
                if path in OTHERS:
                    fields(call.body, OTHERS[path], must=True)
                else:
                    check(self.page, call, from_browser(scope))
                receive = again(body, receive)
            elif path == f"{API}/queue/data" and self._unknown(scope):
                await gone(send, said(scope, "door.session"))
                return
            elif scope["method"] == "GET" and path.startswith(f"{API}/call/") and not self._going(path.rpartition("/")[2]):
                raise Refusal(404, "door.answer")
            await self.app(scope, receive, answer)
        except Refusal as refusal:
            begun = answer.begun
            told, status = said(scope, refusal.key, **refusal.values), refusal.status
        except Exception as error:
            if isinstance(error, HTTPException) or isinstance(error.__cause__, HTTPException):  # a session that ended meanwhile
                key, status = "door.session", 404
            else:
                log.exception("%s %s could not be answered", scope["method"], path[:100])
                key, status = "door.unforeseen", 500
            begun, told = answer.begun, said(scope, key)
        else:
            return
        if not begun:
            await plain(send, status, {"detail": told, "error": told})
        elif not answer.ended:
            await send({"type": "http.response.body", "body": b""})

    def _unknown(self, scope: Scope) -> bool:
        """Whether a stream is asked for that nobody has: Gradio would break off in the middle of an answer."""
        name = parse_qs(scope.get("query_string", b"").decode("latin-1")).get("session_hash", [""])[0]
        return name not in self.page._queue.pending_messages_per_session

    def _going(self, event: str) -> bool:
        """Whether this is an event whose answer was not read yet."""
        queue = self.page._queue
        return event in queue.event_ids_to_events or event in queue.pending_messages_per_session or any(
            event in events for events in list(queue.pending_event_ids_session.values()))


class Answer:
    """`send`, and how far the answer is."""

    def __init__(self, send: Send):
        self.send, self.begun, self.ended = send, False, False

    async def __call__(self, message: Message) -> None:
        self.begun = True
        self.ended = message["type"] == "http.response.body" and not message.get("more_body")
        await self.send(message)


def path_of(scope: Scope) -> str:
    """The path below the root path of a proxy, whether the proxy has taken that away or not."""
    path, root = scope["path"], scope.get("root_path", "").rstrip("/")
    return path.removeprefix(root) if root and path.startswith(f"{root}/") else path


def from_browser(scope: Scope) -> bool:
    """Whether this page's own script asks; other clients know Gradio's status codes."""
    return any(name == b"sec-fetch-site" for name, _ in scope["headers"])


def said(scope: Scope, key: str, **values: object) -> str:
    """The words of `key` in the language that the browser asks for first."""
    accepted = next((value for name, value in scope["headers"] if name == b"accept-language"), b"").decode("latin-1")
    return LANGUAGES[asked(accepted)][key].format(**values)


async def whole(receive: Receive, most: int = MOST) -> bytes | None:
    """The body of a request; None where who asks is gone. Refusal for more than `most` bytes, which no session file has."""
    parts, size = [], 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        if size > most:
            raise Refusal(413, "door.large", most=f"{most:,}")
        if not message.get("more_body"):
            return b"".join(parts)


def again(body: bytes, receive: Receive) -> Receive:
    """What gives the body once more, and then what comes after it."""
    given = False

    async def repeat() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return repeat


async def plain(send: Send, status: int, content: dict[str, Any]) -> None:
    """A whole answer as JSON."""
    headers = [(b"content-type", b"application/json"), (b"cache-control", b"no-store")]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": orjson.dumps(content)})


async def gone(send: Send, told: str) -> None:
    """What Gradio's page takes for a host that was started anew: it then asks for the page again."""
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/event-stream")]})
    message = {"msg": "unexpected_error", "message": told, "session_not_found": True, "success": False}
    await send({"type": "http.response.body", "body": b"data: " + orjson.dumps(message) + b"\n\n"})


async def unfit(request: Request, error: Exception) -> JSONResponse:
    """What Gradio refuses itself, told as we tell it."""
    status = getattr(error, "status_code", 422)
    if isinstance(error, RequestValidationError):
        name = next((str(one["loc"][-1]) for one in error.errors() if one.get("loc")), "")
        told = said(request.scope, "door.field", name="".join(c if c.isprintable() else " " for c in name[:40]))
    else:
        told = said(request.scope, TOLD.get(status, "door.closed"))
    return JSONResponse({"detail": told, "error": told}, status)


REFUSALS = {RequestValidationError: unfit, HTTPException: unfit}
