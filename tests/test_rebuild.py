"""The model rebuilds: runs under noise replay, spans are found in what was written, and the loss is that of the sheet."""

import dataclasses

import numpy as np
import pytest
import torch

from core import Settings, Trace
from core.decode.search import Request
from core.errors import InputError, ModelError
from core.examples import saved
from core.forced import force
from core.noise import NOISES, corrupt, units_for
from core.noise.drawn import KINDS, SENTINEL
from core.noise.published import BART_TABLE, TABLES, figures_of
from core.noise.rebuild import judge, rebuild, settings_for
from core.noise.table import every
from core.noising import NOISE_NAMES, NoiseSettings
from core.runs import Run
from core.settings import Decoding
from core.train.forcing import decoder_input, forced
from tests import models as tiny

TEXT = "a dog runs on the beach. two men sits under the tree. the cat sleeps in a blue house."
SHORT = Decoding(max_new_tokens=12)


@pytest.fixture(scope="module")
def t5():
    return tiny.noisy("t5")


@pytest.fixture(scope="module")
def bart():
    return tiny.noisy("bart")


def written(ids: list[int], monkeypatch) -> None:
    """From here on every run writes `ids`, whatever the model thinks."""
    def search(start, eos, limit):
        parent = np.zeros(1, np.int32)
        yield Request(np.array([start], np.int32), parent)
        for k, id in enumerate(ids, 1):
            # its log P must come along: nobody looks it up where the model ranks the id low
            yield Request(np.array([id], np.int32), parent, k == len(ids), np.zeros(1, np.float32))

    monkeypatch.setattr("core.decode.choosing.greedy", search)


def ids(tokens) -> list[int]:
    return [token.id for token in tokens]


# A run under noise

@pytest.mark.parametrize("name", ["spans", "text_infilling", "token_deletion"])
def test_a_run_under_noise_is_reproduced_by_its_settings(name, t5):
    made = corrupt(units_for(t5, TEXT), NOISES[name].usual(seed=3, rate=0.4))
    found = rebuild(t5, made, SHORT)
    settings, unknown = Settings.from_json(found.trace.settings.to_json())
    assert settings == settings_for(t5, made, SHORT) and unknown == []
    again = Run(settings, t5)
    assert again.corruption == made and again.source == made.corrupted and again.prefix_tokens == 0
    assert list(again) and again.trace() == found.trace
    assert Trace.from_bytes(found.trace.to_bytes()) == found.trace
    assert again.id != Run(dataclasses.replace(settings, noise=NoiseSettings()), t5).id


def test_saved_traces_keep_their_ids():
    """The noise of a run without any leaves no mark in what its id is made of."""
    for trace in saved():
        assert "noise" not in trace.settings.to_json()


def test_the_greedy_log_probabilities_are_those_of_teacher_forcing(t5, bart):
    for loaded in (t5, bart):
        made = corrupt(units_for(loaded, TEXT), NOISES["spans"].usual(rate=0.3))
        trace = rebuild(loaded, made, SHORT).trace
        pass_ = force(loaded, ids(made.corrupted), ids(trace.target))
        np.testing.assert_allclose(pass_.logprobs, [float(step.logprob[0]) for step in trace.steps], atol=1e-4)
        np.testing.assert_allclose(pass_.cross_weights, trace.path(), atol=1e-5)


def test_the_loss_is_that_of_training(t5):
    made = corrupt(units_for(t5, TEXT), NOISES["spans"].usual())
    found = rebuild(t5, made, SHORT)
    source, labels = torch.tensor([ids(made.corrupted)]), torch.tensor([ids(made.target)])
    wanted = forced(t5.model, source, torch.ones_like(source), labels).loss
    assert found.loss == pytest.approx(float(wanted), abs=1e-5)
    assert found.loss == pytest.approx(-found.forced.logprobs.sum() / len(made.target), abs=1e-5)
    assert sum(span.logprob for span in found.spans) > found.forced.logprobs.sum()  # sentinels and eos cost too
    for span in found.spans:
        assert found.rows(span).shape == (3, 4, len(span.true), len(made.corrupted))
        np.testing.assert_allclose(found.rows(span).sum(-1), 1, atol=1e-5)
        assert list(span.true) == made.hidden(span.span)


# What was written for a span

@pytest.mark.parametrize("mode", ["code", "paper"])
@pytest.mark.parametrize("name", sorted(NOISES))
def test_a_model_that_writes_the_target_is_right_everywhere(name, mode, t5, monkeypatch):
    made = corrupt(units_for(t5, TEXT), NOISES[name].usual(mode=mode, seed=2, hide=(0, 1)))
    written(ids(made.target), monkeypatch)
    found = rebuild(t5, made)
    assert found.exact and found.right == len(found.spans)
    for span in found.spans:
        assert ids(span.wrote) == ids(span.true) == ids(made.hidden(span.span))
    assert sum(len(span.wrote) for span in found.spans) == (made.source_span >= 0).sum()


def test_one_wrong_span_among_sentinels(t5, monkeypatch):
    made = corrupt(units_for(t5, TEXT), NoiseSettings("spans", rate=0.0, hide=(1, 2, 5, 9)))
    target = ids(made.target)
    sentinels = [k for k, kind in enumerate(made.target_kind) if KINDS[kind] == SENTINEL]
    cat = units_for(t5, "cat").ids
    written([*target[: sentinels[1] + 1], *cat, *cat, *target[sentinels[2] :]], monkeypatch)
    found = rebuild(t5, made)
    assert [span.right for span in found.spans] == [True, False, True] and not found.exact
    assert [t.text for t in found.spans[1].wrote] == ["cat", "cat"]
    assert [found.trace.target[k] for k in found.spans[1].wrote_rows] == list(found.spans[1].wrote)


def test_an_output_without_sentinels_fills_nothing(t5, monkeypatch):
    made = corrupt(units_for(t5, TEXT), NoiseSettings("spans", rate=0.0, hide=(1, 5)))
    written(ids(made.source), monkeypatch)
    assert [span.wrote for span in rebuild(t5, made).spans] == [(), ()]


def test_a_span_that_the_code_writes_before_its_first_sentinel(t5, monkeypatch):
    made = corrupt(units_for(t5, TEXT), NoiseSettings("spans", rate=0.0, hide=(0, 5)))
    written(ids(made.target), monkeypatch)
    found = rebuild(t5, made)
    assert [ids(span.wrote) for span in found.spans] == [ids(span.true) for span in found.spans] == [
        ids([made.source[k]]) for k in (0, 5)]


def test_alignment_finds_more_or_fewer_words_than_were_hidden(bart, monkeypatch):
    made = corrupt(units_for(bart, TEXT), NoiseSettings("text_infilling", rate=0.0, hide=(1, 8)))
    source, blue = ids(made.source), units_for(bart, "blue green").ids
    written([*source[:1], *blue, *source[2:8], *source[9:]], monkeypatch)
    found = rebuild(bart, made)
    assert [[t.text for t in span.wrote] for span in found.spans] == [["blue", "green"], []]
    assert [span.right for span in found.spans] == [False, False]


def test_a_run_that_has_only_begun_can_be_judged(t5):
    going = Run(settings_for(t5, corrupt(units_for(t5, TEXT), NOISES["spans"].usual())), t5)
    next(going)
    assert len(judge(going).trace.steps) == 1
    with pytest.raises(InputError, match="no noise"):
        judge(Run(Settings(TEXT, "t5"), t5))


# What cannot be rebuilt

def test_refusals_are_sentences(t5, bart):
    other = tiny.noisy("t5", sentinels=3)
    made = corrupt(units_for(t5, TEXT), NOISES["iid"].usual(rate=0.9, seed=1))
    with pytest.raises(InputError, match="vocabulary of t5"):
        rebuild(other, made)
    with pytest.raises(InputError, match="empty"):
        rebuild(t5, corrupt(units_for(t5, ""), NOISES["spans"].usual()))
    long = corrupt(units_for(bart, "dog " * 60), NOISES["token_insertion"].usual(insert_rate=1.0))
    with pytest.raises(InputError, match="at most 64"):
        rebuild(bart, long)
    for source, target in (([], [1]), ([5] * 65, [1]), ([5], [1] * 65)):
        with pytest.raises(InputError):
            force(bart, source, target)
    assert np.isnan(force(bart, [5], []).loss)


def test_everything_deleted_leaves_only_the_end_token(t5):
    made = corrupt(units_for(t5, "a dog"), NOISES["token_deletion"].usual(rate=1.0))
    assert ids(made.corrupted) == [1] and rebuild(t5, made, SHORT).trace.steps


# Start tokens, of the public list 3.2

def test_b21_b22_b25_decoder_input_has_one_start_token_and_loses_none(t5):
    for labels in ([7, 8, 1], [0, 7, 8, 1], ids(units_for(t5, "blue house").tokens)):
        fed = decoder_input(t5.model, torch.tensor([labels]))[0].tolist()
        assert fed == [0, *labels[:-1]]
    assert len(force(t5, [5, 1], [7, 8, 1]).logprobs) == 3


def test_b23_eos_inside_a_padded_decoder_input_is_not_scored(t5):
    labels = torch.tensor([[5, 6, 1, -100]])
    assert decoder_input(t5.model, labels).tolist() == [[0, 5, 6, 1]]
    source = torch.tensor([[5, 1]])
    assert forced(t5.model, source, torch.ones_like(source), labels).nll[0, 3] == 0


# The table

def test_every_noise_has_a_row(t5):
    rows = list(every(TEXT, t5, seed=1))
    assert [row.name for row in rows] == list(NOISE_NAMES) and not any(row.reason for row in rows)
    for row in rows:
        assert row.loss > 0 and row.exact is False and 0 <= row.right <= row.spans
        assert row.length == len(row.corruption.corrupted) and 0 <= row.achieved <= 1


def test_a_model_without_a_mask_token_says_so_in_the_table():
    loaded = tiny.noisy("t5", mask=False)
    reasons = {row.name: row.reason for row in every("a dog runs.", loaded)}
    assert "mask token" in reasons["text_infilling"] and reasons["spans"] == ""
    without = list(every("", tiny.noisy("t5")))
    assert [row.name for row in without] == list(NOISE_NAMES) and all("empty" in row.reason for row in without)


def test_published_figures_are_whole():
    names = {row.noise for table in TABLES for row in table.rows} - {""}
    assert names <= set(NOISES)
    for table in TABLES:
        assert all(len(row.values) == len(table.columns) == len(table.higher) for row in table.rows) and "read" in table.source
    (table, row), = figures_of("text_infilling")
    assert table is BART_TABLE and row.values == (90.8, 84.0, 24.26, 6.61, 11.05, 5.83)
    assert [table.name[:14] for table, _ in figures_of("spans")] == ["T5, i.i.d. aga"] and figures_of("electra") == []


def test_a_model_that_is_not_there():
    from core import run

    with pytest.raises(ModelError):
        run(Settings(TEXT, "no/such", noise=NOISES["spans"].usual()))
