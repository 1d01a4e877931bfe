"""ALBERT: BERT with narrow embeddings that are widened by one matrix, one block used in every layer, and sentence order (SOP).

Source: Lan et al. 2020, section 3.
"""

from collections.abc import Sequence
from math import log

from torch import nn
from transformers import AlbertConfig, AlbertForPreTraining

from core.relatives.bert import SIZES, pair
from core.relatives.family import WIDTH, Family, Judged, Part, each, embedded, forward, mean, part, places, scored
from core.relatives.reading import Fed, Reading, joined, masked

NARROW = WIDTH // 4


class Albert(Family):
    """Losses: mlm, order (as written: label 0), swapped (the parts changed places: label 1), and
    total = mlm + (order + swapped) / 2."""

    name, classes = "albert", "AlbertForPreTraining"

    def build(self, rows: int) -> nn.Module:
        return AlbertForPreTraining(AlbertConfig(vocab_size=rows, embedding_size=NARROW, num_hidden_groups=1, **SIZES))

    def fed(self, reading: Reading) -> list[Fed]:
        return [masked(reading, 0.1, 0.1)[0]]

    def swapped(self, reading: Reading) -> Fed:
        """The second part first."""
        return joined(reading, *reversed(reading.parts))

    def judge(self, model: nn.Module, reading: Reading) -> Judged:
        fed, counts = masked(reading, 0.1, 0.1)
        own, other = forward(model, fed), forward(model, self.swapped(reading))
        nll = each(own.prediction_logits[0], fed.labels)
        mlm, order, swapped = mean(nll, fed.labels), pair(own.sop_logits, 0), pair(other.sop_logits, 1)
        block = sum(one.numel() for one in model.albert.encoder.albert_layer_groups.parameters())
        layers = model.config.num_hidden_layers
        return Judged(
            {"mlm": mlm, "order": order, "swapped": swapped, "total": mlm + (order + swapped) / 2},
            {"mlm": log(reading.rows), "order": log(2), "swapped": log(2), "total": log(reading.rows) + log(2)},
            {"mlm": counts["chosen"], "order": 1, "swapped": 1, "total": 1}, places([fed]) | scored(reading, fed, nll),
            [("noise", counts),
             ("factorised", {"vocab": reading.rows, "narrow": NARROW, "width": WIDTH,
                             "factored": NARROW * (reading.rows + WIDTH), "plain": reading.rows * WIDTH}),
             ("shared", {"block": block, "layers": layers, "apart": block * layers})])

    def parts(self, model: nn.Module, fed: Sequence[Fed]) -> list[Part]:
        return [*embedded(model.albert.embeddings, fed), part("widening", model.albert.encoder.embedding_hidden_mapping_in, None)]
