"""Searches that can be followed by hand, over languages as tables; faults of search met in public."""

import ast
import itertools
import math
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.decode.beam import Rules, beam
from core.decode.driver import decode, encode
from core.decode.greedy import greedy
from core.decode.processors import NoRepeatNgram, RepetitionPenalty
from core.decode.search import Request
from core.models.families import start_for
from core.search_tree import SearchTree, tree_of
from tests import models
from tests.tables import Table, driven

ROOT = Path(__file__).resolve().parents[1]
START, END, A, B = range(4)
EOS = frozenset([END])
ENDS = {A: (0.2, 0.1, 0.6, 0.1, 0.9), B: (0.9, 0.4, 0.2, 0.4, 0.1)}  # how likely a text of so many A's, or B's, ends


def letters(ids: tuple[int, ...]) -> tuple[float, ...]:
    """One letter again and again, A or B by the toss of a coin, until it ends."""
    if len(ids) == 1:
        return 0, 0, 0.5, 0.5
    end = ENDS[ids[1]][min(len(ids) - 2, 4)]
    return (0, end, 1 - end, 0) if ids[1] == A else (0, end, 0, 1 - end)


def searched(table: Table, rules: Rules, *processors) -> tuple[SearchTree, list[Request]]:
    requests = list(driven(beam([START], rules), table, processors))
    return tree_of([request.level for request in requests], rules.beams), requests


def written(tree: SearchTree, node: int) -> list[int]:
    return tree.token[tree.path(node)].tolist()


@pytest.mark.parametrize("early, text, score, why", [
    ("true", [B, END], math.log(0.5 * 0.9) / 2, "as soon as 2 hypotheses had ended"),
    ("false", [A, A, A, END], math.log(0.5 * 0.8 * 0.9 * 0.6) / 4, "judged at its present length"),
    ("never", [A] * 5 + [END], math.log(0.5 * 0.8 * 0.9 * 0.4 * 0.9 * 0.9) / 6, "judged at any length up to the limit"),
])
def test_b10_early_stopping_means_three_things(early, text, score, why):
    """A hypothesis of six tokens overtakes after two have ended; what is true at the present length misses it."""
    tree, requests = searched(letters, Rules(2, EOS, 8, 1.0, early))
    assert written(tree, tree.best) == text and tree.score[tree.best] == pytest.approx(score, abs=1e-6)
    assert why in requests[-1].stopped


@pytest.mark.parametrize("beams", [1, 2, 3])
def test_b15_a_model_that_loops_writes_no_bigram_twice(beams):
    def loops(ids: tuple[int, ...]) -> list[float]:
        return [0.01, 0.01, *((0.08, 0.9) if ids[-1] == A else (0.9, 0.08))]

    ban = NoRepeatNgram(2)
    if beams == 1:
        requests = list(driven(greedy(START, frozenset(), 8), loops, [ban]))
        texts = [[START, *(int(request.ids[0]) for request in requests)]]
    else:
        tree, _ = searched(loops, Rules(beams, frozenset(), 8), ban)
        texts = [[START, *written(tree, node)] for node in tree.ranking]
    for text in texts:
        bigrams = list(itertools.pairwise(text))
        assert len(text) == 9 and len(set(bigrams)) == len(bigrams)
    plain = list(driven(greedy(START, frozenset(), 8), loops))
    assert len({tuple(pair) for pair in itertools.pairwise(int(request.ids[0]) for request in plain)}) == 2  # it does loop


def test_b18_the_repetition_penalty_counts_what_the_decoder_wrote_and_nothing_of_the_source():
    loaded, seen = models.shared("t5"), []

    class Spy(RepetitionPenalty):
        def __call__(self, logits, history, count):
            seen.append([list(ids) for ids in history])
            return super().__call__(logits, history, count)

    source, start = [8, 20, 31, 44, 1], start_for(loaded)
    forwards = list(decode(loaded.model, loaded.sites, encode(loaded.model, loaded.sites, source),
                           greedy(start, loaded.eos, 6), [Spy(2.0)]))
    ids = [start, *(int(forward.request.ids[0]) for forward in forwards)]
    assert seen == [[ids[: count + 1]] for count in range(len(forwards))]


OWN = {"_replace", "_asdict", "_fields"}  # of named tuples, public in spite of the name
KNOWN = {"page._queue", "os._exit", "block._id"}  # Gradio's queue and ids have no public name; the process's own end


def test_b19_no_private_helper_of_a_library_is_used():
    """No name that begins with an underscore, unless the module defines it itself: a minor version may take it away."""
    for path in sorted([*ROOT.glob("core/**/*.py"), *ROOT.glob("app/**/*.py")]):
        nodes = list(ast.walk(ast.parse(path.read_text("utf-8"))))
        defined = {node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.ClassDef)}
        defined |= {node.attr for node in nodes if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)}
        for node in nodes:
            if isinstance(node, ast.ImportFrom):
                assert not [name.name for name in node.names if re.match("_[^_]", name.name)], (path.name, node.lineno)
                assert "._" not in (node.module or ""), (path.name, node.lineno)
            if isinstance(node, ast.Attribute) and re.match("_[^_]", node.attr) and node.attr not in OWN | defined:
                said = ast.unparse(node)
                assert said.split(".")[0] in ("self", "cls") or said in KNOWN, (path.name, node.lineno, said)


# Promises for any table

@st.composite
def tables(draw) -> Callable[[tuple[int, ...]], tuple[float, ...]]:
    """Any language of END, A and B over three tokens: the odds of each after every beginning."""
    beginnings = [START, *((START, *ids) for count in range(1, 4) for ids in itertools.product((A, B), repeat=count))]
    odds = {ids if isinstance(ids, tuple) else (ids,): draw(st.tuples(*[st.integers(1, 99)] * 3)) for ids in beginnings}
    return lambda ids: (0, *(each / sum(odds[ids]) for each in odds[ids])) if ids in odds else (0, 1, 0, 0)


def everything(table: Table, limit: int) -> dict[tuple[int, ...], float]:
    """Every text of at most `limit` tokens -> its log P."""
    found, open_ = {}, {(START,): 0.0}
    for count in range(1, limit + 1):
        grown = {(*ids, id): total + math.log(table(ids)[id]) for ids, total in open_.items() for id in (END, A, B)}
        found |= {ids[1:]: total for ids, total in grown.items() if ids[-1] == END or count == limit}
        open_ = {ids: total for ids, total in grown.items() if ids[-1] != END}
    return found


@given(table=tables(), alpha=st.sampled_from([-0.5, 0.0, 0.6, 1.0, 2.0]))
def test_a_beam_that_is_wide_enough_finds_the_best_of_all_texts(table, alpha):
    tree, _ = searched(table, Rules(16, EOS, 3, alpha, "never"))
    best = max(total / len(ids) ** alpha for ids, total in everything(table, 3).items())
    assert tree.score[tree.best] == pytest.approx(best, abs=1e-4)


@given(table=tables(), beams=st.integers(2, 5), early=st.sampled_from(["true", "false", "never"]), alpha=st.floats(-1, 2))
def test_b03_what_is_ranked_is_the_sum_of_its_tokens(table, beams, early, alpha):
    """B05 too: rows gathered twice would sum the tokens of another hypothesis."""
    tree, _ = searched(table, Rules(beams, EOS, 3, alpha, early))
    texts = everything(table, 3)
    assert tree.ranking
    for node in tree.ranking:
        ids = tuple(written(tree, node))
        assert tree.total[node] == pytest.approx(texts[ids], abs=1e-4)
        assert tree.score[node] == pytest.approx(texts[ids] / len(ids) ** alpha, abs=1e-4)
    for node in tree.real:
        assert tree.total[node] == pytest.approx(float(np.sum(tree.logprob[tree.path(node)])), abs=1e-4)
