"""Training in the page: the loss falls, what is shared stays as it is to the byte, and what cannot be trained is refused."""

import importlib.util
import math

import pytest
import torch

from core.errors import InputError, ModelError
from core.models import Models
from core.models.loading import fingerprint
from core.train import students
from core.train.students import COPY, FRESH, HALF, merged, student, with_lora
from core.train.tuning import Recipe, Tuning, own_pairs, pair_of, typed_pairs
from tests import models


@pytest.fixture(scope="module")
def pocket():
    return Models().load("pocket-t5")


def trained(loaded, model, recipe: Recipe, pairs=None, held=None, teacher=None) -> Tuning:
    learned, kept = own_pairs(loaded) if pairs is None else (pairs, held or [])
    tuning = Tuning(model, learned, kept, loaded.tokenizer.pad_token_id, recipe, teacher)
    for _ in tuning:
        pass
    return tuning


def test_distillation_lowers_the_held_out_loss_and_leaves_the_teacher_alone(pocket):
    before = fingerprint(pocket.model)
    found = trained(pocket, student(pocket, HALF), Recipe(steps=15, rate=1e-3), teacher=pocket.model)
    held = [point.held for point in found.points if point.held is not None]
    assert held[-1] < 0.9 * held[0] and len(found.points) == 16
    last = found.points[-1]
    assert last.loss == pytest.approx(0.5 * last.ce + 0.5 * 4 * last.kl, rel=1e-4)
    assert fingerprint(pocket.model) == before
    assert not any(p.requires_grad or p.grad is not None for p in pocket.model.parameters())


def test_fine_tuning_learns_pairs_that_the_model_did_not_know(pocket):
    before = fingerprint(pocket.model)
    pairs = [pair_of(pocket, "translate English to German: A dog sleeps.", "Die Katze liest.")]
    found = trained(pocket, student(pocket, COPY), Recipe(steps=20, rate=1e-3), pairs)
    assert found.points[1].loss > 2 and found.points[-1].loss < 0.3 * found.points[1].loss
    assert math.isnan(found.points[-1].kl) and fingerprint(pocket.model) == before


@pytest.mark.parametrize("family", ["t5", "bart", "marian"])
@pytest.mark.parametrize("kind", [COPY, HALF, FRESH])
def test_a_student_of_every_kind_is_a_model_of_its_own(family, kind):
    loaded = models.loaded(family)
    before = fingerprint(loaded.model)
    made = student(loaded, kind)
    shared = {p.data_ptr() for p in loaded.model.parameters()}
    assert shared.isdisjoint(p.data_ptr() for p in made.parameters())
    ids = torch.tensor([[10, 11, 12, 1]])
    out = made.generate(ids, attention_mask=torch.ones_like(ids), max_new_tokens=6, do_sample=False, use_cache=True)
    again = made.generate(ids, attention_mask=torch.ones_like(ids), max_new_tokens=6, do_sample=False, use_cache=False)
    assert torch.equal(out, again)  # layers left out have their places in the caches closed up
    with torch.no_grad():
        for weight in made.parameters():
            weight.zero_()
    assert fingerprint(loaded.model) == before
    if kind == HALF:
        assert made.num_parameters() < loaded.model.num_parameters()


def test_the_pieces_of_a_step_add_up_to_the_step(pocket):
    """A batch cut into single pairs gives the gradient of the whole batch: longer targets count more."""
    learned, _ = own_pairs(pocket)
    ends = []
    for piece in (1, 8):
        tuning = Tuning(student(pocket, FRESH), learned, [], pocket.tokenizer.pad_token_id, Recipe(steps=1))
        work = tuning._steps()
        tuning.piece = piece
        ends.append([point for point in work if point][-1].loss)
    assert ends[0] == pytest.approx(ends[1], rel=1e-5)


@pytest.mark.parametrize(("long", "short", "piece"), [(0.0, 0.0, 1), (1e9, 1e9, 8)])
def test_pieces_shrink_where_they_take_long(pocket, monkeypatch, long, short, piece):
    """Whoever waits for the model's turn waits for one piece: its size follows what the machine can do."""
    monkeypatch.setattr("core.train.tuning.LONG", long)
    monkeypatch.setattr("core.train.tuning.SHORT", short)
    learned, held = own_pairs(pocket)
    tuning = Tuning(student(pocket, FRESH), learned, held, pocket.tokenizer.pad_token_id, Recipe(steps=1))
    pieces = sum(1 for _ in tuning)
    assert tuning.piece == piece
    assert pieces > 2 * len(held) if piece == 1 else pieces < 10


def test_lora_trains_only_what_it_adds(pocket):
    if importlib.util.find_spec("peft") is None:
        with pytest.raises(ModelError, match="needs the package peft"):
            with_lora(student(pocket, COPY))
        return
    before = fingerprint(pocket.model)
    small = with_lora(student(pocket, COPY))
    learned = sum(p.numel() for p in small.parameters() if p.requires_grad)
    assert 0 < learned < 0.02 * pocket.model.num_parameters()
    pairs = [pair_of(pocket, "translate English to German: A dog sleeps.", "Die Katze liest.")]
    found = trained(pocket, small, Recipe(steps=30, rate=1e-2), pairs)
    assert found.points[-1].loss < 0.7 * found.points[1].loss
    plain = merged(small)
    assert type(plain) is type(pocket.model) and fingerprint(plain) != before == fingerprint(pocket.model)


@pytest.mark.parametrize(("call", "said"), [
    (lambda loaded: student(loaded, "twice"), "no student 'twice'"),
    (lambda loaded: Recipe(steps=0), "steps is 0"),
    (lambda loaded: Recipe(rate="x"), "rate is 'x'"),
    (lambda loaded: Recipe(temperature=0), "temperature is 0"),
    (lambda loaded: Tuning(student(loaded, COPY), [], [], 0, Recipe()), "no pair"),
    (lambda loaded: Tuning(student(loaded, COPY), *own_pairs(loaded), 0, Recipe(), models.shared("t5").model),
     "share one vocabulary"),
    (lambda loaded: typed_pairs("a dog\n"), "Line 1"),
    (lambda loaded: typed_pairs("a = b = c"), "Line 1"),
    (lambda loaded: typed_pairs("\n"), "0 pairs"),
    (lambda loaded: typed_pairs("a = b\n" * 65), "65 pairs"),
])
def test_what_cannot_be_trained_is_refused_with_a_reason(pocket, call, said):
    with pytest.raises(InputError, match=said):
        call(pocket)


def test_a_large_model_is_not_trained_here(pocket, monkeypatch):
    monkeypatch.setattr(students, "LARGEST", 1000)
    with pytest.raises(ModelError, match="at most 1,000 are trained"):
        student(pocket, COPY)


def test_typed_pairs_are_read_a_line_each():
    assert typed_pairs("a dog = ein Hund\n\n x\ty = z \n") == [("a dog", "ein Hund"), ("x", "y = z")]
