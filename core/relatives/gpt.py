"""GPT: each token is predicted from those to its left; no noise, no second stack. Source: Radford et al. 2019."""

from collections.abc import Sequence
from math import log

import torch
from torch import nn
from transformers import GPT2Config, GPT2LMHeadModel

from core.relatives.family import HEADS, INNER, LAYERS, PLACES, WIDTH, Family, Judged, Part, each, forward, part, places, scored
from core.relatives.reading import IGNORED, Fed, Reading


class Gpt(Family):
    """Loss: lm, the mean over all tokens but the first."""

    name, classes = "gpt", "GPT2LMHeadModel"

    def build(self, rows: int) -> nn.Module:
        return GPT2LMHeadModel(GPT2Config(
            vocab_size=rows, n_embd=WIDTH, n_inner=INNER, n_layer=LAYERS, n_head=HEADS, n_positions=PLACES, bos_token_id=None,
            eos_token_id=None, attn_implementation="eager"))

    def fed(self, reading: Reading) -> list[Fed]:
        ids = reading.units.ids
        return [Fed(ids, [0] * len(ids), [*ids[1:], IGNORED])]

    def judge(self, model: nn.Module, reading: Reading) -> Judged:
        [fed] = self.fed(reading)
        nll = each(forward(model, fed).logits[0], fed.labels)
        lm = nll.sum() / (len(fed.ids) - 1)
        return Judged({"lm": lm, "total": lm}, {"lm": log(reading.rows), "total": log(reading.rows)},
                      {"lm": len(fed.ids) - 1, "total": 1}, places([fed], segments=False) | scored(reading, fed, nll),
                      [("perplexity", {"perplexity": float(lm.detach().exp()), "vocab": reading.rows})])

    def parts(self, model: nn.Module, fed: Sequence[Fed]) -> list[Part]:
        ids = torch.tensor(fed[0].ids)
        return [part("token", model.transformer.wte, ids), part("position", model.transformer.wpe, torch.arange(len(ids)))]
