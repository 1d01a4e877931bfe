"""What the families of sheet 004 are trained on. Sums, as the sheet writes them, in nats; torch tensors.

Most of them are one sum, of −log P at some places: which places, and what the model could read there, is the difference.
"""

from collections.abc import Sequence

import torch
from torch.nn.functional import logsigmoid

Tensor = torch.Tensor


def token_loss(logits: Tensor, labels: Tensor, places: Tensor | None = None) -> Tensor:
    """−Σ log P(label) over the places (all of them without `places`); logits (source, vocab), labels and places (source,)."""
    each = -logits.log_softmax(-1).gather(-1, labels[..., None])[..., 0]
    return each.sum() if places is None else each[places.bool()].sum()


def masked_loss(logits: Tensor, labels: Tensor, masked: Tensor) -> Tensor:
    """MLM and ELECTRA's generator: −Σ over the masked places; logits (source, vocab), labels (source,), masked (source,)."""
    return token_loss(logits, labels, masked)


def next_token_loss(logits: Tensor, tokens: Tensor) -> Tensor:
    """GPT: −Σ_t log P(x_t | x_<t). logits (source, vocab): row t is read after token t, so it is held against token t + 1.

    The first token is not predicted, unless it is a start mark; x_1 of the sheet is then the token after it.
    """
    return token_loss(logits[:-1], tokens[1:])


def target_loss(logits: Tensor, labels: Tensor) -> Tensor:
    """T5 and BART: −Σ_t log P(y_t | y_<t, x). Row t of logits (target, vocab) is read after y_<t; labels (target,)."""
    return token_loss(logits, labels)


def pair_loss(logits: Tensor, answer: int) -> Tensor:
    """NSP and SOP: −log P(answer | [CLS]) of two logits (2,); 0 is "it follows" (in order), 1 "it does not" (BERT, ALBERT)."""
    return -logits.log_softmax(-1)[answer]


def pretraining_loss(mlm: Tensor, nsp: Tensor) -> Tensor:
    """BERT: L_MLM + L_NSP, with equal weight. Each is a single number."""
    return mlm + nsp


def dynamic_masks(places: int, ratio: float, seeds: Sequence[int]) -> Tensor:
    """(epochs, source) of bool: what each epoch masks, drawn anew from its seed; the same number of places each time."""
    masks = torch.zeros(len(seeds), places, dtype=torch.bool)
    for row, seed in zip(masks, seeds, strict=True):
        row[torch.randperm(places, generator=torch.Generator().manual_seed(seed))[: round(ratio * places)]] = True
    return masks


def roberta_loss(logits: Tensor, labels: Tensor, masked: Tensor) -> Tensor:
    """RoBERTa: L_MLM and nothing else; the masks are drawn anew each time (`dynamic_masks`)."""
    return masked_loss(logits, labels, masked)


def discriminator_loss(logits: Tensor, real: Tensor) -> Tensor:
    """ELECTRA: Σ over all places. logits (source,) of "this token is real": D = σ(logit); real (source,) is x_corrupt = x.

    transformers' head says "replaced" instead: its logits are the negative of these.
    """
    return -torch.where(real.bool(), logsigmoid(logits), logsigmoid(-logits)).sum()


def electra_loss(discriminator: Tensor, generator: Tensor, weight: float = 0.02) -> Tensor:
    """L_D + λ L_G. The paper's L_MLM + 50 L_Disc points the same way as λ = 1/50 here; its losses are means."""
    return discriminator + weight * generator


def mask_decoder(states: Tensor, places: Tensor, w: Tensor, b: Tensor) -> Tensor:
    """DeBERTa: softmax(H W + b), (source, vocab), where H = states + places: absolute positions come in just before the end.

    states, places (source, width), w (width, vocab), b (vocab,). The paper's decoder puts layers between; the sheet does not.
    """
    return ((states + places) @ w + b).softmax(-1)
