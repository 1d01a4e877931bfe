"""Scores: the faults that others met in public (3.5), corner cases, tokenisers by script, promises for any text."""

import ast
import logging
import re
from importlib.metadata import version
from pathlib import Path

import pytest
import sacrebleu
from hypothesis import given
from hypothesis import strategies as st

from core.errors import InputError
from core.metrics import METRICS, bleu, chrf, repetition, rouge, scores, ter
from core.metrics.scripts import main_script, tokenizer_for

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
WITH_REFERENCES = [name for name in METRICS if name != "repetition"]


# Faults that users of such tools met

def test_b62_junk_is_not_hidden_behind_the_first_sentence():
    good, junk = "the cat sat on the mat", "zzz qqq"
    found = bleu.score([good, junk], [good, "a dog runs over the hill"])
    assert 0 < found.value < 90
    with pytest.raises(InputError, match="each output needs its own"):
        bleu.score([good, junk, junk], [good], [junk])  # one list a text, not one list a reference


def test_b63_an_empty_output_counts_and_order_does_not_matter():
    one = bleu.score(["", "b c d e f"], ["a", "b c d e f"])
    other = bleu.score(["b c d e f", ""], ["b c d e f", "a"])
    assert one.value == other.value < bleu.score(["b c d e f"], ["b c d e f"]).value
    assert "1 of 2 outputs is empty." in one.notes


@pytest.mark.parametrize("name", [name for name in WITH_REFERENCES if name != "TER"])
def test_b65_an_empty_output_scores_nothing(name):
    assert METRICS[name]([""], ["the cat sat on the"]).value == 0


def test_b65_ter_of_an_empty_output_is_a_deletion_of_every_word():
    assert ter.score([""], ["the cat sat on the"]).value == 100


def test_b66_one_wrong_word_is_zero_and_a_smoothed_score_says_so():
    assert bleu.score(["yes"], ["no"]).value == 0
    assert "without smoothing" in bleu.score(["yes"], ["no"]).notes[0]
    smoothed = bleu.score(["the cat sat"], ["the dog sat"])
    assert smoothed.value > 0 and "No match for n = 2, 3: smoothed (exp)." in smoothed.notes
    assert sacrebleu.__version__ == "2.6.0"  # other versions gave 50


@pytest.mark.parametrize("name", WITH_REFERENCES)
@pytest.mark.parametrize("text", ["the cat sat on the mat", "猫がマットの上に座った。", "猫坐在垫子上。", "สวัสดี", "जलस्त", "word"])
def test_b67_b70_identical_texts_are_exactly_best(name, text):
    found = METRICS[name]([text], [text])
    best = 0 if found.lower_is_better else {"0..100": 100, "0..1": 1}[found.unit]
    alone = len(text.split()) == 1 and name == "ROUGE-2" and text in ("word", "जलस्त")  # one word has no bigram
    assert found.value == (0 if alone else best)


def test_b69_text_that_is_tokenised_already_is_noticed(caplog):
    lines = ["a dog runs ."] * 100
    with caplog.at_level(logging.WARNING):
        found = bleu.score(lines, ["a dog runs."] * 100)
    assert any("100 of 100 outputs end in ' .'" in note and "detokenise" in note for note in found.notes)
    assert not caplog.records  # the reader is told, not the host's log
    assert not bleu.score(["a dog runs."], ["a dog runs."]).notes


@pytest.mark.parametrize("text", ["สวัสดี", "नमस्ते", "你好", "नेपाल", "مرحبا", "Привет"])
def test_b70_rouge_of_other_scripts(text):
    found = rouge.score([text], [text], kind="rouge1")
    assert (found.value, found.tokenizer) == (1, "unicode")
    assert "Unicode" in found.notes[0] and "tok:unicode" in found.signature
    forced = rouge.score([text], [text], kind="rouge1", tokenizer="rouge-score")
    assert forced.value == 0 and "No scorable tokens" in forced.notes[0]


@pytest.mark.parametrize("end", ["\n", " "])
def test_b71_swapped_sentences(end):
    texts = [f"The dog ran.{end}A cat slept."], [f"A cat slept.{end}The dog ran."]
    longest, summary = (rouge.score(*texts, kind=kind).value for kind in ("rougeL", "rougeLsum"))
    assert longest == 0.5 and summary == 1
    assert (rouge.score(*texts, kind="rougeLsum", split=False).value == 1) == (end == "\n")


def test_b73_texts_shorter_than_four_words():
    found = bleu.score(["a b"], ["a b"])
    assert found.value == 100 and "eff:yes" in found.signature
    assert any("n = 3, 4: they are left out (effective order)" in note for note in found.notes)
    corpus = bleu.score(["a b", "a b"], ["a b", "a b"])
    assert corpus.value == 0 and "eff:no" in corpus.signature and any("count as no match" in note for note in corpus.notes)


def test_b74_every_number_has_its_unit():
    found = {score.name: score for score in scores(["a cat sat here"], ["a cat sat here"])}
    assert found.keys() == METRICS.keys()
    assert {name for name, score in found.items() if score.unit == "0..1"} == {
        "ROUGE-1", "ROUGE-2", "ROUGE-L", "ROUGE-Lsum", "repetition"}
    assert {name for name, score in found.items() if score.lower_is_better} == {"TER", "repetition"}
    assert all(score.signature and score.tokenizer for score in found.values())


def test_b109_cut_by_13a_unless_told_otherwise():
    texts = ["This is really nice."], ["That's really nice."]
    assert bleu.score(*texts).value == pytest.approx(39.76, abs=0.01) and "tok:13a" in bleu.score(*texts).signature
    assert bleu.score(*texts, tokenizer="none").value == pytest.approx(31.95, abs=0.01)


def test_b110_several_references():
    found = scores(["a cat sat here"], ["a dog sat here"], ["a cat sat here"])
    assert [score.value for score in found if score.name in ("BLEU", "chrF2", "ROUGE-L")] == [100, 100, 1]
    assert "nrefs:2" in found[0].signature
    assert bleu.score(["a", "b"], ["a", "b"], ["c", None]).value == bleu.score(["a", "b"], ["a", "b"]).value


def test_b111_the_libraries_are_pinned_and_only_what_they_offer_is_used():
    root = Path(__file__).resolve().parents[1]
    pinned = dict(re.findall(r"^([\w-]+)==(\S+)", (root / "requirements.txt").read_text("utf-8"), re.M))
    for name in ("sacrebleu", "rouge-score"):
        assert version(name) == pinned[name]
    used = set()
    for path in sorted((root / "core/metrics").glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in ("sacrebleu", "rouge_score"):
                used |= {part for name in node.names for part in (*node.module.split("."), name.name)}
            if isinstance(node, ast.Attribute) and ast.unparse(node).startswith("sacrebleu."):
                used |= set(ast.unparse(node).split("."))
    assert {"BLEU", "CHRF", "TER", "PairedTest", "RougeScorer"} <= used and not [name for name in used if name.startswith("_")]


# What comes in

@pytest.mark.parametrize("outputs, references, said", [
    ("a b", [["a b"]], "outputs are a str"), (["a"], ["a"], "references are a str"), ([], [[]], "nothing to score"),
    (["a"], [["a", "b"]], "1 outputs for 2 references"), ([None], [["a"]], "Text 1 of the outputs is a NoneType"),
    (["a"], [[None]], "Text 1 has no reference"), (["a"], [[3]], "Text 1 of the references is a int"),
    (["a"], [], "no reference"),
])
def test_unusable_input_is_named(outputs, references, said):
    with pytest.raises(InputError, match=said):
        bleu.score(outputs, *references)


def test_references_are_optional():
    assert [score.name for score in scores(["a b a b"])] == ["repetition"]
    with pytest.raises(InputError, match="no score 'METEOR'; there are BLEU"):
        scores(["a"], ["a"], names=["METEOR"])
    with pytest.raises(InputError, match="no tokeniser 'x'; there are 13a"):
        scores(["a"], ["a"], tokenizer="x")


# Scripts

@pytest.mark.parametrize("text, script, tokenizer", [
    ("Ein Mädchen.", "LATIN", "13a"), ("Привет, мир", "CYRILLIC", "13a"), ("", "", "13a"), ("1,000 !", "", "13a"),
    ("猫がマットの上に座った。", "KANA", "ja-mecab"), ("猫坐在垫子上。", "HAN", "zh"), ("สวัสดีครับ", "THAI", "char"),
    ("السلام عليكم؟", "ARABIC", "intl"), ("नमस्ते दुनिया।", "DEVANAGARI", "intl"), ("안녕하세요 세계", "HANGUL", "intl"),
    ("The word 猫 means cat", "LATIN", "13a"), ("ﾈｺが", "KANA", "ja-mecab"),
])
def test_tokeniser_by_script(text, script, tokenizer):
    assert (main_script([text]), tokenizer_for([text])) == (script, tokenizer)


def test_ter_counts_characters_where_no_space_stands_between_words():
    assert ter.score(["猫坐在垫子上。"], ["那只猫坐在垫子上。"]).value < 100
    assert "norm:yes" in ter.score(["猫坐在"], ["猫坐在"]).signature and "norm:no" in ter.score(["a"], ["b"]).signature


def test_unicode_words():
    cut = rouge.UnicodeTokenizer().tokenize
    assert cut("Mädchen, Straße 7!") == ["mädchen", "straße", "7"]
    assert cut("東京abc 3年") == ["東", "京", "abc", "3", "年"]
    assert cut("กี่") == ["กี่"]  # a vowel and a tone stay on their consonant
    assert cut("e\u0301te\u0301") == cut("été") == ["été"]


def test_rouge_says_what_it_drops_of_a_latin_text():
    found = rouge.score(["Die Mädchen"], ["Die Madchen"])
    assert found.tokenizer == "rouge-score" and "drops 1 of 20" in found.notes[0]


# Repetition

def test_repetition_counts_what_was_there_before():
    found = repetition.score(["a b a b a b"])
    assert found.rates == (4 / 6, 3 / 5, 2 / 4, 1 / 3) and found.value == pytest.approx(sum(found.rates) / 4)
    assert repetition.score(["a b c d e"]).value == 0
    assert repetition.score(["a b", "a b"]).value == 0  # of one text, not between texts
    assert "0.50" in repetition.score(["a b c d e"], ["a a b b"]).notes[0]


# Promises

@given(outputs=st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=4))
def test_any_text_gives_a_number_in_its_unit(outputs):
    for found in scores([pair[0] for pair in outputs], [pair[1] for pair in outputs]):
        top = {"0..100": 100, "0..1": 1}[found.unit]
        assert 0 <= found.value and (found.value <= top or found.name == "TER")


@given(outputs=st.lists(TEXTS, min_size=1, max_size=4), data=st.data())
def test_the_order_of_texts_does_not_matter(outputs, data):
    references = [data.draw(TEXTS) for _ in outputs]
    order = data.draw(st.permutations(range(len(outputs))))
    ours = scores(outputs, references)
    theirs = scores([outputs[k] for k in order], [references[k] for k in order])
    for one, other in zip(ours, theirs, strict=True):
        assert one.value == pytest.approx(other.value, abs=1e-9) and one.signature == other.signature


@given(text=TEXTS, other=TEXTS)
def test_a_second_reference_never_lowers_f(text, other):
    for name in ("chrF2", "ROUGE-1", "ROUGE-L"):
        one = METRICS[name]([text], [text + other], **({"tokenizer": "unicode"} if name[0] == "R" else {}))
        two = METRICS[name]([text], [text + other], [other], **({"tokenizer": "unicode"} if name[0] == "R" else {}))
        assert two.value >= one.value - 1e-9
    assert chrf.score([text], [text]).value in (0, 100)
