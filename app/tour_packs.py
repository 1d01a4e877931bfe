"""Numbers for the twelve items of the foundations page, on one short sentence: encoder head first, cross-attention at the end."""

from collections.abc import Callable
from typing import Any

import numpy as np

from app.formula_shown import Place, listing, number, packed, panel, shown
from core import masks
from core.formulas import ITEMS

SIZE = 8  # slots of a vector that are drawn


class Pair(Place):
    """i and j are words of the sentence: its last two; the encoder looks from i to j."""

    def __init__(self, moment: Any):
        super().__init__(moment)
        tokens = list(enumerate(moment.source))[moment.prefix_tokens :]
        words = [at for at, token in tokens if token.end > token.start and any(map(str.isalnum, token.text))] or [0]
        self.i, self.j = words[-1], words[max(0, len(words) - 2)]

    def head(self, name: str) -> np.ndarray:
        return self.moment.arrays[f"encoder.{name}"]

    @property
    def scaled(self) -> np.ndarray:
        """What the softmax gets (source, source), mask left out."""
        return self.head("scores") * self.moment.facts["encoder.scale"] + self.head("bias")

    def square(self, title: str, values: np.ndarray, lights: list[str], kind: str = "signed", label: str = "STATE") -> dict[str,
                                                                                                                            Any]:
        return panel(title, values, self.source, self.source, lights=lights, axes=("source", "source"), kind=kind, row=self.i,
                     column=self.j, label=label)

    def vectors(self, title: str, values: np.ndarray, lights: list[str], row: int = -1, axis: str = "d_k",
        label: str = "STATE") -> dict[str, Any]:
        slots = [str(at + 1) for at in range(min(16, values.shape[1]))]
        return panel(title, values[:, :16], self.source, slots, lights=lights, axes=("source", axis), row=row, label=label)


def sequence(p: Pair) -> dict[str, Any]:
    prefix = p.source[: p.moment.prefix_tokens]
    note = ("tour.prefix", {"prefix": " ".join(prefix)}) if prefix else None
    return shown({"tokens": ", ".join(p.source[:12]), "n": str(p.n)}, note=note)


def subscript(p: Pair) -> dict[str, Any]:
    values = {"i": str(p.i + 1), "j": str(p.j + 1), "qi": p.source[p.i], "kj": p.source[p.j]}
    i, j = np.moveaxis(ITEMS[1].function(p.n), -1, 0)
    return shown(values, [p.square("(i, j)", ((i == p.i) & (j == p.j)).astype(float), ["i", "j"], "weights", "")])


def embedding(p: Pair) -> dict[str, Any]:
    h = p["embedded_cut"]
    return shown({"i": str(p.i + 1), "h": listing(h[p.i], 2, SIZE), "d": str(p.d)}, [p.vectors("h", h, ["h_i", "x_i"], p.i,
                                                                                               "width")], ("cut", {"d": p.d}))


def dot(p: Pair) -> dict[str, Any]:
    q, k = p.head("q")[p.i], p.head("k")[p.j]
    products = " + ".join(f"{number(a, 2)}·{number(b, 2)}" for a, b in list(zip(q, k))[:3]) + " + …"
    both = np.stack([q, k, q * k])[:, :16]
    picture = panel("q, k, q·k", both, ["q", "k", "q_c·k_c"], [str(at + 1) for at in range(both.shape[1])], lights=["q", "k",
        "q_c", "k_c"],
                    axes=("", "d_k"), label="STATE")
    return shown({"products": products, "dot": number(ITEMS[3].function(q, k))}, [picture], ("tour.whom", {"i": p.source[p.i],
        "j": p.source[p.j]}))


def roles(p: Pair) -> dict[str, Any]:
    q, k, v = (p.head(name) for name in "qkv")
    scores = ITEMS[4].function(q, k)
    panels = [p.vectors("q", q, ["q_i"], p.i), p.vectors("k", k, ["k_j"], p.j), p.vectors("v", v, ["v_j"], p.j, "d_v"),
              p.square("q·k", scores, ["q_i", "k_j"])]
    return shown({"i": str(p.i + 1), "j": str(p.j + 1), "dot": number(scores[p.i, p.j])}, panels, ("tour.whom",
        {"i": p.source[p.i], "j": p.source[p.j]}))


def recipes(p: Pair) -> dict[str, Any]:
    values = {"i": str(p.i + 1), "h": listing(p.head("hidden_cut")[p.i], 2, 4), "q": listing(p.head("q")[p.i], 2, 4)}
    panels = [p.vectors("h", p.head("hidden_cut"), ["h_i", "h_j"], p.i, "width")]
    for which in "qkv":
        if (w := p.moment.get(f"encoder.w_{which}_cut")) is not None:
            panels.append(panel(f"W_{which.upper()}", w, [str(at + 1) for at in range(w.shape[0])],
                                [str(at + 1) for at in range(w.shape[1])], lights=[f"W_{which.upper()}"],
        axes=("width", "d_k" if which != "v" else "d_v"), label="θ"))
    panels += [p.vectors(which, p.head(which), [f"{which}_i", f"{which}_j"], p.i) for which in "qkv"]
    return shown(values, panels, ("cut", {"d": p.d}))


def softmax(p: Pair) -> dict[str, Any]:
    scores = p.scaled
    weights = ITEMS[6].function(scores)
    powers = [number(power, 2) for power in np.exp(scores[p.i].astype(np.float64))]
    values = {"s": number(scores[p.i, p.j], 2), "powers": " + ".join(powers[:5] + ["…"] * (p.n > 5)),
              "alpha": number(weights[p.i, p.j])}
    panels = [p.square("s", scores, ["s_ij", "s_ij^\\prime"]), p.square("α", weights, ["\\alpha_ij"], "weights")]
    return shown(values, panels, scores=packed(scores, "<f4"), row=p.i, column=p.j)


def blend(p: Pair) -> dict[str, Any]:
    return _blend(p, p.head("weights"), p.head("v"), p.i, p.source, {"i": str(p.i + 1)}, "h", "h_i")


def _blend(p: Pair, weights: np.ndarray, v: np.ndarray, row: int, rows: list[str], values: dict, name: str,
    form: str) -> dict[str, Any]:
    order = np.argsort(-weights[row])[:3]
    out = ITEMS[7].function(weights, v)
    scoops = " + ".join(f"{number(weights[row, j], 2)}·v({p.source[j]})" for j in order) + " + …"
    axis = "source" if rows is p.source else "target"
    slots = [str(at + 1) for at in range(min(16, v.shape[1]))]
    panels = [panel("α", weights, rows, p.source, lights=["\\alpha_ij"], axes=(axis, "source"), kind="weights", row=row,
                    label="STATE"), p.vectors("v", v, ["v_j"], axis="d_v"), panel(name, out[:, :16], rows, slots, lights=[form],
                                                                                  axes=(axis, "d_v"), row=row, label="STATE")]
    return shown(values | {"scoops": scoops, name: listing(out[row], 2, 5)}, panels)


def scale(p: Pair) -> dict[str, Any]:
    q, k = p.head("q"), p.head("k")
    plain, found, own = q @ k.T, ITEMS[8].function(q, k), p.moment.facts["encoder.scale"]
    values = {"dot": number(plain[p.i, p.j], 2), "dk": str(q.shape[1]), "s": number(found[p.i, p.j], 2)}
    panels = [p.square("q·k", plain, ["q_i", "k_j"]), p.square("s", found, ["s_ij", "\\sqrtd_k"])]
    return shown(values, panels, ("no_root" if own == 1 else "root", {"d_k": q.shape[1]}), scores=packed(plain, "<f4"),
                 width=q.shape[1], row=p.i, column=p.j)


def mask(p: Pair) -> dict[str, Any]:
    may = masks.causal(p.n, p.n)
    weights = masks.softmax(p.scaled, may)
    return shown({"weights": listing(weights[p.j], 2, p.n)}, [
        p.square("M", ITEMS[9].function(may), ["M_ij"], "mask", "CONFIG"), p.square("α", weights, ["i", "j"], "weights"),
    ], ("tour.mask", {"j": p.source[p.j]}), scores=packed(p.scaled, "<f4"), row=p.j)


def product(p: Pair) -> dict[str, Any]:
    chances = np.exp(p["logprobs"])
    picture = panel("P(x_t)", chances[None], [""], p.target, lights=["P", "x_t", "x"], axes=("", "target"), kind="weights",
        label="STATE")
    return shown({"factors": listing(chances, 3, 12, "·"), "P": number(ITEMS[10].function(p["logprobs"]))}, [picture])


def crossing(p: Pair) -> dict[str, Any]:
    found = _blend(p, p["cross.weights"], p["cross.v"], p.t, p.fed, {"t": str(p.t + 1)}, "o", "o_i")
    found["panels"].insert(0, panel("q", p["cross.q"][:, :16], p.fed, [str(at + 1) for at in range(min(16,
                                                                                                       p["cross.q"].shape[1]))],
        lights=["q_i", "h^\\textdec_i"], axes=("target", "d_k"), row=p.t, label="STATE"))
    found["panels"].insert(1, p.vectors("k", p["cross.k"], ["k_j", "h^\\textenc_j"]))
    return found | {"note": ["tour.reads", {"token": p.fed[p.t], "next": p.target[p.t],
        "read": p.source[int(p["cross.weights"][p.t].argmax())]}]}


MAKERS: tuple[Callable[[Pair], dict[str, Any]], ...] = (
    sequence, subscript, embedding, dot, roles, recipes, softmax, blend, scale, mask, product, crossing,
)
