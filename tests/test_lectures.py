"""Lectures: the ready ones are runs of the shipped models; slides in order; playlists by hand; what is refused."""

import numpy as np
import pytest

from app.engine import Engine
from app.keeper import Keeper
from app.lectures import READY, slide
from app.shelf import Shelf
from app.words import LANGUAGES
from core import record
from core.errors import InputError, SessionError
from core.examples import saved
from core.lectures import HIDES, LESSONS, run_of, settings_of
from core.models import BUNDLED, Models
from core.sessions import Store, exchange
from tests.replayed import ANN, BOB

RUNS = sorted({one.run for lesson in LESSONS for one in lesson if not one.run.startswith("example-")})


@pytest.fixture(scope="module")
def models() -> Models:
    return Models()


@pytest.fixture
def shelf(tmp_path, models) -> Shelf:
    shelf = Shelf(Engine(models, Keeper(tmp_path)))
    shelf.keeper.arrive("ann", "")
    return shelf


def test_there_is_one_for_each_lesson_of_the_course_and_each_slide_has_its_words():
    assert len(LESSONS) == 10 and all(len(slides) >= 3 for slides in LESSONS)
    for number, slides in enumerate(LESSONS, 1):
        for at, one in enumerate(slides, 1):
            assert one.hide in HIDES and run_of(one.run).steps
            for words in LANGUAGES.values():
                assert words[f"lecture.{number}.{at}"] and words[f"lecture.lesson.{number}"].startswith(f"{number} ·")
            assert f"lecture.{number}.{len(slides) + 1}" not in LANGUAGES["en"]
        assert slides[-1].hide != "change"  # what a question waits for is there


@pytest.mark.parametrize("name", RUNS)
def test_a_saved_run_is_what_the_shipped_model_makes_of_its_settings(name, models):
    made, kept = record(settings_of(name), models), run_of(name)
    assert kept.settings.model in BUNDLED
    assert (made.id, made.target, made.text) == (kept.id, kept.target, kept.text)
    for one, other in zip(made.steps, kept.steps, strict=True):  # to the last bit only on as many threads
        assert np.allclose(one.cross_weights, other.cross_weights, atol=1e-4)


def test_what_the_notes_say_of_probabilities_is_so():
    total = {name: sum(float(step.logprob[0]) for step in run_of(name).steps)
             for name in ("example-0", "example-1", "book", "book-causal")}
    assert total["example-1"] > total["example-0"] and "kein" not in run_of("example-1").text  # 1.2
    assert total["book-causal"] < total["book"] and run_of("book-causal").text == run_of("book").text  # 6.3


def test_every_slide_is_shown_and_a_hidden_end_starts_at_its_first_step(shelf):
    for number, slides in enumerate(LESSONS, 1):
        for at, one in enumerate(slides):
            found, trace = slide(shelf, "ann", f"{READY}{number}", at), run_of(one.run)
            end = slide(shelf, "ann", f"{READY}{number}", at, True)
            assert found.bar["run"] == found.stepper["run"] == trace.id and found.settings == trace.settings
            assert found.bar["tokens"] == [token.text for token in trace.target]
            hidden = one.hide in ("token", "row")
            assert found.stepper["view"]["step"] == (1 if hidden else len(trace.steps))
            assert end.stepper["view"]["step"] == len(trace.steps)
            if at and slides[at - 1].hide == "change":
                before = run_of(slides[at - 1].run).text
                assert (found.bar["before"], found.bar["same"]) == (("", True) if before == trace.text else (before, False))


@pytest.mark.parametrize("id, at", [
    ("lesson:0", 0), ("lesson:11", 0), ("lesson:", 0), ("lesson:1.5", 0), ("lesson:-1", 0), ("lesson:٣", 0),
    ("lesson:" + "9" * 5000, 0),
    ("lesson:1", 99), ("lesson:1", -1), ("lesson:1", True), ("lesson:1", "0"), ("lesson:1", None), (None, 0), (["lesson:1"], 0),
    ("../../etc/passwd", 0), ("nothing", 0),
])
def test_a_slide_that_is_not_there_is_refused_in_a_sentence(shelf, id, at):
    with pytest.raises((InputError, SessionError), match=r"There is no|must be"):
        slide(shelf, "ann", id, at)


def test_a_session_is_a_lecture_of_its_runs_with_the_notes_that_it_was_given(shelf):
    store = shelf.keeper.store
    session = store.create(shelf.keeper.owner("ann"), "Mine")
    with pytest.raises(SessionError, match="no run in this session"):
        slide(shelf, "ann", session.id)
    rows = [store.keep(session.id, trace) for trace in saved()[:3]]
    store.remark(session, rows[1], "look at <b>this</b>", "change")
    one, two, three = (slide(shelf, "ann", session.id, at).bar for at in range(3))
    assert (one["title"], one["count"], one["hide"], two["note"], two["hide"]) == ("Mine", 3, "", "look at <b>this</b>", "change")
    assert three["before"] == saved()[1].text and not one["before"]
    shelf.keeper.arrive("bob", "")
    with pytest.raises(SessionError, match="no such session"):
        slide(shelf, "bob", session.id)


def test_a_playlist_is_collected_from_sessions_and_travels_with_its_notes(tmp_path):
    store = Store(tmp_path)
    first, list_ = store.create(ANN, "a"), store.create(ANN, "list")
    row = store.keep(first.id, saved()[0])
    store.remark(first, row, "why", "token")
    copies = [store.collect(first, row, list_), store.collect(first, row, list_)]
    kept = store.kept(list_)
    assert [(one.row, one.note, one.hide) for one in kept] == [(copy, "why", "token") for copy in copies]
    assert store.load(list_, copies[0]) == saved()[0]
    store.remove(list_, copies[0])
    assert [one.row for one in store.kept(list_)] == copies[1:] and len(store.kept(first)) == 1
    away = exchange.from_file(store, exchange.to_file(store, list_), BOB)
    assert [(one.note, one.hide) for one in store.kept(away)] == [("why", "token")]


@pytest.mark.parametrize("note, hide, said", [("x", "all", "hides one of"), ("x", None, "hides one of"),
                                              (3, "", "must be a text"), ("x" * 2001, "", "2,001 characters")])
def test_a_remark_is_checked(tmp_path, note, hide, said):
    store = Store(tmp_path)
    session = store.create(ANN)
    row = store.keep(session.id, saved()[1])
    with pytest.raises(SessionError, match=said):
        store.remark(session, row, note, hide)
    other = store.create(ANN)
    for strange in (row + 1, -1, "1", None):
        with pytest.raises(SessionError, match="no such run"):
            store.remark(session, strange, "", "")
    with pytest.raises(SessionError, match="no such run"):
        store.remove(other, row)
    assert len(store.kept(session)) == 1


def test_what_others_own_is_neither_changed_nor_filled(shelf):
    store = shelf.keeper.store
    theirs = store.create(ANN, "theirs")
    row = store.keep(theirs.id, saved()[1])
    store.share(theirs.id, ANN)
    for deed in ({"do": "remark", "row": row, "note": "mine", "hide": ""}, {"do": "remove", "row": row},
                 {"do": "collect", "row": row, "to": theirs.id}):
        with pytest.raises(SessionError, match="not one of yours"):
            shelf.act("ann", deed | {"id": theirs.id})
    pack = shelf.act("ann", {"do": "collect", "id": theirs.id, "row": row, "name": "Playlist"})
    assert pack["open"]["mine"] and pack["open"]["name"] == "Playlist" and len(pack["open"]["entries"]) == 1
    count = len(pack["sessions"])
    with pytest.raises(SessionError, match="no such run"):
        shelf.act("ann", {"do": "collect", "id": theirs.id, "row": 10**6, "name": "Playlist"})
    assert len(shelf.listed("ann")["sessions"]) == count  # nothing was made for it
