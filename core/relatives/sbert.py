"""SBERT: two texts go through one encoder apart; each becomes the mean of its states, and the two are compared by cosine.

Source: Reimers and Gurevych 2019, section 3; the loss over a batch, multiple negatives: Henderson et al. 2017, section 4.4,
with sentence-transformers' cosine and scale 20.
"""

from collections.abc import Sequence
from math import log

import torch
from torch import nn
from torch.nn.functional import cosine_similarity, cross_entropy, normalize
from transformers import BertConfig, BertModel

from core.relatives.bert import SIZES
from core.relatives.family import Family, Judged, forward, places
from core.relatives.reading import Fed, Reading, alone

SCALE = 20.0


class Sbert(Family):
    """Losses: cosine, (1 − cos)² of the person's pair, and negatives: each first part finds its own second part among all.
    total = negatives."""

    name, classes = "sbert", "BertModel"

    def build(self, rows: int) -> nn.Module:
        return BertModel(BertConfig(vocab_size=rows, **SIZES), add_pooling_layer=False)

    def fed(self, reading: Reading) -> list[Fed]:
        return [alone(reading, part) for part in reading.parts]

    def judge(self, model: nn.Module, reading: Reading) -> Judged:
        pairs = twins(reading)
        firsts, seconds = (torch.stack([pooled(model, alone(reading, one[side])) for one in pairs]) for side in (0, 1))
        cosines = normalize(firsts, dim=-1) @ normalize(seconds, dim=-1).T
        negatives = cross_entropy(SCALE * cosines, torch.arange(len(pairs)))
        own = cosine_similarity(firsts[0], seconds[0], dim=-1)
        fed = self.fed(reading)
        return Judged(
            {"cosine": (1 - own).square(), "negatives": negatives, "total": negatives},
            {"negatives": log(len(pairs)), "total": log(len(pairs))}, {"cosine": 1, "negatives": len(pairs), "total": 1},
            {"text": ["AB"[side] for side, row in enumerate(fed) for _ in row.ids]} | places(fed, segments=False),
            [("cosine", {"cosine": float(own.detach()), "width": firsts.shape[1]}), ("pairs", {"n": len(pairs), "scale": SCALE})],
            cosines.detach())


def pooled(model: nn.Module, fed: Fed) -> torch.Tensor:
    """(width,): the mean of the states of all tokens, special ones too, as sentence-transformers has it."""
    return forward(model, fed).last_hidden_state[0].mean(0)


def twins(reading: Reading) -> Sequence[tuple[Sequence[int], Sequence[int]]]:
    """The pairs of a batch: the person's first."""
    return [reading.parts, *reading.others]
