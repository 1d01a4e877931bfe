"""What families wear over the same core (sheet 001, lesson 5): positions, norm, activation, scaling; read off loaded weights.

T5 and BART do the same attention. What differs is measured here on one text: what each norm leaves, what each activation
cuts, how large the residual stream gets, and how the two say where a token stands.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from core.errors import ModelError
from core.models.families import start_for
from core.models.loading import Loaded
from core.positions import relative_bias
from core.shapes import Floats
from core.text import piece

REACH = 12  # distances to either side, and positions, of the picture of `places`


@dataclass(frozen=True)
class Dressing:
    """positions: kind and shape of the parameters. norm: its class. mean, rms: of a normed state before its weights, averaged
    over all norms of the encoder; 0 and 1 for LayerNorm. zeros: share of the feed-forward's inner units that are exactly 0
    after the activation; below: share below 0. stream: root mean square of the states after each encoder block (layers,).
    """

    name: str
    family: str
    positions: str
    positions_shape: tuple[int, ...]
    norm: str
    norm_biased: bool
    mean: float
    rms: float
    activation: str
    zeros: float
    below: float
    stream: tuple[float, ...]
    scale: float
    biases: int
    start: str
    tasks: tuple[str, ...]
    places: "Places | None" = None


@dataclass(frozen=True, eq=False)
class Places:
    """How a model tells positions apart, as a matrix (row, column).

    "bias": what each head (row) adds to a score by distance key − query (column). Else the cosine between the vectors of two
    positions. None where positions are rotations, which have no parameters.
    """

    values: Floats
    rows: tuple[str, ...]
    columns: tuple[str, ...]


@torch.inference_mode()
def dressing(loaded: Loaded, source: Sequence[int]) -> Dressing:
    """Measured in one encoder forward over ids (source,)."""
    encoder = loaded.model.get_encoder()
    layers = getattr(encoder, "block", None) or getattr(encoder, "layers", None)
    if not isinstance(layers, nn.ModuleList):
        raise ModelError(f"The encoder of {loaded.name} has no list of layers that is known here.")
    normed: list[tuple[float, float]] = []
    inner: list[torch.Tensor] = []
    stream: list[float] = []
    norms = [part for part in encoder.modules() if "norm" in type(part).__name__.lower() and hasattr(part, "weight")]
    acts = [part for part in encoder.modules() if _is_activation(part)]
    hooks = [part.register_forward_hook(lambda m, _, out: normed.append(_bare(m, out))) for part in norms]
    hooks += [part.register_forward_hook(lambda m, _, out: inner.append(out.detach())) for part in acts]
    hooks += [layer.register_forward_hook(lambda m, _, out: stream.append(_rms(_first(out)))) for layer in layers]
    try:
        ids = torch.tensor([list(source)], device=loaded.device)
        encoder(input_ids=ids, attention_mask=torch.ones_like(ids))
    finally:
        for hook in hooks:
            hook.remove()
    if not normed or not inner:
        raise ModelError(f"The norms or activations of {loaded.name} are not modules that can be looked into.")
    kind, shape = _positions(loaded.model)
    cut = torch.cat([one.flatten() for one in inner])
    site = next(m for m in encoder.modules() if loaded.sites.of.get(id(m), ("",))[0] == "encoder")
    return Dressing(
        loaded.name, loaded.model.config.model_type, kind, shape, type(norms[0]).__name__, hasattr(norms[0], "bias"),
        sum(a for a, _ in normed) / len(normed), sum(b for _, b in normed) / len(normed), type(acts[0]).__name__,
        float((cut == 0).float().mean()), float((cut < 0).float().mean()), tuple(stream), float(getattr(site, "scaling", 1.0)),
        sum(1 for name, _ in loaded.model.named_parameters() if name.endswith("bias")),
        piece(loaded.tokenizer, start_for(loaded)), tuple(loaded.tasks), places(loaded, kind))


def _bare(norm: Any, output: torch.Tensor) -> tuple[float, float]:
    """(mean absolute mean over the width, root mean square) of what a norm gives before its weight and bias."""
    weight = norm.weight + 1 if "Gemma" in type(norm).__name__ else norm.weight
    bare = (output - norm.bias if getattr(norm, "bias", None) is not None else output) / weight
    return float(bare.mean(-1).abs().mean()), _rms(bare)


def _rms(x: torch.Tensor) -> float:
    return float(x.float().square().mean().sqrt())


def _first(output: Any) -> torch.Tensor:
    return output[0] if isinstance(output, tuple) else output


def _is_activation(part: Any) -> bool:
    return isinstance(part, (nn.ReLU, nn.GELU, nn.SiLU)) or "activation" in type(part).__module__


def _positions(model: Any) -> tuple[str, tuple[int, ...]]:
    """("bias", "learned", "sinusoids" or "rotary", shape of the parameters)."""
    for name, part in model.named_modules():
        if name.endswith("relative_attention_bias"):
            return "bias", tuple(part.weight.shape)
        if name.endswith("embed_positions") and hasattr(part, "weight"):
            return ("sinusoids" if "inusoid" in type(part).__name__ else "learned"), tuple(part.weight.shape)
    return "rotary", ()


def places(loaded: Loaded, kind: str) -> Places | None:
    """The picture of a model's positions, read off its weights."""
    if kind == "bias":
        found = relative_bias(loaded, "encoder", reach=REACH)
        return Places(found.bias, tuple(str(head + 1) for head in range(len(found.bias))), tuple(map(str, found.distances)))
    table = next((part.weight for name, part in loaded.model.named_modules() if name.endswith("embed_positions")), None)
    if table is None:
        return None
    skipped = 2 if loaded.model.config.model_type in ("bart", "mbart") else 0  # rows that BART never reads
    vectors = nn.functional.normalize(table[skipped : skipped + 2 * REACH].detach().float(), dim=-1)
    names = tuple(str(at + 1) for at in range(len(vectors)))
    return Places((vectors @ vectors.T).cpu().numpy(), names, names)
