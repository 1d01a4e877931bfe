"""A real Ray cluster on this machine: a head that runs nothing of ours, and two workers. Skipped where Ray is not installed."""

import os
import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

HERE = Path(__file__).parent
RAY = find_spec("ray") is not None
os.environ["RAY_USAGE_STATS_ENABLED"] = "0"  # before anything imports it
ABSENT = "Ray is not installed here: make ray-test installs it beside .venv and runs these"
NODE = dict(object_store_memory=100 * 2**20)  # bytes of shared memory


def pytest_collection_modifyitems(items):
    for item in items:
        if HERE in item.path.parents and not RAY:
            item.add_marker(pytest.mark.skip(reason=ABSENT))


@pytest.fixture(scope="session")
def nodes() -> Iterator:
    """The cluster: `address`; two workers of two cores each."""
    from ray.cluster_utils import Cluster

    made = Cluster(initialize_head=True, head_node_args=dict(num_cpus=0, include_dashboard=False, **NODE))
    for _ in range(2):
        made.add_node(num_cpus=2, **NODE)
    yield made
    made.shutdown()


@pytest.fixture(scope="session")
def cluster(nodes) -> Iterator:
    """The engine on it, with one replica that may become two."""
    import torch

    from core.engines import Options, engine_of
    from core.models import Models

    torch.set_num_threads(1)  # as a replica has
    made = engine_of(Options("ray", nodes.address, 1, 2), Models())
    made.open()
    yield made
    made.close()


@pytest.fixture(scope="session")
def facts(cluster) -> Callable[[], dict]:
    """What a replica says of itself."""
    from ray import serve

    handle = serve.get_app_handle("two-stacks")
    return lambda: handle.facts.remote().result(timeout_s=60)


def until(true: Callable[[], bool], seconds: float = 60) -> bool:
    """Whether it becomes true in time."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if true():
            return True
        time.sleep(0.1)
    return False
