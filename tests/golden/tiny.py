"""The tiny models of the vector files: built from their config, with the weights that lie beside them."""

import json
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file
from transformers import AutoConfig, AutoModelForSeq2SeqLM

from core.attention import capture
from core.models.loading import Loaded, prepare
from core.train.forcing import forward
from tests.golden import DATA


class Tiny:
    """The models of one folder. A file that leaves their configs or sources out gets those of our own data."""

    def __init__(self, folder: Path):
        self.folder = folder
        self._specs: dict[str, dict] = {}
        for place in (DATA, folder):  # later wins, key by key: a spec may hold only its runs
            for name, spec in _models_in(place / "beam_search.json").items():
                self._specs[name] = self._specs.get(name, {}) | spec
        self._loaded: dict[str, Loaded] = {}

    def spec(self, name: str) -> dict:
        """config, input_ids, attention_mask of a model."""
        if name not in self._specs:
            raise ValueError(f"no config for a model named {name!r:.40}")
        return self._specs[name]

    def load(self, name: str) -> Loaded:
        """The model, ready to run."""
        if name not in self._loaded:
            weights = self.folder / f"tiny_{name}.safetensors"
            if not weights.is_file():
                raise ValueError(f"{weights.name} does not lie beside the file")
            config = AutoConfig.for_model(name.split("_")[0], **self.spec(name)["config"])
            model = AutoModelForSeq2SeqLM.from_config(config)
            model.load_state_dict(load_file(weights))
            # No tokenizer: the vectors are ids.
            self._loaded[name] = prepare(name, model, None)
        return self._loaded[name]

    def sources(self, name: str) -> list[list[int]]:
        """The source rows, without padding."""
        ids, mask = self.batch(name)
        return [row[keep.bool()].tolist() for row, keep in zip(ids, mask)]

    def batch(self, name: str) -> tuple[torch.Tensor, torch.Tensor]:
        """The padded sources and their mask, both (batch, source)."""
        spec = self.spec(name)
        return torch.tensor(spec["input_ids"]), torch.tensor(spec["attention_mask"])


def _models_in(path: Path) -> dict[str, dict]:
    """The specs of a beam_search.json; none where it cannot be read, which its own check reports."""
    try:
        return dict(json.loads(path.read_text("utf-8"))["models"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return {}


def largest(difference: Any) -> float:
    """Largest absolute value of a tensor, as a number."""
    return float(difference.abs().max())


@torch.inference_mode()
def logits(
    loaded: Loaded, ids: torch.Tensor, mask: torch.Tensor, decoder: torch.Tensor, capturing: bool
) -> torch.Tensor:
    """Teacher-forced logits (batch, target, vocab), as sdpa or as captured (eager)."""
    if not capturing:
        return forward(loaded.model, ids, mask, decoder)
    with capture():
        return forward(loaded.model, ids, mask, decoder)
