"""Requests that once broke something or told too much, each with its sentence; the door in English and German."""

import json

import gradio as gr
import httpx
import pytest

from app.calls import DEEP, Refusal, call_of, holds_file, look_through
from app.door import from_browser, path_of, said
from app.guarded import fits
from app.words import LANGUAGES
from core.errors import InputError
from tests.attack import faults_of
from tests.visitors import Visitor, hosted

FILE = {"path": "/etc/passwd", "meta": {"_type": "gradio.FileData"}}


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    with hosted(tmp_path_factory.mktemp("sessions")) as page:
        page.number = {one["api_name"]: one["id"] for one in page.told["dependencies"]}
        yield page


def sent(page, path: str, body: object, **headers: str) -> httpx.Response:
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    return httpx.post(f"{page.address}/gradio_api{path}", content=raw, timeout=60,
                      headers={"content-type": "application/json"} | headers)


def call(page, name: str, **more: object) -> dict:
    return {"data": [], "fn_index": page.number[name], "session_hash": "me", "trigger_id": None} | more


@pytest.mark.parametrize(("path", "body", "words"), [
    ("/queue/join", b"{", "no JSON object"),
    ("/queue/join", b"[1]", "no JSON object"),
    ("/queue/join", b"\xff", "no JSON object"),
    ("/queue/join", b'{"data": [1' + b"0" * 6000 + b"]}", "no JSON object"),
    ("/queue/join", b"[" * 200_000, "no JSON object"),
    ("/call/score", {"data": ["\ud800", None, None, ""]}, "half a character (U+D800)"),
    ("/call/score", {"data": [2**64, None, None, ""]}, "more than 64 bits"),
    ("/call/score", b'{"data": [' + b"[" * 60 + b"]" * 60 + b"]}", f"more than {DEEP} levels"),
    ("/call/score", {"data": [1]}, "a list of 4 values"),
    ("/call/none", {"data": []}, "no such event or endpoint"),
    ("/call/v2/score", {"x": 1}, "This endpoint takes: outputs, references"),
    ("/cancel", {"event_id": 1}, "session_hash cannot have the value"),
    ("/reset", {}, "event_id cannot have the value"),
    ("/component_server", {}, "There is no such page here."),
    ("/vibe-edit/", {}, "There is no such page here."),
    ("/upload", b"", None),
])
def test_what_is_no_call_is_refused_with_a_sentence(page, path, body, words):
    answer = sent(page, path, body)
    told = answer.json()["detail"]
    assert 400 <= answer.status_code < 500 and not faults_of(told)
    assert words is None or words in told


@pytest.mark.parametrize(("more", "words"), [
    ({"event_data": FILE}, "event_data cannot"), ({"event_data": {"a": [FILE]}}, "event_data cannot"),
    ({"batched": True}, "batched cannot"), ({"simple_format": None}, "simple_format cannot"), ({"trigger_id": "1"}, "trigger_id"),
    ({"session_hash": "../x"}, "1 to 64 letters"), ({"session_hash": None}, "1 to 64 letters"),
    ({"fn_index": "1"}, "no such event"), ({"fn_index": 10**6}, "no such event"), ({"fn_index": True}, "no such event"),
    ({"data": {"a": 1}}, "a list of 0 values"),
])
def test_a_field_of_a_call_that_is_wrong_is_named(page, more, words):
    answer = sent(page, "/queue/join", call(page, "halt_1") | more)
    assert answer.status_code in (404, 422) and words in answer.json()["detail"]


def test_a_value_that_fits_no_component_names_it_and_what_it_takes(page):
    visitor = Visitor(page.address, page.told)
    for name, value, words in (("max_new_tokens", 999, "it takes a number from 1 to 128"),
                               ("max_new_tokens", "x", "a number from"), ("repetition_penalty", float("nan"), "a number from"),
                               ("task", FILE, "it takes no file"), ("task", ["a"], "one of")):
        data = list((visitor.inputs | {visitor.named[name]: value}).values())
        assert sent(page, "/queue/join", {"data": data, "fn_index": visitor.event["id"], "session_hash": visitor.name}).is_success
        *_, last = (message for message in visitor.messages() if message["msg"] == "process_completed")
        assert not last["success"] and words in last["output"]["error"] and not faults_of(last["output"]["error"])
    visitor.leave()


def test_a_stream_that_nobody_has_is_told_as_gradio_s_page_knows_it(page):
    lines = httpx.get(f"{page.address}/gradio_api/queue/data?session_hash=nobody", headers={"accept-language": "de"}).text
    assert json.loads(lines.removeprefix("data: "))["session_not_found"] and "Bitte neu laden" in lines
    answer = httpx.get(f"{page.address}/gradio_api/call/trace/none")
    assert answer.status_code == 404 and "no such answer" in answer.json()["detail"]


def test_an_upload_that_never_came_is_asked_for(page):
    found = sent(page, "/run/predict", call(page, "upload", data=[None]))
    assert found.status_code == 200 and "No file came; choose one." in found.text and "foresee" not in found.text


def test_the_door_speaks_the_language_that_is_asked_for_first():
    scope = {"headers": [(b"accept-language", b"de-AT,de;q=0.9,en;q=0.8"), (b"sec-fetch-site", b"same-origin")]}
    assert said(scope, "door.number") == LANGUAGES["de"]["door.number"] != LANGUAGES["en"]["door.number"] and from_browser(scope)
    for asked in (b"", b"xx", b"en;q=0.1", b"\xff\xfe"):
        assert said({"headers": [(b"accept-language", asked)]}, "door.number") == LANGUAGES["en"]["door.number"]
    own = [text for words in LANGUAGES.values() for key, text in words.items() if key.startswith("door.")]
    assert [text for text in own if faults_of(text)] == [LANGUAGES["en"]["door.unforeseen"]]  # which no request may bring about


def test_a_path_behind_a_proxy_is_the_same_path():
    assert path_of({"path": "/stacks/config", "root_path": "/stacks"}) == path_of({"path": "/config", "root_path": "/stacks"})
    assert path_of({"path": "/stacksx", "root_path": "/stacks"}) == "/stacksx"


def test_deep_and_strange_values_without_a_server():
    look_through({"a": [1, 2**63 - 1, "é", None, {"b": []}]})
    for value in ({"\udc00": 1}, [2**63], [-(2**63) - 1]):
        with pytest.raises(Refusal):
            look_through(value)
    assert call_of("/queue/join", b'{"a": 1}').route == "queue" and call_of("/call/v2/trace", b"{}").route == "v2"
    assert holds_file([{"x": FILE}]) and not holds_file([{"path": "/etc/passwd"}])


def test_only_an_upload_button_takes_a_file_and_only_one_that_was_uploaded():
    with gr.Blocks():
        button, text = gr.UploadButton(), gr.Textbox(label="Text")
    fits(button, {"path": "/tmp/gradio/x.csv"})
    for bad in ({"path": "http://127.0.0.1/x"}, {"path": "a\0b"}, {"path": 7}, "x", {"path": "/x", "is_stream": True}):
        with pytest.raises(InputError, match="a file that was uploaded here"):
            fits(button, bad)
    with pytest.raises(InputError, match="Text was sent .* it takes no file"):
        fits(text, FILE)
