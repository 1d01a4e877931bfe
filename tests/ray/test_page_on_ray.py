"""The page with ENGINE=ray, in a process of its own on a real cluster: it and its API answer as ever."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator

import httpx
import pytest
from gradio_client import Client

from core.runs import record
from core.settings import Decoding, Settings
from tests.ray.conftest import until
from tests.visitors import Visitor, free_port


@pytest.fixture(scope="module")
def address(nodes, cluster, tmp_path_factory) -> Iterator[str]:
    folder, port = tmp_path_factory.mktemp("page"), free_port()
    variables = {"ENGINE": "ray", "RAY_ADDRESS": nodes.address, "SESSIONS_DIR": str(folder), "REPLICAS": "1-2"}
    with (folder / "log").open("w") as log:
        process = subprocess.Popen([sys.executable, "-m", "app", "--port", str(port)], env=os.environ | variables, stdout=log,
                                   stderr=subprocess.STDOUT)
    found = f"http://127.0.0.1:{port}"

    def ready() -> bool:
        try:
            return httpx.get(f"{found}/healthz", timeout=10).json()["ready"] and "Ray" in status(found)
        except httpx.HTTPError:
            return False

    try:
        assert until(ready, 240), (folder / "log").read_text()[-2000:]
        yield found
    finally:
        process.terminate()
        process.wait(30)


def status(address: str) -> str:
    return httpx.get(f"{address}/healthz", timeout=10).json()["model"]


def test_the_host_sees_what_it_runs_on_and_a_person_sees_their_run(address, cluster):
    assert status(address) == "pocket-t5: ready on Ray, 1 to 2 replicas, float32"
    config = httpx.get(f"{address}/config", timeout=30).json()
    visitor = Visitor(address, config)
    text = f"A man plays the guitar {time.time_ns() % 10}."
    visitor.press(text)
    last = [message for message in visitor.messages() if message["msg"] == "process_completed"][-1]
    found, here = last["output"]["data"], record(Settings(text=text), cluster.models)
    assert here.text in str(found) and here.id in str(found)


def test_the_api_gives_what_it_gives_without_a_cluster(address, cluster):
    client = Client(address, verbose=False)
    text = "Two dogs run over a green field."
    found, here = client.predict(text, api_name="/trace"), record(Settings(text=text), cluster.models)
    assert (found["id"], found["digest"], found["text"]) == (here.id, here.digest, here.text)  # every array, to the bit
    searched = client.predict(text, beams=3, api_name="/search")
    beams = record(Settings(text=text, decoding=Decoding(beams=3)), cluster.models)
    assert searched["id"] == beams.id and searched["hypotheses"][0]["text"] == beams.text
