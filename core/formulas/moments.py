"""Makes a Moment: a few forwards of a loaded model, one after another, so that others may come between them."""

from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import numpy as np
import torch

from core.controls import Controls, use
from core.errors import ControlError, InputError
from core.formulas.moment import SHARE, SHOWN, STACKS, TEMPERATURE, TOP, Moment
from core.interventions import Edits, Head
from core.likelihood import logits_of, source_of
from core.positions import relative_bias
from core.probes import probe
from core.records import how_made
from core.runs import Run
from core.text import piece
from core.trace import Trace
from core.train.bridge import bridge
from core.train.criteria import distillation, logit_gradient
from core.train.forcing import scored

PROBED = ("q", "k", "v", "scores", "bias", "mask", "weights", "output")
_PROJECTIONS = {"k": ("k", "k_proj"), "v": ("v", "v_proj"), "q": ("q", "q_proj")}  # T5's names, BART's


def moment(going: Run, trace: Trace, step: int, layer: int, head: int) -> Iterator[Moment | None]:
    """None after each forward, and at last the Moment of `trace`, which `going` would make again.

    step: row of the output that is looked at; layer, head: of all three stacks (cut to what a stack has). InputError for a
    step that is not there.
    """
    ids = [token.id for token in trace.target]
    if not 0 <= step < len(ids):
        raise InputError(f"There is no step {step + 1}; the output has {len(ids)} tokens.")
    loaded, arrays, facts = going.loaded, {}, _counts(going.loaded)
    loaded.sites.require("cross", loaded.name)
    for stack in STACKS:
        loaded.sites.require(stack, loaded.name)
        place = min(layer, loaded.sites.layers(stack) - 1), min(head, loaded.sites.heads[stack] - 1)
        found = probe(going, stack, *place, ids)
        arrays |= {f"{stack}.{name}": found.arrays[name] for name in PROBED} | {f"{stack}.hidden_cut": found.hidden[:, :SHOWN]}
        arrays |= _recipes(loaded, stack, *place, found.q.shape[1])
        facts[f"{stack}.scale"] = found.scale
        yield None
    arrays |= _forward(going, ids, step, layer, facts)
    yield None
    arrays |= _bridge(going, ids, facts)
    yield None
    weak = _weak(going, ids, step)
    yield None
    order = np.argsort(-arrays["all"], kind="stable")[:TOP]
    probabilities = np.exp(arrays["all"].astype(np.float64) - arrays["all"].max())
    facts["rest"] = float(1 - probabilities[order].sum() / probabilities.sum())
    whole = arrays.pop("all")
    made = distillation(*(torch.from_numpy(logits[None]).double() for logits in (weak, whole)), torch.tensor([ids[step]]), SHARE,
                        TEMPERATURE)
    facts |= {"kd.ce": float(made.ce), "kd.kl": float(made.kl), "kd.loss": float(made.loss)}
    arrays |= {"ids": order.astype(np.int32), "logits": whole[order], "weak": weak[order], "gradient": arrays["gradient"][order]}
    arrays |= _biases(loaded, head)
    texts = tuple(piece(loaded.tokenizer, int(id)) for id in order)
    yield Moment(
        going.settings, loaded.fingerprint, trace.text, going.source, going.prefix_tokens, going.start, trace.target, texts,
        step, layer, head, facts, {name: np.ascontiguousarray(array) for name, array in arrays.items()},
        how_made(going.settings, loaded.device, loaded.dtype),
    )


def _counts(loaded: Any) -> dict[str, float]:
    """What the parameter budget needs, counted on the loaded weights; a tied matrix counts once."""
    weights = {id(each): each.numel() for each in loaded.model.parameters()}
    table = loaded.model.get_output_embeddings().weight
    return {
        "P": float(sum(weights.values())), "d": float(table.shape[1]), "V": float(table.shape[0]),
        "N_enc": float(loaded.sites.layers("encoder")), "N_dec": float(loaded.sites.layers("decoder")),
    }


def _part(module: Any, which: str) -> Any:
    return next((part for name in _PROJECTIONS[which] if (part := getattr(module, name, None)) is not None), None)


def _recipes(loaded: Any, stack: str, layer: int, head: int, width: int) -> dict[str, np.ndarray]:
    """A corner of W_Q, W_K, W_V of one head (width cut, d_k cut), where the family has one matrix for each."""
    module = next(m for m in loaded.model.modules() if loaded.sites.of.get(id(m)) == (stack, layer))
    found = {}
    for which in "qkv":
        if (part := _part(module, which)) is not None and part.weight.shape[0] >= (head + 1) * width:
            rows = part.weight[head * width : (head + 1) * width].float().T  # (width, d_k)
            found[f"{stack}.w_{which}_cut"] = rows[:SHOWN, :SHOWN].cpu().numpy()
    return found


@torch.inference_mode()
def _forward(going: Run, ids: list[int], step: int, layer: int, facts: dict[str, float]) -> dict[str, np.ndarray]:
    """Hidden states, blocks, logits and log-probabilities of one forward over the whole output."""
    loaded, model = going.loaded, going.loaded.model
    source, real = source_of(going)
    seen: dict[str, torch.Tensor] = {}

    def keep(name: str, of_input: bool = False) -> Any:
        def hook(module: Any, args: tuple, out: Any) -> None:
            found = args[0] if of_input else out[0] if isinstance(out, tuple) else out
            seen[name] = found[0].float()
        return hook

    head = model.get_output_embeddings()
    with ExitStack() as hooks, use(going.controls):
        for module, name, of_input in [*_sublayers(loaded, layer), (head, "h", True)]:
            hooks.callback(module.register_forward_hook(keep(name, of_input)).remove)
        fed = torch.tensor([[going.start.id, *ids[:-1]]], device=loaded.device)
        out = model(input_ids=source, decoder_input_ids=fed, use_cache=False, output_hidden_states=True,
                    **({} if real is None else {"attention_mask": real}))
    logits, labels = out.logits[0].float(), torch.tensor(ids, device=loaded.device)
    loss = scored(logits[None], labels[None])
    facts["loss"] = float(loss.loss)
    gradient = logit_gradient(logits[step : step + 1].double(), labels[step : step + 1])[0]
    states = {
        "embedded_cut": out.encoder_hidden_states[0][0], "memory_cut": out.encoder_last_hidden_state[0],
            "h_cut": seen.pop("h")[step],
        **{f"{name}_cut": value for name, value in seen.items()},
    }
    best = logits[step].topk(12).indices
    full = {"logprobs": -loss.nll[0], "all": logits[step], "gradient": gradient, "unembedding_cut": head.weight[best].float()}
    cut = {name: value[..., :SHOWN] for name, value in states.items()} | full | {"unembedding_cut": full["unembedding_cut"][:,
                                                                                                                            :SHOWN]}
    return {name: value.float().cpu().numpy() for name, value in cut.items()}


def _sublayers(loaded: Any, layer: int) -> list[tuple[Any, str, bool]]:
    """Modules of one T5-like encoder and decoder block, whose norms come first as on the sheet: (module, name, its input)."""
    found = []
    for stack, names in (("encoder", ("mha", "ffn")), ("decoder", ("self", "cross", "ffn"))):
        blocks = getattr(loaded.model.get_encoder() if stack == "encoder" else loaded.model.get_decoder(), "block", None)
        if blocks is None or len(blocks[0].layer) != len(names):
            return []
        block = blocks[min(layer, len(blocks) - 1)]
        found += [(part, f"{stack}.after_{name}", False) for part, name in zip(block.layer, names, strict=True)]
        found.append((block.layer[0], f"{stack}.block_in", True))
    return found


def _bridge(going: Run, ids: list[int], facts: dict[str, float]) -> dict[str, np.ndarray]:
    """∂L/∂H_enc through keys, through values and whole, summed over layers: lengths (3, source), states (3, source, width cut).

    L is the mean of −log P over the output's tokens. Nothing, where a family does not project keys and values apart.
    """
    try:
        found = bridge(going.loaded, [token.id for token in going.source], ids)
    except ControlError:
        return {}
    facts["bridge.off"] = found.gap
    paths = np.stack([found.keys.sum(0), found.values.sum(0), found.whole])
    return {"bridge": np.linalg.norm(paths, axis=-1), "bridge_cut": paths[..., :SHOWN]}


def _weak(going: Run, ids: list[int], step: int) -> np.ndarray:
    """Logits (vocab,) at `step` of a student that is weaker by one part: no cross-attention in the last layer."""
    sites = going.loaded.sites
    last, edits = sites.layers("cross") - 1, going.settings.edits
    off = tuple(Head("cross", last, head) for head in range(sites.heads["cross"]))
    edits = Edits(heads=(*edits.heads, *off), rows=edits.rows)
    return logits_of(going, ids, Controls(sites.of, going.settings.masks, edits))[0, step].float().cpu().numpy()


def _biases(loaded: Any, head: int) -> dict[str, np.ndarray]:
    """T5's bias of one head by distance, for encoder and decoder; nothing for a family without."""
    found = {}
    for stack in ("encoder", "decoder"):
        if any(hasattr(module, "relative_attention_bias") for module in loaded.model.modules()):
            made = relative_bias(loaded, stack)
            bias = made.bias[min(head, len(made.bias) - 1)]
            found[f"{stack}.distances"] = np.stack([made.distances, made.buckets, bias]).astype(np.float32)
    return found
