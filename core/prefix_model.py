"""A prefix language model that writes: one stack reads the source both ways, and what it writes is causal (sheet 000, lesson 6).

A text is source, </s>, target, </s>. The prefix is the source; its </s> does what a decoder's start token does.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.nn import functional
from transformers import AutoTokenizer, DynamicCache, LlamaForCausalLM

from core.models.tasks import tasks_of_folder
from core.prefix import prefix_masks


def is_prefix_model(folder: Path) -> bool:
    """Whether a model folder holds one stack, not two."""
    return json.loads((folder / "config.json").read_text("utf-8")).get("model_type") == "llama"


def visible(real: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
    """(batch, 1, n, n), True where row i may read column j; real (batch, n): 1 at tokens; lengths (batch,): of each prefix.

    A pad row reads itself, since attention over nothing is NaN in torch; no other row reads it.
    """
    seen = torch.from_numpy(prefix_masks(real.cpu().numpy(), lengths.tolist())).to(real.device)
    return (seen | torch.eye(real.size(1), dtype=torch.bool, device=real.device))[:, None]


def places(real: torch.Tensor) -> torch.Tensor:
    """Positions (batch, n): they count the real tokens of a row."""
    return (real.cumsum(1) - 1).clamp(min=0)


class PrefixForCausalLM(LlamaForCausalLM):
    """Llama under a prefix mask, with the two calls that training and scoring make of a model with two stacks.

    `reads_ahead` False: the same weights fully causal, the source too.
    """

    reads_ahead = True

    def lengths(self, mask: torch.Tensor) -> torch.Tensor:
        """(batch,): prefix of each row of a source mask (batch, source), its </s> not counted."""
        return (mask.sum(1) - 1) * int(self.reads_ahead)

    def states(self, batch: Mapping[str, torch.Tensor], ignored: int) -> torch.Tensor:
        """(batch, target, width): what the output embedding is multiplied with to give each label, under teacher forcing.

        batch: input_ids and attention_mask (batch, source), labels (batch, target), padded on the right; `prefix` (batch,),
        where there is one, instead of the whole source.
        """
        ids, mask, fed = batch["input_ids"], batch["attention_mask"], batch["labels"][:, :-1]
        real = torch.cat([mask, (fed != ignored).long()], 1)
        lengths = batch["prefix"] if "prefix" in batch else self.lengths(mask)
        hidden = self.model(
            input_ids=torch.cat([ids, fed.clamp(min=0)], 1), attention_mask=visible(real, lengths),
            position_ids=places(real), use_cache=False,
        ).last_hidden_state
        first = hidden[torch.arange(len(ids)), mask.sum(1) - 1]  # at the source's </s>
        return torch.cat([first[:, None], hidden[:, ids.size(1) :]], 1)

    @torch.inference_mode()
    def generate(self, input_ids: torch.Tensor, attention_mask: torch.Tensor, num_beams: int = 1, **options: Any) -> torch.Tensor:
        """Ids (batch, written) after sources (batch, source): the prefix is read at once, then transformers searches."""
        ids, real = to_the_right(input_ids, attention_mask)
        cache = DynamicCache(config=self.config)
        if ids.size(1) > 1:
            read = real[:, :-1]
            self.model(input_ids=ids[:, :-1], attention_mask=visible(read, self.lengths(real)), position_ids=places(read),
                       cache=cache, use_cache=True)
            if num_beams > 1:
                cache.batch_repeat_interleave(num_beams)
        whole = super().generate(ids, attention_mask=real, cache=cache, num_beams=num_beams, **options)
        return whole[:, ids.size(1) :]


def to_the_right(ids: torch.Tensor, mask: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Both (batch, n) with the padding on the left, so that all rows end together."""
    order = mask.argsort(dim=1, stable=True)
    return ids.gather(1, order), mask.gather(1, order)


def drop_residuals(model: PrefixForCausalLM, rate: float) -> None:
    """Dropout on the embeddings and on what each part adds to the residual stream, while the model trains."""
    parts = [model.model.embed_tokens]
    for layer in model.model.layers:
        parts += [layer.self_attn.o_proj, layer.mlp.down_proj]
    for part in parts:
        part.register_forward_hook(lambda module, inputs, output: functional.dropout(output, rate, module.training))


def drawn_prefixes(mask: torch.Tensor, seed: tuple[int, ...]) -> torch.Tensor:
    """(batch,): for training; half the rows read the whole source (batch, source), a quarter nothing, a quarter a part of it."""
    rng = np.random.default_rng(seed)
    whole, kind = (mask.sum(1) - 1).numpy(), rng.random(len(mask))
    part = rng.integers(0, whole + 1)
    return torch.from_numpy(np.where(kind < 0.5, whole, np.where(kind < 0.75, 0, part)))


@dataclass(frozen=True, eq=False)
class LoadedPrefix:
    """What scoring needs of a model. tasks: name -> prefix."""

    name: str
    model: PrefixForCausalLM
    tokenizer: Any
    tasks: dict[str, str]

    @property
    def device(self) -> torch.device:
        return self.model.device

    def causal(self) -> "LoadedPrefix":
        """The same weights, reading the source as it writes: left to right."""
        model = PrefixForCausalLM(self.model.config)
        model.load_state_dict(self.model.state_dict())
        model.eval().reads_ahead = False
        return replace(self, name=f"{self.name}/causal", model=model)


def load_prefix(name: str, folder: Path) -> LoadedPrefix:
    """A bundled folder, in float32."""
    model = PrefixForCausalLM.from_pretrained(folder, dtype=torch.float32, local_files_only=True, attn_implementation="sdpa")
    tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
    return LoadedPrefix(name, model.eval().requires_grad_(False), tokenizer, tasks_of_folder(folder))
