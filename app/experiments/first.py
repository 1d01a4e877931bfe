"""Three experiments: softmax under a temperature, the angles of RoPE, LayerNorm. Each draws what the formula's function gives."""

from collections.abc import Mapping

import plotly.graph_objects as go

from app.experiments.experiment import Dial, Experiment
from core.formulas.sheets import ALL

SEED = 3
LOGITS = (3.0, 2.0, 1.5, 1.0, 0.5, 0.0, -0.5, -1.0)


def temperature(values: Mapping[str, float]) -> go.Figure:
    """p̂(T) of eight fixed logits."""
    import torch

    shares = ALL["temperature"].function(torch.tensor(LOGITS), values["T"]).tolist()
    figure = go.Figure(go.Bar(x=[f"{logit:g}" for logit in LOGITS], y=shares))
    figure.update_layout(title=f"p̂(T) of eight logits, T = {values['T']:g}", xaxis={"title": "z_w", "type": "category"},
                         yaxis={"title": "p̂_w(T)", "range": [0, 1]})
    return figure


def rope(values: Mapping[str, float]) -> go.Figure:
    """q·k where q stands at p and k at p − Δ, for every Δ: the same at each p."""
    import torch

    turn, far, at = ALL["rope"].function, torch.arange(65), int(values["p"])
    q, k = torch.randn(2, 1, int(values["d_k"]), generator=torch.Generator().manual_seed(SEED), dtype=torch.float64)
    scores = (turn(q.expand(65, -1), torch.full((65,), at)) * turn(k.expand(65, -1), at - far)).sum(-1)
    figure = go.Figure(go.Scatter(x=far.tolist(), y=scores.tolist(), mode="lines"))
    figure.update_layout(title=f"q′·k′ of random q and k (seed {SEED}), d_k = {values['d_k']:g}, q at p = {at}, k at p − Δ",
                         xaxis_title="Δ", yaxis_title="q′·k′")
    return figure


def layernorm(values: Mapping[str, float]) -> go.Figure:
    """x and LN(x), number by number."""
    import torch

    x = torch.randn(16, generator=torch.Generator().manual_seed(SEED)) * values["σ"] + values["μ"]
    slots = list(range(1, 17))
    figure = go.Figure([go.Bar(name="x", x=slots, y=x.tolist()),
                        go.Bar(name="LN(x)", x=slots, y=ALL["layernorm"].function(x).tolist())])
    figure.update_layout(title=f"Random x (seed {SEED}, d = 16) with mean near μ = {values['μ']:g} and spread near σ = "
                               f"{values['σ']:g}, and LN(x)", xaxis_title="k", yaxis_title="x_k")
    return figure


FIRST: dict[str, Experiment] = {
    "temperature": Experiment((Dial("T", 0.1, 5, 1, 0.05),), temperature),
    "rope": Experiment((Dial("p", 0, 200, 0), Dial("d_k", 4, 128, 32, 4)), rope),
    "layernorm": Experiment((Dial("μ", -5, 5, 2, 0.1), Dial("σ", 0.1, 4, 1, 0.1)), layernorm),
}
