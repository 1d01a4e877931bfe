"""/healthz: whether the process is up, whether the model is in memory, how many wait. Nothing of visitors or of the host."""

from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route


def route(page: Any) -> Route:
    """GET /healthz of this page: 200 while it serves, 503 once it is asked to end."""

    def healthz(request: Request) -> JSONResponse:
        found = told(page)
        return JSONResponse(found, 200 if found["up"] else 503, {"Cache-Control": "no-store"})

    return Route("/healthz", healthz)


def told(page: Any) -> dict[str, Any]:
    """up: not about to end. ready: the default model is in memory; until then saved runs are shown. queue: events that wait."""
    engine = page.engine
    waiting = sum(len(each.queue) for each in list(page._queue.event_queue_per_concurrency_id.values()))
    return {"up": not engine.latest.closed, "ready": engine.ready, "model": engine.status, "queue": waiting}
