"""Teacher forcing looked into, the losses against torch's own, and the bridge into the encoder."""

import numpy as np
import pytest
import torch
from torch.nn.functional import cross_entropy, kl_div

from core.errors import ControlError, InputError
from core.models import Models
from core.train import criteria
from core.train.bridge import bridge
from core.train.forcing import IGNORED, decoder_input
from core.train.teaching import RULES, divergence, label_tokens, shifted, teach
from tests import models

SOURCE, TARGET = [10, 11, 12, 13, 14, 1], [20, 21, 22, 1]
NAMED = ("t5", "bart", "marian")


@pytest.fixture(scope="module")
def pocket():
    return Models().load("pocket-t5")


def batch(seed: int = 0) -> tuple[torch.Tensor, torch.Tensor]:
    made = torch.Generator().manual_seed(seed)
    labels = torch.randint(0, 11, (3, 5), generator=made)
    labels[1, 3:] = IGNORED
    return torch.randn(3, 5, 11, generator=made, dtype=torch.float64).requires_grad_(), labels


@pytest.mark.parametrize("smoothing", [0.0, 0.1, 0.5])
def test_the_loss_and_its_gradient_are_torchs(smoothing):
    logits, labels = batch()
    wanted = cross_entropy(logits.transpose(1, 2), labels, ignore_index=IGNORED, label_smoothing=smoothing)
    found = criteria.cross_entropy(logits, labels, smoothing)
    assert torch.allclose(found, wanted, atol=1e-14)
    (gradient,) = torch.autograd.grad(wanted, logits)
    assert torch.allclose(criteria.logit_gradient(logits, labels, smoothing).detach(), gradient, atol=1e-14)
    assert (gradient[1, 3:] == 0).all()


@pytest.mark.parametrize("variant", [criteria.TORCH, criteria.FAIRSEQ])
def test_the_loss_is_that_against_its_targets(variant):
    logits, labels = batch()
    q = criteria.label_targets(labels, 11, 0.2, variant)
    each = -(q * logits.log_softmax(-1)).sum(-1)
    assert torch.allclose(criteria.cross_entropy(logits, labels, 0.2, variant), each.sum() / (labels != IGNORED).sum())
    assert torch.allclose(q.sum(-1), (labels != IGNORED).double())


@pytest.mark.parametrize(("mix", "temperature"), [(0.0, 2.0), (0.5, 1.0), (0.7, 3.0), (1.0, 2.0)])
def test_the_distilled_loss_and_its_gradient_are_torchs(mix, temperature):
    (student, labels), (teacher, _) = batch(), batch(1)
    found = criteria.distillation(student, teacher.detach(), labels, mix, temperature)
    real = labels != IGNORED
    soft = kl_div((student[real] / temperature).log_softmax(-1), (teacher[real] / temperature).softmax(-1).detach(),
                  reduction="batchmean")
    assert torch.allclose(found.kl, soft)
    (gradient,) = torch.autograd.grad(found.loss, student)
    asked = student.detach(), teacher.detach(), labels, mix, temperature
    assert torch.allclose(criteria.distillation_gradient(*asked), gradient, atol=1e-14)


@pytest.mark.parametrize(("call", "said"), [
    (lambda z, y: criteria.cross_entropy(z, y, 1.0), "below 1"),
    (lambda z, y: criteria.cross_entropy(z, y, 0.1, "none"), "torch or fairseq"),
    (lambda z, y: criteria.distillation(z, z, y, 1.5, 1.0), "between 0 and 1"),
    (lambda z, y: criteria.distillation(z, z, y, 0.5, 0.0), "above 0"),
])
def test_a_loss_out_of_range_is_refused(call, said):
    with pytest.raises(InputError, match=said):
        call(*batch())


@pytest.mark.parametrize("family", NAMED)
def test_what_is_shown_of_a_pair_is_what_autograd_sees(family):
    """p̂ − y of each position, from the kept candidates, against the gradient of the model's own loss."""
    loaded = models.shared(family)
    found = teach(loaded, SOURCE, TARGET)
    ids, labels = torch.tensor([SOURCE]), torch.tensor([TARGET])
    with torch.enable_grad():
        fed = decoder_input(loaded.model, labels)
        logits = loaded.model(input_ids=ids, decoder_input_ids=fed).logits.detach().requires_grad_()
        loss = cross_entropy(logits[0], labels[0], label_smoothing=0.1, reduction="none")
        (gradient,) = torch.autograd.grad(loss.sum(), logits)
    assert np.allclose(0.9 * found.nll + 0.1 * found.even, loss.detach(), atol=1e-5)
    for at, label in enumerate(TARGET):
        q = np.where(found.best[at] == label, 0.9, 0.0) + 0.1 / found.vocab
        assert np.allclose(found.chance[at] - q, gradient[0, at, torch.from_numpy(found.best[at]).long()], atol=1e-6)
    assert found.rank[0] == int((logits[0, 0] > logits[0, 0, TARGET[0]]).sum())
    assert found.perplexity == pytest.approx(np.exp(found.loss)) and found.smoothed(0.0) == found.loss


def test_a_wrong_token_moves_only_what_comes_after_it(pocket):
    source = pocket.tokenizer("translate English to German: A dog runs on the beach.")["input_ids"]
    labels = [token.id for token in label_tokens(pocket, "Ein Hund rennt am Strand.", 64)[0]]
    plain, wrong = teach(pocket, source, labels), teach(pocket, source, labels, {2: 500})
    assert labels[-1] == 1 and plain.fed.tolist() == [0, *labels[:-1]]
    assert wrong.fed[2] == 500 and np.array_equal(plain.nll[:2], wrong.nll[:2])
    assert abs(plain.nll[2:] - wrong.nll[2:]).max() > 0.1 and wrong.labels.tolist() == labels


@pytest.mark.parametrize(("source", "labels", "wrong"), [
    ([], TARGET, {}), (SOURCE, [], {}), (SOURCE, TARGET, {0: 5}), (SOURCE, TARGET, {4: 5}), (SOURCE, TARGET, {1: 10**6})])
def test_what_cannot_be_taught_is_refused(source, labels, wrong):
    with pytest.raises(InputError):
        teach(models.shared("t5"), source, labels, wrong)


def test_every_family_shifts_as_transformers_does():
    from transformers.models.bart.modeling_bart import shift_tokens_right as bart
    from transformers.models.mbart.modeling_mbart import shift_tokens_right as mbart
    for family in RULES:
        fed, labels = shifted(family, ["a", "b"], 6)
        names = list(dict.fromkeys([*labels, *fed, "</s>", "<pad>"]))
        ids = torch.tensor([[IGNORED if name == "−100" else names.index(name) for name in labels]])
        pad, start = names.index("<pad>"), names.index(RULES[family][2] or "<pad>")
        theirs = mbart(ids, pad) if family == "mbart" else bart(ids, pad, start)
        assert [names[id] for id in theirs[0].tolist()] == fed
    assert shifted("t5", ["a"], 4)[0] == ["<pad>", "a", "</s>", "<pad>"]  # the end token stays in the input; its step is ignored


@pytest.mark.parametrize(("true", "written", "at"), [
    ([1, 2, 3], [1, 2, 3], None), ([1, 2, 3], [1, 5, 3], 1), ([1, 2], [1, 2, 3], 2), ([1, 2, 3], [], 0)])
def test_the_first_divergence(true, written, at):
    assert divergence(true, written) == at


# The learning bridge

@pytest.mark.parametrize("family", [*NAMED, "mbart", "pegasus", "t5gemma", "bert_bert"])
def test_both_paths_add_up_to_autograds_gradient(family):
    loaded = models.shared(family)
    found = bridge(loaded, SOURCE, TARGET)
    ids, labels = torch.tensor([SOURCE]), torch.tensor([TARGET])
    with torch.enable_grad():  # the plain way: no hooks, the model's own forward
        encoded = loaded.model.get_encoder()(input_ids=ids, attention_mask=torch.ones_like(ids), return_dict=True)
        encoded.last_hidden_state = memory = encoded.last_hidden_state.detach().requires_grad_()
        logits = loaded.model(encoder_outputs=encoded, attention_mask=torch.ones_like(ids),
                              decoder_input_ids=decoder_input(loaded.model, labels), use_cache=False).logits
        (whole,) = torch.autograd.grad(cross_entropy(logits[0].float(), labels[0]), memory)
    assert np.allclose(found.whole, whole[0], atol=1e-6) and abs(found.whole).max() > 1e-3
    assert found.gap < 1e-5 and np.abs(found.keys).max() > 0 and np.abs(found.values).max() > 0
    assert found.keys.shape == (loaded.cross_shape[0], *found.whole.shape)


@pytest.mark.parametrize("family", NAMED)
def test_without_cross_attention_nothing_reaches_the_encoder(family):
    loaded = models.loaded(family)
    found = bridge(loaded, SOURCE, TARGET, cut=True)
    assert not found.whole.any() and not found.keys.any() and not found.values.any()
    assert found.loss != bridge(loaded, SOURCE, TARGET).loss


def test_a_model_whose_projections_are_one_matrix_is_refused():
    with pytest.raises(ControlError, match="cannot be told apart"):
        bridge(models.shared("bert_gpt2"), SOURCE, TARGET)
