"""The noise tab without a browser: bad input, each noise, edits, rebuilding, the table, and a tokenizer without transformers."""

import json
from types import SimpleNamespace

import pytest

from app.corruptions import TAUGHT, Corruptions
from app.engine import Engine
from app.noise_controls import FIRST, START, noise_controls, turn_of, updates, visible
from app.views.noise import dated, offer, quick, settings_of, slow
from core.errors import InputError, ModelError
from core.examples import SUMMARIES
from core.models import ASSETS, BUNDLED, Models
from core.models.vocabulary import Vocabulary, rows_in
from core.noise import NOISES, units, units_for
from core.settings import MAX_TOKENS, Settings
from tests import models as tiny

TEXT = "A girl with a yellow umbrella is waiting. The bus comes late. 馬 <extra_id_3>"
MASKLESS = {name for name, noise in NOISES.items() if noise.needs == "mask"}


@pytest.fixture(scope="module")
def engine(tmp_path_factory) -> Engine:
    """pocket-t5, and a tiny BART whose vocabulary has a mask and sentinels."""
    folder = tiny.saved(tiny.noisy("bart"), tmp_path_factory.mktemp("models") / "tiny")
    return Engine(Models({"tiny": folder}))


@pytest.fixture(scope="module")
def made(engine) -> Corruptions:
    return Corruptions(engine)


@pytest.fixture(scope="module")
def page():
    """Noise controls and stand-ins for text and model; and the values that a browser sends at first."""
    import gradio as gr

    with gr.Blocks():
        noise = noise_controls()
        controls = SimpleNamespace(text=gr.Textbox(), model=gr.Textbox())
    values = {component: component.value for component in noise.inputs()}
    return noise, controls, values | {controls.text: TEXT, controls.model: "pocket-t5"}


def named(noise, **values) -> dict:
    """Values by field name as the page sends them, by component."""
    extra = {"name": noise.name, "edits": noise.edits}
    return {(noise.fields.get(key) or extra[key]): value for key, value in values.items()}


def test_a_tokenizer_alone_cuts_as_the_loaded_model_does(engine):
    for name, folder in (("pocket-t5", ASSETS / "pocket-t5"), ("tiny", engine.models.folders["tiny"])):
        loaded = engine.models.load(name)
        for text in (TEXT, "two men sits under the tree near " * 40, "", "a <mask> b"):
            light = units(Vocabulary(folder), text, MAX_TOKENS, rows_in(folder))
            assert light == units_for(loaded, text) if loaded.max_source >= MAX_TOKENS else light.special


def test_a_folder_without_a_tokenizer_file_says_so(tmp_path):
    (tmp_path / "tokenizer_config.json").write_text("{}")
    with pytest.raises(ModelError, match="cannot be read before the model is loaded"):
        Vocabulary(tmp_path)
    with pytest.raises(ModelError, match="not loaded yet"):
        Models(allow_hub=True).vocabulary("owner/name")


def test_the_first_picture_needs_no_model():
    made = Corruptions(Engine(Models()))
    first = made.counted(Settings(TEXT, "pocket-t5", noise=NOISES[FIRST].usual(**START)))
    assert not made.engine.models.is_loaded("pocket-t5")
    assert len(first["shares"]) == len(first["source"]) == len(first["span"]) and max(first["shares"]) > 0
    assert set(made.impossible("pocket-t5")) == MASKLESS


@pytest.mark.parametrize("name", sorted(NOISES))
@pytest.mark.parametrize("model", ["pocket-t5", "tiny"])
def test_each_noise_is_drawn_or_refused_with_a_reason(made, name, model):
    asked = Settings("a dog runs. two men sits under the tree.", model, noise=NOISES[name].usual(seed=3))
    answer = quick(lambda: made.counted(asked))
    if model == "pocket-t5" and name in MASKLESS:
        assert answer["kind"] == "refused" and "mask token" in answer["text"]
        return
    json.dumps(answer)
    assert answer["kind"] == "corruption" and answer["noise"] == name and len(answer["series"]) == 4 * (name == "roberta")
    for side in ("corrupted", "target"):
        assert len({len(answer[side][key]) for key in ("tokens", "from", "span", "kind")}) == 1


@pytest.mark.parametrize(("changes", "said"), [
    ({"rate": 7}, "rate is 7"), ({"rate": "x"}, "rate must be float"), ({"rate": float("nan")}, "rate is nan"),
    ({"mean_span": None}, "mean_span must be float"), ({"seed": -1}, "seed is -1"), ({"seed": 0.5}, "seed must be int"),
    ({"seed": 10**400}, "seed is"), ({"name": "bogus"}, "There is no noise"), ({"name": ["spans"]}, "name must be str"),
    ({"mode": "both"}, "mode is 'both'"), ({"roll": 1}, "roll must be bool"),
])
def test_values_out_of_range_are_a_sentence(page, changes, said):
    noise, controls, values = page
    sent = values | named(noise, **changes)
    answer = quick(lambda: settings_of(noise, controls, sent))
    assert answer["kind"] == "refused" and said in answer["text"] and len(answer["text"]) < 400


@pytest.mark.parametrize(("text", "model", "said"), [
    (7, "pocket-t5", "text must be str"), ("x" * 5000, "pocket-t5", "5,000 characters"), ("a\0b", "pocket-t5", "NUL"),
    ("a \ud83d", "pocket-t5", "half a character"), (TEXT, "../x", "There is no model"), (TEXT, 5, "model must be str"),
    (TEXT, "owner/name", "from the hub"),
])
def test_texts_and_models_that_cannot_be_read_are_a_sentence(made, page, text, model, said):
    noise, controls, values = page
    answer = quick(lambda: made.counted(settings_of(noise, controls, values | {controls.text: text, controls.model: model})))
    assert answer["kind"] == "refused" and said in answer["text"]


@pytest.mark.parametrize("text", ["", None, " ", "a", "<extra_id_0>", "<img src=x onerror=1> </s>", "日本語", "word " * 700])
def test_odd_texts_are_drawn(made, page, text):
    noise, controls, values = page
    answer = quick(lambda: made.counted(settings_of(noise, controls, values | {controls.text: text})))
    assert answer["kind"] == "corruption" and len(answer["source"]) <= MAX_TOKENS


def test_edits_are_kept_for_their_text_only(made, page):
    noise, controls, values = page
    edits = {"hide": [0, 1], "show": [], "turn": 1, "of": ["pocket-t5", TEXT]}
    mine = made.shown(settings_of(noise, controls, values | {noise.edits: edits}))
    assert mine["mask"][:2] == [True, True] and mine["hide"] == [0, 1]
    moved = values | named(noise, seed=5.0) | {noise.edits: edits}  # another seed keeps them, another text does not
    assert made.shown(settings_of(noise, controls, moved))["hide"] == [0, 1]
    other = values | {noise.edits: edits, controls.text: "A dog runs on the beach."}
    assert made.shown(settings_of(noise, controls, other))["hide"] == []


@pytest.mark.parametrize("data", [None, [], {}, "hide", {"hide": [1]}, {"of": [], "hide": [1]}, {"of": ["pocket-t5", TEXT]}])
def test_what_is_no_edit_edits_nothing(page, data):
    noise, controls, values = page
    settings = settings_of(noise, controls, values | {noise.edits: data})
    assert settings.noise.hide == settings.noise.show == () and turn_of(data) == 0


@pytest.mark.parametrize("lists", [
    {"hide": ["x"]}, {"hide": [-1]}, {"hide": [3], "show": [3]}, {"hide": [10**9]}, {"show": [{}]}, {"hide": 7}, {"hide": "12"},
    {"show": None}, {"hide": list(range(10**5))},
])
def test_edits_that_cannot_be_are_a_sentence(page, lists):
    noise, controls, values = page
    with pytest.raises(InputError):
        settings_of(noise, controls, values | {noise.edits: lists | {"of": ["pocket-t5", TEXT]}})


def test_answers_and_refusals_say_when_and_after_which_edit_they_were_asked():
    def broken() -> dict:
        raise InputError("No.")

    first, second = dated({"turn": 3}, lambda: {"kind": "corruption"}), dated({"turn": 4}, broken)
    assert (first["turn"], second["turn"]) == (3, 4) and first["asked"] <= second["asked"]
    assert second["kind"] == "refused" and second["text"] == "No."
    assert [turn_of({"turn": turn}) for turn in (-1, True, "1", 1.5, 10**400, None)] == [0] * 6


def test_picking_sets_all_that_a_noise_reads_at_its_usual_values(page):
    noise = page[0]
    names = {id(part): name for name, part in noise.fields.items()}
    picked = [names[id(part)] for part in noise.picked()]
    assert {*picked, "seed", "mode"} == set(noise.fields)
    for name, changes in updates().items():
        json.dumps(changes)
        shown = {field for field, one in zip(picked, changes, strict=True) if one["visible"]}
        assert {"seed", "mode", *shown} == visible(NOISES[name])
        assert NOISES[name].usual(**{field: one["value"] for field, one in zip(picked, changes)}) == NOISES[name].usual()


def test_a_model_is_offered_what_its_vocabulary_can_do(made):
    assert offer(made, "no such")["why"] == {} and set(offer(made, "pocket-t5")["why"]) == MASKLESS


def test_the_model_rebuilds_each_span(made):
    asked = Settings("a dog runs on the beach. two men sits.", "pocket-t5", noise=NOISES["spans"].usual(rate=0.3))
    *_, last = slow(lambda: made.rebuilt(asked, "ann"))
    json.dumps(last, allow_nan=False)
    assert last["kind"] == "rebuilt" and last["learned"] and last["loss"] > 0 and not last["stopped"]
    assert last["id"] == made.shown(asked)["id"]  # what was shown is what was rebuilt
    assert last["spans"]
    for span in last["spans"]:
        assert len(span["weights"]) == len(span["true"]) == len(span["each"])
        assert all(len(row) == len(last["source"]) for row in span["weights"])
        assert sum(span["each"]) == pytest.approx(span["logprob"], abs=1e-3)


def test_what_a_model_never_learned_is_said(made):
    five = " ".join(SUMMARIES[0])

    def said(model: str, noise: str, text: str = five) -> tuple[bool, bool]:
        found = made.taught(Settings(text, model, noise=NOISES[noise].usual()))
        assert found["tasks"] == made.engine.models.tasks(model)
        return found["learned"], found["short"]

    assert {task for name in BUNDLED for task in made.engine.models.tasks(name)} > set(TAUGHT)
    assert said("pocket-t5", "spans") == said("pocket-bart", "text_infilling") == (True, False)
    assert said("pocket-t5", "deshuffle") == said("pocket-bart", "spans") == said("pocket-bart", "electra") == (False, False)
    assert said("pocket-bart", "text_infilling", "A dog runs.") == (True, True)
    assert said("tiny", "deshuffle", "a dog.") == (True, False)  # of others nothing is claimed


def test_stop_ends_rebuilding_and_the_table_with_what_is_there(made, monkeypatch):
    monkeypatch.setattr("app.corruptions.INTERVAL", 0)
    asked = Settings("many people " * 20, "pocket-t5", noise=NOISES["spans"].usual())
    going = made.rebuilt(asked, "ann")
    assert next(going)["kind"] == "progress"
    made.engine.latest.stop("ann")
    *_, last = going
    assert last["kind"] == "rebuilt" and last["stopped"] and last["n"] < 10
    table = made.table(Settings("a dog.", "pocket-t5"), "ann")
    next(table), next(table)
    made.engine.latest.stop("ann")
    (last,) = table
    assert last["stopped"] and len(last["rows"]) == 1


def test_a_newer_run_of_the_same_visitor_ends_the_older(made, monkeypatch):
    monkeypatch.setattr("app.corruptions.INTERVAL", 0)
    older = made.rebuilt(Settings("many people " * 20, "pocket-t5", noise=NOISES["spans"].usual()), "eve")
    next(older)
    made.engine.latest.begin("eve")
    assert list(older) == []


def test_the_table_grows_row_by_row(made):
    messages = list(slow(lambda: made.table(Settings("a dog runs. two men sits.", "tiny"), "bob")))
    assert [len(message["rows"]) for message in messages] == list(range(len(NOISES) + 1))
    json.dumps(messages[-1], allow_nan=False)
    row = next(row for row in messages[-1]["rows"] if row["name"] == "text_infilling")
    assert row["published"][0]["table"].startswith("BART Table 1") and row["loss"] > 0


def test_what_goes_wrong_is_a_sentence_and_logged(caplog):
    def broken():
        raise RuntimeError("secret detail")
        yield

    (answer,) = slow(broken)
    assert answer["kind"] == "refused" and "secret" not in answer["text"] and "secret detail" in caplog.text
