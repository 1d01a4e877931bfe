"""What moves on lessons 6 to 8 of sheet 003: the loss, the gradient, the steps, the schedule, the scaling law."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import plotly.graph_objects as go

from app.experiments.drawing import bars, digits, figure, function, heat, line, nats, normal, point, seeded, shown
from app.experiments.experiment import Dial, Experiment
from app.palette import BLUE, GREEN, GREY, VERMILION

Dials = Mapping[str, float]
START = (-2.0, 1.0)
# Hoffmann et al. 2022, approach 3: A^α = 406.4 and B^β = 410.7 at these exponents.
FLOOR, A, ALPHA, B, BETA = 1.69, 406.4 ** (1 / 0.34), 0.34, 410.7 ** (1 / 0.28), 0.28


def _two(share: Any) -> Any:
    """(…, 2): shares of two words."""
    import torch

    share = torch.as_tensor(share, dtype=torch.float64)
    return torch.stack([share, 1 - share], -1)


def _entropy_kl(at: Dials) -> go.Figure:
    grid = np.linspace(0.01, 0.99, 99)
    cross, own, kl = function("entropy_kl")(_two(at["p_1"]), _two(grid))
    here = function("entropy_kl")(_two(at["p_1"]), _two(at["p̂_1"]))
    return figure(f"H(p, p̂) = {shown(here[0])} = {shown(here[1])} + {shown(here[2])} {nats()}; V = 2", "p̂_1", nats(),
                  line(grid, cross, "H(p, p̂)"), line([0, 1], [own, own], "H(p)", GREY, "dot"), line(grid, kl, "KL", GREEN),
                  point(at["p̂_1"], here[0]), yaxis_range=[0, 4])


def _kl_minimum(at: Dials) -> go.Figure:
    grid = np.linspace(-5, 5, 101)

    def both(theta: Any) -> Any:
        import torch

        theta = torch.as_tensor(theta, dtype=torch.float64)
        return function("kl_minimum")(_two(at["p_1"]), torch.stack([theta, torch.zeros_like(theta)], -1))

    cross, kl = both(grid)
    best, here = float(np.log(at["p_1"] / (1 - at["p_1"]))), both(at["θ"])
    return figure(f"z = (θ, 0), θ* = log(p_1/p_2) = {shown(best)}; V = 2, {nats()}", "θ", nats(), line(grid, cross, "H(p, p̂_θ)"),
                  line(grid, kl, "KL", GREEN), line([best, best], [0, 5], "θ*", GREY, "dot"),
                  point(at["θ"], here[0]), point(at["θ"], here[1]))


def _one_hot(at: Dials) -> go.Figure:
    import torch

    def loss(share: Any) -> Any:
        p = _two(share)
        return function("one_hot")(p, torch.zeros(p.shape[:-1], dtype=torch.long))

    grid, here = np.linspace(0.01, 1, 100), loss(at["p̂"])
    return figure(f"−log p̂ = {shown(here)} {nats()}", "p̂", "H(y, p̂)", line(grid, loss(grid)), point(at["p̂"], here))


def _perplexity(at: Dials) -> go.Figure:
    chosen = normal(8, 6).log_softmax(-1)[:, 0]
    chosen[0] = np.log(at["p̂_1"])
    found = function("perplexity")(chosen)
    return figure(f"PPL = {shown(found)}; n = 8, p̂_2 … p̂_8: z ~ N(0, 1), V = 6, {seeded('0')}", "t", "1/p̂",
                  bars((-chosen).exp(), "1/p̂_t"), line([0.5, 8.5], [found, found], "PPL", VERMILION),
                  yaxis_type="log", yaxis_range=[0, 2.1])


def _surface(theta: Any) -> Any:
    """L(θ) = (θ_1² + 9 θ_2²)/2: a valley nine times as steep across as along."""
    return (theta[..., 0] ** 2 + 9 * theta[..., 1] ** 2) / 2


def _slope(theta: Any) -> Any:
    """∇L of the surface, by the entry of gradient descent."""
    return function("gradient_descent")(_surface, theta, 0.0)[1]


def _paths(title: str, paths: dict[str, list[Any]]) -> go.Figure:
    """Steps over the contours of the surface; the title ends with where the last path is."""
    import torch

    x, y = np.linspace(-3, 3, 41), np.linspace(-1.6, 1.6, 33)
    ground = _surface(torch.from_numpy(np.stack(np.meshgrid(x, y), -1)))
    contours = go.Contour(x=digits(x), y=digits(y), z=digits(ground), showscale=False, ncontours=14,
                          contours={"coloring": "none"}, line={"color": GREY, "width": 1})
    traces = []
    for (name, path), colour in zip(paths.items(), (BLUE, VERMILION)):
        steps = np.array([each.tolist() for each in path])
        traces.append(line(steps[:, 0], steps[:, 1], name, colour, mode="lines+markers"))
    last = _surface(path[-1])
    return figure(f"{title}, ℒ(θ_{len(path) - 1}) = {shown(last)}; ℒ = (θ_1² + 9 θ_2²)/2, θ_0 = (−2, 1)", "θ_1", "θ_2",
                  contours, *traces, xaxis_range=[-3, 3], yaxis_range=[-1.6, 1.6])


def _start() -> Any:
    import torch

    return torch.tensor(START, dtype=torch.float64)


def _gradient_descent(at: Dials) -> go.Figure:
    path = [_start()]
    for _ in range(int(at["t"])):
        path.append(function("gradient_descent")(_surface, path[-1], at["η"])[0])
    return _paths(f"η = {at['η']:g}", {"θ": path})


def _momentum(at: Dials) -> go.Figure:
    import torch

    path, mean = [_start()], torch.zeros(2, dtype=torch.float64)
    for _ in range(int(at["t"])):
        theta, mean = function("momentum")(path[-1], mean, _slope(path[-1]), at["η"], at["β"])
        path.append(theta)
    return _paths(f"η = {at['η']:g}, β = {at['β']:g}", {"θ": path})


def _adam_path(steps: int, rate: float, decay: float) -> list[Any]:
    import torch

    path, moments = [_start()], (torch.zeros(2, dtype=torch.float64),) * 2
    for step in range(1, steps + 1):
        moments = function("adam_moments")(*moments, _slope(path[-1]))
        path.append(function("adam_update")(path[-1], *function("adam_bias")(*moments, step), rate, decay=decay))
    return path


def _adam_update(at: Dials) -> go.Figure:
    steps = int(at["t"])
    return _paths(f"η = {at['η']:g}, λ = {at['λ']:g}, β = 0.9, 0.999",
                  {"Adam": _adam_path(steps, at["η"], 0.0), "AdamW": _adam_path(steps, at["η"], at["λ"])})


def _vjp(at: Dials) -> go.Figure:
    import torch

    layers, width = 6, 6
    weights = [at["g"] * normal(width, width, seed=layer + 1) / width**0.5 for layer in range(layers)]
    states = [normal(width)]
    for w in weights:
        states.append(torch.tanh(w @ states[-1]))
    adjoint = torch.full((width,), width**-0.5, dtype=torch.float64)
    by_state, by_weights = [float(adjoint.norm())], []
    for w, a in zip(weights[::-1], states[-2::-1]):
        adjoint, own = function("vjp")(lambda a, theta: torch.tanh(theta @ a), a, w, adjoint)
        by_state.append(float(adjoint.norm()))
        by_weights.append(float(own.norm()))
    steps = list(range(layers, -1, -1))
    return figure(f"g_ℓ(a) = tanh(W_ℓ a), 6 × 6; W ~ N(0, g²/6), {seeded('0 … 6')}", "ℓ", "‖·‖",
                  line(steps, by_state, "ā^(ℓ)", mode="lines+markers"),
                  line(steps[:-1], by_weights, "θ̄_ℓ", VERMILION, mode="lines+markers"), yaxis_type="log")


def _linear_adjoints(at: Dials) -> go.Figure:
    import torch

    adjoint, x = (torch.tensor(each, dtype=torch.float64) for each in ((at["ū_1"], 0.5, -1.0), (at["x_1"], -1.0, 2.0, 0.5)))
    by_weight, by_input = function("linear_adjoints")(normal(3, 4), x, adjoint)
    return figure(f"W̄ = ū xᵀ, x̄ = ({', '.join(map(shown, by_input))}); W ~ N(0, 1), {seeded('0')}", "x", "ū", heat(by_weight))


def _adam_moments(at: Dials) -> go.Figure:
    import torch

    betas, gradients = (at["β_1"], at["β_2"]), 1 + normal(80)
    running, means, squares = (torch.zeros((), dtype=torch.float64),) * 2, [], []
    for gradient in gradients:
        running = function("adam_moments")(*running, gradient, betas)
        means.append(running[0])
        squares.append(running[1])
    steps = range(1, 81)
    return figure(f"g_t ~ N(1, 1), E[g] = 1, E[g²] = 2; {seeded('0')}", "t", "g, m, v",
                  line(steps, gradients, "g_t", GREY, "dot"),
                  line(steps, means, "m_t"), line(steps, squares, "v_t", VERMILION))


def _adam_bias(at: Dials) -> go.Figure:
    import torch

    betas, running = (at["β_1"], at["β_2"]), (torch.zeros((), dtype=torch.float64),) * 2
    plain, corrected, steps = [], [], range(1, 81)
    for step in steps:
        running = function("adam_moments")(*running, torch.ones((), dtype=torch.float64), betas)
        plain.append(running)
        corrected.append(function("adam_bias")(*running, step, betas))
    names = (("m_t", BLUE, "solid", plain, 0), ("v_t", VERMILION, "solid", plain, 1), ("m̂_t", BLUE, "dot", corrected, 0),
             ("v̂_t", VERMILION, "dot", corrected, 1))
    return figure("g_t = 1, m_0 = v_0 = 0", "t", "m, v", *[line(steps, [each[part] for each in rows], name, colour, dash)
                                            for name, colour, dash, rows, part in names], yaxis_range=[0, 1.1])


def _cosine(at: Dials) -> go.Figure:
    grid = np.linspace(0, 1000, 201)

    def rate(step: float) -> float:
        return function("cosine_schedule")(step, at["T_w"], 1000, 1.0, at["η_min"])

    return figure(f"η_t = {shown(rate(at['t']))} η_max; T = 1000", "t", "η_t/η_max", line(grid, [rate(step) for step in grid]),
                  point(at["t"], rate(at["t"])), yaxis_range=[0, 1.05])


def _scaling(at: Dials) -> go.Figure:
    def loss(size: float) -> float:
        return function("scaling_law")(size, 10 ** at["log₁₀ D"], at["L_∞"], A, at["α"], B, BETA)

    grid, size = np.logspace(6, 12, 49), 10 ** at["log₁₀ N"]
    return figure(f"ℒ = {shown(loss(size))} {nats()}; A^0.34 = 406.4, B^β = 410.7, β = 0.28 (Hoffmann 2022)", "N", "ℒ",
                  line(grid, [loss(each) for each in grid]), line([1e6, 1e12], [at["L_∞"]] * 2, "ℒ_∞", GREY, "dot"),
                  point(size, loss(size)), xaxis_type="log", yaxis_rangemode="tozero")


TRAINING = {
    "entropy_kl": Experiment((Dial("p_1", 0.05, 0.95, 0.7, 0.05), Dial("p̂_1", 0.05, 0.95, 0.4, 0.05)), _entropy_kl),
    "kl_minimum": Experiment((Dial("p_1", 0.05, 0.95, 0.7, 0.05), Dial("θ", -5, 5, -1, 0.1)), _kl_minimum),
    "one_hot": Experiment((Dial("p̂", 0.01, 1, 0.3, 0.01),), _one_hot),
    "perplexity": Experiment((Dial("p̂_1", 0.01, 1, 0.2, 0.01),), _perplexity),
    "gradient_descent": Experiment((Dial("η", 0.01, 0.24, 0.1, 0.01), Dial("t", 1, 30, 10)), _gradient_descent),
    "vjp": Experiment((Dial("g", 0.2, 3, 1, 0.1),), _vjp),
    "linear_adjoints": Experiment((Dial("ū_1", -3, 3, 1, 0.1), Dial("x_1", -3, 3, 1, 0.1)), _linear_adjoints),
    "momentum": Experiment((Dial("β", 0, 0.98, 0.8, 0.02), Dial("η", 0.01, 0.4, 0.1, 0.01), Dial("t", 1, 30, 20)), _momentum),
    "adam_moments": Experiment((Dial("β_1", 0, 0.99, 0.9, 0.01), Dial("β_2", 0, 0.999, 0.99, 0.001)), _adam_moments),
    "adam_bias": Experiment((Dial("β_1", 0, 0.99, 0.9, 0.01), Dial("β_2", 0, 0.999, 0.99, 0.001)), _adam_bias),
    "adam_update": Experiment((Dial("η", 0.02, 1, 0.3, 0.02), Dial("λ", 0, 1, 0.2, 0.05), Dial("t", 1, 30, 20)), _adam_update),
    "cosine_schedule": Experiment((Dial("t", 0, 1000, 300, 10), Dial("T_w", 0, 500, 100, 10), Dial("η_min", 0, 1, 0.1, 0.05)),
                                  _cosine),
    "scaling_law": Experiment((Dial("log₁₀ N", 6, 12, 9, 0.25), Dial("log₁₀ D", 8, 14, 10, 0.25), Dial("α", 0.3, 0.4, 0.34, 0.01),
                               Dial("L_∞", 0, 3, FLOOR, 0.01)), _scaling),
}
