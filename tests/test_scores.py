"""The scores of the pocket models: Moses' cuts, hidden words, ROUGE-L against the reference's values, the table."""

import numpy as np
import pytest
import sacrebleu

from core.train.card import as_trained, loss_table, score_row, time_line
from core.train.moses import tokenize
from core.train.recipes import RECIPES
from core.train.scores import (
    Documents,
    Images,
    denoising_scores,
    fill_score,
    filled,
    hidden_words,
    images,
    infilled_documents,
    rouge_l,
    summary_scores,
    tokenised_bleu,
    translation_scores,
)
from core.train.shipping import better


@pytest.mark.parametrize("text, language, wanted", [
    ("A dog's ball, don't 1,000 (old) T-shirt.", "en", "A dog 's ball , don 't 1,000 ( old ) T-shirt ."),
    ("Wait... Mr. Smith", "en", "Wait ... Mr. Smith"),
    ("L'homme d'eau.", "fr", "L' homme d' eau ."),
    ('Ein "Mann" mit E.S.E. Logo.', "de", 'Ein " Mann " mit E.S.E. Logo .'),
    ("", "de", ""),
])
def test_moses(text, language, wanted):
    assert " ".join(tokenize(text, language)) == wanted


def test_bleu4_is_lower_cased_and_cut():
    score = tokenised_bleu(["L'HOMME court."], ["l'homme court."], "fr")
    assert score.value == pytest.approx(100) and "moses-fr" in score.signature and "case:lc" in score.signature


def test_bleu_is_sacrebleus():
    ours, theirs = ["the cat sat on the mat", "a dog"], ["the cat sat on a mat", "a dog runs"]
    cased = translation_scores(ours, theirs)[0]
    assert cased.value == sacrebleu.corpus_bleu(ours, [theirs]).score
    assert str(cased).startswith(f"BLEU = {cased.value:.2f}  nrefs:1|case:mixed")
    with pytest.raises(ValueError, match="1 outputs for 2 references"):
        translation_scores(["a"], ["a", "b"])


@pytest.mark.parametrize("output, word", [
    ("<extra_id_0> man<extra_id_1></s>", "man"), ("<pad><extra_id_0> man</s>", "man"), ("man</s>", "man"), ("", ""),
])
def test_filled(output, word):
    assert filled(output) == word


def test_hidden_words_are_the_same_for_a_seed(tmp_path):
    (tmp_path / "test.en").write_text("A man runs.\n1 2 3\nTwo dogs sit.\n", "utf-8")
    found = hidden_words(tmp_path, "test")
    assert found == hidden_words(tmp_path, "test")
    assert len(found.words) == 2  # the line without a word is left out
    outputs = [f"<extra_id_0> {word}<extra_id_1></s>" for word in found.words]
    assert fill_score(outputs, found.words).value == 100
    assert fill_score(["x", outputs[1]], found.words).value == 50


@pytest.mark.parametrize("text, references, wanted", [
    ("the cat sat on the mat", ["the cat is on the mat"], 100 * 5 / 6),
    ("The Cat!", ["a dog", "the cat"], 100), ("", ["a"], 0), ("Mädchen", ["M dchen"], 100),
])
def test_rouge_l(text, references, wanted):
    assert rouge_l(text, references) == pytest.approx(wanted)


def test_summaries_are_scored_on_captions_that_were_not_read(tmp_path):
    for k in range(1, 6):
        (tmp_path / f"captions.test.{k}.en").write_text(f"a{k}\nb{k}\n", "utf-8")
    found = images(tmp_path, "test")
    for row, (inputs, held_out) in zip("ab", zip(found.inputs, found.held_out)):
        assert sorted(inputs + held_out) == [f"{row}{k}" for k in range(1, 6)]
    one = Images([["a dog", "a dog runs", "a cat"]], [["a dog runs", "the dog"]])
    ours, inputs = summary_scores(["a dog runs"], one)
    assert ours.value == 100 and inputs.value == pytest.approx(np.mean([80, 100, 40]))


def test_restored_words():
    found = Documents(["a dog runs over a hill"], ["a <mask> over <mask> hill"], [["dog", "runs", "a"]])
    ours, theirs, words = denoising_scores(["a dog sits over a hill"], found)
    assert ours.value > theirs.value
    assert words.value == pytest.approx(200 / 3)
    assert denoising_scores(["a over hill"], found)[2].value == 0


def test_documents_lose_words_to_masks(tmp_path):
    for k in range(1, 6):
        (tmp_path / f"captions.test.{k}.en").write_text(f"one two {k}.\n", "utf-8")
    found = infilled_documents(tmp_path, "test")
    assert found == infilled_documents(tmp_path, "test")
    assert found.clean == ["one two 1. one two 2. one two 3. one two 4. one two 5."]
    left = found.noisy[0].replace("<mask>", " ").split()
    assert sorted(left + found.hidden[0]) == sorted(found.clean[0].split())
    assert 1 <= len(found.hidden[0]) <= 5


def test_a_new_model_ships_when_the_shared_tasks_are_better():
    assert better({"en-de": 3, "fill": 0}, {"en-de": 2})
    assert not better({"en-de": 1, "fill": 90}, {"en-de": 2})
    assert better({"en-de": 1}, {})


def test_card_rows():
    line = "pocket-t5      en-de    test_2016_flickr  BLEU4 = 38.10  nrefs:1|case:lc"
    assert score_row(line) == "| en-de | test_2016_flickr | BLEU4 | 38.10 | nrefs:1 case:lc |"
    assert score_row(line.replace("pocket-t5  ", "pocket-prefix/causal ")).startswith("| en-de, read causally | test_2016")
    rows = [{"kind": "validation", "step": 5, "epoch": 1, "losses": {"en-de": 2.0}},
            {"kind": "average", "step": 9, "snapshots": 3, "losses": {"en-de": 1.5}}]
    assert as_trained(RECIPES["pocket-bart"], rows) == RECIPES["pocket-bart"]
    start = {"kind": "start", "step": 0, "init": "pocket-bart", "passes": {"denoise": 2.0, "en-de": 0.5}, "rate": 0.1,
             "matrix_rate": 0.2, "warmup_steps": 3}
    told = as_trained(RECIPES["pocket-bart"], [start, *rows])
    assert {task.name: task.passes for task in told.tasks} == start["passes"] and told.warmup_steps == 3
    last = {"kind": "train", "step": 9, "minutes": 7.0, "cpu_minutes": 8.0}
    assert "earlier training" in time_line([start, last]) and "earlier training" not in time_line([last])
    assert loss_table(rows) == "| epoch | 1 | average of 3 |\n| --- | --- | --- |\n| en-de | 2.000 | 1.500 |"
