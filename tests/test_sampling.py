"""Sampling: warpers and bans as transformers' own, to the bit; draws by our rule; a whole run beside `generate`."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from transformers.generation import logits_process as theirs

from core.decode import processors as ours
from core.decode.choosing import search_for, warpers_for
from core.decode.driver import decode, encode
from core.decode.sampling import drawn, luck
from core.decode.search import Request
from core.decode.warpers import MinP, Temperature, TopK, TopP, Typical, warped
from core.errors import InputError
from core.models.families import processors_for, start_for
from core.runs import Run
from core.settings import Decoding, Settings
from core.trace import Trace
from tests import models
from tests.reference import cache_for, ids_of, started

FAMILIES = ["t5", "bart", "marian", "mbart", "pegasus", "m2m_100", "bert_gpt2", "t5gemma"]
SAMPLED = dict(do_sample=True, max_new_tokens=16)
# whole numbers make ties; -inf is a banned token
numbers = st.one_of(st.floats(-20, 20, width=32), st.integers(-3, 3).map(float), st.just(-np.inf))
rows = st.lists(numbers, min_size=2, max_size=40).filter(lambda row: max(row) > -np.inf)
ids = st.lists(st.integers(0, 11), min_size=1, max_size=14)


# Warpers and bans

@given(rows, st.floats(0.05, 5), st.integers(1, 50), st.floats(0, 1), st.floats(0.01, 0.99), st.integers(1, 3))
def test_warpers_are_those_of_transformers(row, temperature, k, share, typical, least):
    logits = torch.tensor([row])
    least = min(least, len(row))
    for mine, other in (
        (Temperature(temperature), theirs.TemperatureLogitsWarper(temperature)),
        (TopK(k, least), theirs.TopKLogitsWarper(k, min_tokens_to_keep=least)),
        (TopP(share, least), theirs.TopPLogitsWarper(share, min_tokens_to_keep=least)),
        (MinP(share, least), theirs.MinPLogitsWarper(share, min_tokens_to_keep=least)),
        (Typical(typical, least), theirs.TypicalLogitsWarper(typical, min_tokens_to_keep=least)),
    ):
        assert torch.equal(mine(logits), other(None, logits)), mine


@given(ids, ids, st.integers(1, 4), st.integers(0, 15), st.floats(0.2, 3))
def test_bans_are_those_of_transformers(history, source, size, count, penalty):
    start, logits = torch.tensor([history]), torch.linspace(-3, 3, 12)[None]
    for mine, other in (
        (ours.RepetitionPenalty(penalty), theirs.RepetitionPenaltyLogitsProcessor(penalty)),
        (ours.NoRepeatNgram(size), theirs.NoRepeatNGramLogitsProcessor(size)),
        (ours.NoEncoderNgram(size, tuple(source)), theirs.EncoderNoRepeatNGramLogitsProcessor(size, torch.tensor([source]))),
        (ours.MinNewTokens(count, frozenset([1, 4])), theirs.MinNewTokensLengthLogitsProcessor(1, count, [1, 4])),
    ):
        changed = logits.clone()
        mine(changed, [history], len(history) - 1)
        assert torch.equal(changed, other(start, logits.clone())), mine


def test_what_was_banned_is_said():
    """B17 of the public cases: copying from the source and repeating the output are two bans with two reasons."""
    red, car, history, logits = 5, 6, [0, 5], torch.zeros(2, 9)
    copied = ours.NoEncoderNgram(2, (4, red, car, 1))(logits, [history, [0]], 1)
    assert copied == ["row 1: banned [6] (would copy a run of 2 from the source)"]
    assert logits[0].isinf().nonzero().ravel().tolist() == [car] and not logits[1].isinf().any()
    logits = torch.zeros(1, 9)
    assert ours.NoRepeatNgram(2)(logits, [history], 1) == [] and not logits.isinf().any()
    assert ours.NoRepeatNgram(2)(logits, [[0, red, car, red]], 3) == ["banned [6] (would repeat a run of 2)"]
    assert ours.MinNewTokens(3, frozenset([1]))(logits, [[0]], 2) == ["banned [1] (no end before 3 tokens)"]
    assert ours.MinNewTokens(3, frozenset([1]))(logits, [[0]], 3) == []


def test_each_cut_says_what_it_leaves():
    logits = torch.tensor([[3.0, 2.0, 1.0, 0.0, -1.0]])
    left, notes = warped(logits, [Temperature(0.5), TopK(3), TopP(0.5)])
    assert notes == ["top-k 3 leaves 3 of 5 tokens", "top-p 0.5 leaves 1 of 3 tokens"]
    assert left[0, 0] == 6


@pytest.mark.parametrize("make", [
    lambda: Temperature(0.0), lambda: Temperature(float("nan")), lambda: TopK(0), lambda: TopK(True), lambda: TopP(1.5),
    lambda: MinP(-0.1), lambda: Typical("0.5"), lambda: ours.RepetitionPenalty(0.0),
])
def test_a_value_out_of_range_is_refused(make):
    with pytest.raises(InputError, match="it must be a"):
        make()


# The draw

def by_hand(probabilities: list[float], u: float) -> int:
    """The rule as its docstring tells it."""
    order = sorted((id for id, p in enumerate(probabilities) if p > 0), key=lambda id: (-probabilities[id], id))
    whole, below = sum(probabilities[id] for id in order), 0.0
    for id in order:
        below += probabilities[id]
        if below > u * whole:
            return id
    return order[-1]


@given(st.lists(st.sampled_from([0.0, 0.125, 0.25, 0.5, 1.0]), min_size=1, max_size=12).filter(any),
       st.integers(0, 2**31 - 1), st.integers(0, 127))
def test_a_draw_follows_the_rule(probabilities, seed, at):
    u = luck(seed, at)
    assert 0 <= u < 1 and u == np.random.default_rng((seed, at)).random()
    id, left, probability, place = drawn(np.array(probabilities, np.float32), u)
    assert id == by_hand(probabilities, u)
    assert left == sum(p > 0 for p in probabilities) and probability == probabilities[id] and 1 <= place <= left


def test_draws_are_as_frequent_as_they_are_probable(seed):
    """4000 seeds that follow each other: independent, and each token within 4.5 standard deviations."""
    probabilities = np.array([0.05, 0.5, 0.25, 0.2], np.float32)
    for at in (0, 7):
        found = np.bincount([drawn(probabilities, luck(seed % 2**30 + k, at))[0] for k in range(4000)], minlength=4)
        assert (abs(found / 4000 - probabilities) <= 4.5 * np.sqrt(probabilities * (1 - probabilities) / 4000)).all()


def test_nothing_left_to_draw_is_refused():
    with pytest.raises(InputError, match="No token may be written at step 3: all of them are banned"):
        drawn(np.full(4, np.nan, np.float32), 0.5, 3)


# Beside generate

RANGES = {
    "temperature": (0.3, 3.0), "top_p": (0.2, 1.0), "min_p": (0.0, 0.3), "typical_p": (0.3, 1.0), "top_k": (0, 30),
    "repetition_penalty": (0.5, 2.0), "no_repeat_ngram_size": (1, 4), "encoder_no_repeat_ngram_size": (1, 4),
    "min_new_tokens": (1, 16),
}


def choices(random: np.random.Generator) -> Decoding:
    """Settings of one run; half of them at their default."""
    out = {}
    for name, (low, high) in RANGES.items():
        if random.random() < 0.5:
            out[name] = float(random.uniform(low, high)) if isinstance(low, float) else int(random.integers(low, high))
    return Decoding(**SAMPLED, **out)


@pytest.mark.parametrize("case", range(3))
@pytest.mark.parametrize("family", FAMILIES)
def test_the_distributions_drawn_from_are_those_of_generate(family, case, seed):
    """Along the tokens that generate drew: which tokens are left, and their logits, at every step."""
    chosen = choices(np.random.default_rng((seed, case, FAMILIES.index(family))))
    loaded, model = models.shared(family), models.build(family, attention="eager")
    source = started(loaded).source
    given_ids = torch.tensor([[t.id for t in source]])
    model.generation_config.forced_bos_token_id = None
    torch.manual_seed(seed)
    out = model.generate(
        given_ids, attention_mask=torch.ones_like(given_ids), output_scores=True, return_dict_in_generate=True, **SAMPLED,
        **{name: getattr(chosen, name) for name in RANGES}, **cache_for(family),
    )
    seen = []

    def follows():
        ranked = yield Request(np.array([start_for(loaded)], np.int32), np.zeros(1, np.int32), whole=True)
        for at, id in enumerate(out.sequences[0, 1:].tolist()):
            seen.append(warped(torch.from_numpy(ranked.whole.scores), warpers_for(chosen))[0])
            last = at + 1 == len(out.scores)
            ranked = yield Request(np.array([id], np.int32), np.zeros(1, np.int32), last, whole=True)

    settings = Settings(models.TEXT, decoding=chosen)
    ids = [t.id for t in source]
    processors = processors_for(loaded, settings, 16, ids)
    list(decode(loaded.model, loaded.sites, encode(loaded.model, loaded.sites, ids), follows(), processors))
    assert len(seen) == len(out.scores) == 16
    for mine, other in zip(seen, out.scores):
        assert torch.equal(mine > -torch.inf, other > -torch.inf)
        assert (mine - other)[other > -torch.inf].abs().max() <= 1e-3


# Runs

def test_a_seed_gives_the_same_run_and_another_seed_another():
    loaded = models.shared("t5")
    runs = [ids_of(list(started(loaded, **SAMPLED, seed=seed, temperature=2.0))) for seed in (1, 1, 2)]
    assert runs[0] == runs[1] != runs[2]


def test_every_token_of_a_run_is_the_draw_of_its_step():
    loaded = models.shared("bart")
    steps = list(started(loaded, **SAMPLED, seed=5, temperature=1.5, top_k=4))
    for at, step in enumerate(steps):
        best = step.candidate_logprobs[0, :4].astype(np.float64) / 1.5
        share = np.exp(best - best.max())
        assert step.token[0] == step.candidates[0, by_hand(share.tolist(), luck(5, at))]
        assert step.notes[0] == f"top-k 4 leaves 4 of {models.VOCABULARY} tokens"
        assert step.notes[1].startswith("drawn from 4 tokens: number ")


@pytest.mark.parametrize("near", [dict(temperature=0.0), dict(top_k=1), dict(top_p=0.0), dict(min_p=1.0)])
def test_the_coldest_sampling_is_greedy(near):
    loaded = models.shared("marian")
    assert ids_of(list(started(loaded, **SAMPLED, **near))) == ids_of(list(started(loaded, max_new_tokens=16)))


def test_a_forced_beginning_is_not_drawn():
    loaded = models.shared("t5")
    run = started(loaded, **SAMPLED, temperature=5.0)
    run = Run(replace(run.settings, edits=replace(run.settings.edits, forced=(9, 11))), loaded)
    steps = list(run)
    assert ids_of(steps)[:2] == [9, 11] and not any("drawn" in note for note in (*steps[0].notes, *steps[1].notes))
    assert "drawn" in steps[2].notes[-1]


def test_a_sampled_trace_keeps_its_settings_and_its_digest():
    run = started(models.shared("t5"), **SAMPLED, seed=3, top_p=0.9, top_k=0)
    list(run)
    trace = run.trace()
    again = Trace.from_bytes(trace.to_bytes())
    assert again == trace and again.settings.decoding.how == "sampled, seed 3, top_k 0, top_p 0.9"
    assert np.isfinite([step.logprob[0] for step in trace.steps]).all()


def test_settings_at_their_default_leave_old_ids_alone():
    assert Settings("a", decoding=Decoding(do_sample=False, seed=0, min_new_tokens=0)).to_json() == Settings("a").to_json()
    assert Decoding().how == Decoding(seed=4, top_k=3).how == "greedy"


@pytest.mark.parametrize("field", ["temperature", "top_k", "top_p", "min_p", "typical_p", "seed", "min_new_tokens"])
@pytest.mark.parametrize("value", [-1, 1e30, float("nan"), "1", None])
def test_hostile_values_are_refused(field, value):
    with pytest.raises(InputError, match=field):
        Decoding(**{field: value})


def test_greedy_is_what_is_asked_for_without_sampling():
    names = [search_for(Decoding(**each), 0, frozenset(), 3).__name__ for each in (
        {}, dict(temperature=2.0), dict(do_sample=True), dict(do_sample=True, temperature=0.0))]
    assert names == ["greedy", "greedy", "sampling", "greedy"]
