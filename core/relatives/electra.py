"""ELECTRA: a small generator fills what was masked, a discriminator says of every token whether it was replaced.

Source: Clark et al. 2020, section 2: both share the embeddings, L = L_MLM + 50 · L_disc, a sample that happens to be the
token that was there counts as original. The generator's sample lets no gradient through.
"""

from math import log

import torch
from torch import nn
from torch.nn.functional import binary_cross_entropy_with_logits
from transformers import ElectraConfig, ElectraForMaskedLM, ElectraForPreTraining

from core.relatives.bert import SIZES
from core.relatives.family import WIDTH, Family, Judged, each, forward, mean, places, scored
from core.relatives.reading import IGNORED, Fed, Reading, masked

WEIGHT = 50.0  # of the discriminator's loss


class Two(nn.Module):
    """Both models, over one table of embeddings."""

    def __init__(self, rows: int):
        super().__init__()
        sizes = SIZES | dict(vocab_size=rows, embedding_size=WIDTH)
        self.discriminator = ElectraForPreTraining(ElectraConfig(**sizes))
        small = dict(hidden_size=WIDTH // 2, num_attention_heads=2, intermediate_size=WIDTH)
        self.generator = ElectraForMaskedLM(ElectraConfig(**sizes | small))
        self.generator.electra.embeddings = self.discriminator.electra.embeddings
        self.generator.generator_lm_head.weight = self.discriminator.electra.embeddings.word_embeddings.weight


class Electra(Family):
    """Losses: mlm of the generator over the masked, rtd of the discriminator over all tokens, total = mlm + 50 · rtd."""

    name, classes = "electra", "ElectraForMaskedLM + ElectraForPreTraining"

    def build(self, rows: int) -> nn.Module:
        return Two(rows)

    def fed(self, reading: Reading) -> list[Fed]:
        return [masked(reading, 0.0, 0.0)[0]]

    def reader(self, model: nn.Module) -> nn.Module:
        return model.discriminator

    def judge(self, model: nn.Module, reading: Reading) -> Judged:
        [fed] = self.fed(reading)
        logits = forward(model.generator, fed).logits[0]
        nll = each(logits, fed.labels)
        shown, replaced = sampled(reading, fed, logits.detach())
        guesses = forward(model.discriminator, shown).logits[0]
        rtd = binary_cross_entropy_with_logits(guesses, torch.tensor(replaced, dtype=guesses.dtype))
        mlm, chosen = mean(nll, fed.labels), sum(label != IGNORED for label in fed.labels)
        columns = places([fed]) | scored(reading, fed, nll) | {
            "written": [reading.name(id) for id in shown.ids], "replaced": [bool(one) for one in replaced],
            "chance": guesses.detach().sigmoid().tolist()}
        return Judged(
            {"mlm": mlm, "rtd": rtd, "total": mlm + WEIGHT * rtd},
            {"mlm": log(reading.rows), "rtd": log(2), "total": log(reading.rows) + WEIGHT * log(2)},
            {"mlm": chosen, "rtd": len(fed.ids), "total": 1}, columns,
            [("sampled", {"chosen": chosen, "replaced": sum(replaced), "same": chosen - sum(replaced), "all": len(fed.ids)})])


def sampled(reading: Reading, fed: Fed, logits: torch.Tensor) -> tuple[Fed, list[int]]:
    """The row with the generator's samples at the masked places, and 1 where a token is not what it was."""
    draw = torch.Generator().manual_seed(reading.seed)
    rows = torch.multinomial(logits.softmax(-1), 1, generator=draw)[:, 0].tolist()
    ids = [new if label != IGNORED else old for new, old, label in zip(rows, fed.ids, fed.labels, strict=True)]
    replaced = [int(label not in (IGNORED, id)) for id, label in zip(ids, fed.labels, strict=True)]
    return Fed(ids, fed.segments, [IGNORED] * len(ids)), replaced
