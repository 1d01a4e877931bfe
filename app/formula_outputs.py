"""Numbers for the cards of lessons 1, 3 and 7 to 10: probabilities, losses, scores of outputs, distillation."""

from typing import Any

import numpy as np

from app.formula_shown import FEW, Place, listing, number, panel, shown
from core.formulas import FORMULAS
from core.formulas.attention import weights as weights_of
from core.formulas.moment import SHARE, TEMPERATURE
from core.metrics import rouge as rouge_metric
from core.pointer import extended_ids

TOP = 8  # tokens of a distribution that are drawn
ALPHA, GATE = 0.6, 0.7  # where the sliders stand at first


def _top(place: Place, rows: dict[str, np.ndarray], lights: dict[str, list[str]], kind: str = "weights") -> list[dict]:
    """Rows of numbers over the likeliest tokens."""
    texts = list(place.moment.texts[:TOP])
    return [panel(title, values[None, :TOP], [""], texts, lights=lights[title], axes=("", "vocab"), label="STATE", kind=kind)
            for title, values in rows.items()]


def factorization(place: Place) -> dict[str, Any]:
    logprobs = place["logprobs"]
    values = {"factors": listing(np.exp(logprobs), 2, 12, "·"), "P": number(FORMULAS["factorization"].function(logprobs), 4)}
    return shown(values, [panel("P(y_t)", np.exp(logprobs)[None], [""], place.target, lights=["P_\\theta", "y_t", "y"],
        axes=("", "target"),
                                kind="weights", column=place.t, label="STATE")])


def maps(place: Place) -> dict[str, Any]:
    p = _softmax(place["logits"])
    values = {"n": str(place.n), "d": str(place.d), "t": str(place.t + 1), "V1": f"{int(place.moment.facts['V']) - 1:,}",
              "top": f"{number(p[0])} ({place.moment.texts[0]})"}
    panels = [place.hidden("H_enc", "memory_cut", "source", ["H_\\textenc"])]
    return shown(values, panels + _top(place, {"p̂": p}, {"p̂": ["\\hatp_t", "\\Delta^V_y-1"]}), ("cut", {"d": place.d}))


def output_head(place: Place) -> dict[str, Any]:
    logits = place["logits"]
    p, at = _softmax(logits), 0
    table, best = place["unembedding_cut"], list(place.moment.texts[: len(place["unembedding_cut"])])
    slots = place.slots("h_cut")
    panels = [
        panel("h", place["h_cut"][None], [place.fed[place.t]], slots, lights=["h_t^\\top"], axes=("target", "width"),
            label="STATE"),
        panel("W_U", table, best, slots, lights=["W_U", "E^\\top"], axes=("vocab", "width"), label="θ"),
        *_top(place, {"z": logits}, {"z": ["z_t"]}, "signed"), *_top(place, {"p̂": p}, {"p̂": ["\\hatp_t"]}),
    ]
    rest = place.moment.facts["rest"]
    values = {"z": number(logits[at], 2), "T": "1.00", "p": number(p[at])}
    return shown(values, panels, ("vocabulary", {"token": place.moment.texts[at], "V": f"{len(logits):,}",
        "rest": number(rest, 4) if rest > 1e-9 else "0"}))


def denoising_loss(place: Place) -> dict[str, Any]:
    logprobs = place["logprobs"]
    values = {"m": str(place.m), "terms": listing(logprobs, 2, 14, " + ").replace("+ −", "− "),
        "loss": number(place.moment.facts["loss"])}
    return shown(values, [panel("−log P", -logprobs[None], [""], place.target, lights=["y_t", "P_\\theta", "\\mathcalL"],
        axes=("", "target"),
                                column=place.t, label="STATE")])


def shift(place: Place) -> dict[str, Any]:
    values = {"input": ", ".join(place.fed[:10]) + (", …" if place.m > 10 else ""),
              "targets": ", ".join(place.target[:10]) + (", …" if place.m > 10 else "")}
    same = (np.arange(place.m)[:, None] == np.arange(place.m)[None, :] + 1).astype(float)
    return shown(values, [panel("y", same, place.fed, place.target, lights=["y_1", "y_m", "y_m-1", "\\textbos"],
                                axes=("target", "target"), kind="weights", label="STATE")], ("shift", {}))


def logit_gradient(place: Place) -> dict[str, Any]:
    gradient, p, y = place["gradient"], _softmax(place["logits"]), (place["ids"] == place.moment.target[place.t].id).astype(float)
    values = {name: listing(row[:FEW], 2) for name, row in (("p", p), ("y", y), ("g", gradient))}
    panels = _top(place, {"p̂": p, "y": y}, {"p̂": ["\\hatp_t"], "y": ["y_t"]})
    return shown(values, panels + _top(place, {"∂L/∂z": gradient}, {"∂L/∂z": ["z_t", "\\mathcalL"]}, "signed"),
                 ("gradient", {"token": place.target[place.t]}))


def beam_score(place: Place) -> dict[str, Any]:
    logprobs = place["logprobs"].astype(float)
    total, score = logprobs.sum(), FORMULAS["beam_score"].function(logprobs.tolist(), ALPHA)
    values = {"sum": number(total), "m": str(place.m), "alpha": number(ALPHA, 2), "lp": number(total / score if score else 1),
        "score": number(score)}
    return shown(values, [panel("log p̂", logprobs[None], [""], place.target, lights=["\\hatp_y_t", "y"], axes=("", "target"),
        label="STATE")],
                 sum=float(total), m=place.m)


def coverage(place: Place) -> dict[str, Any]:
    weights = place["cross.weights"]
    found = FORMULAS["coverage"].function(weights)
    values = {"terms": listing(found.losses, 2, 12, " + "), "loss": number(found.loss)}
    axes = dict(axes=("target", "source"), row=place.t, label="STATE")
    panels = [panel("A", weights, place.fed, place.source, lights=["A_t',:", "A_tj"], kind="weights", **axes),
              panel("c", found.before, place.fed, place.source, lights=["c^t", "c^t_j"], kind="weights", **axes),
        panel("min(A, c)", np.minimum(weights, found.before), place.fed, place.source, lights=["\\mathcalL_\\textcov"],
              kind="weights", **axes)]
    return shown(values, panels, ("head", {"layer": place.moment.layer + 1, "head": place.moment.head + 1}))


def pointer(place: Place) -> dict[str, Any]:
    """The mixture at step t; the word that the line follows is the source token that is read most."""
    p, weights = _softmax(place["logits"]), place["cross.weights"][place.t].astype(float)
    known = {int(id): at for at, id in enumerate(place["ids"])}
    ids = extended_ids(place.source, [known.get(token.id) for token in place.moment.source], len(p)).ids
    weights = weights / weights.sum() if weights.sum() else weights
    mixed = FORMULAS["pointer"].function(p / p.sum(), weights, ids, GATE)
    word, most = ids[place.i], [int(at) for at in np.argsort(-mixed)[: TOP - 1]]
    chosen = [*most, *([word] if word not in most else [])]
    texts = [place.moment.texts[at] if at < len(p) else place.source[ids.index(at)] for at in chosen]
    copies = [float(sum(weights[j] for j, id in enumerate(ids) if id == at)) for at in chosen]
    own = [float(p[at]) if at < len(p) else 0.0 for at in chosen]
    at = chosen.index(word)
    values = {"w": place.source[place.i], "gate": number(GATE, 2), "rest": number(1 - GATE, 2), "vocab": number(own[at]),
              "copy": number(copies[at]), "P": number(mixed[word])}
    rows = (("P_vocab", own, ["P_\\textvocab"]), ("Σ A_tj", copies, ["A_tj", "x_j"]), ("P(w)", mixed[chosen], ["P", "w"]))
    panels = [panel(title, np.array([row]), [""], texts, lights=lights, axes=("", "vocab"), kind="weights", column=at,
        label="STATE")
              for title, row, lights in rows]
    return shown(values, panels, ("pointer", {}), own=own, copies=copies, at=at)


def bleu(place: Place, reference: str) -> dict[str, Any]:
    if not reference.strip() or not place.moment.text.strip():
        return shown({}, note=("no_reference", {}))
    found = FORMULAS["bleu"].function([place.moment.text], [reference], tokenizer="13a")
    c, r = found.lengths
    values = {"c": str(c), "r": str(r), "bleu": f"{number(found.value / 100)} = {number(found.value, 1)} %",
              "logs": " + ".join(f"ln {number(p / 100)}" for p in found.precisions)}
    kinds = [f"{n}-gram" for n in range(1, 1 + len(found.precisions))]
    return shown(values, [panel("p_n", np.array([found.precisions]) / 100, [""], kinds, lights=["p_n", "n"], kind="weights",
        label="STATE")],
                 ("signature", {"signature": found.signature, "reference": reference[:200]}))


def rouge(place: Place, reference: str) -> dict[str, Any]:
    output = place.moment.text
    if not reference.strip() or not output.strip():
        return shown({}, note=("no_reference", {}))
    found = FORMULAS["rouge"].function([output], [reference], kind="rougeL")
    parts = rouge_metric.scorer(("rougeL",), found.tokenizer, False).score(reference, output)["rougeL"]
    cut = rouge_metric.cutter(found.tokenizer).tokenize
    x, y = len(cut(output)), len(cut(reference))
    values = {"P": number(parts.precision), "R": number(parts.recall), "F": number(found.value), "x": str(x), "y": str(y),
              "lcs": str(round(parts.precision * x))}
    return shown(values, note=("signature", {"signature": found.signature, "reference": reference[:200]}))


def distillation(place: Place) -> dict[str, Any]:
    teacher, student, true = place["logits"].astype(float), place["weak"].astype(float), int(place.moment.target[place.t].id)
    at = int(np.flatnonzero(place["ids"] == true)[0]) if true in place["ids"] else 0
    facts = place.moment.facts
    values = {"rest": number(1 - SHARE, 2), "ce": number(facts["kd.ce"]), "lambda": number(SHARE, 2), "T": number(TEMPERATURE, 1),
              "kl": number(facts["kd.kl"], 4), "loss": number(facts["kd.loss"])}
    rows = {"p̂ᵗ": _softmax(teacher / TEMPERATURE), "p̂ˢ": _softmax(student / TEMPERATURE)}
    panels = _top(place, rows, {"p̂ᵗ": ["\\hatp^\\,t_T"], "p̂ˢ": ["\\hatp^\\,s", "\\hatp^\\,s_T"]})
    return shown(values, panels, ("student", {"token": place.target[place.t]}), at=at)


def _softmax(logits: np.ndarray) -> np.ndarray:
    """p̂ (top,) of one row of logits."""
    return weights_of(np.asarray(logits, float)[None])[0]
