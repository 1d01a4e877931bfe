"""What moves on lessons 1 to 3 of sheet 003: the model as a function, tokens and positions, attention."""

from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from app.experiments.drawing import bars, digits, dress, figure, function, heat, line, nats, normal, panels, point, seeded, shown
from app.experiments.experiment import Dial, Experiment
from app.palette import BLUE, GREEN, GREY, PINK, VERMILION

Dials = Mapping[str, float]
IDS = (0, 3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8)  # a text of a vocabulary of 12; the first token starts it
VOCAB, HEADS, PAIRS = 12, 2, 4000


@cache
def _theta() -> dict[str, Any]:
    from core.formulas.decoder_only.weights import drawn, parameters

    return drawn(parameters(2, 16, 32, VOCAB))


def _model_map(at: Dials) -> go.Figure:
    import torch

    count = int(at["n"])
    p = function("model_map")(torch.tensor(IDS[:count]), _theta(), HEADS)
    return figure(f"p̂ = f(x; θ), |x| = {count}; N = 2, d = 16, θ ~ N(0, 0.3²), {seeded('0')}", "w", "p̂",
                  bars(p, x=list(range(VOCAB))))


def _factorization(at: Dials) -> go.Figure:
    import torch

    from core.formulas.decoder_only.language import logits

    count = int(at["n"])
    z = logits(torch.tensor(IDS[:count]), _theta(), HEADS)
    each, total = function("factorization_lm")(z, torch.tensor(IDS[1 : count + 1]))
    steps = list(range(1, count + 1))
    return figure(f"log P(x) = {shown(total)} {nats()}; N = 2, d = 16, θ ~ N(0, 0.3²), {seeded('0')}", "t", "log P",
                  bars(each, "log P(x_t | x_<t)"),
                  line(steps, np.cumsum(each.numpy()), "log P(x_≤t)", VERMILION, mode="lines+markers"))


def _risk(at: Dials) -> go.Figure:
    import torch

    ids = torch.tensor([[1, 1, 0, 1, 1], [1, 0, 1, 1, 0], [1, 1, 1, 0, 1], [0, 1, 1, 0, 1]])  # 14 of 20 are 1

    def loss(theta: float) -> float:
        return float(function("risk")(torch.tensor([0.0, theta], dtype=torch.float64).expand(4, 5, 2), ids))

    grid, best = np.linspace(-3, 3, 61), float(np.log(14 / 6))
    return figure(f"V = 2, z = (0, θ), n = 5, |D| = 4; {nats()}", "θ", "ℒ(θ)", line(grid, [loss(each) for each in grid]),
                  line([best, best], [loss(best), loss(-3)], "θ*", GREY, "dot"), point(at["θ"], loss(at["θ"]), "θ"))


def _compute(at: Dials) -> go.Figure:
    size, tokens = 10 ** at["log₁₀ P"], 10 ** at["log₁₀ D"]
    grid, flops = np.logspace(6, 12, 25), function("compute")
    return figure(f"C = {shown(flops(size, tokens))} FLOP", "P", "C", line(grid, [flops(each, tokens) for each in grid]),
                  point(size, flops(size, tokens)), xaxis_type="log", yaxis_type="log", yaxis_range=[12, 28])


def _embedding(at: Dials) -> go.Figure:
    import torch

    token = int(at["x_i"])
    found = function("embedding")(torch.tensor([token]), normal(VOCAB, 16))
    return figure(f"e_iᵀ E, x_i = {token}; V = 12, d = 16, E ~ N(0, 1), {seeded('0')}", "d", "x_i", bars(found[0]),
                  yaxis_range=[-3, 3])


def _embedding_gradient(at: Dials) -> go.Figure:
    import torch

    count = int(at["n"])
    found = function("embedding_gradient")(torch.tensor(IDS[1 : count + 1]), normal(count, 8), VOCAB)
    made = figure(f"∂ℒ/∂E, x = {IDS[1 : count + 1]}; ∂ℒ/∂x ~ N(0, 1), {seeded('0')}", "d", "j", heat(found))
    return made.update_traces(y=list(range(VOCAB)))


def _sinusoids(at: Dials) -> go.Figure:
    p, k = int(at["p"]), int(at["k"])
    table = function("sinusoids")(64, 32).numpy()
    made = make_subplots(rows=2, cols=1, shared_xaxes=True, vertical_spacing=0.06)
    made.add_trace(heat(table.T, scale=False).update(x=list(range(64)), y=list(range(32))), 1, 1)
    for name, column, colour in (("sin", 2 * k, BLUE), ("cos", 2 * k + 1, GREEN)):
        made.add_trace(line(range(64), table[:, column], f"{name}, k = {k}", colour), 2, 1)
        made.add_trace(point(p, table[p, column]), 2, 1)
    turn = 2 * np.pi * 10000 ** (2 * k / 32)
    dress(made, f"PE, d = 32; PE(p = {p}) = ({shown(table[p, 2 * k])}, {shown(table[p, 2 * k + 1])}), 2π/ω_k = {shown(turn)}")
    made.add_vline(x=p, line={"color": VERMILION, "width": 1})
    made.update_yaxes(title_text="2k, 2k + 1", row=1)
    made.update_yaxes(title_text="PE", row=2)
    return made.update_xaxes(title_text="p", row=2)


def _rope(at: Dials) -> go.Figure:
    import torch

    p, width, turn, far = int(at["p"]), int(at["d_k"]), function("rope"), torch.arange(65)
    pairs = min(4, width // 2)
    turned = turn(torch.tensor([1.0, 0.0], dtype=torch.float64).repeat(width // 2)[None], torch.tensor([p]))[0]
    q, k = normal(2, 1, width, seed=1)
    scores = (turn(q.expand(65, -1), torch.full((65,), p)) * turn(k.expand(65, -1), p - far)).sum(-1)
    made = make_subplots(rows=1, cols=2, horizontal_spacing=0.22)
    for at_pair, colour in enumerate((BLUE, VERMILION, GREEN, PINK)[:pairs]):
        arrow = turned[2 * at_pair : 2 * at_pair + 2]
        made.add_trace(line([0, arrow[0]], [0, arrow[1]], f"k = {at_pair}", colour, mode="lines+markers"), 1, 1)
    made.add_trace(line(far, scores), 1, 2)
    dress(made, f"(1, 0) → q′_2k, q′_2k+1, p = {p}; q′·k′, q: p, k: p − Δ; q, k ~ N(0, 1), d_k = {width}, {seeded('1')}")
    made.update_xaxes(range=[-1.15, 1.15], title_text="q′_2k", col=1).update_xaxes(title_text="Δ", col=2)
    return made.update_yaxes(range=[-1.15, 1.15], title_text="q′_2k+1", col=1).update_yaxes(title_text="q′·k′", col=2)


def _projections(at: Dials) -> go.Figure:
    width, h = int(at["d_k"]), normal(5, 8)
    found = function("projections")(h, h, *normal(3, 8, 8, seed=1)[..., :width])
    return panels(f"n = 5, d = 8, d_k = d_v = {width}; H, W ~ N(0, 1), {seeded('0, 1')}", "d_k", "i", dict(zip("QKV", found)),
                  across=3)


def _causal(count: int) -> Any:
    import torch

    return torch.full((count, count), -torch.inf, dtype=torch.float64).triu(1)


def _attention(at: Dials) -> go.Figure:
    count, width = int(at["n"]), int(at["d_k"])
    q, k, v = (normal(12, 64, seed=seed)[:count, :width] for seed in range(3))
    _, weights = function("attention")(q, k, v, _causal(count))
    return figure(f"A = softmax(QKᵀ/√{width} + M); Q, K ~ N(0, 1), {seeded('0, 1')}", "j", "i", heat(weights, signed=False))


def _attention_row(at: Dials) -> go.Figure:
    i = int(at["i"])
    q, k, v = normal(12, 8), normal(12, 8, seed=1), normal(12, 2, seed=2)
    out, weights, _ = function("attention_row")(q[i - 1], k[:i], v[:i])
    return figure(f"o_{i} = ({shown(out[0])}, {shown(out[1])}), j ≤ {i}; d_k = 8, d_v = 2, q, k, v ~ N(0, 1), "
                  f"{seeded('0, 1, 2')}",
                  "j", f"A_{i}j", bars(weights), xaxis_range=[0.4, 12.6], yaxis_range=[0, 1.02])


def _score_variance(at: Dials) -> go.Figure:
    width = int(at["d_k"])
    scores, _, variance = function("score_variance")(normal(PAIRS, width), normal(PAIRS, width, seed=1))
    edges = np.linspace(-40, 40, 81)
    middle, traces = (edges[1:] + edges[:-1]) / 2, []
    for name, values, colour in (("q·k", scores, BLUE), ("q·k/√d_k", scores / width**0.5, VERMILION)):
        counted, _ = np.histogram(values.numpy(), edges)
        traces.append(go.Bar(x=digits(middle), y=counted.tolist(), name=name, marker={"color": colour}))
    made = figure(f"Var[q·k] = {shown(variance)}, Var[q·k/√d_k] = {shown(variance / width)}, d_k = {width}; "
                  f"{PAIRS} q, k ~ N(0, 1), {seeded('0, 1')}", "s", "#", *traces)
    return made.update_layout(barmode="overlay").update_traces(opacity=0.7)


def _softmax_jacobian(at: Dials) -> go.Figure:
    import torch

    scores = torch.tensor([at["s_1"], 0.5, -0.3, 1.2, -1.0, 0.0], dtype=torch.float64)
    return figure(f"J, s = ({at['s_1']:g}, 0.5, −0.3, 1.2, −1, 0)", "j", "i", heat(function("softmax_jacobian")(scores)))


def _causal_mask(at: Dials) -> go.Figure:
    count = int(at["n"])
    open_ = function("causal_mask")(count, count)
    return figure(f"M: 0 (1), −∞ (0); n = {count}", "j", "i", heat(open_.astype(float), signed=False, scale=False))


def _multi_head(at: Dials) -> go.Figure:
    heads, h = int(at["h"]), normal(6, 16)
    q, k, v = (normal(4, 16, 4, seed=seed)[:heads] / 2 for seed in (1, 2, 3))
    _, weights = function("multi_head")(h, q, k, v, normal(heads * 4, 16, seed=4), _causal(6))
    return panels(f"A^(1) … A^(h); d = 16, d_k = 4, H ~ N(0, 1), W ~ N(0, ½²), {seeded('0 … 4')}", "j", "i",
                  {f"A^({at})": one for at, one in enumerate(weights, 1)}, signed=False, across=heads)


READING = {
    "model_map": Experiment((Dial("n", 1, 12, 5),), _model_map),
    "factorization_lm": Experiment((Dial("n", 1, 12, 8),), _factorization),
    "risk": Experiment((Dial("θ", -3, 3, -1, 0.1),), _risk),
    "compute": Experiment((Dial("log₁₀ P", 6, 12, 8, 0.25), Dial("log₁₀ D", 6, 14, 9, 0.25)), _compute),
    "embedding": Experiment((Dial("x_i", 0, 11, 3),), _embedding),
    "embedding_gradient": Experiment((Dial("n", 1, 12, 5),), _embedding_gradient),
    "sinusoids": Experiment((Dial("p", 0, 63, 10), Dial("k", 0, 15, 3)), _sinusoids),
    "rope": Experiment((Dial("p", 0, 200, 3), Dial("d_k", 4, 128, 32, 4)), _rope),
    "projections": Experiment((Dial("d_k", 1, 8, 4),), _projections),
    "attention": Experiment((Dial("n", 2, 12, 8), Dial("d_k", 1, 64, 8)), _attention),
    "attention_row": Experiment((Dial("i", 1, 12, 6),), _attention_row),
    "score_variance": Experiment((Dial("d_k", 1, 256, 64),), _score_variance),
    "softmax_jacobian": Experiment((Dial("s_1", -6, 6, 0, 0.1),), _softmax_jacobian),
    "causal_mask": Experiment((Dial("n", 2, 16, 8),), _causal_mask),
    "multi_head": Experiment((Dial("h", 1, 4, 2),), _multi_head),
}
