"""A corpus on the page without a browser: a short run beside it, stop, upload, opened texts, what is kept and refused."""

import json
import threading
import time
from statistics import median

import gradio as gr
import pytest

from app import corpus_packs
from app.attention import opened
from app.controls import Controls, model_picker, more, text_box
from app.corpora import PRESETS, Corpora, corpus_of, named, settings_of
from app.corpus_packs import line_of
from app.corpus_section import CorpusPart, own_texts, translated
from app.engine import Engine
from app.keeper import Keeper
from app.shelf import Shelf
from app.turns import Turn
from app.views.scores import uploaded
from app.widgets.corpus_table import CorpusTable
from core.errors import InputError
from core.examples import OWN
from core.models import Models
from core.settings import MAX_BEAMS, Settings

SOURCES, REFERENCES = ("\n".join(row[language] for row in OWN[:6]) for language in ("en", "de"))
NAMES = ["BLEU", "chrF2"]


@pytest.fixture(scope="module")
def engine(tmp_path_factory) -> Engine:
    found = Engine(Models(), Keeper(tmp_path_factory.mktemp("sessions")))
    found.models.load("pocket-t5")
    return found


@pytest.fixture(scope="module")
def controls(engine) -> Controls:
    with gr.Blocks():
        return Controls(text_box("Something else."), *model_picker(engine.models, ""), **more())


def messages(engine, names=("greedy", "beams-2"), sources=SOURCES, references=REFERENCES, visitor="one") -> list[dict]:
    corpus = corpus_of(sources, references)
    found = list(Corpora(engine).messages(settings_of(Settings(), list(names)), corpus, NAMES, "", visitor))
    for each in found:
        json.dumps(each, allow_nan=False)
        CorpusTable().postprocess(each)
    return found


def test_texts_arrive_as_they_are_written_and_then_the_whole(engine, monkeypatch):
    monkeypatch.setattr("app.corpora.INTERVAL", 0)
    first, *rest, last = messages(engine)
    assert (first["done"], first["of"], first["left"], first["rows"]) == (0, 6, None, [])
    growing = [each for each in rest if "done" in each]
    assert [row[0] for each in growing for row in each["rows"]] == [1, 2, 3, 4, 5, 6]
    assert all(each["left"] >= 0 for each in growing) and growing[-1]["done"] == 6 and growing[-1]["left"] == 0
    assert last["kind"] == "corpus" and [row for each in growing for row in each["rows"]] == last["rows"]
    assert [one["how"] for one in last["systems"]] == ["greedy", "2 beams, α 1, early stopping false"]
    assert {one["name"] for one in last["measures"]} == {*NAMES, "log P", "tokens", "gaps"}
    for one in last["measures"]:
        assert [len(system) for system in one["values"]] == [6, 6]
    assert {test["system"] for test in last["tests"]} == {"A", "B"} and "under 100" in last["tests"][0]["warning"]


class Watched(Turn):
    """A turn that tells who had it, for how long, and how many turns of others each waited for."""

    def __init__(self):
        super().__init__()
        self.held: list[tuple[str, float]] = []
        self.waited: list[tuple[str, int]] = []

    def __enter__(self):
        before = len(self.held)
        super().__enter__()
        self.waited.append((threading.current_thread().name, len(self.held) - before))
        self.began = time.monotonic()
        return self

    def __exit__(self, *error):
        self.held.append((threading.current_thread().name, time.monotonic() - self.began))
        super().__exit__(*error)


def test_a_short_run_beside_a_corpus_waits_for_a_step_at_most(engine, monkeypatch):
    """Between two steps of the run the corpus makes one of its own, of three settings with up to eight beams."""
    turn = Watched()
    monkeypatch.setattr(engine, "turn", turn)
    corpora, ended = Corpora(engine), []

    def write():
        settings = settings_of(Settings(), ["beams-8", "beams-4", "sampled"])
        ended.extend(corpora.messages(settings, corpus_of(SOURCES * 4, ""), ["repetition"], "", "class"))

    thread = threading.Thread(target=write, name="corpus")
    thread.start()
    while len(turn.held) < 3:
        time.sleep(0.001)
    before = len(turn.held)
    *_, last = engine.messages(Settings("A man in a blue shirt sits beside the river."), "class")  # the same visitor
    after = len(turn.held)
    corpora.stop("class")
    thread.join(60)
    assert last["kind"] == "trace" and not any("Stopped" in note for note in last["notes"])
    holders = [name for name, _ in turn.held[before:after]]
    own = [at for at, name in enumerate(holders) if name != "corpus"]
    waited = [turns for name, turns in turn.waited if name != "corpus"]
    assert len(waited) >= len(last["rows"]) and max(waited) <= 2  # one that went on, and one that began while this one asked
    assert "corpus" in holders[own[0] : own[-1]], "both went on"
    assert median(seconds for name, seconds in turn.held if name == "corpus") < 0.2
    assert ended[-1]["kind"] == "corpus" and "Stopped after" in ended[-1]["notes"][0]


def test_stop_scores_what_is_there_and_before_the_first_text_says_so(engine, monkeypatch):
    monkeypatch.setattr("app.corpora.INTERVAL", 0)
    corpora = Corpora(engine)
    going = corpora.messages(settings_of(Settings(), ["greedy"]), corpus_of(SOURCES, REFERENCES), NAMES, "", "two")
    assert next(going)["done"] == 0
    while not next(going)["done"]:
        pass
    engine.latest.stop("two")  # Stop of the page is about the run above
    assert next(going)["done"] == 2
    corpora.stop("two")
    *_, last = going
    assert len(last["rows"]) == 2 and last["notes"][0] == "Stopped after 2 of 6 texts; these are scored."
    going = corpora.messages(settings_of(Settings(), ["greedy"]), corpus_of(SOURCES, ""), NAMES, "", "two")
    next(going)
    corpora.stop("two")
    with pytest.raises(InputError, match="No text was written"):
        list(going)


def test_a_session_keeps_the_result_and_shows_it_again(engine):
    keeper = engine.keeper
    keeper.arrive("three", "")
    messages(engine, visitor="three")
    keeper.store.writer.flush()
    session = keeper.current("three")
    (kept,) = keeper.store.kept(keeper.store.session(session, keeper.owner("three")))
    assert kept.kind == "corpus" and kept.output.startswith("6 texts. A greedy: BLEU")
    told = Shelf(engine).replay("three", session, kept.row).packs["told"]
    assert told["sentence"] == kept.output and any("95 % interval" in note and "p = " in note for note in told["notes"])
    assert any("nrefs:1" in note for note in told["notes"]) and any("under 100 a test" in note for note in told["notes"])


def test_equal_settings_are_identical_and_not_p_of_nought(engine):
    found = messages(engine, ["greedy", "greedy"])[-1]
    second = [test for test in found["tests"] if test["system"] == "B"]
    assert second and all(test["identical"] and test["p"] == 1 for test in second)


def test_a_text_opens_with_the_settings_that_wrote_it(engine, controls):
    pack = messages(engine)[-1]
    data = {"settings": pack["systems"][1]["settings"], "text": pack["rows"][2][1]}
    assert line_of(data).decoding.beams == 2
    first, *rest = opened(engine, controls, data, "four")
    assert first[controls.text] == OWN[2]["en"] and first["tabs"].selected == "attention"
    assert rest[-1]["stepper"]["output"] == pack["rows"][2][3][1] and rest[-1]["notice"] == ""


@pytest.mark.parametrize("data", [
    None, {}, {"settings": "{}"}, {"settings": 7, "text": "a"}, {"settings": "[]", "text": "a"},
    {"settings": '{"decoding": {"beams": 99}}', "text": "a"}, {"settings": "{}", "text": "x" * 9999},
])
def test_what_cannot_be_opened_is_said(engine, controls, data):
    (found,) = opened(engine, controls, data, "four")
    assert list(found) == ["notice"] and found["notice"] and "did not foresee" not in found["notice"]


def test_presets_are_all_different_and_named_by_what_they_do():
    assert len({label for label, _ in named()}) == len(PRESETS) and {name for _, name in named()} == set(PRESETS)
    found = settings_of(Settings("typed", task="en-fr"), list(PRESETS)[:3])
    assert all((one.text, one.task) == ("", "en-fr") and one.decoding.beams <= MAX_BEAMS for one in found)


@pytest.mark.parametrize("names", [None, [], "greedy", ["greedy"] * 4, ["none"], [{}], [["greedy"]]])
def test_other_settings_are_refused(names):
    with pytest.raises(InputError, match="choose one to three"):
        settings_of(Settings(), names)


@pytest.mark.parametrize("sources, references, said", [
    ("a\nb", "c", "2 sources and 1 lines of references"), (7, "", "sources is a int"),
    ("a\n" * 2001, "", "2,001 lines; at most 2,000"), ("a", "b\t" * 8 + "c", "9 references"),
])
def test_what_is_typed_is_checked(sources, references, said):
    with pytest.raises(InputError, match=said):
        corpus_of(sources, references)


def test_files_need_a_column_of_sources(tmp_path):
    kinds = {"a.txt": "A dog.\nA cat.", "b.tsv": "A dog.\tEin Hund.\nA cat.\tEine Katze.",
             "c.csv": "reference,source\nEin Hund.,A dog.\nEine Katze.,A cat.",
             "d.jsonl": '{"source": "A dog.", "reference": "Ein Hund."}\n{"source": "A cat.", "reference": "Eine Katze."}'}
    for name, text in kinds.items():
        (tmp_path / name).write_text(text, "utf-8")
        found = uploaded(tmp_path / name, ("source", "reference"))
        assert found.sources == ("A dog.", "A cat.")
        assert found.references == (() if name == "a.txt" else (("Ein Hund.", "Eine Katze."),))
    (tmp_path / "e.jsonl").write_text('{"output": "a"}', "utf-8")
    with pytest.raises(InputError, match="no column source"):
        uploaded(tmp_path / "e.jsonl", ("source", "reference"))


def test_our_own_sentences_bring_references_where_there_are_some(engine, controls):
    with gr.Blocks():
        part = CorpusPart()
    for task, language in (("", "de"), ("en-fr", "fr")):
        found = own_texts(part, engine, controls, {controls.model: "pocket-t5", controls.task: task})
        assert found[part.references].split("\n") == [row[language] for row in OWN]
    assert own_texts(part, engine, controls, {controls.model: "pocket-t5", controls.task: "fill"})[part.references] == ""


def test_the_page_asks_with_its_own_model_task_and_limits(engine, controls):
    with gr.Blocks():
        part = CorpusPart()
    values = {component: component.value for component in controls.inputs()} | {
        controls.task: "en-fr", controls.max_new_tokens: 4.0, part.sources: "A dog runs.", part.references: "",
        part.chosen: ["greedy"]}
    *_, last = translated(Corpora(engine), part, controls, values, lambda values: (["repetition"], ""), "five")
    told = json.loads(last["systems"][0]["settings"])
    assert told["task"] == "en-fr" and told["decoding"]["max_new_tokens"] == 4 and "text" not in told
    assert last["measures"][2]["values"] == [[4.0]]
    with pytest.raises(InputError, match="no source"):
        list(translated(Corpora(engine), part, controls, values | {part.sources: ""}, lambda values: (NAMES, ""), "five"))


def test_a_table_refuses_what_it_cannot_draw():
    with pytest.raises(ValueError, match="CorpusTable shows"):
        CorpusTable().postprocess({"kind": "scored"})
    assert corpus_packs.rows(["a"], [[None]], [["b"]]) == [[1, "a", [], ["b"]]]
