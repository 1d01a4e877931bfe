"""What moves on SBERT, sections 11 to 18 of sheet 004: pooling, distances, objectives."""

import math

from app.experiments.drawing import counted, curves, figure, function, grouped, heat, line, nats, normal, seeded, word
from app.experiments.experiment import Dial, Experiment

WIDTH, TOKENS = 10, 8


def _how() -> str:
    """How token vectors are made."""
    return f"d = {WIDTH}; N(0, 1), {seeded('0')}"


def _encode(ids):
    """Stands for the encoder: a vector for each id, mixed with its neighbours so that order counts."""
    states = normal(40, WIDTH)[ids]
    return states + 0.5 * states.roll(1, 0)


def sentence_embedding(at):
    import torch

    pool = ("cls", "mean", "max")[int(at["POOL"])]
    ids = torch.arange(int(at["n"]))
    s = function("sentence_embedding")(_encode, ids, pool)
    return _pooled(_encode(ids), s, f"POOL = {pool}, n = {len(ids)}; u: {_how()}")


def _pooled(u, s, title: str, rows=None):
    """Token vectors, an empty row, and what they are pooled to."""
    import torch

    gap = torch.full_like(s, torch.nan)[None]
    names = [*(rows or counted("u", len(u))), " ", "s"]
    return figure(title, "d", "", heat(torch.cat([u, gap, s[None]]), y=names))


def cls_pooling(at):
    u = normal(TOKENS, WIDTH)
    u[0] *= at["c"]
    return _pooled(u, function("cls_pooling")(u), f"c·u₁, c = {at['c']:g}; {_how()}")


def mean_pooling(at):
    import torch

    n, u = int(at["n"]), normal(TOKENS, WIDTH)
    return _pooled(u, function("mean_pooling")(u, torch.arange(TOKENS) < n), f"n = {n} + {TOKENS - n} pad; {_how()}")


def max_pooling(at):
    u = normal(TOKENS, WIDTH)
    u[2] *= at["c"]
    return _pooled(u, function("max_pooling")(u), f"c·u₃, c = {at['c']:g}; {_how()}")


def attention_pooling(at):
    u = normal(TOKENS, WIDTH)
    shares, s = function("attention_pooling")(u, at["c"] * normal(WIDTH, seed=1))
    names = [f"{name}: α = {share:.2f}" for name, share in zip(counted("u", TOKENS), shares.tolist(), strict=True)]
    return _pooled(u, s, f"c·w, c = {at['c']:g}; {_how()}, w: {seeded('1')}", names)


def _between(t: float):
    """u, and v = (1 − t) u + t r: the same vector at t = 0, another one at t = 1."""
    u, r = normal(WIDTH), normal(WIDTH, seed=1)
    return u, (1 - t) * u + t * r


def sbert_classifier(at):
    w = normal(3, 3 * WIDTH, seed=2) / 2
    return _classes("sbert_classifier", at, "o", w)


def pair_logits(at):
    import torch

    return _classes("pair_logits", at, "logits", normal(3, 4 * WIDTH, seed=2) / 2, torch.zeros(3).double())


def _classes(id: str, at, name: str, *weights):
    import torch

    grid, compute = torch.linspace(0, 1, 41), function(id)
    found = torch.stack([compute(*_between(float(t)), *weights) for t in grid])
    here = compute(*_between(at["t"]), *weights)
    values = ", ".join(f"{value:.3f}" for value in here)
    return curves(f"v = (1 − t)u + t·r, t = {at['t']:g}: {values}; d = {WIDTH}; u, r, W: N(0, 1), {seeded('0, 1, 2')}", "t",
                  name, grid,
                  {f"{name}{index}": found[:, row] for row, index in enumerate("₁₂₃")}, [(at["t"], value) for value in here])


def cosine(at):
    import torch

    angle = math.radians(at["θ"])
    u, v = torch.tensor([1.0, 0.0]), at["|v|"] * torch.tensor([math.cos(angle), math.sin(angle)])
    value = function("cosine")(u.double(), v.double())
    made = curves(f"θ = {at['θ']:g}°, |u| = 1, |v| = {at['|v|']:g}: cos(u, v) = {value:.4f}", "1", "2", [0, 1], {"u": [0, 0]},
                  [(1.0, 0.0), tuple(v.tolist())])
    made.add_trace(line([0, v[0]], [0, v[1]], "v", None))
    return made.update_xaxes(range=[-3.2, 3.2]).update_yaxes(range=[-3.2, 3.2], scaleanchor="x")


def regression_loss(at):
    import torch

    grid, label, loss = torch.linspace(-1, 1, 81), at["label"], function("regression_loss")
    here = loss(at["sim"], label)
    return curves(f"L = {here:.4f}", word("similarity"), "L_reg", grid, {"(sim − label)²": loss(grid, label)},
                  [(at["sim"], here)])


def siamese(at):
    import torch

    first, second = torch.arange(TOKENS), torch.arange(TOKENS)
    changed = int(at["k"])
    second[:changed] += 20
    u, v = function("siamese")(_encode, first, second)
    value = function("cosine")(u, v)
    return grouped(f"k = {changed} / {TOKENS} (B ≠ A): cos(u, v) = {value:.3f}; POOL = mean, d = {WIDTH}, {seeded('0')}", "d", "",
                   counted("", WIDTH), {"u": u, "v": v})


def triplet_loss(at):
    import torch

    loss, a, p = function("triplet_loss"), torch.zeros(1), torch.ones(1)
    grid = torch.linspace(-4, 4, 161)
    here = loss(a, p, torch.tensor([at["n"]]), at["ε"])
    return curves(f"a = 0, p = 1, n = {at['n']:g}, ε = {at['ε']:g}: L = {here:.3f}", "n", "L_triplet", grid,
                  {"L": [loss(a, p, n[None], at["ε"]) for n in grid]}, [(at["n"], here)])


def negatives_loss(at):
    import torch

    negatives, grid, loss = normal(64)[: int(at["N"])].tanh(), torch.linspace(-1, 1, 41).double(), function("negatives_loss")
    names = {"a·p + Σ n": True, "Σ n": False}
    found = {name: [loss(p, negatives, with_positive, at["c"]) for p in grid] for name, with_positive in names.items()}
    p = torch.tensor(at["sim(a,p)"]).double()
    here = [loss(p, negatives, with_positive, at["c"]) for with_positive in (True, False)]
    return curves(f"c·sim, c = {at['c']:g}, N = {len(negatives)}: {here[0]:.3f}, {here[1]:.3f} {nats()}; sim(a, "
                  f"n): tanh N(0, 1), {seeded('0')}",
                  "sim(a, p)", nats(), grid, found, [(float(p), value) for value in here])


def _distance(id: str, at):
    import torch

    grid, compute = torch.linspace(-3, 3, 25), function(id)
    u, v = torch.zeros(2), torch.tensor([at["v₁"], at["v₂"]])
    plane = torch.stack([torch.stack([compute(u, torch.stack([x, y])) for x in grid]) for y in grid])
    value = compute(u, v)
    made = figure(f"u = (0, 0), v = ({at['v₁']:g}, {at['v₂']:g}): dist = {value:.3f}", "v₁", "v₂",
                  heat(plane, signed=False, x=grid.tolist(), y=grid.tolist()))
    way = ([0, at["v₁"], at["v₁"]], [0, 0, at["v₂"]]) if id == "manhattan" else ([0, at["v₁"]], [0, at["v₂"]])
    made.add_trace(line(*way, colour="white", mode="lines+markers").update(showlegend=False))
    return made.update_yaxes(autorange=True, scaleanchor="x", constrain="domain").update_xaxes(constrain="domain")


def euclidean(at):
    return _distance("euclidean", at)


def manhattan(at):
    return _distance("manhattan", at)


GAIN = Dial("c", 0.0, 5.0, 1.0, 0.25)
PLACE = (Dial("v₁", -3.0, 3.0, 2.0, 0.1), Dial("v₂", -3.0, 3.0, 1.0, 0.1))
SENTENCES: dict[str, Experiment] = {
    "sentence_embedding": Experiment((Dial("POOL", 0, 2, 1), Dial("n", 1, 12, 6)), sentence_embedding),
    "cls_pooling": Experiment((GAIN,), cls_pooling),
    "mean_pooling": Experiment((Dial("n", 1, TOKENS, TOKENS),), mean_pooling),
    "max_pooling": Experiment((GAIN,), max_pooling),
    "attention_pooling": Experiment((GAIN,), attention_pooling),
    "sbert_classifier": Experiment((Dial("t", 0.0, 1.0, 0.3, 0.05),), sbert_classifier),
    "cosine": Experiment((Dial("θ", 0, 360, 40, 5), Dial("|v|", 0.1, 3.0, 2.0, 0.1)), cosine),
    "regression_loss": Experiment((Dial("sim", -1.0, 1.0, 0.3, 0.05), Dial("label", -1.0, 1.0, 0.8, 0.05)), regression_loss),
    "siamese": Experiment((Dial("k", 0, TOKENS, 2),), siamese),
    "triplet_loss": Experiment((Dial("n", -4.0, 4.0, 1.5, 0.1), Dial("ε", 0.0, 4.0, 1.0, 0.1)), triplet_loss),
    "negatives_loss": Experiment((Dial("sim(a,p)", -1.0, 1.0, 0.8, 0.05), Dial("N", 1, 64, 15), Dial("c", 1.0, 20.0, 1.0, 0.5)),
                                 negatives_loss),
    "euclidean": Experiment(PLACE, euclidean),
    "manhattan": Experiment(PLACE, manhattan),
    "pair_logits": Experiment((Dial("t", 0.0, 1.0, 0.3, 0.05),), pair_logits),
}
