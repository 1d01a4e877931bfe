"""Teacher forcing: the decoder reads the true target, shifted by one, and is scored on every token at once."""

from dataclasses import dataclass
from typing import Any

import torch
from torch.nn.functional import cross_entropy

from core.models.families import start_of

IGNORED = -100  # label of a padded target position (torch.nn.functional.cross_entropy's ignore_index)
_ROTATING = ("mbart", "plbart")  # their labels end in a language code, which the decoder starts from


def shift_right(labels: torch.Tensor, start: int, pad: int) -> torch.Tensor:
    """Decoder input (batch, target) of T5, BART, Marian: `start`, then labels[:-1]; -100 becomes `pad`."""
    shifted = torch.cat([torch.full_like(labels[:, :1], start), labels[:, :-1]], dim=1)
    return shifted.masked_fill(shifted == IGNORED, pad)


def rotate(labels: torch.Tensor, pad: int) -> torch.Tensor:
    """Decoder input (batch, target) of mBART: the last real token (a language code) moves to the front."""
    filled = labels.masked_fill(labels == IGNORED, pad)
    last = (filled != pad).sum(1, keepdim=True) - 1
    return torch.cat([filled.gather(1, last), filled[:, :-1]], dim=1)


def decoder_input(model: Any, labels: torch.Tensor) -> torch.Tensor:
    """What `model`'s decoder reads (batch, target) when it is to write `labels` (batch, target)."""
    pad = model.config.get_text_config(decoder=True).pad_token_id
    if pad is None:
        pad = model.config.pad_token_id
    if model.config.model_type in _ROTATING:
        return rotate(labels, pad)
    return shift_right(labels, start_of(model, model.config.model_type), pad)


def forward(model: Any, ids: torch.Tensor, mask: torch.Tensor, decoder_ids: torch.Tensor) -> torch.Tensor:
    """Logits (batch, target, vocab) after each of `decoder_ids` (batch, target); ids and mask (batch, source)."""
    return model(input_ids=ids, attention_mask=mask, decoder_input_ids=decoder_ids, use_cache=False).logits


@dataclass(frozen=True, eq=False)
class Forced:
    """logits (batch, target, vocab); nll (batch, target): -log P of each label in nats, 0 where it is ignored.

    loss: mean of nll over the real tokens of the whole batch, not mean of sentence means. NaN without real tokens.
    """

    logits: torch.Tensor
    nll: torch.Tensor
    loss: torch.Tensor
    tokens: int

    @property
    def perplexity(self) -> float:
        """exp(loss): eos counted, ignored labels not (sheet 000, lesson 7)."""
        return float(self.loss.double().exp())


def forced(model: Any, ids: torch.Tensor, mask: torch.Tensor, labels: torch.Tensor) -> Forced:
    """Score `labels` (batch, target; -100 is ignored) given sources ids and mask (batch, source), in one pass."""
    return scored(forward(model, ids, mask, decoder_input(model, labels)), labels)


def scored(logits: torch.Tensor, labels: torch.Tensor) -> Forced:
    """The losses of logits (batch, target, vocab) on labels (batch, target; -100 is ignored). Sheet 000, lesson 7."""
    nll = cross_entropy(logits.float().transpose(1, 2), labels, ignore_index=IGNORED, reduction="none")
    tokens = int((labels != IGNORED).sum())
    return Forced(logits, nll, nll.sum() / tokens if tokens else nll.new_tensor(torch.nan), tokens)
