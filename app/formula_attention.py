"""Numbers for the cards of lessons 2 to 6: attention, blocks, masks, the bridge, the budget."""

from typing import Any

import numpy as np

from app.formula_shown import Place, listing, number, packed, panel, shown
from core import masks
from core.formulas import FORMULAS
from core.parameters import Architecture

MOST_MOVED = 128 * 128  # scores that travel whole, so that a slider may move them


def row(place: Place, stack: str) -> dict[str, Any]:
    """One row of attention: scores, what is added, weights. Its script divides by √d_k or not and sharpens by T."""
    i = place.i if stack == "encoder" else place.t
    rows = place.source if stack == "encoder" else place.fed
    columns = place.fed if stack == "decoder" else place.source
    scores, bias, mask = (place[f"{stack}.{name}"] for name in ("scores", "bias", "mask"))
    scale, width = place.moment.facts[f"{stack}.scale"], place[f"{stack}.q"].shape[-1]
    axes = ("source" if stack == "encoder" else "target", "target" if stack == "decoder" else "source")
    name = "SelfAttn" if stack == "encoder" else "CrossAttn"
    weights = place[f"{stack}.weights"]
    values = {"scores": listing(scores[i], 1), "root": number(1 / scale, 2), "added": listing((bias + mask)[i], 1),
              "weights": listing(weights[i])}
    panels = [
        panel("Q", place[f"{stack}.q"], rows, place.slots(f"{stack}.q"), lights=["Q"], axes=(axes[0], "d_k"), row=i,
            label="STATE"),
        panel("K", place[f"{stack}.k"], columns, place.slots(f"{stack}.k"), lights=["K", "K^\\top"], axes=(axes[1], "d_k"),
            label="STATE"),
        panel("V", place[f"{stack}.v"], columns, place.slots(f"{stack}.v"), lights=["V"], axes=(axes[1], "d_v"), label="STATE"),
        panel("M", mask, rows, columns, lights=["M^\\textpad", "M^\\textenc_ij"], axes=axes, kind="mask", label="CONFIG"),
        panel("A", weights, rows, columns, lights=["A", "\\sqrtd_k"], axes=axes, kind="weights", row=i, label="STATE"),
        panel(name, place[f"{stack}.output"], rows, place.slots(f"{stack}.output"), lights=[f"\\mathrm{name}"],
              axes=(axes[0], "d_v"), row=i, label="STATE"),
    ]
    note = ("no_root" if scale == 1 else "root", {"d_k": width}) if scale in (1, width**-0.5) else None
    if scores.size > MOST_MOVED:
        return shown(values, panels, note)
    added = bias + np.where(np.isfinite(mask), mask, np.float32(-1e30))
    return shown(values, panels, note, scores=packed(scores, "<f4"), added=packed(added, "<f4"),
                 v=packed(place[f"{stack}.v"], "<f4"), scale=scale, width=width, row=i)


def encoder_attention(place: Place) -> dict[str, Any]:
    return row(place, "encoder")


def cross_attention(place: Place) -> dict[str, Any]:
    return row(place, "cross")


def _block(place: Place, stack: str, names: tuple[str, ...], states: tuple[str, ...], sums: tuple[str, ...]) -> dict[str, Any]:
    """States of one block in order, the first number of one row written out. T5-like blocks alone have them."""
    first = place.moment.get(f"{stack}.block_in_cut")
    if first is None:
        return shown({}, note=("post_norm", {"model": place.moment.settings.model}))
    side = "source" if stack == "encoder" else "target"
    at = place.i if side == "source" else place.t
    arrays = [first, *(place[f"{stack}.after_{name}_cut"] for name in names)]
    values = {"H": number(first[at, 0])}
    for name, before, after, total in zip(names, arrays, arrays[1:], sums, strict=False):
        values |= {name: number(after[at, 0] - before[at, 0]), total: number(after[at, 0])}
    rows = place.source if side == "source" else place.fed
    lights = {"H": ["H"], "H′": ["H'"], "H_out": ["H^\\textout"], "H₁": ["H_1"], "H₂": ["H_2"], "H₃": ["H_3"]}
    panels = [panel(title, array, rows, [str(k + 1) for k in range(array.shape[1])], lights=lights[title], axes=(side, "width"),
                    row=at, label="STATE") for title, array in zip(states, arrays, strict=True)]
    return shown(values, panels, ("one_number", {"token": rows[at], "d": place.d}))


def encoder_block(place: Place) -> dict[str, Any]:
    return _block(place, "encoder", ("mha", "ffn"), ("H", "H′", "H_out"), ("H1", "H2"))


def decoder_block(place: Place) -> dict[str, Any]:
    made = _block(place, "decoder", ("self", "cross", "ffn"), ("H", "H₁", "H₂", "H₃"), ("H1", "H2", "H3"))
    made["panels"].append(place.hidden("H_enc", "memory_cut", "source", ["H_\\textenc"]))
    return made


def causal_mask(place: Place) -> dict[str, Any]:
    i = min(max(place.t, 1), place.m - 1)
    added = masks.additive(FORMULAS["causal_mask"].function(place.m, place.m))
    values = {"i": str(i + 1), "below": str(max(i, 1)), "above": str(i + 2), "end": "−∞"}
    return shown(values, [panel("M", added, place.fed, place.fed, lights=["M^\\textcausal_ij"], axes=("target", "target"),
                                kind="mask", row=i, label="CONFIG")])


def cross_projections(place: Place) -> dict[str, Any]:
    values = {"m": str(place.m), "n": str(place.n), "d": str(place.d), "dk": str(place["cross.q"].shape[1]),
              "dv": str(place["cross.v"].shape[1])}
    panels = [place.hidden("H_dec", "cross.hidden_cut", "target", ["H_\\textdec"]),
              place.hidden("H_enc", "memory_cut", "source", ["H_\\textenc"])]
    for which, side in (("q", "target"), ("k", "source"), ("v", "source")):
        if (w := place.moment.get(f"cross.w_{which}_cut")) is not None:
            letter = which.upper()
            panels.append(panel(f"W_{letter}", w, [str(k + 1) for k in range(w.shape[0])], place.slots(f"cross.w_{which}_cut"),
                                lights=[f"W_{letter}^c"], axes=("width", "d_k" if which != "v" else "d_v"), label="θ"))
        rows = place.fed if side == "target" else place.source
        panels.append(panel(which.upper(), place[f"cross.{which}"], rows, place.slots(f"cross.{which}"), lights=[which.upper()],
                            axes=(side, "d_v" if which == "v" else "d_k"), label="STATE"))
    return shown(values, panels, ("cut", {"d": place.d}))


def cross_output(place: Place) -> dict[str, Any]:
    weights, v = place["cross.weights"], place["cross.v"]
    order = np.argsort(-weights[place.t])[:3]
    out = FORMULAS["cross_output"].function(weights, v)
    products = " + ".join(f"{number(weights[place.t, j], 2)}·({number(v[j, 0], 2)})" for j in order) + " + …"
    values = {"products": products, "o": number(out[place.t, 0]), "n": str(place.n), "t": str(place.t + 1),
              "sum": number(weights[place.t].sum(), 4)}
    panels = [
        panel("A", weights, place.fed, place.source, lights=["A_ij", "A"], axes=("target", "source"), kind="weights",
            row=place.t, label="STATE"),
        panel("V", v, place.source, place.slots("cross.v"), lights=["v_j", "V"], axes=("source", "d_v"), label="STATE"),
        panel("O", out, place.fed, place.slots("cross.v"), lights=["o_i"], axes=("target", "d_v"), row=place.t, label="STATE"),
    ]
    return shown(values, panels, ("first_slot", {"token": place.fed[place.t]}))


def bridge(place: Place) -> dict[str, Any]:
    if (norms := place.moment.get("bridge")) is None:
        return shown({}, note=("no_bridge", {"model": place.moment.settings.model}))
    values = {"K": number(np.linalg.norm(norms[0]), 4), "V": number(np.linalg.norm(norms[1]), 4),
              "off": number(place.moment.facts["bridge.off"], 1)}
    cut = place["bridge_cut"]
    slots = [str(k + 1) for k in range(cut.shape[2])]
    names = (("K", ["K"]), ("V", ["V"]), ("∂L/∂H_enc", ["H_\\textenc", "\\mathcalL"]))
    panels = [panel(title, array, place.source, slots, lights=lights, axes=("source", "width"), label="STATE")
              for (title, lights), array in zip(names, cut, strict=True)]
    return shown(values, panels, ("bridge", {"d": place.d}))


def budget(place: Place) -> dict[str, Any]:
    facts = {name: int(place.moment.facts[name]) for name in ("N_enc", "N_dec", "d", "V", "P")}
    d = facts["d"]
    near = FORMULAS["budget"].function(Architecture("", d, facts["N_enc"], facts["N_dec"], 1, d, 4 * d, facts["V"]))
    values = {name: f"{value:,}" for name, value in facts.items()}
    off = 100 * (near / facts["P"] - 1)
    return shown(values | {"approx": f"{near:,}", "error": f"{'+' if off > 0 else ''}{number(off, 1)} %"},
                 note=("budget", {"model": place.moment.settings.model}))


def t5_bias(place: Place) -> dict[str, Any]:
    table = place.moment.get("encoder.distances")
    if table is None or not place["encoder.bias"].any():
        return shown({}, note=("no_bias", {"model": place.moment.settings.model}))
    i, j = place.i, max(place.i - 2, 0)
    scale, scores, bias = place.moment.facts["encoder.scale"], place["encoder.scores"], place["encoder.bias"]
    at = int(np.flatnonzero(table[0] == j - i)[0])
    values = {"i": str(i + 1), "j": str(j + 1), "qk": number(scores[i, j] * scale, 2), "bucket": str(int(table[1, at])),
              "b": number(bias[i, j], 2), "s": number(scores[i, j] * scale + bias[i, j], 2)}
    panels = [
        panel("q·k", scores * scale, place.source, place.source, lights=["q_i^\\top", "k_j", "\\sqrtd_k"],
              axes=("source", "source"), row=i, column=j, label="STATE"),
        panel("b", bias, place.source, place.source, lights=["b_\\,\\textbucket(i-j)"], axes=("source", "source"), row=i,
            column=j, label="θ"),
        panel("s", scores * scale + bias, place.source, place.source, lights=["s_ij"], axes=("source", "source"), row=i, column=j,
              label="STATE"),
    ]
    return shown(values, panels, ("bucket_sign", {}))


def prefix_mask(place: Place) -> dict[str, Any]:
    labels, size = [*place.source, *place.target], place.n
    length = len(labels)
    added = masks.additive(FORMULAS["prefix_mask"].function(length, length, size))
    i, j = min(size, length - 1), 0
    values = {"n": str(size), "i": str(i + 1), "j": str(j + 1), "value": number(added[i, j], 0)}
    return shown(values, [panel("M", added, labels, labels, lights=["M^\\textprefix_ij"], axes=("query", "key"), kind="mask",
                                label="CONFIG", row=i, column=j)], size=size, length=min(length, 24))
