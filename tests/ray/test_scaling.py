"""Replicas between their least and most: one more while many people run something, and back to one when they are gone."""

import threading
from collections.abc import Iterator
from dataclasses import replace

import pytest

from core.settings import Decoding, Settings
from tests.ray.conftest import until

LONG = Settings(text="A dog runs on the beach.", decoding=Decoding(beams=2, min_new_tokens=40, max_new_tokens=40))
PEOPLE = 12  # more than one replica is to hold (core/engines/cluster.py, BUSY)
NAME = "scaling"


@pytest.fixture
def scaled(nodes) -> Iterator:
    """An engine with replicas of its own, half a core each, which it gives back soon."""
    import ray
    from ray import serve

    from core.engines import Options
    from core.engines.cluster import Cluster
    from core.models import Models

    if not ray.is_initialized():
        ray.init(nodes.address, log_to_driver=False)
    made = Cluster(Options("ray", nodes.address, 1, 2, cpus=0.5, quiet=3), Models(), NAME)
    made.open()
    yield made
    serve.delete(NAME)


def running() -> int:
    """Replicas that answer now."""
    from ray import serve

    return serve.status().applications[NAME].deployments["Replica"].replica_states.get("RUNNING", 0)


def test_a_replica_comes_when_many_run_something_and_goes_when_they_are_gone(cluster, scaled):
    done, written = threading.Event(), []

    def person(number: int) -> None:
        settings = replace(LONG, text=f"Dog number {number} runs on the beach.")
        while not done.is_set():
            written.append(sum(1 for _ in scaled.run(settings)))

    assert until(lambda: running() == 1)
    people = [threading.Thread(target=person, args=[number]) for number in range(PEOPLE)]
    for one in people:
        one.start()
    try:
        assert until(lambda: running() == 2, 120)
        before = len(written)
        assert until(lambda: len(written) >= before + PEOPLE, 120)  # and runs go on
    finally:
        done.set()
        for one in people:
            one.join(120)
    assert set(written) == {LONG.decoding.max_new_tokens}
    assert until(lambda: running() == 1, 180)
    assert sum(1 for _ in scaled.run(LONG)) == LONG.decoding.max_new_tokens
