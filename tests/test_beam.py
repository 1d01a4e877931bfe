"""Beam search against `generate`: hypotheses, scores to the bit, and whole trees; and what broken searches are worth."""

import random
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest
import torch

from core.decode.beam import Rules, beam
from core.decode.driver import decode, encode
from core.decode.penalties import gnmt_penalty
from core.decode.processors import Forced, MinNewTokens, NoEncoderNgram, NoRepeatNgram, Processor, RepetitionPenalty
from core.models.families import start_for
from core.search_tree import Level, tree_of
from tests import models
from tests.beam_reference import compare_results, compare_trees, searched
from tests.conftest import EXHAUSTIVE

EIGHT = ["t5", "mt5", "bart", "mbart", "marian", "pegasus", "t5gemma", "bert_gpt2"]
COUNT = 200 if EXHAUSTIVE else 6
WORDS = range(len(models.SPECIAL), models.VOCABULARY)


@cache
def likely(family: str) -> list[int]:
    """Tokens that the model likes to write: searches that these may end stop for every reason there is."""
    draw, model = random.Random(0), models.shared(family).model
    source, prompt = (torch.tensor([draw.choices(WORDS, k=9) for _ in range(8)]) for _ in range(2))
    with torch.inference_mode():
        logits = model(input_ids=source, decoder_input_ids=prompt).logits
    return logits.float().mean((0, 1)).topk(8).indices.tolist()


class Case:
    """One random search: a source, the rules, the processors."""

    def __init__(self, draw: random.Random, family: str):
        self.source = [*draw.choices(WORDS, k=draw.randint(3, 12)), 1]
        self.beams = draw.randint(2, 6)
        self.eos = sorted(draw.sample(draw.choice([[1, *WORDS], likely(family)]), draw.randint(1, 3)))
        self.limit = draw.randint(1, 16)
        self.alpha = draw.choice([-0.5, 0.0, 0.6, 1.0, 2.0, round(draw.uniform(-0.5, 2), 2)])
        self.early = draw.choice(["false", "true", "never"])
        chosen = {
            "repetition_penalty": round(draw.uniform(0.7, 2), 2), "no_repeat_ngram_size": draw.randint(1, 3),
            "encoder_no_repeat_ngram_size": draw.randint(1, 3), "min_new_tokens": draw.randint(1, 8),
            # No end: then nothing is left, and the reference goes on with rows of log P −inf where this search stops.
            "forced_bos_token_id": draw.choice([id for id in WORDS if id not in self.eos]),
            "forced_eos_token_id": draw.choice(self.eos),
        }
        asked = draw.random() < 0.6
        self.options: dict[str, Any] = {name: value for name, value in chosen.items() if asked and draw.random() < 0.35}

    @property
    def rules(self) -> Rules:
        return Rules(self.beams, frozenset(self.eos), self.limit, self.alpha, self.early)

    def processors(self) -> list[Processor]:
        made = {
            "repetition_penalty": RepetitionPenalty, "no_repeat_ngram_size": NoRepeatNgram,
            "encoder_no_repeat_ngram_size": lambda size: NoEncoderNgram(size, tuple(self.source)),
            "min_new_tokens": lambda least: MinNewTokens(least, frozenset(self.eos)),
            "forced_bos_token_id": lambda id: Forced(id, 0, "test"),
            "forced_eos_token_id": lambda id: Forced(id, self.limit - 1, "test"),
        }
        return [make(self.options[name]) for name, make in made.items() if name in self.options]

    def theirs(self, family: str, model: Any, others: tuple = ()) -> list:
        """The reference's searches of this source, and of `others` in one batch with it."""
        early = {"false": False, "true": True}.get(self.early, self.early)
        return searched(
            family, model, [self.source, *others], self.beams, eos_token_id=self.eos, max_new_tokens=self.limit,
            length_penalty=self.alpha, early_stopping=early, **self.options,
        )

    def __repr__(self) -> str:
        return str(vars(self))


def levels_of(loaded: Any, case: Case) -> list[Level]:
    encoded = encode(loaded.model, loaded.sites, case.source)
    search = beam([start_for(loaded)], case.rules)
    return [f.request.level for f in decode(loaded.model, loaded.sites, encoded, search, case.processors())]


def cases(family: str, seed: int, count: int = COUNT) -> list[Case]:
    draw = random.Random(f"{family} {seed}")
    return [Case(draw, family) for _ in range(count)]


@pytest.fixture(scope="module")
def eager():
    """family -> transformers' own eager model, built once."""
    made: dict[str, Any] = {}
    return lambda family: made.setdefault(family, models.build(family, attention="eager"))


@pytest.mark.parametrize("family", EIGHT)
def test_hypotheses_scores_and_trees_equal_generate(family, eager, seed):
    loaded = models.shared(family)
    for case in cases(family, seed):
        levels = levels_of(loaded, case)
        (reference,) = case.theirs(family, eager(family))
        compare_results(levels, reference, case.beams)
        compare_trees(levels, reference)


def test_a_forced_first_token_that_ends_leaves_one_hypothesis_and_a_sentence():
    loaded = models.shared("t5")
    search = beam([start_for(loaded)], Rules(3, frozenset({20}), 8, 1.0, "never"))
    encoded = encode(loaded.model, loaded.sites, [8, 12, 1])
    (only,) = decode(loaded.model, loaded.sites, encoded, search, [Forced(20, 0, "test")])
    assert only.request.finished and only.request.stopped == "stopped: all that the bans left has ended"
    tree = tree_of([only.request.level], 3)
    assert [tree.token[tree.path(node)].tolist() for node in tree.ranking] == [[20]]


# A comparison that broken searches pass would be worth nothing.

BROKEN: dict[str, tuple[str, Callable]] = {
    "no cache reorder": ("core.decode.driver.reorder", lambda cache, parents, rows: None),
    "no improvement test": ("core.decode.beam.improves", lambda rules, total, written, least: True),
    "wrong finish rule": ("core.decode.beam.enters", lambda ended, beams: np.flatnonzero(ended)),
    "penalty ignored": ("core.decode.beam.PENALTIES", {"transformers": lambda length, alpha: 1.0}),
    "the other penalty": ("core.decode.beam.PENALTIES", {"transformers": gnmt_penalty}),
    "ended rows go on": ("core.decode.beam.goes_on", lambda totals, ended, beams: np.arange(beams)),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_search_is_noticed(name, eager, monkeypatch):
    """By the tree or by the results, in the same cases that the search itself passes. Fixed cases: each must have its say."""
    loaded, chosen = models.shared("t5"), [case for case in cases("t5", 7, 80) if not case.options and case.limit > 7][:12]
    references = [case.theirs("t5", eager("t5"))[0] for case in chosen]
    for case, reference in zip(chosen, references, strict=True):
        compare_results(levels := levels_of(loaded, case), reference, case.beams)
        compare_trees(levels, reference)
    monkeypatch.setattr(*BROKEN[name])
    noticed = 0
    for case, reference in zip(chosen, references, strict=True):
        try:
            compare_results(levels := levels_of(loaded, case), reference, case.beams)
            compare_trees(levels, reference)
        except (AssertionError, IndexError, ValueError):
            noticed += 1
    assert noticed, f"{name} passes all {len(chosen)} cases"


def test_early_stopping_ignored_is_noticed(eager):
    """The three ways to stop are three searches."""
    loaded, noticed = models.shared("t5"), 0
    for case in cases("t5", 7, 24):
        (reference,) = case.theirs("t5", eager("t5"))
        case.early = {"true": "never", "false": "true", "never": "false"}[case.early]
        try:
            compare_trees(levels_of(loaded, case), reference)
        except AssertionError:
            noticed += 1
    assert noticed


# Batches

@pytest.mark.parametrize("size", [2, 3])
@pytest.mark.parametrize("family", ["t5", "bart", "marian", "bert_gpt2"])
def test_a_batch_of_the_reference_gives_each_source_the_same(family, size, eager, seed):
    """B02, B11, B14: padded beside others, with ends at different steps, every item is what it is alone."""
    loaded, noticed = models.shared(family), 0
    for case in cases(family, seed + size, 20 if EXHAUSTIVE else 2):
        if "encoder_no_repeat_ngram_size" in case.options:  # the reference counts the pads among the source
            del case.options["encoder_no_repeat_ngram_size"]
        draw = random.Random(seed)
        others = [[*draw.choices(WORDS, k=length), 1] for length in (3, 20)[: size - 1]]
        found = case.theirs(family, eager(family), tuple(others))
        for source, reference in zip([case.source, *others], found, strict=True):
            case.source = source
            levels = levels_of(loaded, case)
            compare_results(levels, reference, case.beams, 1e-4)
            tree = tree_of(levels, case.beams)
            for node in tree.ranking:  # Σ transition scores under the length rule is the score of the sequence
                path = tree.path(node)
                total = float(tree.logprob[path].sum()) if not case.options else float(tree.total[node])
                assert abs(total / len(path) ** case.alpha - tree.score[node]) <= 1e-4 * max(1, abs(tree.score[node]))
                noticed += 1
    assert noticed
