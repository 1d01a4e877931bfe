"""The reference that greedy runs are compared with: transformers' own `generate` on a separately built eager model."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from transformers import DynamicCache, EncoderDecoderCache

from core.models.loading import Loaded
from core.runs import Run
from core.settings import Decoding, Settings
from core.text import Token
from core.trace import Step
from tests import models

STEPS = 24
ROWS = 2e-5  # how close the rows of attention weights must be


@dataclass
class Reference:
    """ids (target,); cross rows (target, layers, heads, source); decoder rows, per step (layers, heads, index + 1)."""

    ids: list[int]
    cross: np.ndarray
    decoder: list[np.ndarray]


def generated(model: Any, source: Sequence[int], **options: Any) -> Reference:
    """What `generate` gives greedily for one source; `options` as generate takes them."""
    for part in (model, model.get_decoder()):
        # Any other returns empty rows without a word; and it must not be ours.
        assert part.config._attn_implementation == "eager", "the reference runs transformers' own eager attention"
    ids = torch.tensor([list(source)], device=model.device)
    out = model.generate(
        ids, attention_mask=torch.ones_like(ids), num_beams=1, do_sample=False, output_attentions=True,
        return_dict_in_generate=True, **{"max_new_tokens": STEPS} | options,
    )

    def rows(step: Sequence[torch.Tensor], width: int) -> np.ndarray:
        """(layers, heads, width); a sliding window gives only the last keys."""
        last = [layer[0, :, -1].float().cpu().numpy() for layer in step]
        return np.stack([np.pad(row, ((0, 0), (width - row.shape[-1], 0))) for row in last])

    return Reference(
        ids=out.sequences[0, 1:].tolist(),
        cross=np.stack([rows(step, len(source)) for step in out.cross_attentions]),
        decoder=[rows(step, index + 1) for index, step in enumerate(out.decoder_attentions)],
    )


def cache_for(family: str) -> dict[str, Any]:
    """generate's own cache takes its depth from the encoder, and breaks when encoder and decoder differ in depth."""
    return {"cache": EncoderDecoderCache(DynamicCache(), DynamicCache())} if family == "t5_deep" else {}


def reference_for(family: str, source: list[int], checkpoint: dict | None = None, **options: Any) -> Reference:
    """`generated` by a separately built model; `checkpoint`: what its generation config says."""
    model = models.build(family, attention="eager")
    for key, value in (checkpoint or {}).items():
        setattr(model.generation_config, key, value)
    return generated(model, source, **cache_for(family), **options)


def started(loaded: Loaded, source: Sequence[int] | None = None, **decoding: Any) -> Run:
    """A run of ours that has not made a step; `source` in place of the ids of `models.TEXT`."""
    run = Run(Settings(text=models.TEXT, decoding=Decoding(**{"max_new_tokens": STEPS} | decoding)), loaded)
    if source is not None:
        run.source = tuple(Token(str(id), id) for id in source)
    return run


def ids_of(steps: Sequence[Step]) -> list[int]:
    return [int(step.token[0]) for step in steps]


def compare(steps: Sequence[Step], reference: Reference, tolerance: float = ROWS) -> None:
    """Tokens exact, every row of weights within `tolerance`, each a distribution. AssertionError otherwise."""
    assert ids_of(steps) == reference.ids, "tokens differ"
    assert len(steps) == len(reference.cross) == len(reference.decoder), "another number of steps"
    for index, step in enumerate(steps):
        cross, decoder = step.cross_weights[0], step.decoder_weights[0]
        assert cross.shape == reference.cross[index].shape, f"step {index}: cross rows {cross.shape}"
        assert decoder.shape == reference.decoder[index].shape, f"step {index}: decoder rows {decoder.shape}"
        assert np.abs(cross - reference.cross[index]).max() <= tolerance, f"step {index}: cross rows differ"
        assert np.abs(decoder - reference.decoder[index]).max() <= tolerance, f"step {index}: decoder rows differ"
        for rows in (cross, decoder):
            assert np.abs(rows.sum(-1) - 1).max() <= max(tolerance, ROWS), f"step {index}: a row is no distribution"
