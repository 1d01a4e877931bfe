"""Greedy runs of every family against `generate(output_attentions=True)` on a separately built model."""

import random

import numpy as np
import pytest
import torch

from core.attention import capture
from core.decode import driver
from core.models import Models
from core.settings import Decoding, Settings
from tests import models
from tests.conftest import EXHAUSTIVE
from tests.golden import DATA
from tests.golden.tiny import Tiny
from tests.reference import Reference, compare, generated, ids_of, started



@pytest.fixture(scope="module", autouse=True)
def one_thread():
    """These models are too small to share out; on a busy machine two threads mostly wait for each other."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


REACHED = [*models.FAMILIES, *models.PARTIAL]
# name -> (settings of ours, the same for generate, what the checkpoint says)
CASES: dict[str, tuple[dict, dict, dict]] = {
    "penalty": ({"repetition_penalty": 1.4}, {"repetition_penalty": 1.4}, {}),
    "reward": ({"repetition_penalty": 0.7}, {"repetition_penalty": 0.7}, {}),
    "no token twice": ({"no_repeat_ngram_size": 1}, {"no_repeat_ngram_size": 1}, {}),
    "penalty and trigrams": (
        {"repetition_penalty": 1.2, "no_repeat_ngram_size": 3},
        {"repetition_penalty": 1.2, "no_repeat_ngram_size": 3}, {},
    ),
    "forced first": ({}, {}, {"forced_bos_token_id": 6}),
    "forced first and last": ({}, {}, {"forced_bos_token_id": 6, "forced_eos_token_id": 1}),
    "several forced last": ({}, {}, {"forced_eos_token_id": [20, 9]}),
    "bad words": ({}, {}, {"bad_words_ids": [[id] for id in range(4, 56, 3)]}),
    "suppressed": ({}, {}, {"suppress_tokens": list(range(5, 56, 2)), "forced_bos_token_id": 10}),
    "all": (
        {"repetition_penalty": 1.3, "no_repeat_ngram_size": 2}, {"repetition_penalty": 1.3, "no_repeat_ngram_size": 2},
        {"forced_bos_token_id": 7, "forced_eos_token_id": 1, "bad_words_ids": [[12], [13], [30]]},
    ),
}


def cached(family: str) -> bool:
    """Whether the reference can use its cache: T5's breaks when encoder and decoder differ in depth."""
    return family != "t5_deep"


def reference_for(family: str, source: list[int], checkpoint: dict | None = None, **options) -> Reference:
    model = models.build(family, attention="eager")
    for key, value in (checkpoint or {}).items():
        setattr(model.generation_config, key, value)
    return generated(model, source, cached(family), **options)


@pytest.mark.parametrize("family", REACHED)
def test_greedy_equals_generate(family):
    run = started(models.shared(family))
    steps = list(run)
    compare(steps, reference_for(family, [t.id for t in run.source]))
    assert len(steps) == 24
    assert len(set(ids_of(steps))) >= 6, "a text of one token would not notice a wrong cache"
    trace = run.trace()
    masses = np.array([step.cross_weights.mean((0, 1, 2)).sum() for step in steps])
    assert np.abs(masses - 1).max() <= 1e-5
    assert abs(trace.coverage().sum() - len(steps)) <= 1e-4
    assert trace.path().shape == (*models.shared(family).cross_shape, 24, len(run.source))


CHOICES = [(family, name) for family in REACHED for name in CASES]


@pytest.mark.parametrize("chosen", range(len(CHOICES) if EXHAUSTIVE else 20))
def test_penalties_bans_and_forced_tokens_equal_generate(chosen, seed):
    family, name = CHOICES[chosen] if EXHAUSTIVE else random.Random(seed).sample(CHOICES, 20)[chosen]
    decoding, options, checkpoint = CASES[name]
    loaded = models.loaded(family)
    for key, value in checkpoint.items():
        setattr(loaded.model.generation_config, key, value)
    run = started(loaded, **decoding)
    steps = list(run)
    compare(steps, reference_for(family, [t.id for t in run.source], checkpoint, **options))
    for step in steps:
        if "forced_bos_token_id" in checkpoint and "suppress_tokens" not in checkpoint and step.index == 0:
            assert "forced" in step.notes[-1]
        assert step.token[0] not in [word[0] for word in checkpoint.get("bad_words_ids", [])]


@pytest.mark.parametrize("family", ["t5", "bart", "t5gemma", "bert_gpt2"])
def test_it_ends_where_generate_ends(family):
    """At the first of several end ids, which is kept."""
    loaded = models.loaded(family)
    source = [t.id for t in started(loaded).source]
    free = reference_for(family, source).ids
    ends = sorted({id for id in free[8:] if id not in free[:8]})[-2:] or [free[8]]
    reference = reference_for(family, source, {"eos_token_id": ends})
    loaded.model.generation_config.eos_token_id = ends
    run = started(models.prepare(family, loaded.model, loaded.tokenizer))
    compare(list(run), reference)
    assert len(reference.ids) < 24 and reference.ids[-1] in ends


def test_a_sliding_window_equals_generate(monkeypatch):
    """The reference throws keys away that the window has passed; ours keep them, with weight 0."""
    monkeypatch.setitem(models._GEMMA, "sliding_window", 6)
    monkeypatch.setitem(models.FAMILIES, "t5gemma", ("t5gemma", models._GEMMA))
    run = started(models.loaded("t5gemma"))
    compare(list(run), reference_for("t5gemma", [t.id for t in run.source]))
    assert any((step.decoder_weights[0][..., 0] == 0).any() for step in run.steps)


@pytest.mark.parametrize("name", ["t5", "bart", "marian"])
def test_golden_tiny_models(name):
    tiny = Tiny(DATA)
    loaded = tiny.load(name)
    other = models.AutoModelForSeq2SeqLM.from_config(loaded.model.config, attn_implementation="eager").eval()
    other.load_state_dict(loaded.model.state_dict())
    for model in (loaded.model, other):
        model.generation_config.eos_token_id = None
    loaded.model.config.eos_token_id = None
    loaded = models.prepare(name, loaded.model, models.tokenizer())
    for source in tiny.sources(name):
        run = started(loaded, source)
        compare(list(run), generated(other, source))
        assert len(run.steps) == 24


@pytest.mark.parametrize("family", REACHED)
def test_a_folder_gives_what_the_model_in_memory_gives(family, tmp_path):
    models.save(family, tmp_path)
    registry = Models(folders={family: tmp_path})
    loaded = registry.load(family)
    assert registry.load(family) is loaded
    assert loaded.fingerprint == models.loaded(family).fingerprint
    assert loaded.eos == {1}
    run = started(loaded)
    other = models.AutoModelForSeq2SeqLM.from_pretrained(tmp_path, attn_implementation="eager")
    compare(list(run), generated(other, [t.id for t in run.source], cached(family)))


def test_language_tokens():
    """The source names its language, the decoder is made to start with the wanted one; the next run forgets both."""
    from transformers import MBartTokenizer
    from transformers.models.mbart.tokenization_mbart import FAIRSEQ_LANGUAGE_CODES as codes

    words = ["<s>", "<pad>", "</s>", "<unk>", *(f"▁{word}" for word in models.WORDS[:20]), "▁", *codes, "<mask>"]
    tokenizer = MBartTokenizer(vocab=[(word, -1.0) for word in words])
    loaded = models.prepare("mbart", models.build("mbart"), tokenizer)
    choice = dict(text="the dog runs", decoding=Decoding(max_new_tokens=24))
    plain = started(loaded).__class__(Settings(**choice), loaded)
    run = plain.__class__(Settings(**choice, source_language="de_DE", target_language="fr_XX"), loaded)
    assert [t.text for t in run.source][-2:] == ["</s>", "de_DE"]
    steps = list(run)
    forced = tokenizer.convert_tokens_to_ids("fr_XX")
    assert steps[0].token[0] == forced
    compare(steps, reference_for("mbart", [t.id for t in run.source], forced_bos_token_id=forced))
    again = plain.__class__(Settings(**choice), loaded)
    assert again.source == plain.source and again.source[-1].text == "en_XX"


@pytest.mark.parametrize("family", REACHED)
def test_without_capture_logits_are_those_of_sdpa_to_the_bit(family):
    """Also in the middle of a run; where transformers has no sdpa for the family, those of eager."""
    no_sdpa = family in ("t5gemma", "longt5")
    other = models.build(family, attention="eager" if no_sdpa else "sdpa")
    loaded = models.shared(family)
    run = started(loaded)
    next(run)
    ids = torch.tensor([[8, 10, 18, 20, 25, 40, 9, 30, 1], [9, 11, 12, 1, 0, 0, 0, 0, 0]])
    batch = dict(
        input_ids=ids, attention_mask=(ids != 0).long(), decoder_input_ids=torch.tensor([[2, 7, 9, 10], [2, 8, 9, 20]])
    )
    with torch.inference_mode():
        plain, ours = other(**batch).logits, loaded.model(**batch).logits
        with capture():
            captured = loaded.model(**batch).logits
    assert torch.equal(plain, ours)
    assert (captured - ours).abs().max() <= 5e-5 * max(1.0, float(ours.abs().max()))


# A comparison that broken drivers pass would be worth nothing.

def _no_cache(model):
    """The driver forgets: every step sees only its own token."""
    return lambda call: lambda *args, **kwargs: call(*args, **kwargs | {"cache": driver.EncoderDecoderCache(
        driver.DynamicCache(), driver.DynamicCache())})


def _wrong_token(model):
    """The driver feeds the id next to the one that was chosen."""
    return lambda call: lambda *args, **kwargs: call(*args, **kwargs | {
        "decoder_input_ids": (kwargs["decoder_input_ids"] + 1) % models.VOCABULARY})


@pytest.mark.parametrize("break_it", [_no_cache, _wrong_token])
@pytest.mark.parametrize("family", ["t5", "bart", "marian", "bert_gpt2", "t5gemma"])
def test_a_broken_driver_is_noticed(family, break_it):
    loaded = models.loaded(family)
    loaded.model.forward = break_it(loaded.model)(loaded.model.forward)
    run = started(loaded)
    with pytest.raises(AssertionError):
        compare(list(run), reference_for(family, [t.id for t in run.source]))


def test_swapped_layers_are_noticed():
    loaded = models.loaded("t5")
    run = started(loaded)
    steps = list(run)
    reference = reference_for("t5", [t.id for t in run.source])
    swapped = Reference(reference.ids, reference.cross[:, ::-1], reference.decoder)
    with pytest.raises(AssertionError, match="cross rows differ"):
        compare(steps, swapped)


@pytest.mark.gpu
@pytest.mark.parametrize("family", REACHED)
def test_greedy_on_cuda(family):
    """float32 within 1e-4 of the CPU's reference rows where tokens agree; bfloat16 tokens are only reported."""
    source = [t.id for t in started(models.shared(family)).source]
    reference = generated(models.build(family, attention="eager").to("cuda"), source, cached(family))
    exact = models.prepare(family, models.build(family).to("cuda"), models.tokenizer())
    compare(list(started(exact)), reference, tolerance=1e-4)
    half = models.prepare(family, models.build(family).to("cuda", torch.bfloat16), models.tokenizer())
    ours = ids_of(list(started(half)))
    same = sum(a == b for a, b in zip(ours, reference.ids))
    print(f"{family}: bfloat16 writes {same} of {len(ours)} tokens as float32 does")
