"""Models to train in the page: always copies, so that the shared weights that everybody reads stay as they are, to the byte."""

import copy
from typing import Any

import torch
from torch import nn
from transformers import AutoModelForSeq2SeqLM

from core.errors import InputError, ModelError
from core.models.loading import Loaded

LARGEST = 20_000_000  # parameters that are trained in the page: a step of a larger model would hold the others up
COPY, HALF, FRESH = "copy", "half", "fresh"
# the sizes of a small one, by its family's names
_T5 = dict(d_model=96, d_kv=24, num_heads=4, d_ff=192, num_layers=2, num_decoder_layers=2)
_BART = dict(d_model=96, encoder_attention_heads=4, decoder_attention_heads=4, encoder_ffn_dim=192, decoder_ffn_dim=192,
             encoder_layers=2, decoder_layers=2)
RANK = 8  # of the two matrices that LoRA adds to a projection


def student(loaded: Loaded, kind: str, seed: int = 0) -> Any:
    """A model to train, in float32 and without dropout, on the vocabulary of `loaded`.

    copy: its own weights. half: its own weights, every second layer left out (as DistilBART starts). fresh: small, random.
    """
    if loaded.model.num_parameters() > LARGEST:
        raise ModelError(f"{loaded.name} has {loaded.model.num_parameters():,} parameters; at most {LARGEST:,} are trained here.")
    if kind == FRESH:
        made = _fresh(loaded.model, seed)
    elif kind in (COPY, HALF):
        made = copy.deepcopy(loaded.model).float()
        if kind == HALF:
            _drop_layers(made, loaded.name)
    else:
        raise InputError(f"There is no student {kind!r:.40}; it must be one of: {COPY}, {HALF}, {FRESH}.")
    return made.eval().requires_grad_(True)


def _fresh(model: Any, seed: int) -> Any:
    config = copy.deepcopy(model.config)
    sizes = _T5 if hasattr(config, "d_kv") else _BART if hasattr(config, "encoder_ffn_dim") else None
    if sizes is None:
        raise ModelError(f"A smaller {config.model_type} cannot be made here; T5, BART, Marian and their kin can.")
    config.update(sizes)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        made = AutoModelForSeq2SeqLM.from_config(config, attn_implementation="sdpa")
    made.generation_config = copy.deepcopy(model.generation_config)
    return made.to(model.device)


def _drop_layers(model: Any, name: str) -> None:
    """Every second layer of both stacks; the first always stays, since T5's position bias lives there."""
    for stack in (model.get_encoder(), model.get_decoder()):
        layers = getattr(stack, "block", None) or getattr(stack, "layers", None)
        if not isinstance(layers, nn.ModuleList) or len(layers) < 2:
            raise ModelError(f"No layer of {name} can be left out.")
        kept = nn.ModuleList(layers[at] for at in range(0, len(layers), 2))
        for at, layer in enumerate(kept):
            for part in layer.modules():
                if hasattr(part, "layer_idx"):  # its place in the caches
                    part.layer_idx = at
        setattr(stack, "block" if hasattr(stack, "block") else "layers", kept)
    counts = len(_layers(model.get_encoder())), len(_layers(model.get_decoder()))
    for names, count in zip((("num_layers", "encoder_layers"), ("num_decoder_layers", "decoder_layers")), counts, strict=True):
        for key in names:
            if hasattr(model.config, key):
                setattr(model.config, key, count)


def _layers(stack: Any) -> nn.ModuleList:
    return stack.block if hasattr(stack, "block") else stack.layers


def with_lora(model: Any) -> Any:
    """`model` with a pair of small matrices beside each query and value projection; only these are trained (Hu et al. 2021).

    `merged` puts them into the weights. peft is only imported here; ModelError where it is not installed.
    """
    try:
        from peft import LoraConfig, get_peft_model
    except ImportError as error:
        raise ModelError("LoRA needs the package peft, which this host has not installed. Train all weights instead.") from error
    names = {name.rpartition(".")[2] for name, part in model.named_modules() if isinstance(part, nn.Linear)}
    targets = sorted(names & {"q", "v", "q_proj", "v_proj"})
    if not targets:
        raise ModelError(f"No query or value projection of a {model.config.model_type} is known here, so LoRA has no place.")
    return get_peft_model(model, LoraConfig(r=RANK, lora_alpha=2 * RANK, lora_dropout=0.0, target_modules=targets))


def merged(model: Any) -> Any:
    """The plain model, what LoRA learned added to its weights."""
    return model.merge_and_unload() if hasattr(model, "merge_and_unload") else model
