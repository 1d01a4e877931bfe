"""Span corruption against the reference's vectors, and what must hold for any text."""

import json
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.noise.bart import NOISES, hidden_count
from core.noise.spans import corrupt, span_counts, spans_mask
from core.noise.words import hide_word, words_of
from tests.golden import DATA, Report
from tests.golden.bart_noise import check_bart_noise
from tests.golden.t5_spans import check_t5_spans

FIRST = 999  # a sentinel id above every token id used here


def test_vectors():
    path, report = DATA / "t5_span_corruption.json", Report("t5_span_corruption.json")
    check_t5_spans(json.loads(path.read_text("utf-8")), DATA, report)
    assert not report.failed
    assert report.passed > 80


def spliced(inputs, targets):
    """The text again: each sentinel of `inputs` replaced by what follows the same one in `targets`."""
    spans, current = {}, None
    for token in targets:
        if token > 900:
            current = token
            spans[current] = []
        else:
            spans[current].append(token)
    return [t for token in inputs for t in (spans[token] if token > 900 else [token])]


@given(st.integers(1, 400), st.floats(0, 0.5), st.floats(1, 10), st.integers(0, 2**32))
def test_splicing_restores_the_text(length, density, mean, seed):
    rng = np.random.default_rng(seed)
    noise, spans = span_counts(length, density, mean)
    if spans > min(noise, max(length, 2) - noise) and noise:
        with pytest.raises(ValueError):
            spans_mask(length, density, mean, rng)
        return
    mask = spans_mask(length, density, mean, rng)
    tokens = rng.integers(3, 800, length).tolist()
    if spans <= 90:
        inputs, targets = corrupt(tokens, mask, FIRST)
        assert spliced(inputs, targets) == tokens


@given(st.integers(1, 200), st.integers(0, 2**32))
def test_a_rolled_mask_hides_as_many(length, seed):
    plain, rolled = (spans_mask(length, 0.3, 2.0, np.random.default_rng(seed), roll=roll) for roll in (False, True))
    assert plain.sum() == rolled.sum()


def test_masks_are_uniform():
    """Length 8, 4 hidden in 2 spans: C(3,1) * C(3,1) masks, each as likely."""
    rng = np.random.default_rng(0)
    counts = Counter(spans_mask(8, 0.5, 2.0, rng).tobytes() for _ in range(1800))
    assert len(counts) == 9
    assert sum((n - 200) ** 2 / 200 for n in counts.values()) < 26  # chi square, 8 degrees of freedom, p = 0.001


def test_same_seed_same_noise():
    text = "A dog runs after a red ball."
    assert hide_word(text, np.random.default_rng(7)) == hide_word(text, np.random.default_rng(7))


def test_words_are_alphabetic():
    text = 'Two men (old) in T-shirts, "number" 3, ride Jörg\'s bikes.'
    assert [text[a:b] for a, b in words_of(text)] == ["Two", "men", "old", "in", "number", "ride", "bikes"]


def test_hidden_word_ends_as_the_reference_does():
    """A closing sentinel only where clean text follows."""
    seen = {hide_word("old dog", np.random.default_rng(seed)) for seed in range(20)}
    assert seen == {
        ("<extra_id_0> dog", "<extra_id_0> old <extra_id_1>", "old"),
        ("old <extra_id_0>", "<extra_id_0> dog", "dog"),
    }
    assert hide_word("3 + 4 = 7", np.random.default_rng(0)) is None


# BART's noises

def test_bart_vectors():
    report = Report("bart_noise.json")
    check_bart_noise(json.loads((DATA / "bart_noise.json").read_text("utf-8")), DATA, report)
    assert not report.failed and not report.pending
    assert report.passed > 70


@given(st.lists(st.integers(3, 20), max_size=60), st.sampled_from(sorted(NOISES)), st.integers(0, 2**32))
def test_bart_noises_keep_what_they_do_not_hide(tokens, name, seed):
    """Stop 4, mask 99; a word starts at every even id."""
    starts = [token % 2 == 0 for token in tokens]
    out, again = (NOISES[name](tokens, starts, 99, 4, np.random.default_rng(seed)) for _ in range(2))
    assert out == again
    left, before = Counter(token for token in out if token != 99), Counter(tokens)
    assert left <= before
    if name in ("permutation", "rotation"):
        assert left == before
    if name == "masking":
        assert len(out) == len(tokens) and out.count(99) == hidden_count(len(tokens), 0.3)
    if name == "deletion":
        assert len(out) == len(tokens) - hidden_count(len(tokens), 0.3) and 99 not in out


def test_infilling_hides_as_much_as_the_reference():
    """300 random texts of 75 words, 30 %: on average 27.5 % hidden, 6.8 masks, never more than 23 words."""
    hidden, masks = [], []
    for seed in range(300):
        out = NOISES["infilling"](list(range(100, 175)), [True] * 75, 99, 4, np.random.default_rng(seed))
        hidden.append(75 - sum(token != 99 for token in out))
        masks.append(out.count(99))
    assert max(hidden) <= 23
    assert 26.5 < 100 * np.mean(hidden) / 75 < 28.5
    assert 6.3 < np.mean(masks) < 7.3
