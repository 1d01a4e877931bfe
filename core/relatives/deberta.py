"""DeBERTa: nothing says where a token stands but the distance to each key, with vectors of its own beside the content's.

Source: He et al. 2021, section 3. The paper's enhanced mask decoder, which adds absolute positions before the last softmax,
is not in transformers' class and so not in this number.
"""

from collections.abc import Sequence
from math import log

import torch
from torch import nn
from transformers import DebertaV2Config, DebertaV2ForMaskedLM

from core.relatives.bert import SIZES
from core.relatives.family import Family, Judged, Part, each, forward, mean, part, scored
from core.relatives.reading import Fed, Reading, masked

REACH = 16  # distances to either side that have a vector of their own


class Deberta(Family):
    """Loss: mlm."""

    name, classes = "deberta", "DebertaV2ForMaskedLM"

    def build(self, rows: int) -> nn.Module:
        return DebertaV2ForMaskedLM(DebertaV2Config(
            vocab_size=rows, **SIZES, type_vocab_size=0, relative_attention=True, position_biased_input=False,
            pos_att_type=["c2p", "p2c"], max_relative_positions=REACH))

    def fed(self, reading: Reading) -> list[Fed]:
        return [masked(reading, 0.1, 0.1)[0]]

    def judge(self, model: nn.Module, reading: Reading) -> Judged:
        fed, counts = masked(reading, 0.1, 0.1)
        nll = each(forward(model, fed).logits[0], fed.labels)
        mlm = mean(nll, fed.labels)
        sizes = {name: float(term.square().mean().sqrt()) for name, term in terms(model, fed).items()}
        return Judged({"mlm": mlm, "total": mlm}, {"mlm": log(reading.rows), "total": log(reading.rows)},
                      {"mlm": counts["chosen"], "total": 1}, scored(reading, fed, nll),
                      [("noise", counts), ("distances", {"reach": REACH}), ("terms", sizes), ("decoder", {})])

    def parts(self, model: nn.Module, fed: Sequence[Fed]) -> list[Part]:
        base = model.deberta
        return [part("token", base.embeddings.word_embeddings, torch.tensor(fed[0].ids)),
                part("distance", base.encoder.rel_embeddings, None)]


@torch.no_grad()
def terms(model: nn.Module, fed: Fed) -> dict[str, torch.Tensor]:
    """The scores of the first layer as three terms (heads, query, key): content to content, to position, position to content.

    Each is divided by √(3 d_k), as the paper's equation 4 has it; their sum goes into the softmax.
    """
    layer, encoder = model.deberta.encoder.layer[0].attention.self, model.deberta.encoder
    states, table = model.deberta.embeddings(torch.tensor([fed.ids]))[0], encoder.get_rel_embedding()
    query, key, at_query, at_key = (
        projection(x).unflatten(-1, (layer.num_attention_heads, -1)).transpose(0, 1) for projection, x in (
            (layer.query_proj, states), (layer.key_proj, states), (layer.pos_query_proj, table), (layer.pos_key_proj, table)))
    place = torch.arange(len(fed.ids))
    index = (place[:, None] - place + REACH).clamp(0, 2 * REACH - 1).expand(len(query), -1, -1)
    scale = (3 * query.shape[-1]) ** 0.5
    return {"c2c": query @ key.mT / scale, "c2p": (query @ at_key.mT).gather(-1, index) / scale,
            "p2c": (key @ at_query.mT).gather(-1, index.mT).mT / scale}
