"""The sessions tab without a browser: what its handlers answer to whom, and what they refuse."""

import base64
import json

import gradio as gr
import pytest

from app.config import AppConfig
from app.controls import Controls
from app.engine import Engine
from app.keeper import Keeper
from app.masked import Drawn
from app.page import build
from app.replays import view_of
from app.shelf import Shelf, ends_with_restart
from app.stage import Parts, Stage, controls_of, went
from app.tab import Tab
from app.views.sessions import acted, arrived
from app.widgets.session_list import MOST_FILE
from core import Settings
from core.comparison import compare
from core.errors import ModelError
from core.examples import saved, saved_search
from core.models import Models
from core.records import browser_trace
from core.sessions import exchange
from core.settings import Decoding

HERE = ("drawn", "grid", "pair", "pair_maps", "tree", "corruption")  # what a replay draws into on other tabs


class Named:
    """Stands in for a component: a name is all that the handlers ask."""

    def __init__(self, name):
        self.name = name

    def __repr__(self):
        return self.name


class Fields:
    """Stands in for the page's controls."""

    again = Controls.again

    def __init__(self):
        for name in ("text", "model", "task", "max_new_tokens"):
            setattr(self, name, Named(name))


@pytest.fixture
def shelf(tmp_path) -> Shelf:
    return Shelf(Engine(Models(), Keeper(tmp_path)))


@pytest.fixture
def parts() -> Parts:
    parts = Parts.__new__(Parts)
    parts.controls, parts.stage = Fields(), Stage(*map(Named, ("tabs", "stepper", "notice", "bar", "lecture", "key", "unkept")),
                                            [Tab(None, {name: Named(name) for name in HERE})])
    parts.listing = Named("listing")
    parts.packs = {"stepper": parts.stage.stepper} | {name: Named(name) for name in ("told", "maps", "noise")}
    parts.packs |= parts.stage.others[0].parts
    return parts


@pytest.fixture
def ann(shelf) -> str:
    """A session of Ann's with two runs."""
    shelf.keeper.arrive("ann", "")
    shelf.keeper.arrive("bob", "")
    for trace in saved()[:2]:
        shelf.keeper.keep("ann", lambda one=trace: one)
    shelf.keeper.store.writer.flush()
    return shelf.keeper.current("ann")


def names(answer: dict) -> dict:
    return {component.name: value for component, value in answer.items()}


def test_a_session_is_listed_to_its_browser_only(shelf, parts, ann):
    (mine,) = names(acted(shelf, parts, {"do": "list"}, "ann"))["listing"]["sessions"]
    assert mine["id"] == ann and mine["current"] and mine["records"] == 2 and not mine["shared"]
    assert names(acted(shelf, parts, {"do": "list"}, "bob"))["listing"]["sessions"] == []
    assert names(acted(shelf, parts, {"do": "list"}, "nobody"))["listing"]["sessions"] == []


@pytest.mark.parametrize("deed", ["open", "share", "unshare", "delete", "write", "export", "page", "replay"])
def test_a_stranger_gets_a_sentence_and_nothing_changes(shelf, parts, ann, deed):
    answer = names(acted(shelf, parts, {"do": deed, "id": ann, "name": "x", "note": "y"}, "bob"))
    said = answer["notice"] if deed == "replay" else answer["listing"]["text"]
    assert "no such session here" in said or "not one of yours" in said
    assert shelf.keeper.store.session(ann, shelf.keeper.owner("ann")).records == 2


@pytest.mark.parametrize("data", [
    None, 7, "open", [], {}, {"do": "drop"}, {"do": ["open"]}, {"do": "open"}, {"do": "open", "id": {}},
    {"do": "open", "id": "x" * 100_000}, {"do": "replay"}, {"do": "import"}, {"do": "import", "file": 7},
    {"do": "import", "file": "é"}, {"do": "import", "file": "AAAA"}, {"do": "write", "id": 1}, {"do": "delete", "id": None},
])
def test_hostile_requests_are_answered_with_a_sentence(shelf, parts, ann, data, caplog):
    answer = names(acted(shelf, parts, data, "ann"))
    said = answer["notice"] if "notice" in answer else answer["listing"]["text"]
    assert 10 < len(said) < 300 and "did not foresee" not in said and not caplog.records


@pytest.mark.parametrize("row", [0, -1, 10**30, "1", 1.5, [1], True])
def test_an_unknown_row_is_answered_with_a_sentence(shelf, parts, ann, row, caplog):
    said = names(went(shelf, parts, {"id": ann, "row": row}, "ann"))["notice"]
    assert "no such run in this session" in said and not caplog.records


def test_a_replay_is_what_the_live_run_was_and_the_controls_show_what_they_were(shelf, parts, ann):
    trace = saved()[0]
    row = shelf.keeper.store.kept(shelf.keeper.store.session(ann, shelf.keeper.owner("ann")))[0].row
    answer = names(went(shelf, parts, {"id": ann, "row": row}, "ann"))
    live = shelf.engine.saved_pack(trace)
    assert answer["stepper"] == live and live["rows"] == browser_trace(trace)["rows"]
    assert (answer["text"], answer["model"], answer["task"]) == (trace.settings.text, "pocket-t5", trace.settings.task)
    assert answer["drawn"].masks == trace.settings.masks and answer["drawn"].edits == trace.settings.edits
    assert answer["tabs"].selected == "attention" and answer["bar"]["at"] == 0 and len(answer["bar"]["entries"]) == 2
    assert not shelf.engine.models.is_loaded("pocket-t5")  # nothing was loaded for it


def test_a_search_is_drawn_as_its_tree_too(shelf, parts, ann, monkeypatch):
    trace = saved_search()
    shelf.keeper.keep("ann", lambda: trace)
    shelf.keeper.store.writer.flush()
    row = shelf.keeper.store.kept(shelf.keeper.store.session(ann, shelf.keeper.owner("ann")))[-1].row
    answer = names(went(shelf, parts, {"id": ann, "row": row}, "ann"))
    assert answer["tree"] == shelf.replays.searches.drawn(trace) | {"view": {}} and answer["tabs"].selected == "search"
    assert answer["stepper"]["output"] == trace.text and not shelf.engine.models.is_loaded("pocket-t5")

    def gone(*asked):
        raise ModelError("There is no model.")

    monkeypatch.setattr(shelf.engine.models, "vocabulary", gone)
    answer = names(went(shelf, parts, {"id": ann, "row": row}, "ann"))
    assert len(answer["tree"]["ranking"]) == len(trace.tree.ranking) and answer["stepper"]["output"] == trace.text
    assert "tree" not in names(went(shelf, parts, {"id": ann, "row": row - 1}, "ann"))


def test_a_run_after_a_replay_goes_into_a_session_of_ones_own_that_says_where_it_came_from(shelf, parts, ann):
    store = shelf.keeper.store
    store.share(ann, shelf.keeper.owner("ann"))
    went(shelf, parts, {"id": ann}, "bob")
    shelf.keeper.keep("bob", lambda: saved()[2])
    store.writer.flush()
    (own,) = store.sessions(shelf.keeper.owner("bob"))
    assert own.id != ann and next(store.events(own))["data"]["from"] == ann
    assert store.session(ann).records == 2


def test_a_comparison_is_drawn_with_both_its_runs(shelf, parts, ann):
    trace = saved()[0]
    shelf.keeper.keep("ann", lambda: compare(trace, trace))
    shelf.keeper.store.writer.flush()
    row = shelf.keeper.store.kept(shelf.keeper.store.session(ann, shelf.keeper.owner("ann")))[-1].row
    answer = names(went(shelf, parts, {"id": ann, "row": row}, "ann"))
    assert answer["pair"]["kind"] == "found" and answer["pair_maps"] and answer["tabs"].selected == "masks"
    assert answer["grid"]["take"] and answer["text"] == trace.settings.text and "stepper" not in answer


def test_a_link_restores_tab_layer_head_and_step_or_says_what_is_wrong(shelf, parts, ann):
    view = {"tab": "attention", "map": "decoder", "layer": "2", "head": "max", "step": 4}
    acted(shelf, parts, {"do": "share", "id": ann, "view": view}, "ann")
    answer = names(arrived(shelf, parts, "", {"session": ann}, "new"))
    assert answer["stepper"]["view"] == view and answer["tabs"].selected == "attention" and answer["key"]
    assert answer["text"] == saved()[1].settings.text  # the last run
    assert list(names(arrived(shelf, parts, "", {}, "other"))) == ["key"]
    for wrong in ("", "nope", "../../x", "x" * 9000):
        assert "the link is wrong" in names(arrived(shelf, parts, "", {"session": wrong}, "other"))["notice"]


def test_what_a_link_shows_is_checked():
    strange = {"map": "x", "layer": "<b>", "head": 3, "step": -1, "row": True, "other": 1}
    assert view_of({"tab": "masks"} | strange) == {"tab": "masks"}
    assert view_of(None) == view_of([1]) == {}
    assert view_of({"layer": "12", "head": "mean", "step": 3, "row": 7}) == {"layer": "12", "head": "mean", "step": 3, "row": 7}


def test_a_file_goes_out_and_comes_in(shelf, parts, ann):
    out = names(acted(shelf, parts, {"do": "export", "id": ann}, "ann"))["listing"]
    name, kind, file = out["file"]
    assert name.startswith("two-stacks-20") and kind == "application/zip"
    back = names(acted(shelf, parts, {"do": "import", "file": file}, "bob"))["listing"]
    assert back["open"]["mine"] and len(back["open"]["entries"]) == 2
    spoilt = base64.b64encode(base64.b64decode(file)[:-30]).decode()
    refused = names(acted(shelf, parts, {"do": "import", "file": spoilt}, "bob"))["listing"]
    assert refused["kind"] == "refused" and len(shelf.keeper.store.sessions(shelf.keeper.owner("bob"))) == 1
    assert MOST_FILE == exchange.MOST_FILE


def test_a_page_holds_every_run_and_no_text_can_leave_its_script(shelf, parts, ann):
    shelf.keeper.store.rename(ann, shelf.keeper.owner("ann"), "</title><script>alert(1)</script>")
    out = names(acted(shelf, parts, {"do": "page", "id": ann}, "ann"))["listing"]
    page = base64.b64decode(out["file"][2]).decode()
    assert out["file"][0].endswith(".html") and page.count("<script>") == 1 == page.count("</script>")
    assert all(trace.id in page for trace in saved()[:2]) and "http" not in page.replace("http-equiv", "").replace(
        "http://www.w3.org/2000/svg", "").replace("^https?:", "")
    assert "no such session" in names(acted(shelf, parts, {"do": "page", "id": ann}, "bob"))["listing"]["text"]


def test_after_delete_and_forget_the_next_run_begins_a_new_session(shelf, parts, ann):
    left = names(acted(shelf, parts, {"do": "delete", "id": ann}, "ann"))["listing"]
    assert left["sessions"] == [] and shelf.keeper.current("ann") == ""
    shelf.keeper.keep("ann", lambda: saved()[0])
    again = shelf.keeper.current("ann")
    left = names(acted(shelf, parts, {"do": "forget"}, "ann"))["listing"]
    assert again not in ("", ann) and left["sessions"] == [] and left["forgotten"] == 1


def test_the_controls_as_they_were(parts):
    settings = Settings("A dog.", "other", "own", decoding=Decoding(max_new_tokens=7))
    assert names(controls_of(parts, settings)) == {
        "text": "A dog.", "model": "other", "task": "own", "max_new_tokens": 7, "drawn": Drawn()}


def test_a_host_whose_disk_is_emptied_says_so(tmp_path):
    assert ends_with_restart(tmp_path, False, {"SPACE_ID": "a/b"})
    assert not ends_with_restart(tmp_path, True, {"SPACE_ID": "a/b"}) and not ends_with_restart(tmp_path, False, {})


def test_what_is_sent_to_the_browser_is_plain_json(shelf, parts, ann):
    json.dumps(names(acted(shelf, parts, {"do": "open", "id": ann}, "ann"))["listing"], allow_nan=False)
    assert "owner" not in names(acted(shelf, parts, {"do": "open", "id": ann}, "ann"))["listing"]["sessions"][0]


def test_nothing_large_is_kept_for_a_visitor_by_the_page():
    page = build(AppConfig())
    states = [b for b in page.blocks.values() if isinstance(b, gr.State | gr.BrowserState)]
    assert states and all(len(repr(b.value)) < 2000 for b in states)
