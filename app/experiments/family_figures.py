"""Whole figures of the kinds that the experiments of sheet 004 draw; their numbers and functions come from `drawing`."""

from collections.abc import Mapping, Sequence
from typing import Any

import plotly.graph_objects as go
from plotly.subplots import make_subplots

THIN = 10  # pixels of a scale of colours: a phone has few


def numbers(values: Any) -> list:
    """A tensor or a sequence as lists of plain numbers, short enough to be sent."""
    import torch

    return torch.as_tensor(values).detach().double().mul(1e6).round().div(1e6).tolist()


def heat(values: Any, title: str, across: str, down: str, **settings: Any) -> go.Figure:
    """A matrix: rows down, columns to the right."""
    figure = go.Figure(go.Heatmap(z=numbers(values), colorbar_thickness=THIN, **settings))
    figure.update_layout(title=title, xaxis_title=across, yaxis_title=down)
    figure.update_yaxes(autorange="reversed")
    return figure


def heats(panels: Mapping[str, Any], title: str, across: str, down: str, shared: bool = False) -> go.Figure:
    """Several matrices, two in a row; shared: one scale of colours for all."""
    rows = (len(panels) + 1) // 2
    figure = make_subplots(rows, 2, subplot_titles=list(panels), horizontal_spacing=0.12, vertical_spacing=0.18)
    for at, values in enumerate(panels.values()):
        scale = {"coloraxis": "coloraxis"} if shared else {"showscale": False}
        figure.add_trace(go.Heatmap(z=numbers(values), **scale), at // 2 + 1, at % 2 + 1)
    figure.update_yaxes(autorange="reversed")
    figure.update_layout(title=title, height=190 * rows + 60, coloraxis_colorbar_thickness=THIN)
    figure.update_xaxes(title_text=across, row=rows)
    figure.update_yaxes(title_text=down, col=1)
    return figure


def lines(
    x: Any, rows: Mapping[str, Any], title: str, axes: tuple[str, str], marks: Sequence[tuple[float, float]] = ()
) -> go.Figure:
    """Curves over x; marks: where the dials stand."""
    figure = go.Figure([go.Scatter(x=numbers(x), y=numbers(y), name=name, mode="lines") for name, y in rows.items()])
    if marks:
        across, up = zip(*marks, strict=True)
        figure.add_scatter(x=numbers(across), y=numbers(up), mode="markers", marker_size=11, showlegend=False)
    figure.update_layout(title=title, xaxis_title=axes[0], yaxis_title=axes[1])
    return figure


def bars(names: Sequence[str], rows: Mapping[str, Any], title: str, axes: tuple[str, str], stacked: bool = False) -> go.Figure:
    """Bars side by side, or on top of each other."""
    figure = go.Figure([go.Bar(x=list(names), y=numbers(y), name=name) for name, y in rows.items()])
    figure.update_layout(title=title, xaxis_title=axes[0], yaxis_title=axes[1], barmode="stack" if stacked else "group")
    return figure


def counted(letter: str, count: int) -> list[str]:
    """x₁ to x_count."""
    digits = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
    return [letter + str(k + 1).translate(digits) for k in range(count)]
