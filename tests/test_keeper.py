"""What the page keeps of its visitors: whose it is, every run of every tab as it happens, and nothing that stops a run."""

import logging

import gradio as gr
import pytest

from app.engine import Engine
from app.keeper import Keeper, changed
from app.masked import Masked
from core import Settings
from core.examples import saved
from core.fields import build
from core.interventions import Masks
from core.models import Models


@pytest.fixture(scope="module")
def models() -> Models:
    models = Models()
    models.load("pocket-t5")
    return models


@pytest.fixture
def engine(models, tmp_path) -> Engine:
    return Engine(models, Keeper(tmp_path))


def kept(engine: Engine, visitor: str) -> list:
    store = engine.keeper.store
    store.writer.flush()
    session = store.session(engine.keeper.current(visitor), engine.keeper.owner(visitor))
    return store.kept(session)


def told(engine: Engine, visitor: str) -> list[dict]:
    store = engine.keeper.store
    store.writer.flush()
    return list(store.events(store.session(engine.keeper.current(visitor), engine.keeper.owner(visitor))))


def test_a_key_is_kept_where_this_host_signed_it_and_renewed_where_not(tmp_path):
    keeper = Keeper(tmp_path)
    key = keeper.arrive("a", "")
    assert keeper.arrive("b", key) == key and keeper.owner("a") == keeper.owner("b") != ""
    for forged in ("", None, 7, "x", key[:-1] + ("0" if key[-1] != "0" else "1"), "a." + key.partition(".")[2], "é.x", key * 9):
        other = keeper.arrive("c", forged)
        assert other != key and keeper.owner("c") != keeper.owner("a")
    assert Keeper(tmp_path).arrive("a", key) == key  # after a restart, too
    assert Keeper(tmp_path / "elsewhere").arrive("a", key) != key
    assert (tmp_path / "secret").stat().st_mode & 0o077 == 0 and keeper.owner("nobody") == ""


def test_every_run_is_kept_as_it_happens_and_equals_what_was_shown(engine):
    engine.keeper.arrive("ann", "")
    texts = ["A cat sleeps on a chair.", saved()[1].settings.text, "A cat sleeps on a chair."]
    shown = [list(engine.messages(Settings(text=text), "ann"))[-1] for text in texts]
    runs = kept(engine, "ann")
    assert [(run.id, run.output, run.status) for run in runs] == [(s["run"], s["output"], "done") for s in shown[:2]]
    store = engine.keeper.store
    session = store.session(engine.keeper.current("ann"), engine.keeper.owner("ann"))
    assert session.name == texts[0]
    assert store.load(session, runs[0].row) == engine.recent.get(runs[0].id)
    events = told(engine, "ann")
    assert [event["record"] for event in events] == [runs[0].row, runs[1].row, runs[0].row]  # the third is the first one again
    assert events[1]["data"] == {"changed": {"text": f'"{texts[1]}"'}}


def test_a_stopped_run_is_kept_as_stopped(engine, monkeypatch):
    monkeypatch.setattr("app.engine.PATIENCE", 0)
    monkeypatch.setattr("app.engine.INTERVAL", 0)
    engine.keeper.arrive("ann", "")
    going = engine.messages(Settings(text="Several children in blue shirts are playing football on the grass."), "ann")
    next(going), next(going)
    engine.latest.stop("ann")
    (last,) = going
    (run,) = kept(engine, "ann")
    assert (run.status, run.steps) == ("stopped", len(last["rows"]))


def test_runs_under_masks_and_what_they_changed_are_kept(engine):
    engine.keeper.arrive("ann", "")
    asked = Settings(text="A dog runs.", masks=build(Masks, {"encoder": {"preset": "causal"}}, "masks.", []))
    made = Masked(engine)
    pairs = list(made.pair(asked, "ann"))
    list(made.pair(asked, "ann"))  # again: nothing new
    assert [run.kind for run in kept(engine, "ann")] == ["trace", "trace", "comparison"]
    events = told(engine, "ann")
    assert len(events) == 2 and "masks.encoder.preset" in events[1]["data"]["changed"]
    assert kept(engine, "ann")[2].output == pairs[-1].comparison.sentence


def test_nobody_reads_or_writes_anothers_session(engine):
    for visitor in ("ann", "bob"):
        engine.keeper.arrive(visitor, "")
        list(engine.messages(Settings(text=f"The dog of {visitor} sleeps."), visitor))
    assert [run.input for run in kept(engine, "ann")] == ["The dog of ann sleeps."]
    store, ann, bob = engine.keeper.store, engine.keeper.owner("ann"), engine.keeper.owner("bob")
    assert [s.id for s in store.sessions(ann)] == [engine.keeper.current("ann")]
    assert [s.id for s in store.sessions(bob)] == [engine.keeper.current("bob")]


def test_a_visitor_without_a_key_runs_and_nothing_is_kept(engine):
    assert list(engine.messages(Settings(text="A cat."), "stranger"))[-1]["kind"] == "trace"
    assert engine.keeper.store.file.database["sessions"].count == 0


def test_a_host_without_a_place_runs_and_says_why_nothing_is_kept(models, tmp_path, caplog):
    (tmp_path / "file").write_text("not a folder")
    engine = Engine(models, Keeper(tmp_path / "file"))
    with caplog.at_level(logging.ERROR):
        assert engine.keeper.arrive("ann", "") == ""
    assert list(engine.messages(Settings(text="A bird."), "ann"))[-1]["kind"] == "trace"
    with pytest.raises(Exception, match="Sessions cannot be kept on this host"):
        _ = engine.keeper.store


def test_what_cannot_be_written_does_not_stop_a_run(engine, monkeypatch, caplog):
    engine.keeper.arrive("ann", "")
    store = engine.keeper.store
    monkeypatch.setattr(type(store), "create", lambda *_: 1 / 0)
    assert list(engine.messages(Settings(text="A horse."), "ann"))[-1]["kind"] == "trace"
    assert "could not be kept" in caplog.text


def test_what_changed_is_told_by_field_and_cut():
    before, after = Settings(text="a"), Settings(text="b" * 900)
    assert changed(before.to_json(), after.to_json())["text"].startswith('"bbb') and \
        len(changed("", after.to_json())["text"]) == 201
    assert changed(after.to_json(), after.to_json()) == {}
    masks = build(Masks, {"cross": {"preset": "window"}}, "masks.", [])
    assert changed(Settings(text="a", masks=masks).to_json(), before.to_json()) == {"masks.cross.preset": "null"}


def test_only_so_many_visitors_are_remembered(tmp_path, monkeypatch):
    monkeypatch.setattr("app.keeper.VISITORS", 2)
    keeper = Keeper(tmp_path)
    for name in "abc":
        keeper.arrive(name, "")
    assert [bool(keeper.owner(name)) for name in "abc"] == [False, True, True]
    keeper.leave("c")
    assert keeper.owner("c") == "" and isinstance(gr.skip(), dict)
