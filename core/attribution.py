"""Input × gradient: how much each source token moved the log-probability of each written token, to first order."""

from collections.abc import Sequence

import numpy as np
import torch

from core.models.loading import Loaded
from core.shapes import Floats


def input_x_gradient(loaded: Loaded, source: Sequence[int], start: int, target: Sequence[int]) -> Floats:
    """(target, source), signed, in nats: Σ over width of x_j · ∂ log P(y_t | y_<t, x) / ∂x_j, x_j: source embedding j.

    It is the change of log P when x_j is scaled up by 1 + ε, divided by ε, for small ε (Shrikumar et al. 2016;
    Denil et al. 2014). One encoder and one decoder forward under teacher forcing, one backward a step.
    """
    held: list[torch.Tensor] = []

    def hold(module, inputs, output):
        held.append(output.detach().requires_grad_())
        return held[-1]

    def ids(values):
        return torch.tensor([list(values)], device=loaded.device)

    hook = loaded.model.get_encoder().get_input_embeddings().register_forward_hook(hold)
    try:
        with torch.inference_mode(False), torch.enable_grad():
            mask = torch.ones_like(ids(source))
            output = loaded.model.get_encoder()(input_ids=ids(source), attention_mask=mask)
            hook.remove()  # a shared embedding also serves the decoder
            fed = ids([start, *target[:-1]])
            logits = loaded.model(encoder_outputs=output, attention_mask=mask, decoder_input_ids=fed, use_cache=False).logits
            logprobs = logits[0].float().log_softmax(-1)
            rows = [_row(logprobs[t, id], held[0]) for t, id in enumerate(target)]
    finally:
        hook.remove()
    return torch.stack(rows).cpu().numpy() if rows else np.zeros((0, len(source)), np.float32)


def _row(logprob: torch.Tensor, embedded: torch.Tensor) -> torch.Tensor:
    """(source,) for one written token."""
    (gradient,) = torch.autograd.grad(logprob, embedded, retain_graph=True)
    return (gradient[0] * embedded[0]).sum(-1).detach().float()
