"""Greedy runs of every family against `generate(output_attentions=True)` on a separately built model."""

import copy
import random
import threading
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from core.models import Models
from core.models.families import reading
from core.runs import Run
from core.settings import Decoding, Settings
from tests import models
from tests.conftest import EXHAUSTIVE
from tests.golden import DATA
from tests.golden.tiny import Tiny
from tests.reference import STEPS, cache_for, compare, generated, ids_of, reference_for, started

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


@pytest.mark.parametrize("family", REACHED)
def test_greedy_equals_generate(family):
    run = started(models.shared(family))
    steps = list(run)
    compare(steps, reference_for(family, [t.id for t in run.source]))
    assert len(steps) == STEPS >= 20
    assert len(set(ids_of(steps))) >= models.VARIED, "a text of one token would not notice a wrong cache"
    trace = run.trace()
    masses = np.array([step.cross_weights.mean((0, 1, 2)).sum() for step in steps])
    assert np.abs(masses - 1).max() <= 1e-5
    assert abs(trace.coverage().sum() - len(steps)) <= 1e-4
    assert trace.path().shape == (*models.shared(family).cross_shape, STEPS, len(run.source))


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
    assert len(reference.ids) < STEPS and reference.ids[-1] in ends


def test_a_sliding_window_hides_the_first_keys():
    """The reference throws keys away that the window has passed; ours keep them, with weight 0."""
    steps = list(started(models.shared("t5gemma_window")))
    assert (steps[-1].decoder_weights[0][..., 0] == 0).any() and (steps[4].decoder_weights[0] > 0).all()


@pytest.mark.parametrize("options", [{}, {"no_repeat_ngram_size": 2}], ids=["plain", "varied"])
@pytest.mark.parametrize("name", ["t5", "bart", "marian"])
def test_golden_tiny_models(name, options):
    """Left alone they write one token for ever; without repeated bigrams the caches matter."""
    tiny = Tiny(DATA)
    loaded = tiny.load(name)
    config = copy.deepcopy(loaded.model.config)  # it holds the attention's name: a shared one would switch both models
    other = models.AutoModelForSeq2SeqLM.from_config(config, attn_implementation="eager").eval()
    other.load_state_dict(loaded.model.state_dict())
    for model in (loaded.model, other):
        model.generation_config.eos_token_id = None
    loaded.model.config.eos_token_id = None
    loaded = models.prepare(name, loaded.model, models.tokenizer())
    for source in tiny.sources(name):
        run = started(loaded, source, **options)
        compare(list(run), generated(other, source, **options))
        assert len(run.steps) == STEPS


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
    compare(list(run), generated(other, [t.id for t in run.source], **cache_for(family)))


def test_language_tokens():
    """The source names its language, the decoder is made to start with the wanted one; the next run forgets both."""
    from transformers import MBartTokenizer
    from transformers.models.mbart.tokenization_mbart import FAIRSEQ_LANGUAGE_CODES as codes

    words = ["<s>", "<pad>", "</s>", "<unk>", *(f"▁{word}" for word in models.WORDS[:20]), "▁", *codes, "<mask>"]
    tokenizer = MBartTokenizer(vocab=[(word, -1.0) for word in words])
    loaded = models.prepare("mbart", models.build("mbart"), tokenizer)
    choice = dict(text="the dog runs", decoding=Decoding(max_new_tokens=STEPS))
    plain = Run(Settings(**choice), loaded)
    run = Run(Settings(**choice, source_language="de_DE", target_language="fr_XX"), loaded)
    assert [t.text for t in run.source][-2:] == ["</s>", "de_DE"]
    steps = list(run)
    forced = tokenizer.convert_tokens_to_ids("fr_XX")
    assert steps[0].token[0] == forced
    compare(steps, reference_for("mbart", [t.id for t in run.source], forced_bos_token_id=forced))
    again = Run(Settings(**choice), loaded)
    assert again.source == plain.source and again.source[-1].text == "en_XX"


def test_a_tokenizer_is_given_back_in_its_own_language_whatever_happens():
    tokenizer = SimpleNamespace(src_lang="en_XX")
    loaded = SimpleNamespace(tokenizer=tokenizer, lock=threading.Lock())
    with pytest.raises(ValueError), reading(loaded, "de_DE") as found:
        assert found is tokenizer and tokenizer.src_lang == "de_DE"
        raise ValueError
    assert tokenizer.src_lang == "en_XX" and not loaded.lock.locked()
    with reading(loaded, ""):
        assert tokenizer.src_lang == "en_XX"


@pytest.mark.gpu
@pytest.mark.parametrize("family", REACHED)
def test_greedy_on_cuda(family, capsys):
    """float32: the reference's tokens on the same device, rows within 1e-4. bfloat16: its tokens are only reported."""
    source = [t.id for t in started(models.shared(family)).source]
    reference = generated(models.build(family, attention="eager").to("cuda"), source, **cache_for(family))
    exact = models.prepare(family, models.build(family).to("cuda"), models.tokenizer())
    compare(list(started(exact)), reference, tolerance=1e-4)
    half = models.prepare(family, models.build(family).to("cuda", torch.bfloat16), models.tokenizer())
    ours = ids_of(list(started(half)))
    same = sum(a == b for a, b in zip(ours, reference.ids))
    with capsys.disabled():
        print(f"\n{family}: bfloat16 writes {same} of {len(ours)} tokens as float32 does")
