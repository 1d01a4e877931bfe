"""BERT: both sides are seen, chosen tokens are guessed (MLM), and whether the second part follows the first (NSP).

Source: Devlin et al. 2019, sections 3 and 3.1; the classes are transformers' own.
"""

from math import log

import torch
from torch import nn
from torch.nn.functional import cross_entropy
from transformers import BertConfig, BertForPreTraining

from core.relatives.family import HEADS, INNER, LAYERS, PLACES, WIDTH, Family, Judged, each, forward, mean, places, scored
from core.relatives.reading import Fed, Reading, joined, masked

SIZES = dict(hidden_size=WIDTH, num_hidden_layers=LAYERS, num_attention_heads=HEADS, intermediate_size=INNER,
             max_position_embeddings=PLACES, pad_token_id=0, attn_implementation="eager")


class Bert(Family):
    """Losses: mlm, next (the second part follows: label 0), foreign (a second part of ours: label 1), and
    total = mlm + (next + foreign) / 2, as over a batch of the two."""

    name, classes = "bert", "BertForPreTraining"

    def build(self, rows: int) -> nn.Module:
        return BertForPreTraining(BertConfig(vocab_size=rows, **SIZES))

    def fed(self, reading: Reading) -> list[Fed]:
        return [masked(reading, 0.1, 0.1)[0]]

    def foreign(self, reading: Reading) -> Fed:
        """The first part before a second part of ours."""
        return joined(reading, reading.parts[0], reading.others[0][1])

    def judge(self, model: nn.Module, reading: Reading) -> Judged:
        fed, counts = masked(reading, 0.1, 0.1)
        own, other = forward(model, fed), forward(model, self.foreign(reading))
        nll = each(own.prediction_logits[0], fed.labels)
        mlm, following, foreign = mean(nll, fed.labels), pair(own.seq_relationship_logits, 0), pair(
            other.seq_relationship_logits, 1)
        return Judged(
            {"mlm": mlm, "next": following, "foreign": foreign, "total": mlm + (following + foreign) / 2},
            {"mlm": log(reading.rows), "next": log(2), "foreign": log(2), "total": log(reading.rows) + log(2)},
            {"mlm": counts["chosen"], "next": 1, "foreign": 1, "total": 1}, places([fed]) | scored(reading, fed, nll),
            [("noise", counts)])


def pair(logits: torch.Tensor, label: int) -> torch.Tensor:
    """−log P of one of two answers about a pair."""
    return cross_entropy(logits, torch.tensor([label]))
