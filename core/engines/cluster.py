"""The engine on a Ray cluster: Ray Serve replicas for live runs, Ray tasks for sweeps. Imported for ENGINE=ray alone.

What comes back is forwards and lines as plain records; steps, sessions and everything drawn are made in the page's process, the
only one that writes. That process keeps each model, too: for tokens, names of sites and whatever is looked into afterwards.
"""

import asyncio
import logging
import threading
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.batches import check_size
from core.borrowed import Borrowed
from core.decode.driver import Encoded
from core.engines.compared import Compared
from core.engines.options import Options
from core.engines.workers import registry
from core.errors import EngineError
from core.metrics.corpus import Corpus
from core.models import Models
from core.runs import Run
from core.settings import Settings
from core.sweeps.plan import Chunk, plan
from core.trace import Step
from core.translating import Line, Translating

if TYPE_CHECKING:
    from core.engines.swept import Swept

log = logging.getLogger("two-stacks")
ROOT = Path(__file__).resolve().parents[2]
NAME = "two-stacks"  # of the application on the cluster
PATIENCE = 60.0  # seconds without a message after which a run is given up
QUEUED = 256  # requests that wait for a replica; the next one is told so
BUSY = 8  # requests a replica: above this Ray adds one
FULL = "All replicas are busy, and too many runs wait already. Press Run again in a minute."
SILENT = f"No replica has answered for {PATIENCE:g} s. Press Run again in a minute."
GONE = "The machine that made this run is gone. Press Run again, and another one makes it."
FAILED = "This run failed on its machine for a reason we did not foresee; the host's log has it."
CORPUS_CHUNK = 4  # texts of a chunk of a corpus on the page: somebody watches


class Cluster:
    """Shared by all visitors. `open` connects; whatever needs the cluster opens it first. name: of its replicas there."""

    def __init__(self, options: Options, models: Models, name: str = NAME):
        self.options, self.models, self.name = options, models, name
        self._opening, self._handle = threading.Lock(), None
        self._loop = asyncio.new_event_loop()

    def open(self) -> str:
        """Connect, and start the replicas where they do not run yet; EngineError where there is no cluster."""
        with self._opening:
            if self._handle is None:
                self._handle = self._deployed()
        chosen = self.options
        return f"Ray, {chosen.least} to {chosen.most} replicas"

    def _deployed(self) -> Any:
        import ray
        from ray import serve

        chosen = self.options
        threads = {"OMP_NUM_THREADS": str(chosen.threads)}
        try:
            if not ray.is_initialized():
                ray.init(chosen.address, log_to_driver=False, logging_level=logging.WARNING,
                         runtime_env={"env_vars": {"PYTHONPATH": str(ROOT)}})
            from core.engines.replica import WAITING, Replica

            serve.start(proxy_location="Disabled")
            made = Replica.options(
                max_ongoing_requests=WAITING, max_queued_requests=QUEUED, health_check_period_s=5, graceful_shutdown_timeout_s=5,
                ray_actor_options={"num_cpus": chosen.cpus, "num_gpus": chosen.gpus, "runtime_env": {"env_vars": threads}},
                autoscaling_config={"min_replicas": chosen.least, "max_replicas": chosen.most, "target_ongoing_requests": BUSY,
                                    "upscale_delay_s": 3, "downscale_delay_s": chosen.quiet},
            ).bind(registry(self.models), chosen.threads)
            handle = serve.run(made, name=self.name, route_prefix=None).options(method_name="run", stream=True)
        except Exception as error:  # whatever it is, the page must say so
            log.exception("the Ray cluster cannot be used")
            raise EngineError(f"The Ray cluster at {chosen.address} cannot be used ({type(error).__name__}); start one with "
                              "make ray, or set RAY_ADDRESS.") from None
        threading.Thread(target=self._loop.run_forever, name="ray-messages", daemon=True).start()
        return handle

    def run(self, settings: Settings) -> Run:
        loaded = self.models.load(settings.model)
        return Borrowed(settings, loaded, self._one(settings))

    def compare(self, settings: Sequence[Settings]) -> Compared:
        runs = [Run(one, self.models.load(one.model)) for one in settings]
        check_size(runs)
        return Compared(runs, self._several(runs), elsewhere=True)

    def translate(self, settings: Sequence[Settings], corpus: Corpus) -> Translating:
        chunks = plan([settings], {"": corpus.sources}, CORPUS_CHUNK)
        where: dict[str, Any] = {}
        return Translating(settings, corpus, self.models, in_order(self.sweep(chunks), chunks, where), where)

    def sweep(self, chunks: Sequence[Chunk]) -> "Swept":
        from core.engines.swept import Swept

        self.open()
        return Swept(chunks, registry(self.models))

    def close(self) -> None:
        """Disconnect; the replicas stay for whoever connects next."""
        import ray

        with self._opening:
            if self._handle is not None:
                self._handle = None
                self._loop.call_soon_threadsafe(self._loop.stop)
                ray.shutdown()

    def _one(self, settings: Settings) -> Iterator[Any]:
        """What `Borrowed` reads."""
        messages = self._messages([settings])
        try:
            origin = _first(messages)
            yield origin.weights[0], origin.device, origin.dtype, origin.threads
            for forwards in messages:
                yield forwards[0]
        finally:
            messages.close()

    def _several(self, runs: Sequence[Run]) -> Iterator[dict[int, Step]]:
        messages = self._messages([going.settings for going in runs])
        try:
            origin = _first(messages)
            for going, weights in zip(runs, origin.weights, strict=True):
                going.read(Encoded(None, weights))
                going.device, going.dtype, going.threads = origin.device, origin.dtype, origin.threads
            for forwards in messages:
                yield {place: runs[place].took(forward) for place, forward in forwards.items()}
        finally:
            messages.close()

    def _messages(self, settings: Sequence[Settings]) -> Iterator[Any]:
        """The messages of one request (core/engines/replica.py) as they come; closing it cancels the request."""
        self.open()
        import ray
        from ray.serve.exceptions import BackPressureError, RayServeException

        from core.engines.replica import Failed

        response = self._handle.remote([one.to_json() for one in settings])
        try:
            while True:
                try:
                    message = self._wait(anext(response, None))
                except BackPressureError:
                    raise EngineError(FULL) from None
                except TimeoutError:
                    raise EngineError(SILENT) from None
                except ray.exceptions.RayTaskError:  # a fault of ours, not of a machine
                    log.exception("a replica failed")
                    raise EngineError(FAILED) from None
                except (ray.exceptions.RayError, RayServeException) as error:
                    log.warning("a replica is gone in the middle of a run: %s", type(error).__name__)
                    raise EngineError(GONE) from None
                if isinstance(message, Failed):
                    raise message.error
                if message is None:
                    return
                yield message
        finally:
            with suppress(Exception):  # it has ended already, or nobody is there who could be told
                response.cancel()

    def _wait(self, message: Any) -> Any:
        async def waited() -> Any:
            return await asyncio.wait_for(message, PATIENCE)

        return asyncio.run_coroutine_threadsafe(waited(), self._loop).result()


def _first(messages: Iterator[Any]) -> Any:
    """The Origin; whoever ends before it is gone."""
    if (origin := next(messages, None)) is None:
        raise EngineError(GONE)
    return origin


def in_order(sweep: "Swept", chunks: Sequence[Chunk], where: dict[str, Any]) -> Iterator[Line | None]:
    """The lines of a sweep over one corpus as they can be shown: chunks may be made in any order. where: gets device, dtype."""
    made: dict[int, Sequence[Line]] = {}
    shown = 0
    try:
        for found in sweep:
            if found is None:
                yield None
                continue
            made[found.number] = found.lines
            where |= {name: found.made[name] for name in ("device", "dtype")}
            while shown < len(chunks) and shown in made:
                yield from made.pop(shown)
                shown += 1
    finally:
        sweep.close()
