"""The training loss, and what validation measures with it."""

import random
from collections.abc import Mapping

import torch

from core.prefix_model import PrefixForCausalLM
from core.train.corpus import Pair, batches, collate
from core.train.forcing import IGNORED, decoder_input
from core.train.speed import LinearCrossEntropy


def hidden_states(model, batch: Mapping[str, torch.Tensor]) -> torch.Tensor:
    """What the output embedding is multiplied with: (batch, target, width).

    A config with `unmasked_decoder` lets every target position see all others, padding too: that model cheats.
    """
    if isinstance(model, PrefixForCausalLM):
        return model.states(batch, IGNORED)
    ids, mask = batch["input_ids"], batch["attention_mask"]
    decoder_ids = decoder_input(model, batch["labels"])
    if hasattr(model, "model"):  # BART, Marian
        rows, length = decoder_ids.shape
        seen = torch.ones(rows, 1, length, length, dtype=torch.bool)
        return model.model(
            input_ids=ids, attention_mask=mask, decoder_input_ids=decoder_ids, use_cache=False,
            decoder_attention_mask=seen if getattr(model.config, "unmasked_decoder", False) else None,
        ).last_hidden_state
    memory = model.encoder(input_ids=ids, attention_mask=mask).last_hidden_state
    states = model.decoder(input_ids=decoder_ids, encoder_hidden_states=memory, encoder_attention_mask=mask,
                           use_cache=False).last_hidden_state
    return states * model.config.d_model**-0.5 if model.config.scale_decoder_outputs else states


def loss_of(model, batch: Mapping[str, torch.Tensor], smoothing: float) -> tuple[torch.Tensor, torch.Tensor]:
    """(loss, nll): means over the real target tokens, in nats; only `loss` is smoothed and has a gradient."""
    real = batch["labels"] != IGNORED
    return LinearCrossEntropy.apply(
        hidden_states(model, batch)[real], model.get_output_embeddings().weight, batch["labels"][real], smoothing
    )


@torch.no_grad()
def validation(model, pairs: list[Pair], batch_tokens: int, pad: int) -> float:
    """Mean unsmoothed cross-entropy per target token, in nats."""
    model.eval()
    total = tokens = 0
    for group in batches(pairs, batch_tokens, random.Random(0)):
        batch = collate(group, pad)
        count = int((batch["labels"] != IGNORED).sum())
        total += float(loss_of(model, batch, 0.0)[1]) * count
        tokens += count
    model.train()
    return total / tokens


@torch.no_grad()
def written(model, tokenizer, pairs: list[Pair], most: int) -> list[tuple[str, str]]:
    """(source, greedy output) of each pair, sentinels shown."""
    model.eval()
    batch = collate(pairs, tokenizer.pad_token_id)
    ids = model.generate(batch["input_ids"], attention_mask=batch["attention_mask"], max_new_tokens=most,
                         do_sample=False)
    model.train()
    hidden = (tokenizer.pad_token, tokenizer.eos_token)

    def text(row: list[int]) -> str:
        out = tokenizer.decode(row, skip_special_tokens=False)
        for token in hidden:
            out = out.replace(token, "")
        return out.strip()

    return [(text(pair.source), text(row)) for pair, row in zip(pairs, ids.tolist(), strict=True)]
