"""The learning bridge: how a target's loss reaches the encoder, through keys and through values (sheet 000, lesson 4).

∂L/∂H_enc = Σ over layers of ∂L/∂K · ∂K/∂H_enc + ∂L/∂V · ∂V/∂H_enc. K = H_enc W_K, so the first term is (∂L/∂K) W_Kᵀ. It is
the encoder's only gradient: with cross-attention cut off nothing of the loss depends on H_enc, and it is exactly 0.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn
from transformers.modeling_outputs import BaseModelOutput

from core.controls import Controls, use
from core.errors import ControlError
from core.models.loading import Loaded
from core.shapes import Floats
from core.train.forcing import decoder_input

_KEYS, _VALUES = ("k", "k_proj", "key"), ("v", "v_proj", "value")  # what families call the two projections


@dataclass(frozen=True, eq=False)
class Bridge:
    """whole (source, width): ∂L/∂H_enc by autograd. keys, values (layers, source, width): the two paths of each layer.

    loss: mean −log P of the labels, nats a token; its gradient is what is shown.
    """

    whole: Floats
    keys: Floats
    values: Floats
    loss: float

    @property
    def gap(self) -> float:
        """Largest difference between autograd's gradient and the sum of all paths."""
        return float(abs(self.keys.sum(0) + self.values.sum(0) - self.whole).max())


def bridge(loaded: Loaded, source: Sequence[int], labels: Sequence[int], cut: bool = False) -> Bridge:
    """One encoder forward, one decoder forward and backward over ids source (source,) and labels (target,).

    cut: no target row may read any source position in any layer. ControlError where the projections cannot be told apart.
    """
    ids, wanted = (torch.tensor([list(side)], device=loaded.device) for side in (source, labels))
    with torch.no_grad():
        memory = loaded.model.get_encoder()(input_ids=ids, attention_mask=torch.ones_like(ids)).last_hidden_state
    memory = memory.detach().clone().requires_grad_()
    sites = cross_sites(loaded)
    made: dict[tuple[int, str], torch.Tensor] = {}
    hooks = [part.register_forward_hook(_keeper(made, (layer, path)))
             for layer, site in enumerate(sites) for path, part in zip("kv", projections(site), strict=True)]
    nothing = torch.zeros(1, len(labels), len(source), dtype=torch.bool, device=loaded.device)
    controls = Controls(loaded.sites.of, given={"cross": nothing}) if cut else None
    try:
        with torch.inference_mode(False), torch.enable_grad(), use(controls):
            logits = loaded.model(encoder_outputs=BaseModelOutput(memory), attention_mask=torch.ones_like(ids),
                                  decoder_input_ids=decoder_input(loaded.model, wanted), use_cache=False).logits
            loss = nn.functional.cross_entropy(logits[0].float(), wanted[0])
            places = list(made)
            found = torch.autograd.grad(loss, [memory, *made.values()], allow_unused=True)
    finally:
        for hook in hooks:
            hook.remove()
    parts = {"k": torch.zeros(len(sites), *memory.shape[1:]), "v": torch.zeros(len(sites), *memory.shape[1:])}
    for (layer, path), gradient in zip(places, found[1:], strict=True):
        if gradient is not None:
            weight = projections(sites[layer])["kv".index(path)].weight
            parts[path][layer] = (gradient[0] @ weight).detach().float().cpu()
    whole = torch.zeros_like(memory[0]) if found[0] is None else found[0][0]
    return Bridge(whole.detach().float().cpu().numpy(), parts["k"].numpy(), parts["v"].numpy(), float(loss.detach()))


def _keeper(made: dict, place: tuple[int, str]) -> Any:
    def keep(module: Any, inputs: Any, output: torch.Tensor) -> None:
        made[place] = output
    return keep


def cross_sites(loaded: Loaded) -> list[Any]:
    """The cross-attention modules, first layer to last."""
    loaded.sites.require("cross", loaded.name)
    by_id = {id(module): module for module in loaded.model.modules()}
    found = [(layer, by_id[key]) for key, (stack, layer) in loaded.sites.of.items() if stack == "cross"]
    return [module for _, module in sorted(found, key=lambda one: one[0])]


def projections(site: Any) -> tuple[nn.Linear, nn.Linear]:
    """(of keys, of values) of one attention module."""
    found = []
    for names in (_KEYS, _VALUES):
        part = next((getattr(site, name) for name in names if isinstance(getattr(site, name, None), nn.Linear)), None)
        if part is None:
            raise ControlError(f"{type(site).__name__} has no projection named one of {', '.join(names)}: "
                               "its keys and values cannot be told apart.")
        found.append(part)
    return tuple(found)
