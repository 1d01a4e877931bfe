"""python -m tests.bench.cluster: a Ray cluster on this machine against this process, as ratios within one run (make ray-bench).

All on the cores of this machine: what two machines would gain shows only where there are cores for both. Every process has one
thread of torch.
"""

import os

os.environ.setdefault("HF_HUB_OFFLINE", "1")  # before anything imports transformers or Ray
os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")

import argparse  # noqa: E402
import signal  # noqa: E402
import threading  # noqa: E402
import time  # noqa: E402
from collections.abc import Callable, Iterator  # noqa: E402
from dataclasses import replace  # noqa: E402
from typing import Any  # noqa: E402

import ray  # noqa: E402
import torch  # noqa: E402
from ray import serve  # noqa: E402
from ray.cluster_utils import Cluster  # noqa: E402

from app.turns import Turn  # noqa: E402
from core.engines import Engine, Options, engine_of  # noqa: E402
from core.engines.cluster import Cluster as OnRay  # noqa: E402
from core.engines.local import Local  # noqa: E402
from core.errors import EngineError  # noqa: E402
from core.models import Models  # noqa: E402
from core.settings import Decoding, Settings  # noqa: E402
from core.sweeps.plan import plan  # noqa: E402
from tests.bench import machine, ratios  # noqa: E402

NODE = dict(object_store_memory=100 * 2**20)  # bytes of shared memory
PEOPLE = 20
SHORT = Settings(text="A dog runs on the beach.")
WHO, DOES = ("A dog", "Two men", "The child", "A woman in red", "Some people"), ("run", "play", "sit", "wait")
TEXTS = [f"{who} {does} in the park near {what} trees." for who in WHO for does in DOES for what in ("two", "three", "old", "no")]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.cluster", description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=5, help="pairs a line")
    args = parser.parse_args()
    torch.set_num_threads(1)
    print(machine(), flush=True)
    nodes = Cluster(initialize_head=True, head_node_args=dict(num_cpus=0, include_dashboard=False, **NODE))
    try:
        for line in lines(nodes, args.repeats):
            print(line, flush=True)
    finally:
        ray.shutdown()
        nodes.shutdown()


def lines(nodes: Cluster, repeats: int) -> Iterator[str]:
    models = Models()
    local = Local(models)
    nodes.add_node(num_cpus=2, **NODE)
    one = engine_of(Options("ray", nodes.address, 1, 1), models)
    one.open()
    timed(lambda: written(one, SHORT)), timed(lambda: written(local, SHORT))  # both are warm
    yield "one short run, Ray / this process: {}; here {:.0f} ms, there {:.0f} ms".format(*pairs(
        lambda: written(one, SHORT), lambda: written(local, SHORT), 4 * repeats))
    longer = replace(SHORT, decoding=Decoding(beams=4, min_new_tokens=60, max_new_tokens=60))
    yield "one run of 60 steps and 4 beams, Ray / this process: {}; here {:.0f} ms, there {:.0f} ms".format(*pairs(
        lambda: written(one, longer), lambda: written(local, longer), repeats))

    chunks = plan([[Settings()]], {"": TEXTS}, 10)
    swept(one, chunks[:2])  # the worker has its model
    yield f"a sweep of {len(TEXTS)} texts, one worker / this process: " + "{}; here {:.0f} ms, there {:.0f} ms".format(*pairs(
        lambda: swept(one, chunks), lambda: swept(local, chunks), repeats))
    yield f"{PEOPLE} people at once, one replica / this process (seconds until all have their run): " + (
        "{}; here {:.0f} ms, there {:.0f} ms".format(*pairs(lambda: crowd(one), lambda: crowd(local), repeats)))
    facts = serve.get_app_handle("two-stacks").facts.remote().result()
    yield f"people a batch there, of the last ones: {facts['batches'][-12:]}"
    yield from doubled(nodes, models, chunks, repeats)


def doubled(nodes: Cluster, models: Models, chunks: list, repeats: int) -> Iterator[str]:
    """Two replicas and two workers against one, by turns: both sets of replicas are there, and one rests."""
    nodes.add_node(num_cpus=3, **NODE)
    nodes.add_node(num_cpus=3, **NODE)
    one, two = (OnRay(Options("ray", nodes.address, count, count), models, f"bench-{count}") for count in (1, 2))
    for engine in (one, two):
        engine.open()
        crowd(engine), swept(engine, chunks)
    yield f"{PEOPLE} people, two replicas / one: " + "{}; one {:.0f} ms, two {:.0f} ms".format(*pairs(
        lambda: crowd(two), lambda: crowd(one), repeats))
    yield "the sweep, two workers / one: {}; one {:.0f} ms, two {:.0f} ms".format(*pairs(
        lambda: swept(two, chunks, 2), lambda: swept(one, chunks, 1), repeats))
    yield recovery(two)


def recovery(engine: OnRay) -> str:
    """Both replicas killed: how long until a run is answered again."""
    handle, killed = serve.get_app_handle(engine.name), set()
    while len(killed) < 2:
        process = handle.facts.remote().result()["process"]
        if process not in killed:
            killed.add(process)
    for process in killed:
        os.kill(process, signal.SIGKILL)
    began = time.monotonic()
    while True:
        try:
            written(engine, SHORT)
            return f"all replicas killed; a run is answered again after {time.monotonic() - began:.0f} s"
        except EngineError:
            time.sleep(0.2)


def written(engine: Engine, settings: Settings) -> int:
    """A run to its end: its steps."""
    return len(list(engine.run(settings)))


def swept(engine: Engine, chunks: list, workers: int | None = None) -> int:
    """A sweep to its end: its chunks. workers: how many chunks are under way at once, where not as many as there is room for."""
    going = engine.sweep(chunks)
    if workers:
        going.most = workers
    return sum(made is not None for made in going)


def crowd(engine: Engine) -> None:
    """PEOPLE runs of as many texts at once, as the page makes them: in turns of one step where they are made here."""
    turn, gate = Turn(), threading.Barrier(PEOPLE)

    def one(text: str) -> None:
        going = engine.run(replace(SHORT, text=text, decoding=Decoding(beams=4)))
        gate.wait()
        while True:
            if going.elsewhere:
                step = next(going, None)
            else:
                with turn:
                    step = next(going, None)
            if step is None:
                return

    people = [threading.Thread(target=one, args=(text,)) for text in TEXTS[::4][:PEOPLE]]
    for person in people:
        person.start()
    for person in people:
        person.join()


def timed(what: Callable[[], Any]) -> float:
    began = time.monotonic()
    what()
    return time.monotonic() - began


def pairs(there: Callable[[], Any], here: Callable[[], Any], repeats: int) -> tuple:
    """(there / here pair by pair, the middle of here and of there in ms)."""
    both = [(timed(there), timed(here)) for _ in range(repeats)]
    ours, theirs = zip(*both)
    middle = [sorted(values)[len(values) // 2] for values in (theirs, ours)]
    return ratios(ours, theirs), *(1000 * value for value in middle)


if __name__ == "__main__":
    main()
