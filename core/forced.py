"""One teacher-forced pass of a loaded model over one pair, with the attention that it paid: what views and scores share."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from core.attention import capture
from core.errors import InputError
from core.models.loading import Loaded
from core.shapes import Floats, PathWeights
from core.train.forcing import forced


@dataclass(frozen=True, eq=False)
class ForcedPair:
    """logprobs (target,): log P(y_t | y_<t, x) of the true tokens, in nats, the decoder having read the true ones before.

    cross_weights (layers, heads, target, source): row t is that of the forward which scores y_t.
    """

    logprobs: Floats
    cross_weights: PathWeights

    @property
    def loss(self) -> float:
        """−1/|y| Σ log P, in nats a token (sheet 000, lesson 7); eos is one of them. NaN for an empty target."""
        return float(-self.logprobs.mean()) if len(self.logprobs) else float("nan")


def force(loaded: Loaded, source: Sequence[int], target: Sequence[int]) -> ForcedPair:
    """Score `target` ids (target,) given `source` ids (source,); both as the model is to see them, eos included.

    InputError where one of them is longer than the model's positions, or the source is empty.
    """
    if not source:
        raise InputError(f"Nothing is left of the text for {loaded.name} to read. Lower the rate or write more.")
    for what, length, most in (("source", len(source), loaded.max_source), ("target", len(target), loaded.max_target)):
        if length > most:
            raise InputError(f"The {what} has {length} tokens; {loaded.name} has positions for at most {most}.")
    if not target:
        return ForcedPair(np.zeros(0, np.float32), np.zeros((*loaded.cross_shape, 0, len(source)), np.float32))
    ids, labels = (torch.tensor([list(side)], device=loaded.device) for side in (source, target))
    with torch.inference_mode(), capture() as kept:
        nll = forced(loaded.model, ids, torch.ones_like(ids), labels).nll
    weights = loaded.sites.stack(kept, "cross")
    cross = np.zeros((0, 0, len(target), len(source)), np.float32) if weights is None else weights[0].float().cpu().numpy()
    return ForcedPair(-nll[0].float().cpu().numpy(), cross)
