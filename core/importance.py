"""Head importance: how log P of an output changes when one head is switched off (Michel et al. 2019)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch

from core.interventions import STACKS
from core.likelihood import logits_of
from core.runs import Run
from core.shapes import Floats


@dataclass(frozen=True, eq=False)
class LayerImportance:
    """One layer: change (heads,) of log P(y | x) in nats when each head alone is off; done of total layers measured."""

    stack: str
    layer: int
    change: Floats
    done: int
    total: int


def head_importance(going: Run, target: Sequence[int]) -> Iterator[LayerImportance]:
    """A layer at a time, all its heads in one batch (row h has head h off), beside the masks and edits of `going`.

    target: ids of the output, start token left out. Teacher-forced in one forward, so under a mask that looks ahead
    the model sees the answer. Layers of stacks out of reach are left out.
    """
    sites, ids = going.loaded.sites, list(map(int, target))
    whole = _logp(logits_of(going, ids), ids)[0]
    layers = [(stack, layer) for stack in STACKS for layer in range(sites.layers(stack))]
    for done, (stack, layer) in enumerate(layers, 1):
        heads = sites.heads[stack]
        keep = 1 - torch.eye(heads, device=going.loaded.device)
        controls = replace(going.controls, keep={(stack, layer): keep})
        change = _logp(logits_of(going, ids, controls, batch=heads), ids) - whole
        yield LayerImportance(stack, layer, change.astype(np.float32), done, len(layers))


def importance_maps(layers: Sequence[LayerImportance]) -> dict[str, Floats]:
    """Stack -> (layers, heads), from all that `head_importance` gave."""
    stacks = dict.fromkeys(one.stack for one in layers)
    return {stack: np.stack([one.change for one in layers if one.stack == stack]) for stack in stacks}


def _logp(logits: torch.Tensor, ids: list[int]) -> np.ndarray:
    """(batch,) log P of the output, nats; logits (batch, target, vocab)."""
    wanted = torch.tensor(ids, device=logits.device).expand(len(logits), -1)
    return logits.double().log_softmax(-1).gather(2, wanted[..., None])[..., 0].sum(1).cpu().numpy()
