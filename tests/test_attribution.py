"""Input × gradient against finite differences: scaling one source embedding, and looking at log P."""

import numpy as np
import pytest
import torch

from core.attribution import input_x_gradient
from tests import models
from tests.reference import ids_of, started

FAMILIES = ["t5", "umt5", "bart", "marian", "pegasus", "t5gemma", "bert_gpt2"]


def scaled_logprobs(loaded, source, fed, target, column, factor) -> np.ndarray:
    """log P of every target token with the embedding of source token `column` multiplied by `factor`."""
    def scale(module, inputs, output):
        return torch.cat([output[:, :column], output[:, column : column + 1] * factor, output[:, column + 1 :]], 1)

    hook = loaded.model.get_encoder().get_input_embeddings().register_forward_hook(scale)
    with torch.no_grad():
        memory = loaded.model.get_encoder()(input_ids=torch.tensor([source]), attention_mask=torch.ones(1, len(source)))
        hook.remove()
        logits = loaded.model(
            encoder_outputs=memory, attention_mask=torch.ones(1, len(source)), decoder_input_ids=torch.tensor([fed])
        ).logits[0]
    return logits.log_softmax(-1)[range(len(target)), target].numpy()


@pytest.mark.parametrize("family", FAMILIES)
def test_it_is_the_slope_of_log_p(family):
    loaded = models.loaded(family)
    loaded.model.double()
    run = started(models.shared(family))
    steps = list(run)[:6]
    source, target = [t.id for t in run.source], ids_of(steps)
    found = input_x_gradient(loaded, source, run.start.id, target)
    assert found.shape == (6, len(source))
    small = 3e-3  # not smaller: the norms of T5 and Gemma compute in float32 whatever they are given
    fed, slopes = [run.start.id, *target[:-1]], np.zeros_like(found)
    for column in range(len(source)):
        up, down = (scaled_logprobs(loaded, source, fed, target, column, 1 + sign * small) for sign in (1, -1))
        slopes[:, column] = (up - down) / (2 * small)
    assert np.corrcoef(found.ravel(), slopes.ravel())[0, 1] > 0.99  # single slopes may cross a kink of a ReLU
    assert np.median(np.abs(found - slopes)) < 0.005 * np.abs(found).max()
    assert np.abs(found).max() > 1e-2
    assert not any(p.requires_grad for p in loaded.model.parameters())


def test_b81_the_first_token_alone_has_numbers():
    """One that was generated with no target before it still has a source to be attributed to."""
    loaded = models.shared("t5")
    run = started(loaded)
    first = next(run)
    found = input_x_gradient(loaded, [t.id for t in run.source], run.start.id, [int(first.token[0])])
    assert found.shape == (1, len(run.source)) and np.isfinite(found).all() and found.any()
    assert input_x_gradient(loaded, [t.id for t in run.source], run.start.id, []).shape == (0, len(run.source))
    assert first.decoder_weights.shape[-1] == 1 and np.allclose(first.decoder_weights, 1)
