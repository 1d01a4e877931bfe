"""Runs with several beams: settings, steps, the tree, what is written, records and what the page is sent."""

import dataclasses
import json

import numpy as np
import pytest

from app.engine import _streamed
from app.steps import Steps
from app.turns import Turn
from core import Decoding, Settings, Trace
from core.errors import InputError, RecordError
from core.examples import saved
from core.records import browser_trace, pack
from core.runs import Run
from core.search_tree import FATES, FINISHED, KEPT
from core.trace import read_steps, step_arrays, step_head
from tests import models
from tests.beam_reference import searched

ENDS = [1, 20, 33]


def begun(family: str = "t5", **decoding) -> Run:
    """A run of a tiny model that may end at several tokens."""
    model = models.build(family)
    model.generation_config.eos_token_id = ENDS
    loaded = models.prepare(family, model, models.tokenizer())
    return Run(Settings(text=models.TEXT, decoding=Decoding(**{"max_new_tokens": 12, "beams": 4} | decoding)), loaded)


@pytest.fixture(scope="module")
def whole() -> Trace:
    going = begun()
    assert len(list(going)) > 1
    return going.trace()


@pytest.mark.parametrize("family", ["t5", "bart", "marian"])
def test_a_run_writes_the_best_hypothesis_of_generate(family):
    going = begun(family, length_penalty=0.6, early_stopping="never", no_repeat_ngram_size=2, encoder_no_repeat_ngram_size=3)
    list(going)
    trace = going.trace()
    (reference,) = searched(
        family, models.build(family, attention="eager"), [[t.id for t in trace.source]], 4, eos_token_id=ENDS,
        max_new_tokens=12, length_penalty=0.6, early_stopping="never", no_repeat_ngram_size=2, encoder_no_repeat_ngram_size=3,
    )
    assert [token.id for token in trace.target] == reference.sequences[0]
    assert trace.tree.score[trace.tree.best] == np.float32(reference.scores[0])
    assert trace.steps[-1].notes[-1].startswith("stopped")


def test_every_hypothesis_has_its_path(whole):
    """B01, B114: rows of the forwards that ranked its tokens, (layers, heads, target, source), each a distribution."""
    layers, heads = models.shared("t5").cross_shape
    for node in whole.tree.ranking:
        path = whole.path(node=node)
        assert path.shape == (layers, heads, len(whole.tree.path(node)), len(whole.source))
        np.testing.assert_allclose(path.sum(-1), 1, atol=1e-5)
    assert np.array_equal(whole.path(), whole.path(node=whole.tree.best))
    assert [place.id for place in whole.line()] == [token.id for token in whole.target]
    assert abs(whole.coverage().sum() - len(whole.target)) <= 1e-4
    with pytest.raises(InputError, match="no node 9999"):
        whole.path(node=9999)


@pytest.mark.parametrize("alpha", [0.0, 1.0, 2.0])
def test_log_p_under_the_length_rule_is_the_score(alpha):
    """B03: nothing penalised, so that the model's own log-probabilities add up."""
    going = begun(beams=2, length_penalty=alpha)
    list(going)
    trace = going.trace()
    total = sum(place.logprob for place in trace.line())
    assert total / len(trace.target) ** alpha == pytest.approx(trace.tree.score[trace.tree.best], abs=1e-4)


def test_a_length_penalty_does_nothing_to_a_single_beam():
    """B09."""
    written = []
    for alpha in (-3.0, 3.0):
        going = begun(beams=1, length_penalty=alpha)
        written.append([int(step.token[0]) for step in going])
        assert going.trace().tree is None
    assert written[0] == written[1]


def test_every_step_shows_what_leads_while_it_runs():
    """B13: it streams; the target is always the line of the first row, at the end that of the winner."""
    going = begun(early_stopping="never", length_penalty=2.0)
    for step in going:
        assert len(step.token) == 4 or not going.trace().tree.complete
        so_far = going.trace()
        assert [t.id for t in so_far.target] == [place.id for place in so_far.line()]
        assert so_far.text == models.tokenizer().decode([t.id for t in so_far.target], skip_special_tokens=True)
        assert Trace.from_bytes(so_far.to_bytes()) == so_far
    assert so_far.tree.complete and so_far.tree.fate[so_far.tree.best] == FINISHED


def test_a_ban_is_in_the_tree_with_its_reason():
    going = begun(no_repeat_ngram_size=1)
    list(going)
    fates = {FATES[fate] for fate in going.trace().tree.fate}
    assert "n-gram ban" in fates and {"kept", "rank"} <= fates
    assert any("row 1: banned" in note for step in going.steps for note in step.notes)


def test_settings_say_what_cannot_be():
    with pytest.raises(InputError, match="early_stopping is 'maybe'; it must be one of: false, true, never"):
        Decoding(early_stopping="maybe")
    with pytest.raises(InputError, match="not 3 beams"):
        Decoding(beams=3, do_sample=True)
    with pytest.raises(InputError, match="beams is 9"):
        Decoding(beams=9)
    assert json.loads(Settings(text="a", decoding=Decoding(beams=4)).to_json())["decoding"] == {"beams": 4}
    assert Decoding(beams=4, length_penalty=0.6).how == "4 beams, α 0.6, early stopping false"


def test_everything_banned_is_a_sentence():
    going = begun(encoder_no_repeat_ngram_size=1)
    going.loaded.model.generation_config.suppress_tokens = list(range(models.VOCABULARY))
    with pytest.raises(InputError, match="Every next token is banned after 0 tokens"):
        next(going)


# Records

def test_a_trace_of_beams_comes_back_from_its_bytes(whole):
    again = Trace.from_bytes(whole.to_bytes())
    assert again == whole and again.tree.ranking == whole.tree.ranking and again.tree.best == whole.tree.best
    assert browser_trace(again) == browser_trace(whole)
    assert "4 beams" in browser_trace(whole)["about"] and len(browser_trace(whole)["rows"]) == len(whole.target)


def test_one_changed_candidate_changes_the_digest(whole):
    step = whole.steps[1]
    total = step.ranked.total.copy()
    total[-1] -= 1e-3
    other = dataclasses.replace(step, ranked=dataclasses.replace(step.ranked, total=total))
    changed = dataclasses.replace(whole, steps=(whole.steps[0], other, *whole.steps[2:]))
    assert changed.digest != whole.digest


def test_old_traces_have_no_tree():
    for trace in saved():
        assert trace.tree is None and "ranked_texts" not in step_head(trace.steps[0])
        assert not any("ranked" in name for name in trace._arrays())


def _spoilt(trace: Trace, name: str, change) -> bytes:
    arrays = {key: array.copy() for key, array in trace._arrays().items()}
    arrays[name] = change(arrays[name])
    return pack("trace", trace.head() | {"steps": [step_head(step) for step in trace.steps]}, arrays)


def _first(value):
    def change(array):
        array[0] = value
        return array
    return change


@pytest.mark.parametrize(("name", "change"), [
    ("steps.1.ranked_row", _first(4)), ("steps.1.ranked_row", _first(-1)), ("steps.1.ranked_fate", _first(len(FATES))),
    ("steps.1.ranked_fate", lambda a: np.full_like(a, 2)), ("steps.1.ranked_total", _first(np.nan)),
    ("steps.1.ranked_score", _first(np.inf)), ("steps.1.ranked_logprob", _first(-np.inf)), ("steps.1.ranked_token", _first(-5)),
    ("steps.1.ranked_total", lambda a: a[:-1]), ("steps.1.ranked_total", lambda a: a.astype(np.float64)),
    ("steps.0.ranked_fate", lambda a: np.where(a == KEPT, 5, a).astype(np.uint8)), ("steps.1.token", _first(3)),
    *[(f"steps.0.ranked_{name}", lambda a: np.repeat(a, 500)) for name in ("row", "total")],
])
def test_hostile_trees_are_record_errors(whole, name, change):
    assert Trace.from_bytes(_spoilt(whole, name, lambda a: a)) == whole
    with pytest.raises(RecordError):
        Trace.from_bytes(_spoilt(whole, name, change))


def test_some_steps_without_a_level_are_refused(whole):
    heads = [step_head(step) for step in whole.steps]
    arrays = {f"steps.{step.index}.{name}": array for step in whole.steps for name, array in step_arrays(step).items()}
    assert len(read_steps(heads, arrays, len(whole.source))) == len(whole.steps)
    left = {name: array for name, array in arrays.items() if not name.startswith("steps.1.ranked")}
    with pytest.raises(ValueError, match="at some steps and not at others"):
        read_steps(heads, left, len(whole.source))


# The page

def test_streamed_rows_add_up_to_the_leading_hypothesis(monkeypatch):
    """As the stepper takes them: rows that changed stand in the place of the earlier ones."""
    monkeypatch.setattr("app.engine.PATIENCE", 0)
    monkeypatch.setattr("app.engine.INTERVAL", 0)
    going = begun(early_stopping="never", length_penalty=2.0)
    shown, changes = [], 0
    for message in _streamed(going, Steps(going, Turn(), lambda: True, 0)):
        if message["kind"] == "rows":
            assert ("changed" in message) == (message["from"] < len(shown))
            changes += "changed" in message
            shown = shown[: message["from"]] + message["rows"]
            assert [row["t"][1] for row in shown] == [token.id for token in going.target]
    assert changes and message["kind"] == "trace" and message == browser_trace(going.trace())
