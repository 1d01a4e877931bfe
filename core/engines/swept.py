"""A sweep on a Ray cluster: each chunk is a Ray task, made anew elsewhere where its worker dies; a few a core are handed in."""

import logging
from collections.abc import Iterator, Sequence

import ray

from core.engines.workers import Registry, registry_of
from core.errors import EngineError, TwoStacksError
from core.sweeps.plan import Chunk, Made

log = logging.getLogger("two-stacks")
LOOK = 0.2  # seconds between two looks at the workers
RETRIES = 5  # times that a chunk is begun anew after its worker died
AHEAD = 4  # chunks handed in for each core: enough that none waits, few enough to be taken back


class Swept(Iterator[Made | None]):
    """Each `next` is a chunk in the order they end, or None after LOOK seconds. Closing it ends the chunks under way.

    most: chunks handed in at once.
    """

    elsewhere = True

    def __init__(self, chunks: Sequence[Chunk], registry: Registry):
        self._left, self._registry = list(reversed(chunks)), registry
        self._going: dict[ray.ObjectRef, Chunk] = {}
        self.most = max(2, AHEAD * int(ray.cluster_resources().get("CPU", 1)))

    def __next__(self) -> Made | None:
        while self._left and len(self._going) < self.most:
            chunk = self._left.pop()
            self._going[_made.remote(chunk, self._registry)] = chunk
        if not self._going:
            raise StopIteration
        done, _ = ray.wait(list(self._going), num_returns=1, timeout=LOOK)
        if not done:
            return None
        chunk = self._going.pop(done[0])
        try:
            found = ray.get(done[0])
        except ray.exceptions.RayError as error:
            log.exception("chunk %d of a sweep was not made", chunk.number)
            self.close()
            raise EngineError(f"Chunk {chunk.number + 1} of this sweep was lost {RETRIES + 1} times ({type(error).__name__}); "
                              "what is made is kept.") from None
        if isinstance(found, TwoStacksError):
            self.close()
            raise found
        return found

    def close(self) -> None:
        """Take back what is not made yet."""
        self._left.clear()
        for reference in self._going:
            ray.cancel(reference, force=True)
        self._going.clear()


@ray.remote(num_cpus=1, max_retries=RETRIES)
def _made(chunk: Chunk, registry: Registry) -> Made | TwoStacksError:
    """One chunk, in a worker that keeps its models for the next one."""
    import torch

    torch.set_num_threads(1)
    try:
        *_, made = chunk.make(registry_of(registry))
    except TwoStacksError as error:
        return error
    return made
