"""A corpus under one to three settings: written as each text alone, a step at a time; scored, tested, kept; what is refused."""

import json

import numpy as np
import pytest

from core import record
from core.corpus_result import CorpusResult
from core.errors import InputError, RecordError
from core.examples import OWN
from core.metrics import scores
from core.metrics.corpus import Corpus
from core.models import Models
from core.records import pack, split
from core.sessions import Store
from core.sessions.rows import digest_of
from core.settings import Decoding, Settings
from core.translating import Translating

TEXTS = tuple(row["en"] for row in OWN[:6])
REFERENCES = (tuple(row["de"] for row in OWN[:6]),)
TWO = [Settings(), Settings(decoding=Decoding(beams=3))]
ALL = Corpus(TEXTS, (), REFERENCES)
NAMES = ["BLEU", "chrF2", "TER", "repetition"]


@pytest.fixture(scope="module")
def registry() -> Models:
    found = Models()
    found.load("pocket-t5")
    return found


def whole(registry, settings=TWO, corpus=ALL, names=NAMES, more=()) -> CorpusResult:
    going = Translating(settings, corpus, registry)
    for _ in going:
        pass
    *shares, found = going.result(names, "", more)
    assert shares and all(0 <= share <= 1 for share in shares)
    return found


@pytest.fixture(scope="module")
def result(registry) -> CorpusResult:
    return whole(registry)


def test_every_output_is_what_the_text_alone_gives(registry, result):
    for system, settings in zip(result.systems, TWO, strict=True):
        for at, text in enumerate(TEXTS):
            trace = record(Settings(text, decoding=settings.decoding), registry)
            assert system.outputs[at] == trace.text
    assert result.systems[0].outputs != result.systems[1].outputs


def test_scores_are_the_registrys_and_rows_are_of_each_text(result):
    for system, values in zip(result.systems, zip(*(result.values[name] for name in NAMES)), strict=True):
        of_all = {score.name: score for score in scores(list(system.outputs), list(REFERENCES[0]), names=NAMES)}
        assert len(system.scores) == len(NAMES)
        for score in system.scores:
            assert score.value == pytest.approx(of_all[score.name].value) and score.signature == of_all[score.name].signature
        for name, row in zip(NAMES, values):
            alone = scores([system.outputs[2]], [REFERENCES[0][2]], names=[name])[0]
            assert row[2] == pytest.approx(alone.value, abs=1e-3)
    assert result.values["tokens"].shape == (2, len(TEXTS)) and (result.values["log P"] < 0).all()


def test_systems_are_tested_against_the_first_and_equal_ones_are_identical(registry):
    found = whole(registry, [TWO[0], TWO[0], TWO[1]])
    verdicts = {(test.system, test.metric): test for test in found.tests}
    assert verdicts["A", "BLEU"].verdict == "baseline"
    assert verdicts["B", "BLEU"].verdict == "identical" and verdicts["B", "BLEU"].p == 1
    assert verdicts["C", "BLEU"].verdict.startswith("p = ")
    assert found.tests and all("under 100" in test.warning and test.half is not None and test.signature for test in found.tests)
    (alone,) = {test.system for test in whole(registry, [TWO[0]]).tests}
    assert alone == "A"


def test_without_references_nothing_is_tested(registry):
    found = whole(registry, corpus=Corpus(TEXTS[:2]))
    assert not found.tests and [score.name for score in found.systems[0].scores] == ["repetition"]
    assert "2 texts. A greedy: repetition" in found.sentence


def test_each_call_is_one_step_of_the_decoder(registry):
    """What the page does in one turn: never two texts, never two steps."""
    steps, made = [], 0
    hook = registry.load("pocket-t5").model.decoder.register_forward_hook(lambda *found: steps.append(1))
    try:
        for _ in Translating(TWO, Corpus(TEXTS[:3]), registry):
            assert len(steps) <= 1
            made += len(steps)
            steps.clear()
    finally:
        hook.remove()
    assert made > 3 * len(TWO)  # each text has several, and the hook has seen them


def test_a_text_that_cannot_be_read_is_passed_over_and_said(registry):
    found = whole(registry, corpus=Corpus(("", "A dog runs.", "<extra_id_0>"), (), (("a", "Ein Hund.", "b"),)), more=["Stopped."])
    assert [found.systems[0].outputs[at] for at in (0, 2)] == ["", ""] and found.systems[0].outputs[1]
    assert found.notes[0] == "Stopped." and "Text 1 was not read: The text is empty" in found.notes[1]
    assert "Text 3" in found.notes[2] and np.isnan(found.values["log P"][:, 0]).all()
    many = whole(registry, corpus=Corpus(("",) * 9))
    assert any("4 more texts were not read" in note for note in many.notes)


@pytest.mark.parametrize("settings, corpus, said", [
    ([], Corpus(TEXTS), "choose 1 to 3"), ([Settings()] * 4, Corpus(TEXTS), "4 settings are chosen"),
    (TWO, Corpus(), "no source"), (TWO, Corpus(TEXTS, (), (("a",),)), "6 sources and 1 lines of references"),
])
def test_what_cannot_be_written_is_refused(registry, settings, corpus, said):
    with pytest.raises(InputError, match=said):
        Translating(settings, corpus, registry)


def test_stopped_before_the_first_text_there_is_nothing_to_score(registry):
    going = Translating(TWO, Corpus(TEXTS), registry)
    next(going)
    going.close()
    with pytest.raises(InputError, match="No text was written"):
        next(going.result(NAMES, ""))


# The record

def test_bytes_give_the_same_record(result):
    again = CorpusResult.from_bytes(result.to_bytes())
    assert again.id == result.id and again.sentence == result.sentence and again.tests == result.tests
    assert digest_of(again) == digest_of(result)
    for name, array in result.values.items():
        np.testing.assert_array_equal(again.values[name], array)


def test_a_session_keeps_it(result, tmp_path):
    store = Store(tmp_path)
    session = store.create("me", "Corpora")
    store.keep(session.id, result)
    (kept,) = store.kept(session)
    assert kept.kind == "corpus" and kept.output == result.sentence and kept.input == TEXTS[0]
    assert digest_of(store.load(session, kept.row)) == digest_of(result)


@pytest.mark.parametrize("change, said", [
    (lambda head: head["systems"][0]["outputs"].pop(), "5 texts where there are 6 sources"),
    (lambda head: head["sources"].clear(), "0 texts"), (lambda head: head.update(systems=[]), "0 systems"),
    (lambda head: head["tests"][0].update(score="high"), "no finite number"),
    (lambda head: head["systems"][0]["scores"][0].update(value=float("nan")), "no finite number"),
    (lambda head: head["references"][0].__setitem__(0, 7), "something else"),
    (lambda head: head.update(values=["a"] * 99), "KeyError"),
])
def test_a_spoilt_record_is_refused(result, change, said):
    kind, head, arrays = split(result.to_bytes())
    change(head)
    with pytest.raises(RecordError, match="missing or damaged") as refused:
        CorpusResult.from_bytes(pack(kind, json.loads(json.dumps(head)), arrays))
    assert said in repr(refused.value.__cause__)


def test_numbers_of_another_shape_are_refused(result):
    kind, head, arrays = split(result.to_bytes())
    for values, said in ((arrays["values.0"][:, :2], "not float32"), (np.full_like(arrays["values.0"], np.inf), "not finite")):
        with pytest.raises(RecordError, match="missing or damaged") as refused:
            CorpusResult.from_bytes(pack(kind, head, arrays | {"values.0": values}))
        assert said in str(refused.value.__cause__)
