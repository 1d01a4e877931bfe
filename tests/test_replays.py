"""Any moment of a session drawn again, also one that has no record of its own; what was not kept, and why."""

import sqlite3
from dataclasses import replace

import pytest

from app.engine import Engine
from app.keeper import Keeper
from app.moments import moments
from app.replays import ranks_of
from app.shelf import Shelf
from app.views.sessions import looked, not_kept
from core import Settings
from core.comparison import compare
from core.errors import SessionError
from core.examples import saved, saved_search
from core.interventions import Masks, StackMask
from core.models import Models
from core.noise import NOISES, corrupt, units
from core.sessions import exchange, retention
from core.sessions.writer import Writer
from tests.replayed import Going

A, B, C = saved()[:3]


@pytest.fixture
def shelf(tmp_path) -> Shelf:
    shelf = Shelf(Engine(Models({}), Keeper(tmp_path)))
    shelf.keeper.arrive("ann", "")
    return shelf


def kept(shelf: Shelf, *records) -> str:
    """Ann's session with these, one after the other."""
    for record in records:
        shelf.keeper.keep("ann", lambda one=record: one)
    shelf.keeper.store.writer.flush()
    return shelf.keeper.current("ann")


def entries(shelf: Shelf, id: str) -> list[list]:
    return shelf.replay("ann", id).bar["entries"]


def test_a_run_that_was_asked_for_again_is_a_moment_of_its_own(shelf):
    id = kept(shelf, A, B, A)
    found = entries(shelf, id)
    assert [kind for _, _, kind, *_ in found] == ["trace"] * 3 and found[0][0] == found[2][0] != found[1][0]
    again = shelf.replay("ann", id, event=found[2][1])
    assert again.bar["at"] == 2 and again.settings == A.settings and again.packs["stepper"]["run"] == A.id
    assert shelf.replay("ann", id, found[0][0]).bar["at"] == 0  # by its record: where it was first


def test_a_layer_that_was_chosen_and_a_penalty_that_was_moved_are_moments(shelf):
    tree = saved_search()
    id = kept(shelf, A, tree)
    looked(shelf, {"kind": "look", "run": A.id, "map": "decoder", "layer": "2", "head": "max", "step": 3}, "ann")
    looked(shelf, {"kind": "rank", "run": tree.id, "alpha": 1.5, "beta": 0.5, "upto": 4}, "ann")
    for strange in (None, [], {"kind": "look", "run": A.id}, {"kind": "drop", "run": A.id, "step": 1},
                    {"kind": "rank", "run": "x" * 64, "alpha": 1}, {"kind": "rank", "run": tree.id, "alpha": 9}):
        looked(shelf, strange, "ann")
    looked(shelf, {"kind": "look", "run": A.id, "step": 1}, "nobody")
    shelf.keeper.store.writer.flush()
    *_, look, rank = entries(shelf, id)
    assert (look[2], rank[2], len(entries(shelf, id))) == ("look", "rank", 4)
    found = shelf.replay("ann", id, event=look[1])
    assert found.tab == "attention"
    assert found.packs["stepper"]["view"] == {"map": "decoder", "layer": "2", "head": "max", "step": 3}
    found = shelf.replay("ann", id, event=rank[1])
    assert found.tab == "search" and found.packs["tree"]["view"] == {"alpha": 1.5, "beta": 0.5, "upto": 4}


def test_a_run_that_was_taken_out_still_says_what_it_was_made_with(shelf):
    asked = Settings(text="A dog.", masks=Masks(encoder=StackMask("causal")))

    id = kept(shelf, A, replace(B, settings=asked))
    store = shelf.keeper.store
    session = store.own(id, shelf.keeper.owner("ann"))
    store.remove(session, store.kept(session)[1].row)
    gone = entries(shelf, id)[1]
    assert gone[0] is None and gone[2] == "gone" and gone[4] == "A dog."
    found = shelf.replay("ann", id, event=gone[1])
    assert found.settings == asked and "taken out" in found.packs["told"]["sentence"]


def test_a_noise_slider_is_a_moment_and_its_text_is_drawn_without_a_model(shelf):
    asked = Settings("Two dogs run over the green grass.", noise=NOISES["spans"].usual(rate=0.4, seed=3))
    shelf.keeper.moved("ann", asked)
    kept(shelf)
    id = shelf.keeper.current("ann")
    (one,) = entries(shelf, id)
    assert one[0] is None and one[2] == "noise" and one[4] == asked.text
    found = shelf.replay("ann", id, event=one[1])
    vocabulary, rows = shelf.engine.models.vocabulary("pocket-t5")
    assert (found.tab, found.settings) == ("noise", asked)
    assert found.packs["corruption"]["id"] == corrupt(units(vocabulary, asked.text, 128, rows), asked.noise).id[:24]


def test_a_search_is_drawn_as_a_tree_and_a_comparison_as_masks(shelf):
    tree = saved_search()
    id = kept(shelf, A, tree, compare(A, A))
    rows = [row for row, *_ in entries(shelf, id)]
    found = shelf.replay("ann", id, rows[1])
    assert found.tab == "search" and found.packs["tree"] == shelf.replays.searches.drawn(tree) | {"view": {}}
    assert found.settings.decoding.beams == tree.settings.decoding.beams > 1
    found = shelf.replay("ann", id, rows[2])
    assert found.tab == "masks" and found.packs["grid"]["take"] and found.packs["pair"]["sentence"]
    assert not shelf.engine.models.is_loaded("pocket-t5")


def test_a_search_of_a_model_that_is_not_here_is_drawn_all_the_same(shelf):

    tree = saved_search()
    id = kept(shelf, replace(tree, settings=replace(tree.settings, model="elsewhere")))
    found = shelf.replay("ann", id)
    here = shelf.replays.searches.drawn(tree)
    assert found.packs["tree"]["nodes"] == here["nodes"] and len(found.packs["tree"]["ranking"]) == len(here["ranking"])
    assert found.packs["tree"]["ranking"][0]["text"].split()[0] == here["ranking"][0]["text"].split()[0]


@pytest.mark.parametrize("data", [
    {}, {"changed": []}, {"changed": {"beams": [1]}}, {"changed": "x"}, {"settings": 7}, {"settings": {"text": 7}},
    {"settings": {"text": "a", "noise": {"name": "none of ours"}}}, {"settings": {"text": "a", "decoding": {"beams": -4}}},
    {"alpha": "1", "step": -1, "map": "<b>"}, {"layer": {}, "head": [], "upto": 1e300},
])
@pytest.mark.parametrize("kind", ["run", "look", "rank", "noise", "other"])
def test_events_that_somebody_else_wrote_break_nothing(shelf, kind, data, caplog):
    id = kept(shelf, A)
    store = shelf.keeper.store
    row = store.kept(store.own(id, shelf.keeper.owner("ann")))[0].row
    store.event(id, kind, data, row)
    store.event(id, kind, data)
    for row, event, *_ in entries(shelf, id):
        assert shelf.replay("ann", id, row, None, event).packs
    assert shelf.opened("ann", id)["open"]["entries"] and not caplog.records


@pytest.mark.parametrize("event", [0, -1, 10**30, "1", 1.5, [1], True])
def test_an_unknown_event_is_answered_with_a_sentence(shelf, event):
    id = kept(shelf, A)
    with pytest.raises(SessionError, match="no such run"):
        shelf.replay("ann", id, None, None, "x" if event is True else event)


def test_ranks_are_checked():
    assert ranks_of(None) == ranks_of({"alpha": float("nan"), "beta": -1, "upto": 2.5}) == {}


def test_a_session_with_the_settings_of_a_removed_run_goes_out_and_in(shelf):

    id = kept(shelf, replace(A, settings=Settings(text="馬" * 3000)))
    store = shelf.keeper.store
    session = store.own(id, shelf.keeper.owner("ann"))
    store.remove(session, store.kept(session)[0].row)
    back = exchange.from_file(store, exchange.to_file(store, session), shelf.keeper.owner("ann"))
    (one,) = moments(store, back)
    assert one.kind == "gone" and one.data["settings"]["text"] == "馬" * 3000


def test_a_full_session_is_said_and_the_next_run_begins_another(shelf, monkeypatch, caplog):
    id = kept(shelf, A)
    assert not_kept(shelf, "ann") == "" and "Reload it" in not_kept(shelf, "nobody")
    monkeypatch.setattr(retention, "SESSION_RECORDS", 1)
    shelf.keeper.keep("ann", lambda: B)
    assert "not kept in your session: This session holds 1 records" in not_kept(shelf, "ann")
    shelf.keeper.keep("ann", lambda: C)
    assert not_kept(shelf, "ann") == "" and shelf.keeper.current("ann") not in ("", id)


@pytest.mark.parametrize(("error", "said"), [
    (sqlite3.OperationalError("database or disk is full"), "The disk of this host is full."),
    (sqlite3.OperationalError("attempt to write a readonly database"), "The disk of this host cannot be written to."),
])
def test_a_disk_that_takes_nothing_more_is_said_and_the_run_goes_on(shelf, monkeypatch, error, said, caplog):
    kept(shelf, A)

    def broken(self):
        raise error

    monkeypatch.setattr(type(shelf.keeper.store.file), "writing", broken)
    shelf.keeper.keep("ann", lambda: B)
    assert not_kept(shelf, "ann").endswith(said) and "could not be written" in caplog.text
    monkeypatch.undo()
    shelf.keeper.keep("ann", lambda: C)
    assert not_kept(shelf, "ann") == ""


def test_a_run_that_is_written_step_by_step_says_so_too(shelf, monkeypatch, caplog):

    kept(shelf, A)
    monkeypatch.setattr("core.sessions.recording.SESSION_BYTES", 1000)
    list(shelf.keeper.watch("ann", Going(B)))
    assert "longer than a session may be" in not_kept(shelf, "ann")


def test_a_host_without_a_place_says_so(tmp_path, caplog):
    (tmp_path / "file").write_text("")
    shelf = Shelf(Engine(Models({}), Keeper(tmp_path / "file" / "below")))
    assert shelf.keeper.arrive("ann", "") == "" and not_kept(shelf, "ann").endswith("The host's log says why.")


def test_the_writer_tells_whoever_gave_a_job_that_failed(shelf):
    writer: Writer = shelf.keeper.store.writer
    told = []
    writer.put(lambda database: 1 / 0, told.append)
    writer.put(lambda database: None, told.append)
    assert writer.flush() and [type(error) for error in told] == [ZeroDivisionError]
