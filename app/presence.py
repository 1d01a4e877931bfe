"""Which tabs are open: each one says so now and then, and once more when it is closed.

Gradio's page holds a connection open for that. A browser opens six to one host, so that the sixth tab could ask nothing, and the
seventh would load for ever. A beat is over at once.
"""

import threading
import time
from collections.abc import Callable
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from app.calls import NAME

GONE = 900.0  # seconds without a beat: browsers let hidden tabs beat once a minute, and sleeping ones not at all
LOOKS = 60.0  # seconds between two looks for who is gone


class Presence:
    """Shared by all visitors; holds names only. `leave` is called with the name of a tab that is gone.

    known: names of tabs that something is held for. One that never beats, such as a program's, goes after as long.
    """

    def __init__(self, leave: Callable[[str], None], known: Callable[[], Any]):
        self._leave, self._known = leave, known
        self._seen: dict[str, float] = {}
        self._looked = time.monotonic()
        self._lock = threading.Lock()

    def beat(self, name: str) -> None:
        """This tab is open."""
        now = time.monotonic()
        with self._lock:
            self._seen[name] = now
            gone = self._gone(now) if now - self._looked > LOOKS else []
        for one in gone:
            self._leave(one)

    def left(self, name: str) -> None:
        """This tab was closed."""
        with self._lock:
            self._seen.pop(name, None)
        self._leave(name)

    def _gone(self, now: float) -> list[str]:
        self._looked = now
        for name in list(self._known()):
            self._seen.setdefault(name, now)
        gone = [name for name, seen in self._seen.items() if now - seen > GONE]
        for name in gone:
            del self._seen[name]
        return gone

    def route(self) -> Route:
        """POST /beat/NAME, and /beat/NAME?left=1 when the tab is closed."""

        def beaten(request: Request) -> Response:
            name = request.path_params["name"]
            if not NAME.fullmatch(name):
                return Response(status_code=404)
            self.left(name) if "left" in request.query_params else self.beat(name)
            return Response(status_code=204)

        return Route("/beat/{name}", beaten, methods=["POST"])
