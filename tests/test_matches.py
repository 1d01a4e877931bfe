"""n-gram matches: the same counts as BLEU's, and places that hold the words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.metrics import bleu
from core.metrics.matches import counts, matches, words

# Characters that tokenisers cut, replace or drop, and some that change length in lower case
PIECES = [
    "the", "cat", "Cat", " ", "\n", "-\n", "&quot;", "&amp;lt;", "<skipped>", ".", ",", "1", "-", "。", "猫", "が", "坐", "İ",
    "ΣΑΣ", "é", "e\u0301", "\u3000", "؟", "€", "\u200d", "😀", "\x85",
]
TEXTS = st.lists(st.sampled_from(PIECES), max_size=14).map("".join)


@given(text=TEXTS, other=TEXTS, tokenizer=st.sampled_from(bleu.TOKENIZERS), lowercase=st.booleans())
def test_the_counts_are_bleus(text, other, tokenizer, lowercase):
    found = matches(text, [other], tokenizer, lowercase)
    score = bleu.score([text], [other], tokenizer=tokenizer, lowercase=lowercase, smoothing="none")
    assert counts(found) == tuple(zip(score.counts, score.totals))


@given(text=TEXTS, tokenizer=st.sampled_from(bleu.TOKENIZERS))
def test_a_place_holds_its_word(text, tokenizer):
    found = words(text, tokenizer)
    assert [word.text for word in found] == bleu.tokens(text, tokenizer)
    for word, after in zip(found, found[1:] + [None]):
        there = text[word.start : word.end]
        if tokenizer != "13a":
            assert there == word.text
        assert word.start < word.end and (after is None or word.end <= after.start or "&" in there)


def test_lower_case_that_is_longer_keeps_its_place():
    found = words("İn X", "none", lowercase=True)
    assert [(word.text, word.start, word.end) for word in found] == [("i̇n", 0, 2), ("x", 3, 4)]


def test_clipping():
    one, *rest = matches("the the the", ["the cat", "the the"])
    assert (one.words, one.counted, one.output) == (("the",), 2, ((0, 3), (4, 7), (8, 11)))
    assert one.references == (((0, 3),), ((0, 3), (4, 7)))
    assert [(match.words, match.counted) for match in rest] == [(("the",) * 2, 1), (("the",) * 3, 0)]


@pytest.mark.parametrize("text", ["", " \n "])
def test_nothing_to_match(text):
    assert matches(text, ["a"]) == [] and counts([]) == ((0, 0),) * 4


def test_an_entity_is_one_character_wide():
    (word,) = words("&amp;lt;", "13a")
    assert (word.text, word.start, word.end) == ("<", 0, 8)
