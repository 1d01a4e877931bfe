"""What the training tab draws, as messages for its sections. Sizes are limited here; text goes out as plain strings."""

import base64
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from app.words import worded
from core.budget import kv_bytes
from core.parameters import Architecture, architecture_of, blocks, counted, estimate, exact, frozen, reasons, refined
from core.records import how_made
from core.settings import Settings
from core.text import piece
from core.zoo import ZOO

if TYPE_CHECKING:  # they import torch, which must not be there before the first picture
    from core.dressings import Dressing
    from core.kinds import Kind
    from core.models.loading import Loaded
    from core.train.bridge import Bridge
    from core.train.teaching import Taught
    from core.train.tuning import Point

MOST_NUMBERS = 300_000  # float32 of gradients in one message; columns of wider models are left out
FEW = 5  # pieces that the table of the four rules shows


def packed(values: Any) -> str:
    """float32, little-endian, base64."""
    return base64.b64encode(np.ascontiguousarray(values, "<f4").tobytes()).decode()


def texts(loaded: "Loaded", ids: Any) -> list[str]:
    return [piece(loaded.tokenizer, int(id)) for id in ids]


def taught(
    loaded: "Loaded", settings: Settings, found: "Taught", source: Sequence[str], target: str, cut: int
) -> dict[str, Any]:
    """One pair under teacher forcing, position by position."""
    from core.train.teaching import RULES, shifted

    pieces = texts(loaded, found.labels)
    plain = [text for text, id in zip(pieces, found.labels, strict=True) if int(id) not in loaded.tokenizer.all_special_ids]
    width = min(FEW, len(plain)) + 3
    rules = []
    for family in RULES:
        fed, labels = shifted(family, plain[:FEW], width)
        rules.append({"family": family, "fed": fed, "labels": labels})
    return {
        "kind": "taught", "made": how_made(settings, loaded.device, loaded.dtype), "model": loaded.name, "source": list(source),
        "text": settings.text, "target": target, "fed": texts(loaded, found.fed), "labels": pieces,
        "ids": found.labels.tolist(), "nll": packed(found.nll),
        "even": packed(found.even), "vocab": found.vocab, "rank": found.rank.tolist(),
        "best": [[[int(id), piece(loaded.tokenizer, int(id)), float(p)] for id, p in zip(ids, chances, strict=True)]
                 for ids, chances in zip(found.best, found.chance, strict=True)],
        "rules": rules, "family": loaded.model.config.model_type, "few": len(plain) > FEW,
        "notes": [worded("training.cut", n=cut)] * bool(cut),
    }


def free(trace: Any, at: int | None) -> dict[str, Any]:
    """What the model writes by itself, and where it first leaves the target."""
    return {"tokens": [token.text for token in trace.target], "ids": [token.id for token in trace.target], "text": trace.text,
            "diverges": at}


def wrong(loaded: "Loaded", found: "Taught", at: int, id: int, trace: Any) -> dict[str, Any]:
    """The same pair with one wrong token read at `at`, and what the model writes after that beginning."""
    return {"kind": "wrong", "at": at, "token": piece(loaded.tokenizer, id), "nll": packed(found.nll),
            "fed": texts(loaded, found.fed), "text": trace.text, "tokens": [token.text for token in trace.target]}


def bridged(loaded: "Loaded", settings: Settings, found: "Bridge", source: Sequence[str], cut: bool) -> dict[str, Any]:
    """∂L/∂H_enc whole, each path of each layer, and their norms by source token; the first columns of a wide model."""
    layers, length, width = found.keys.shape
    columns = max(1, min(width, MOST_NUMBERS // max(1, length * (2 * layers + 1))))
    paths = np.stack([found.keys, found.values])
    return {
        "kind": "bridge", "made": how_made(settings, loaded.device, loaded.dtype), "source": list(source), "width": width,
        "columns": columns, "layers": layers, "whole": packed(found.whole[:, :columns]), "paths": packed(paths[..., :columns]),
        "norms": packed(np.linalg.norm(paths, axis=-1)), "norm": packed(np.linalg.norm(found.whole, axis=-1)),
        "gap": found.gap, "loss": found.loss, "cut": cut, "zero": not found.whole.any(),
    }


def points(found: Sequence["Point"], start: int) -> list[list[float | None]]:
    """[step, loss, ce, kl, held] of each point from `start` on; what was not measured is None."""
    def number(x: float | None) -> float | None:
        return None if x is None or x != x else round(x, 5)

    return [[one.step, *map(number, (one.loss, one.ce, one.kl, one.held))] for one in found[start:]]


def sizes(a: Architecture) -> dict[str, Any]:
    """An architecture for the what-if sliders."""
    return {name: getattr(a, name) for name in ("family", "d", "encoder", "decoder", "heads", "d_kv", "d_ff", "vocab", "gated",
                                                "tied", "positions", "kv_heads", "biased")}


def budget(loaded: "Loaded") -> dict[str, Any]:
    """Parameters of the loaded model by block, the sizes that the formula counts from, and released models beside it."""
    model = loaded.model
    tied = model.get_output_embeddings().weight is model.get_input_embeddings().weight
    a = architecture_of(model.config.to_dict(), tied)
    rows = [[stack, layer, part, count] for stack, layer, part, count in counted(loaded)]
    released = [{"name": one.name, "sizes": sizes(one.sizes), "exact": exact(one.sizes), "estimate": estimate(one.sizes),
                 "refined": refined(one.sizes), "frozen": frozen(one.sizes), "reasons": reasons(one.sizes), "source": one.source,
                 "cache": kv_bytes(one.sizes.decoder, one.sizes.kv_heads or one.sizes.heads, one.sizes.d_kv, 1),
                 } for one in ZOO]
    return {"kind": "budget", "model": loaded.name, "rows": rows, "exact": model.num_parameters(), "sizes": a and sizes(a),
            "blocks": a and blocks(a), "bytes": next(model.parameters()).element_size(), "zoo": released,
            "dtype": str(loaded.dtype).removeprefix("torch.")}


def kind(found: "Kind") -> dict[str, Any]:
    """One row of the families' table, run."""
    maps = [{"name": name, "values": packed(values), "rows": list(found.axes[name][0]), "columns": list(found.axes[name][1])}
            for name, values in found.weights.items()]
    return {"kind": "kind", "name": found.name, "maps": maps, "source_moved": list(found.source_moved),
            "target_moved": list(found.target_moved), "changed": found.changed}


def dressed(found: Sequence["Dressing"]) -> dict[str, Any]:
    """What families wear, measured, side by side."""
    return {"kind": "dressed", "models": [
        {"name": one.name, "family": one.family, "positions": one.positions, "shape": list(one.positions_shape), "norm": one.norm,
         "biased": one.norm_biased, "mean": one.mean, "rms": one.rms, "activation": one.activation, "zeros": one.zeros,
         "below": one.below, "stream": list(one.stream), "scale": one.scale, "biases": one.biases, "start": one.start,
         "tasks": list(one.tasks), "places": one.places and {
             "values": packed(one.places.values), "rows": list(one.places.rows), "columns": list(one.places.columns)},
         } for one in found],
        "zoo": [{"name": one.name, "family": one.sizes.family, "positions": one.positions, "norm": one.norm, "place": one.place,
                 "activation": one.activation, "objective": one.objective, "exact": exact(one.sizes)} for one in ZOO]}
