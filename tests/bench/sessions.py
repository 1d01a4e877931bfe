"""A run that is kept in a session while it is made, against the same run that is not: A B A B, one model."""

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from core.models import Models
from core.runs import run
from core.sessions import Store
from core.sessions.store import owner_of
from core.settings import Settings
from tests.bench import ratios

TEXT = "A group of people stands in front of a large building while two dogs run over the green grass behind them."


def lines(repeats: int, quick: bool = False) -> Iterator[str]:
    """Wall and process time of kept / plain. At most 1.02 is what is promised of the wall."""
    pairs = 1 if quick else 8 * repeats
    with tempfile.TemporaryDirectory() as folder:
        wall, cpu, steps = measure(Store(Path(folder)), pairs)
    yield f"a run of {steps} steps that is written to SQLite, a row a step / the same run not written, {pairs} pairs:"
    yield f"  wall {ratios(*wall)}   process time, writer's thread included {ratios(*cpu)}   (wanted: at most 1.02)"


def measure(store: Store, pairs: int) -> tuple[tuple[list, list], tuple[list, list], int]:
    """Seconds of (kept, plain) runs by the wall and by the process's clock, and steps of one run. Nothing waits for the disk
    inside the clock, as nothing does in the page; the rows of a run are all there before the next begins."""
    models, settings = Models(), Settings(TEXT)
    session = store.create(owner_of("bench")).id
    wall, cpu = ([], []), ([], [])
    list(run(settings, models))
    for _ in range(pairs):
        for side in (0, 1):
            going = run(settings, models)
            if side == 0:
                going = store.watch(going, session)
            began = time.perf_counter(), time.process_time()
            steps = sum(1 for _ in going)
            wall[side].append(time.perf_counter() - began[0])
            store.writer.flush()
            cpu[side].append(time.process_time() - began[1])
    return wall, cpu, steps
