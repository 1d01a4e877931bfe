"""Alignments off attention: pooling, error rate, and the pairs linked by hand."""

from pathlib import Path

import numpy as np
import pytest

from core.alignments import WORD, Aligned, AlignmentErrors, alignment_errors, error_rate, links_of, pooling, word_links
from core.models import models

HAND = Path(__file__).parent / "data" / "alignments.json"


def test_fifty_pairs_whose_links_point_at_words():
    pairs = Aligned.read(HAND)
    assert len(pairs) == 50 and len({pair.source for pair in pairs}) == 50
    for pair in pairs:
        sizes = [len(WORD.findall(text)) for text in (pair.source, pair.target)]
        assert pair.links and all(i < sizes[0] and j < sizes[1] for i, j in pair.links), pair
        assert {j for _, j in pair.links} >= {sizes[1] - 1}  # the full stop at least


def test_the_error_rate_is_och_and_neys():
    true = [links_of("0-0 1-2 2-1")]
    assert error_rate(true, true) == 0 and error_rate([links_of("0-1 1-0")], true) == 1
    assert error_rate([links_of("0-0 1-1")], true) == pytest.approx(1 - 2 / 5)
    assert np.isnan(error_rate([frozenset()], [frozenset()]))


def test_pieces_are_pooled_into_words_and_the_prefix_into_none():
    belongs = pooling("ab, cd", [(0, 2), (3, 4), (4, 5), (5, 6), (6, 7), (7, 9), (0, 0)], start=3)
    assert belongs.tolist() == [[0, 1, 1, 0, 0, 0, 0], [0, 0, 0, 1, 0, 0, 0], [0, 0, 0, 0, 0, 1, 0]]


def test_columns_are_summed_and_rows_averaged():
    source, target = np.array([[1, 1, 0], [0, 0, 1]]), np.array([[1, 0, 0], [0, 1, 1]])
    weights = np.array([[0.3, 0.3, 0.4], [0.0, 0.1, 0.9], [0.5, 0.4, 0.1]])  # the last two rows: 0.5 against 0.5 at ties
    assert word_links(weights, source, target) == {(0, 0), (0, 1)}
    weights[2] = [0.4, 0.4, 0.2]
    assert word_links(weights, source, target) == {(0, 0), (1, 1)}


def test_the_bundled_model_looks_where_a_person_would_more_often_than_the_diagonal():
    pairs = Aligned.read(HAND)
    errors = alignment_errors(models().load("pocket-t5"), "en-de", pairs)
    sizes = [[len(WORD.findall(text)) for text in (pair.source, pair.target)] for pair in pairs]
    diagonal = [frozenset((min(j * n // m, n - 1), j) for j in range(m)) for n, m in sizes]
    layer, head = errors.best
    assert errors.heads[layer, head] == errors.heads.min() < error_rate(diagonal, [p.links for p in pairs])
    assert len(errors.lines()) == len(errors.means) and "AER = " in errors.lines()[0]


def test_lines_count_layers_and_heads_from_one():
    errors = AlignmentErrors(np.array([[0.5, 0.25]]), np.array([0.3]), 2)
    assert errors.best == (0, 1) and errors.lines()[0].startswith("layer 1: AER = 0.250 of its best head, 2; 0.300")
