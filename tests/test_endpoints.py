"""The public endpoints over real HTTP: examples of API.md, the same as the core gives, what is refused; and as MCP tools."""

import asyncio
import importlib.util
import json

import gradio as gr
import httpx
import pytest
from gradio_client import Client
from gradio_client.exceptions import AppError

from app.endpoints import NAMES, Endpoints
from core import Decoding, Settings, record
from core.metrics import scores
from core.noise import NOISES, corrupt, units_for
from core.sessions.store import owner_of
from tests.test_docs import examples
from tests.visitors import hosted

TEXT = "A dog runs on the beach."
ANN = owner_of("ann")
MCP = importlib.util.find_spec("mcp") is not None


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    with hosted(tmp_path_factory.mktemp("sessions"), mcp=MCP, allow_hub=False) as page:
        yield page


@pytest.fixture(scope="module")
def client(page):
    return Client(page.address, verbose=False)


def test_the_examples_of_the_documentation_run(page, capsys):
    (code,) = examples("python client")
    exec(compile(code, "API.md", "exec"), {"ADDRESS": page.address})
    assert len(capsys.readouterr().out.splitlines()) == 4


def test_they_are_public_and_described_and_nothing_else_is(page):
    info = httpx.get(f"{page.address}/gradio_api/info").json()
    assert set(info["named_endpoints"]) == {f"/{name}" for name in NAMES} and not info["unnamed_endpoints"]
    for endpoint in info["named_endpoints"].values():
        assert len(endpoint["description"]) > 40
        assert all(parameter["type"] for parameter in endpoint["parameters"])


def test_health_is_served(page):
    found = httpx.get(f"{page.address}/healthz")
    assert found.status_code == 200 and found.json()["ready"] and set(found.json()) == {"up", "ready", "model", "queue"}


def test_trace_is_the_run_of_the_core(client):
    whole = record(Settings(text=TEXT, decoding=Decoding(max_new_tokens=5)))
    found = client.predict(TEXT, settings={"decoding": {"max_new_tokens": 5}}, weights="all", api_name="/trace")
    assert (found["id"], found["digest"], found["complete"]) == (whole.id, whole.digest, True)
    assert [token["text"] for token in found["target"]] == [token.text for token in whole.target]
    assert abs(found["logprob"] - sum(place.logprob for place in whole.line())) < 1e-5 and found["unit"] == "nats"
    assert abs(found["weights"]["values"][1][2][3][4] - whole.path()[1, 2, 3, 4]) < 1e-6
    assert "weights" in found and not client.predict(TEXT, api_name="/trace")["weights"]


def test_search_ranks_as_the_core_does(client):
    tree = record(Settings(text=TEXT, decoding=Decoding(beams=3, length_penalty=0.5))).tree
    found = client.predict(TEXT, beams=3, length_penalty=0.5, api_name="/search")
    assert [round(each["score"], 4) for each in found["hypotheses"]] == [round(float(tree.score[n]), 4) for n in tree.ranking]
    assert len(found["nodes"]) == len(tree.real) and found["hypotheses"][0]["text"] == found["text"]
    assert all(node["parent"] < at and (node["fate"] in ("kept", "finished") or node["why"])
               for at, node in enumerate(found["nodes"]))


def test_corrupt_is_the_noise_of_the_core(page, client):
    made = corrupt(units_for(page.engine.models.load("pocket-t5"), TEXT), NOISES["spans"].usual(rate=0.5, seed=3))
    found = client.predict(TEXT, seed=3, settings={"rate": 0.5}, api_name="/corrupt")
    assert found["id"] == made.id and [t["text"] for t in found["input"]] == [t.text for t in made.corrupted]


def test_score_is_the_score_of_the_core(client):
    (score,) = scores(["A dog runs."], ["A dog is running."], names=["chrF2"])
    found = client.predict(["A dog runs."], references=[["A dog is running."]], metrics=["chrF2"], api_name="/score")
    assert found["scores"][0]["signature"] == score.signature and abs(found["scores"][0]["value"] - score.value) < 1e-3


def test_only_what_is_shared_of_sessions_is_read(page, client):
    store, whole = page.engine.keeper.store, record(Settings(text=TEXT))
    session = store.create(ANN, "Lecture 3")
    row = store.keep(session.id, whole)
    with pytest.raises(AppError, match="not shared"):
        client.predict(session.id, api_name="/session")
    store.share(session.id, ANN, {})
    found = client.predict(session.id, api_name="/session")
    assert found["name"] == "Lecture 3" and [run["row"] for run in found["runs"]] == [row]
    assert client.predict(session.id, row=row, api_name="/session")["digest"] == whole.digest


REFUSED = [
    ("/trace", dict(text=""), "The text is empty"),
    ("/trace", dict(text="x" * 5000), "5,000 characters; at most 4,000"),
    ("/trace", dict(text=7), "text must be str, not int"),
    ("/trace", dict(text=TEXT, model="../assets"), "There is no model"),
    ("/trace", dict(text=TEXT, model="owner/name"), "does not load models from the hub"),
    ("/trace", dict(text=TEXT, settings=[1]), "settings must be an object, not list"),
    ("/trace", dict(text=TEXT, settings={"beams": 2}), "There is no setting 'beams'"),
    ("/trace", dict(text=TEXT, settings={"x": "y" * 30_000}), "at most 20,000 are read"),
    ("/trace", dict(text=TEXT, settings={"decoding": {"beams": 10**9}}), "must be between 1 and 8"),
    ("/trace", dict(text=TEXT, weights={}), "weights is {}; it must be one of: none, mean, all"),
    ("/search", dict(text=TEXT, beams=1), "at least 2 beams"),
    ("/search", dict(text=TEXT, beams="4"), "beams must be int, not str"),
    ("/search", dict(text=TEXT, length_penalty=99), "must be between -5.0 and 5.0"),
    ("/corrupt", dict(text=TEXT, noise="loud"), "There is no noise 'loud'"),
    ("/corrupt", dict(text=TEXT, seed=-1), "seed is -1"),
    ("/corrupt", dict(text=" "), "The text is empty"),
    ("/score", dict(outputs="A dog."), "outputs must be a list, not str"),
    ("/score", dict(outputs=["a"] * 201), "outputs has 201 items; at most 200"),
    ("/score", dict(outputs=["a"], references=[["b"], ["c"]]), "1 outputs and 2 lists of references"),
    ("/score", dict(outputs=["a", None]), "Item 2 of outputs is a NoneType"),
    ("/score", dict(outputs=["a"], metrics=["COMET"]), "There is no score 'COMET'"),
    ("/score", dict(outputs=[]), "nothing to score"),
    ("/session", dict(id="../secret"), "There is no such session here"),
    ("/session", dict(id=None), "There is no such session here"),
]


@pytest.mark.parametrize(("name", "given", "said"), REFUSED)
def test_what_cannot_be_used_is_refused_in_a_sentence(client, name, given, said):
    with pytest.raises(AppError) as raised:
        client.predict(**given, api_name=name)
    assert said in str(raised.value) and "Traceback" not in str(raised.value)


def test_an_unforeseen_error_is_logged_and_not_told(page, client, monkeypatch, caplog):
    def broken(*args):
        raise RuntimeError("secret detail")

    monkeypatch.setattr(Endpoints, "score", broken)
    with pytest.raises(AppError) as raised:
        client.predict(["a"], api_name="/score")
    assert "secret" not in str(raised.value) and "secret detail" in caplog.text


def test_all_weights_of_a_long_run_are_too_many(client, monkeypatch):
    monkeypatch.setattr("app.endpoint_packs.MOST_NUMBERS", 100)
    with pytest.raises(AppError, match="at most 100 are sent. Ask for the mean"):
        client.predict(TEXT, weights="all", api_name="/trace")


def test_a_run_that_takes_too_long_says_that_it_is_not_whole(client, monkeypatch):
    monkeypatch.setattr("app.endpoints.SECONDS", 0.02)
    found = client.predict("A <img src=x onerror=alert(1)> cat.", api_name="/trace")
    assert not found["complete"] and 0 < len(found["target"]) < 128


def test_endpoints_wait_in_the_line_of_the_model(page):
    shared = {fn.api_name: fn.concurrency_id for fn in page.fns.values() if fn.api_name in NAMES}
    assert shared == {"trace": "model", "search": "model", "corrupt": "model", "session": "model", "score": "scores"}
    assert not any(isinstance(block, gr.State) for fn in page.fns.values() if fn.api_name in NAMES for block in fn.inputs)


@pytest.mark.skipif(not MCP, reason='no package mcp here: pip install "gradio[mcp]"')
def test_the_same_five_are_tools_for_mcp_clients(page):
    from mcp import ClientSession
    from mcp.client.streamable_http import streamablehttp_client

    async def talk() -> tuple:
        async with streamablehttp_client(f"{page.address}/gradio_api/mcp/") as (receive, send, _):
            async with ClientSession(receive, send) as session:
                await session.initialize()
                tools = (await session.list_tools()).tools
                return tools, await session.call_tool("trace", {"text": TEXT}), await session.call_tool("trace", {"text": ""})

    tools, answer, refused = asyncio.run(talk())
    assert {tool.name for tool in tools} == set(NAMES)
    assert all("description" in part for tool in tools for part in tool.inputSchema["properties"].values())
    assert record(Settings(text=TEXT)).text in json.dumps(answer.content[0].text, ensure_ascii=False) and not answer.isError
    assert refused.isError and refused.content[0].text == "The text is empty. Type at least one word."
