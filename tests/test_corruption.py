"""Every noise on every text: what comes out can be put back, counts follow the rule, and nothing is an index error."""

import dataclasses
import time
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import InputError
from core.noise import NOISES, Corruption, Units, can, corrupt, histogram, series, units
from core.noise.bart import hidden_count
from core.noise.drawn import INSERTED, KEPT, KINDS, MOVED, RANDOM, SENTINEL
from core.noise.spans import span_counts, unbiased_mask
from core.noising import BART_STEPS, MODES, NOISE_NAMES, NoiseSettings
from core.settings import Settings
from tests.models import noisy_tokenizer, tokenizer
from tests.noise_texts import EOS, MASK, NAMES, RATES, SENTINELS, ids, made_up, settings


def kinds(made: Corruption, kind: str) -> list[int]:
    return np.flatnonzero(made.corrupted_kind == KINDS.index(kind)).tolist()


# Whatever is asked

@given(st.integers(0, 400), settings(), st.integers(0, 99))
def test_every_setting_gives_a_corruption_whose_tokens_say_where_they_came_from(length, chosen, seed):
    text = made_up(length, seed)
    made = corrupt(text, chosen)
    assert corrupt(text, chosen) == made and Corruption.from_bytes(made.to_bytes()) == made
    assert made.source == text.tokens and not made.mask[length:].any()
    for tokens, origin, span in ((made.corrupted, made.corrupted_from, made.corrupted_span),
                                 (made.target, made.target_from, made.target_span)):
        assert tokens[-1].id == EOS and origin[-1] == length
        for token, source, number in zip(tokens, origin, span, strict=True):
            assert source < 0 or token == made.source[source]
            assert -1 <= number < made.spans
        kept = [k for k in origin if k >= 0]
        assert len(set(kept)) == len(kept)  # no token twice
    assert 0 <= made.achieved <= 1 and all(note.endswith(".") for note in made.notes)
    # A visible token is in what the encoder reads; prefix LM, drop and deletion say so too.
    visible = np.flatnonzero(made.source_span < 0)
    assert set(visible) <= set(made.corrupted_from)
    firsts = [np.flatnonzero(made.source_span == k)[0] for k in range(made.source_span.max(initial=-1) + 1)]
    assert firsts == sorted(firsts)


@given(st.integers(1, 400), settings(st.sampled_from(["spans", "iid"])), st.integers(0, 99))
def test_splicing_restores_the_text(length, chosen, seed):
    """Part k of the target goes where sentinel k stands; in the code a text that begins hidden has part 0 without one."""
    made = corrupt(made_up(length, seed), chosen)
    parts, marks = [], 0
    for token, kind in zip(made.target[:-1], made.target_kind):
        if KINDS[kind] == SENTINEL:
            assert token.id == SENTINELS[marks]
            parts.append([])
            marks += 1
        elif not parts:
            parts.append([token.id])
        else:
            parts[-1].append(token.id)
    found, at = [], 0
    for token, kind in zip(made.corrupted, made.corrupted_kind):
        if KINDS[kind] == SENTINEL:
            assert token.id == SENTINELS[at]
            found, at = found + parts[at], at + 1
        else:
            found.append(token.id)
    assert found == ids(made.source)


@given(st.integers(0, 200), settings(), st.integers(0, 99))
def test_whole_text_targets_are_the_clean_text(length, chosen, seed):
    if chosen.name not in ("spans", "iid", "drop", "prefix_lm"):
        made = corrupt(made_up(length, seed), chosen)
        assert made.target == made.source and (made.target_span == made.source_span).all()


@given(st.integers(0, 200), NAMES, st.sampled_from(MODES), st.integers(0, 99))
def test_a_rate_of_nothing_changes_nothing(length, name, mode, seed):
    zero = dict(rate=0.0, permute_rate=0.0, rotate_rate=0.0, insert_rate=0.0, combined=BART_STEPS, mode=mode, seed=seed)
    made = corrupt(made_up(length, seed), NOISES[name].usual(**zero))
    assert made.corrupted == made.source and made.achieved == 0 and not made.mask.any()


@given(st.integers(2, 400), RATES, st.floats(1, 10), st.integers(0, 99))
def test_counts_follow_the_rule(length, rate, mean, seed):
    text = made_up(length, seed)
    noise, spans = span_counts(length, rate, mean)
    made = corrupt(text, NoiseSettings("spans", rate=rate, mean_span=mean, seed=seed))
    assert made.mask.sum() == noise and made.spans == min(spans, noise, length - noise, 100)
    masked = corrupt(text, NoiseSettings("token_masking", rate=rate, seed=seed))
    assert masked.mask.sum() == hidden_count(length, rate) == ids(masked.corrupted).count(MASK)
    words = corrupt(text, NoiseSettings("text_infilling", "paper", rate=rate, whole_words=True, seed=seed))
    assert words.achieved >= rate - 1e-9 and words.achieved - rate < 1 / sum(text.starts) + 1e-9


@given(st.integers(1, 300), st.sampled_from(MODES), RATES, st.integers(0, 99))
def test_sentences_are_permuted_and_the_text_is_rotated(length, mode, rate, seed):
    text = made_up(length, seed)
    made = corrupt(text, NoiseSettings("sentence_permutation", mode, permute_rate=rate, seed=seed))
    assert Counter(ids(made.corrupted)) == Counter(ids(made.source))
    joints = sum(b != a + 1 for a, b in zip(made.corrupted_from, made.corrupted_from[1:]))
    assert joints <= sum(text.stops) + 1  # a sentence stays whole
    turned = corrupt(text, NoiseSettings("document_rotation", mode, seed=seed))
    order = turned.corrupted_from[:-1]
    assert ((order - order[0]) % length == np.arange(length)).all()


# The cases of the public list, 3.2 and 3.3

def text_of(words: str, **settings) -> Units:
    return units(noisy_tokenizer(**settings), words)


def test_b27_a_mask_token_without_a_row():
    """The vocabulary has 10 rows, the mask token is id 10."""
    reasons = can(noisy_tokenizer(), rows=10)
    assert "<mask>" in reasons["text_infilling"] and "10" in reasons["text_infilling"] and "spans" in reasons
    with pytest.raises(InputError, match="mask token"):
        corrupt(units(noisy_tokenizer(), "a dog", rows=10), NOISES["text_infilling"].usual())


@pytest.mark.parametrize("text", ["a dog<extra_id_0>runs", "a dog <extra_id_0>runs", "a dog<extra_id_0> runs", "a  dog\nruns ."])
def test_b29_b30_b31_b34_offsets_lead_back_to_the_text(text):
    """Tokens are built from ids and offsets, never from decode: what is shown is what was typed."""
    made = corrupt(text_of(text), NoiseSettings("spans", rate=0.5))
    assert made.text == text
    shown = "".join(text[token.start : token.end] for token in made.source)
    assert "".join(shown.split()) == "".join(text.split())
    assert made.source[-1].text == "</s>"


def test_b35_sentinels_are_one_id_each_and_descend_or_the_noise_is_refused():
    found = text_of("<extra_id_0> dog").sentinels
    assert len(found) == 100 and list(found) == list(range(found[0], found[0] - 100, -1))
    assert text_of("<extra_id_0> dog").ids[0] == found[0]
    assert {"spans", "iid", "mass_style", "bert_style"} == set(can(noisy_tokenizer(sentinels=0)))
    with pytest.raises(InputError, match="sentinels"):
        corrupt(text_of("a dog", sentinels=0), NOISES["spans"].usual())
    assert "mask token" in can(tokenizer())["token_masking"] and "token_deletion" not in can(tokenizer())


def test_b26_an_old_key_is_reported_and_dropped():
    old = '{"noise":{"name":"spans","density":0.3,"rate":0.3},"text":"a"}'
    found, unknown = Settings.from_json(old)
    assert unknown == ["noise.density"] and found.noise == NoiseSettings("spans", rate=0.3)


def test_b37_the_code_always_hides_the_tail_and_the_paper_hides_anywhere():
    text = made_up(20)
    code = histogram(text, NoiseSettings("spans"))
    assert code[:20].tolist() == [0.0] * 17 + [1.0] * 3
    assert "always hides the last 3 of these 20" in corrupt(text, NoiseSettings("spans")).difference
    starts = Counter(
        int(np.argmax(corrupt(text, NoiseSettings("spans", "paper", seed=seed)).mask)) for seed in range(200)
    )
    assert set(starts) == set(range(18)) and max(starts.values()) < 30
    rolled = histogram(text, NoiseSettings("spans", roll=True))
    assert (rolled[:20] > 0.05).all() and rolled[:20].sum() == pytest.approx(3, abs=1e-4)


def test_unbiased_masks_are_uniform():
    """6 tokens, 3 hidden in 2 runs: C(2,1) ways to cut them, C(4,2) places among the clean ones."""
    rng = np.random.default_rng(0)
    counts = Counter(unbiased_mask(6, 3, 2, rng).tobytes() for _ in range(2400))
    assert len(counts) == 12
    assert sum((n - 200) ** 2 / 200 for n in counts.values()) < 31  # chi square, 11 degrees of freedom, p = 0.001


@given(st.integers(1, 40), RATES, st.floats(1, 10), st.sampled_from(MODES), st.booleans())
def test_b38_more_spans_than_gaps(length, rate, mean, mode, roll):
    made = corrupt(made_up(length), NoiseSettings("spans", mode, rate=rate, mean_span=mean, roll=roll))
    noise, spans = span_counts(length, rate, mean)
    if mode == "code" and length > 1 and spans > min(noise, length - noise):
        assert any(f"{spans} spans do not fit" in note for note in made.notes)
        assert "stops with an error" in made.difference


def test_b39_two_texts_share_nothing():
    first, second = text_of("a dog runs on the"), text_of("two men sits under water")
    for name in NOISE_NAMES:
        made = corrupt(second, NOISES[name].usual(seed=1))
        assert [t for t in made.target if t in first.body] == [] and made.text == second.text


@pytest.mark.parametrize("name", NOISE_NAMES)
@pytest.mark.parametrize("mode", MODES)
def test_b41_texts_that_are_too_short(name, mode):
    empty = corrupt(text_of(""), NOISES[name].usual(mode=mode))
    assert empty.corrupted == empty.source and "empty" in empty.notes[0]
    blank = corrupt(text_of(" \n"), NOISES[name].usual(mode=mode))  # pieces that cover nothing are no text either
    assert blank.corrupted == blank.source and "empty" in blank.notes[0]
    one = corrupt(text_of("dog"), NOISES[name].usual(mode=mode))
    assert ids(one.target)[-1] == EOS
    if (name, mode) == ("spans", "code"):
        assert one.corrupted == one.source and "too short" in one.notes[0]


@pytest.mark.parametrize("mode", MODES)
def test_b42_b43_sentences_change_places_with_their_stops(mode):
    text = text_of("a dog. cat man. red ball.")
    orders = {" ".join(t.text for t in corrupt(text, NoiseSettings("sentence_permutation", mode, seed=seed)).corrupted)
              for seed in range(40)}
    assert len(orders) == 6
    for order in orders:
        sentences = order.removesuffix(" . </s>").split(" . ")  # one stop between each pair, and one at the end
        assert sorted(sentences) == ["a dog", "cat man", "red ball"]


def test_the_codes_sentences_have_traps_that_the_papers_have_not():
    text = text_of("a dog.. cat. man")
    moved = [{" ".join(t.text for t in corrupt(text, NoiseSettings("sentence_permutation", mode, seed=seed)).corrupted)
              for seed in range(40)} for mode in MODES]
    assert all(order.endswith("man </s>") for order in moved[0]) and ". cat . a dog . man </s>" in moved[0]
    assert "man cat . a dog . . </s>" in moved[1]


@pytest.mark.parametrize("step", BART_STEPS)
@pytest.mark.parametrize("rate", [0.0, 0.5, 1.0])
def test_b45_every_rate_of_barts_noises(step, rate):
    chosen = NoiseSettings("combined", rate=rate, permute_rate=rate, rotate_rate=rate, insert_rate=rate, combined=(step,))
    made = corrupt(made_up(30), chosen)
    assert len(made.corrupted) >= 1
    if rate == 1 and step in ("masking", "deletion"):
        assert ids(made.corrupted) == [MASK] * 30 * (step == "masking") + [EOS]
    if rate == 1 and step == "insertion":
        assert len(made.corrupted) == 31 + 32


@pytest.mark.parametrize("mode", MODES)
def test_b46_spans_of_no_words_only_insert(mode):
    made = corrupt(text_of("a dog"), NoiseSettings("text_infilling", mode, rate=0.5, poisson=0.0))
    assert [k for k in made.corrupted_from if k >= 0] == [0, 1, 2] and len(kinds(made, INSERTED)) == 1
    assert not made.mask.any() and made.achieved == 0


# Edits, caps, randomness, words

def test_edits_by_hand_are_kept_as_a_mask():
    text = made_up(20)
    made = corrupt(text, NoiseSettings("spans", hide=(2, 3, 20, 99), show=(18,)))
    assert np.flatnonzero(made.mask).tolist() == [2, 3, 17, 19] and made.spans == 3
    assert any("20, 99" in note for note in made.notes)  # eos and beyond
    again = NoiseSettings.from_json(made.settings.to_json())[0]
    assert corrupt(text, again) == made
    infilled = NoiseSettings("text_infilling", rate=0.0, hide=(4, 5, 9))
    assert ids(corrupt(text, infilled).corrupted).count(MASK) == 2  # neighbours share one
    assert ids(corrupt(text, dataclasses.replace(infilled, name="token_masking")).corrupted).count(MASK) == 3
    moved = corrupt(text, NoiseSettings("document_rotation", hide=(4,)))
    assert any("edits by hand change nothing" in note for note in moved.notes)


def test_an_infilled_span_that_is_shown_in_its_middle_becomes_two():
    whole = corrupt(made_up(9), NoiseSettings("text_infilling", hide=(2, 3, 4), rate=0.0))
    assert whole.spans == 1
    many = [corrupt(made_up(60), NoiseSettings("text_infilling", rate=0.5, seed=seed)) for seed in range(5)]
    for made in many:
        long = max(range(made.spans), key=lambda k: len(made.hidden(k)))
        middle = int(np.flatnonzero(made.source_span == long)[1])
        split = corrupt(made_up(60), dataclasses.replace(made.settings, show=(middle,)))
        assert split.spans == made.spans + (len(made.hidden(long)) > 2) and not split.mask[middle]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("sentinels", [100, 3, 1])
def test_more_spans_than_sentinels(mode, sentinels):
    for name in ("iid", "spans"):
        chosen = NoiseSettings(name, mode, rate=0.5, mean_span=1.0)
        made = corrupt(made_up(400, sentinels=sentinels), chosen)
        assert any("more than the" in note for note in made.notes) and made.spans <= sentinels
        used = {t.id for t, k in zip(made.target, made.target_kind) if KINDS[k] == SENTINEL}
        assert used <= set(SENTINELS[:sentinels])


def test_a_sentinel_typed_by_a_person_is_said():
    made = corrupt(text_of("a dog <extra_id_3> runs on <mask>"), NoiseSettings("spans"))
    assert any("<extra_id_3> <mask> stands in the text itself" in note for note in made.notes)


def test_random_tokens_are_named_and_in_the_paper_ordinary():
    text = made_up(100)
    for mode in MODES:
        made = corrupt(text, NoiseSettings("bert", mode, rate=1.0, random_share=1.0))
        drawn = kinds(made, RANDOM)
        assert len(drawn) == 100 and any(note.startswith("Random tokens: ") for note in made.notes)
        special = [k for k in drawn if made.corrupted[k].id in text.special]
        assert bool(special) == (mode == "code")


def test_bert_is_80_10_10():
    made = corrupt(made_up(2000), NOISES["bert"].usual(rate=0.5))
    shares = np.bincount(made.corrupted_kind, minlength=len(KINDS)) / made.mask.sum()
    assert shares[KINDS.index("mask")] == pytest.approx(0.8, abs=0.05)
    assert shares[KINDS.index("random")] == pytest.approx(0.1, abs=0.04)
    assert shares[KINDS.index("unchanged")] == pytest.approx(0.1, abs=0.04)


def test_only_dynamic_masking_changes_with_the_epoch():
    for name in ("roberta", "bert"):
        masks = {made.mask.tobytes() for made in series(made_up(100), NOISES[name].usual(), 5)}
        assert len(masks) == (5 if name == "roberta" else 1)


def test_whole_words_are_hidden_with_all_their_pieces():
    text = made_up(100)
    words = np.cumsum(text.starts)
    for name in ("token_masking", "token_deletion", "text_infilling", "bert"):
        made = corrupt(text, NOISES[name].usual(whole_words=True, rate=0.3))
        for word in set(words[made.mask[:100]]):
            assert made.mask[:100][words == word].all()
    one, each = (corrupt(text, NoiseSettings("token_masking", whole_words=True, each_piece=each)) for each in (False, True))
    assert ids(one.corrupted).count(MASK) == one.spans and ids(each.corrupted).count(MASK) == each.mask.sum()


def test_a_text_that_begins_hidden_numbers_its_targets_late_in_the_code_only():
    text = made_up(7)
    chosen = [NoiseSettings("spans", mode, rate=0.0, hide=(0, 1, 5)) for mode in MODES]
    code, paper = ([("S" if k == 2 else "") + str(t.id) for t, k in zip(made.target, made.target_kind)]
                   for made in (corrupt(text, c) for c in chosen))
    a, b, c = (str(text.ids[k]) for k in (0, 1, 5))
    assert code == [a, b, "S999", c, "S998", "1"] and paper == ["S999", a, b, "S998", c, "S997", "1"]


def test_the_papers_figure():
    text = text_of("the dog cat man woman child boy girl two.")
    made = corrupt(text, NoiseSettings("spans", "paper", rate=0.0, hide=(1, 2, 7)))
    assert " ".join(t.text for t in made.corrupted[:-1]) == "the <extra_id_0> man woman child boy <extra_id_1> two ."
    assert " ".join(t.text for t in made.target[:-1]) == "<extra_id_0> dog cat <extra_id_1> girl <extra_id_2>"


def test_kinds_tell_moved_from_kept():
    made = corrupt(made_up(20), NOISES["deshuffle"].usual())
    stayed = made.corrupted_from[:-1] == np.arange(20)
    assert kinds(made, KEPT)[:-1] == np.flatnonzero(stayed).tolist() and kinds(made, MOVED) == np.flatnonzero(~stayed).tolist()
    assert made.achieved == pytest.approx((~stayed).mean())


@pytest.mark.parametrize("name", ["spans", "combined"])
def test_the_histogram_of_a_long_text_is_quick(name):
    """The page has 400 ms for it; the processor's time, so that other work on the machine does not count."""
    text, times = made_up(128), []
    for _ in range(3):
        began = time.process_time()
        shares = histogram(text, NOISES[name].usual())
        times.append(time.process_time() - began)
    assert min(times) < 0.4 and shares.shape == (129,) and shares[-1] == 0
