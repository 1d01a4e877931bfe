"""The page without a browser: what its handler answers, what a host may choose, what the saved runs are."""

import inspect
import re
import threading
import time

import gradio as gr
import numpy as np
import pytest

from app.config import AppConfig, read_config
from app.endpoints import NAMES
from app.engine import Engine, _streamed
from app.page import _answer, _explain, _spelling, build, chosen_example
from app.turns import RUNS, Latest, Turn
from app.views import decoding, masks
from app.widgets.line import line
from core import Settings, run
from core.errors import InputError
from core.examples import EXAMPLES, OWN, SUMMARIES, gloss, saved, source_for
from core.models import Models
from core.records import browser_trace


class Values:
    """Stands in for the page's controls: `settings` is all that the handler asks of them."""

    def settings(self, values):
        return Settings(**values)


@pytest.fixture(scope="module")
def engine() -> Engine:
    engine = Engine(Models())
    engine.load_in_background()
    engine.models.load("pocket-t5")
    return engine


def answers(engine: Engine, **values) -> list[tuple]:
    return list(_answer(engine, Values(), values))


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"text": ""}, "empty"),
        ({"text": " \n\t "}, "empty"),
        ({"text": "x" * 100_000}, "100,000 characters; at most 4,000"),
        ({"text": "a\0b"}, "NUL"),
        ({"text": "\u200b\u2060"}, "empty"),
        ({"text": "a dog \ud83d"}, "half a character"),
        ({"text": "<extra_id_0> <extra_id_1>"}, "nothing but special tokens"),
        ({"text": "A dog.", "model": "../assets"}, "There is no model"),
        ({"text": "A dog.", "model": "owner/name"}, "does not load models from the hub"),
        ({"text": "A dog.", "task": "summon"}, "no task 'summon'; its tasks: en-de, en-fr, fill, summary"),
        ({"text": "A dog.", "target_language": "xx_XX"}, "no language 'xx_XX'"),
        ({"text": 7}, "must be str, not int"),
    ],
)
def test_bad_input_is_answered_with_a_sentence_and_the_picture_stays(engine, values, said):
    (picture, notice), = answers(engine, **values)
    assert said in notice and "Traceback" not in notice and len(notice) < 400
    assert picture == gr.skip()


def test_an_unforeseen_error_is_logged_and_not_shown(engine, monkeypatch, caplog):
    def broken(settings, visitor):
        raise RuntimeError("secret detail")
        yield

    monkeypatch.setattr(engine, "messages", broken)
    (_, notice), = answers(engine, text="A dog.")
    assert "secret" not in notice and "kept" in notice
    assert "secret detail" in caplog.text


@pytest.mark.parametrize("text", ["Ein 😀 Hund", "مرحبا بالعالم", "日本語", "a" * 3000, "<img src=x onerror=1> </s> dog"])
def test_odd_text_still_gives_a_trace(engine, text):
    last, notice = answers(engine, text=text)[-1]
    assert last["kind"] == "trace" and len(last["source"]) <= 512
    assert any("cut" in note for note in last["notes"]) == (len(text) > 2000) and notice == ""


def test_a_long_run_streams_rows_and_ends_with_the_whole_trace(engine, monkeypatch):
    monkeypatch.setattr("app.engine.PATIENCE", 0)
    monkeypatch.setattr("app.engine.INTERVAL", 0)
    going = run(Settings(text="Two cats sleep on a red sofa."), engine.models)
    start, *rows, last = _streamed(going, lambda going: next(going, None), lambda: True)
    assert start["kind"] == "start" and all(start[name] == last[name] for name in ("source", "shapes", "enc", "first"))
    streamed = []
    for message in rows:
        assert message["kind"] == "rows" and message["run"] == last["run"] and message["from"] == len(streamed)
        streamed += message["rows"]
    assert streamed == last["rows"][: len(streamed)] and len(streamed) >= len(last["rows"]) - 1
    assert last == browser_trace(going.trace())


def test_dropping_a_stream_stops_the_model(engine, monkeypatch):
    monkeypatch.setattr("app.engine.PATIENCE", 0)
    monkeypatch.setattr("app.engine.INTERVAL", 0)
    forwards = []
    hook = engine.models.load("pocket-t5").model.decoder.register_forward_hook(lambda *a: forwards.append(1))
    try:
        stream = engine.messages(Settings(text="Three people are walking slowly through a park."))
        next(stream), next(stream)
        stream.close()
        done = len(forwards)
        assert 0 < done <= 3
        assert list(stream) == [] and len(forwards) == done
    finally:
        hook.remove()


@pytest.fixture
def streaming(monkeypatch):
    monkeypatch.setattr("app.engine.PATIENCE", 0)
    monkeypatch.setattr("app.engine.INTERVAL", 0)


LONG = Settings(text="Three people are walking slowly through a park.")


def test_a_newer_run_of_the_same_visitor_replaces_the_older(engine, streaming):
    older, other = engine.messages(LONG, "ann"), engine.messages(LONG, "bob")
    next(older), next(other)
    newer = list(engine.messages(Settings(text="A cat sleeps."), "ann"))
    assert newer[-1]["kind"] == "trace" and newer[-1]["notes"] == []
    assert list(older) == []
    assert list(other)[-1]["done"]  # another visitor's run goes on


def test_stop_ends_a_run_with_what_is_there(engine, streaming):
    asked = Settings(text="Several children in blue shirts are playing football on the grass.")
    going = engine.messages(asked, "ann")
    next(going), next(going)
    engine.latest.stop("ann")
    (last,) = going
    assert last["kind"] == "trace" and last["done"] and 2 <= len(last["rows"]) < 12
    assert last["notes"] == [f"Stopped after {len(last['rows'])} tokens."]
    again = list(engine.messages(asked, "ann"))[-1]  # the same id, but a stopped run answers nobody
    assert again["run"] == last["run"] and len(again["rows"]) > len(last["rows"])
    with engine.turn:  # and the whole one needs no model any more
        assert list(engine.messages(asked, "bob")) == [again]


def test_what_is_asked_of_a_run_that_is_gone_is_a_sentence(engine):
    for asked in (None, {}, {"run": 7}, {"run": "x" * 5000}, [1]):
        picture, notice = _explain(engine, asked)
        assert picture == gr.skip() and "Press Run again" in notice


def test_bad_input_and_saved_runs_do_not_wait_for_the_model(engine):
    with engine.turn:  # somebody's step is being computed
        (_, notice), = answers(engine, text=" ")
        assert "empty" in notice
        (last, _), = answers(engine, text=EXAMPLES[1].text)
        assert last["kind"] == "trace"


def test_turns_come_in_the_order_they_were_asked_for():
    turn, order, threads = Turn(), [], []

    def work(name):
        with turn:
            order.append(name)

    with turn:
        for name in range(20):
            threads.append(threading.Thread(target=work, args=(name,)))
            threads[-1].start()
            while len(turn._waiting) <= name:
                time.sleep(0.001)
    for thread in threads:
        thread.join(10)
    assert order == list(range(20))
    with turn:
        pass


def test_only_so_many_visitors_are_remembered(monkeypatch):
    monkeypatch.setattr("app.turns.SESSIONS", 2)
    latest = Latest()
    tickets = {name: latest.begin(name) for name in "abc"}
    assert not latest.wants("a", tickets["a"]) and latest.wants("c", tickets["c"]) and latest.stopped("a")


def test_saved_runs_belong_to_the_shipped_weights_and_come_out_the_same_again(engine):
    traces = saved()
    assert [t.settings.text for t in traces] == [e.text for e in EXAMPLES]
    loaded = engine.models.load("pocket-t5")
    for trace in traces:
        assert trace.fingerprint == loaded.fingerprint
    going = run(traces[0].settings, engine.models)
    list(going)
    again = going.trace()
    assert again.id == traces[0].id and again.text == traces[0].text
    assert abs(again.path() - traces[0].path()).max() < 1e-4


def test_the_hub_is_open_on_localhost_only_unless_the_host_says_so():
    assert read_config([], {}).allow_hub
    assert not read_config(["--host", "0.0.0.0"], {}).allow_hub
    assert read_config(["--host", "0.0.0.0"], {"ALLOW_HUB": "1"}).allow_hub
    assert not read_config([], {"ALLOW_HUB": "0"}).allow_hub
    assert read_config(["--port", "9"], {"PORT": "8"}).port == 9 and read_config([], {"PORT": "8"}).port == 8


# Handlers that ask no model, so they wait for nobody; "look" is also the name of some that do
WITHOUT_MODEL = {
    "", "<lambda>", "count", "redraw", "offered", "live", "pick", "everything", "arrive", "leave", "look", "act", "go", "halt",
    "load_in_background", "two", "turn", "end", "present", "upload", "own", "came", "quit", "moved", "watched", "unkept",
    "score", "move", "sheet",
}
MINUTES = {"translate"}  # asks a model for minutes, a step at a time, in a line of its own


def _handler(function) -> str:
    return getattr(function.fn, "__name__", "")


def test_every_event_but_the_endpoints_is_private_and_model_events_share_one_turn():
    page = build(AppConfig())
    functions = page.fns.values()
    public = {f.api_name for f in functions if f.fn is not None and f.api_visibility != "private"}
    assert public == set(NAMES)  # app/endpoints.py; tests/test_endpoints.py says what they may do
    turns = [f for f in functions if f.concurrency_id == "model"]
    assert {_handler(f) for f in functions if f not in turns} == WITHOUT_MODEL | MINUTES
    assert {_handler(f) for f in turns}.isdisjoint((WITHOUT_MODEL | MINUTES) - {"look", "<lambda>"})
    assert all(f.concurrency_limit == RUNS for f in turns)
    streamed = [f.fn for f in functions if inspect.isgeneratorfunction(f.fn) and f.api_visibility == "private"]
    assert len(streamed) > 20 and all(hasattr(fn, "__wrapped__") for fn in streamed)  # app.answers.spoken
    states = [type(b.value).__name__ for b in page.blocks.values() if isinstance(b, gr.State)]
    # the masks tab's: what a visitor has drawn, whether a head is looked into, which sections are open, the run of a
    # branch, a row that was dragged; the scores tab's: the line in question; the formulas tab's: whether it was opened
    assert sorted(states) == ["Drawn", "NoneType", *["bool"] * (2 + len(masks.SECTIONS) + len(decoding.SECTIONS)), "int", "str"]


def test_no_event_shows_its_progress_on_what_holds_other_components():
    """Gradio reads each such component with all that it holds anew at every message of any event: of the tabs, the whole page."""
    page = build(AppConfig())
    events = page.fns.values()
    assert any(isinstance(block, gr.Tabs) for event in events for block in event.outputs)
    for event in events:
        shown = event.outputs if event.show_progress_on is None else event.show_progress_on
        assert not any(getattr(block, "children", None) for block in shown), event.name


def test_input_x_gradient_of_a_run_that_is_too_long_is_refused_with_a_reason(engine, monkeypatch):
    monkeypatch.setattr("app.engine.MOST_EXPLAINED", 10)
    with pytest.raises(InputError, match="one backward pass per output token: .* Shorten the text"):
        engine.attribution(saved()[0].id)


def test_every_foreign_word_of_a_saved_run_has_an_english_gloss():
    for trace, example in zip(saved(), EXAMPLES, strict=True):
        if example.task in ("fill", "summary"):
            assert not example.gloss, "what is written is English already"
            continue
        words = re.findall(r"\w+", trace.text)
        assert [trace.text[start:end] for start, end, _ in gloss(trace)] == words
        assert set(example.gloss) <= set(words), "a gloss of a word that is not written any more"


def test_an_example_brings_its_task_where_the_model_has_it():
    fill = next(e for e in EXAMPLES if e.task == "fill")
    assert chosen_example(fill, "", ["en-de", "fill"]) == (fill.text, "fill", line(f"look.{fill.key}"))
    assert chosen_example(fill, "summary", ["en-de"]) == (fill.text, "", line(f"look.{fill.key}"))
    first = EXAMPLES[0]
    assert chosen_example(first, "fill", ["en-de", "fill"]) == (first.text, "", line(f"look.{first.key}"))
    assert chosen_example(first, "own", ["own"]) == (first.text, "own", line(f"look.{first.key}"))


def test_every_example_says_what_it_shows():
    assert len({e.name for e in EXAMPLES}) == len(EXAMPLES) and all(e.name and e.look for e in EXAMPLES)


def test_a_source_of_our_own_fits_the_task():
    rng = np.random.default_rng(0)
    assert all(source_for("fill", rng).count("<extra_id_0>") == 1 for _ in range(20))
    assert all(source_for("summary", rng).count(".") == 3 for _ in range(20))
    assert {source_for(task, rng) for task in ("", "en-de", "en-fr") for _ in range(20)} <= {row["en"] for row in OWN}


def test_own_scenes_are_five_different_captions():
    assert len(SUMMARIES) >= 40 and all(len(set(row)) == 5 for row in SUMMARIES)
    assert len({text for row in SUMMARIES for text in row}) == 5 * len(SUMMARIES)


def test_own_sentences_are_whole_and_different():
    assert len(OWN) >= 40 and len({row["en"] for row in OWN}) == len(OWN)
    assert all(set(row) == {"en", "de", "fr"} and all(row.values()) for row in OWN)


def test_rare_and_unknown_words_are_marked(engine):
    text = "A dog eats Zwrkqvxlmpf 馬 and a sandwich."
    found = {text[start:end]: kind for start, end, kind, _ in _spelling(engine, text, "pocket-t5")["marks"]}
    assert found == {"Zwrkqvxlmpf": "rare", "馬": "unknown"}


@pytest.mark.parametrize(
    "typed",
    [("", "pocket-t5"), (7, "pocket-t5"), ("x" * 5000, "pocket-t5"), ("a", "none"), ("a", 3), ("\ud83d", "pocket-t5")],
)
def test_what_cannot_be_marked_is_left_alone(engine, typed):
    assert _spelling(engine, *typed) is None
