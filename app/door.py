"""The door of the page: what is asked over HTTP is looked at before Gradio reads it, and an answer that went wrong is a sentence.

Gradio has routes that nobody here needs, and takes what it cannot use for an error of ours: a traceback in the log and "error: null" for
the visitor. Here only what the page and its documented endpoints ask is let in, and a call is checked whole (app/calls.py).
"""

import logging
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any
from urllib.parse import parse_qs

import orjson
from starlette.exceptions import HTTPException

from app.calls import Refusal, call_of, check
from app.words import LANGUAGES

log = logging.getLogger("two-stacks")
API = "/gradio_api"
FILES = ("/assets/", "/static/", "/svelte/")  # of Gradio's own page
PATHS = {"/", "/config", "/config/", "/theme.css", "/favicon.ico", "/manifest.json", "/robots.txt", "/healthz", *(API + path for path in (
    "/info", "/info/", "/openapi.json", "/queue/join", "/queue/data", "/queue/status", "/cancel", "/reset", "/reset/", "/upload",
    "/upload_progress", "/app_id", "/app_id/", "/startup-events", "/theme.css", "/mcp", "/config"))}
BELOW = tuple(API + path for path in ("/call/", "/run/", "/heartbeat/", "/file=", "/mcp/"))
CALLS = tuple(API + path for path in ("/call/", "/run/", "/queue/join"))
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
            if scope["method"] == "POST" and path.startswith(CALLS):
                body = await whole(receive)
                if body is None:
                    return
                check(self.page, call_of(path.removeprefix(API), body), from_browser(scope))
                receive = again(body, receive)
            elif scope["method"] == "POST" and path == f"{API}/cancel":
                body = await whole(receive)
                if body is None:
                    return
                call_of(path, body)
                receive = again(body, receive)
            elif path == f"{API}/queue/data" and self._unknown(scope):
                await gone(send, said(scope, "door.session"))
                return
            await self.app(scope, receive, answer)
        except Refusal as refusal:
            begun = answer.begun
            told, status = said(scope, refusal.key, **refusal.values), refusal.status
        except HTTPException as error:  # of a stream whose session ended while it was read
            begun, told, status = answer.begun, said(scope, "door.session"), error.status_code
        except Exception:
            log.exception("%s %s could not be answered", scope["method"], path[:100])
            begun, told, status = answer.begun, said(scope, "door.unforeseen"), 500
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
    asked = next((value for name, value in scope["headers"] if name == b"accept-language"), b"").decode("latin-1")
    words = LANGUAGES.get(asked.replace(";", ",").split(",")[0].strip().split("-")[0].lower(), LANGUAGES["en"])
    return words[key].format(**values)


async def whole(receive: Receive, most: int = 48 * 2**20) -> bytes | None:
    """The body of a request; None where who asks is gone. Refusal for more than `most` bytes (a session file has half of that)."""
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
