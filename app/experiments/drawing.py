"""What pictures of experiments are made of: numbers to four digits, bars, lines, points, maps, and the figure around them.

Axes are named by symbols, so they need no translation. Colours of paper and text are left to whoever shows the figure.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import plotly.graph_objects as go

from app.palette import BLUE, DIVERGING, VERMILION, VIRIDIS
from core.formulas import FORMULAS
from core.formulas.decoder_only import FORMULAS_003
from core.formulas.families import FORMULAS_004


def function(id: str) -> Callable[..., Any]:
    """What the entry computes: pictures are made with it alone."""
    return (FORMULAS_003.get(id) or FORMULAS_004.get(id) or FORMULAS[id]).function


def normal(*shape: int, seed: int = 0) -> Any:
    """Random normal numbers, float64, the same for the same seed."""
    import torch

    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def digits(values: Any) -> Any:
    """Numbers, nested as they were, to four digits: what a figure needs, at a fifth of its size. What is not finite is a gap."""
    values = np.asarray(values).tolist()
    if isinstance(values, list):
        return [digits(each) for each in values]
    return float(f"{values:.4g}") if math.isfinite(values) else None


def bars(y: Any, name: str = "", x: Any = None, colour: str | list[str] = BLUE) -> go.Bar:
    return go.Bar(x=list(range(1, len(y) + 1)) if x is None else x, y=digits(y), name=name, marker={"color": colour})


def line(x: Any, y: Any, name: str = "", colour: str = BLUE, dash: str = "solid", mode: str = "lines") -> go.Scatter:
    return go.Scatter(x=digits(x), y=digits(y), name=name, mode=mode, line={"color": colour, "dash": dash})


def point(x: float, y: float, name: str = "") -> go.Scatter:
    """Where the dials stand."""
    return go.Scatter(x=digits([x]), y=digits([y]), name=name, mode="markers", marker={"color": VERMILION, "size": 11})


def points(y: Any, name: str) -> go.Scatter:
    """The same numbers from another source, on top of bars."""
    mark = {"color": VERMILION, "size": 9, "symbol": "circle-open", "line": {"width": 2}}
    return go.Scatter(x=list(range(1, len(y) + 1)), y=digits(y), name=name, mode="markers", marker=mark)


def heat(z: Any, signed: bool = True, scale: bool = True) -> go.Heatmap:
    """A matrix, first row on top; signed: blue below 0, vermilion above."""
    count, width = np.shape(z)
    how = {"colorscale": DIVERGING, "zmid": 0} if signed else {"colorscale": VIRIDIS, "zmin": 0}
    return go.Heatmap(z=digits(z), x=list(range(1, width + 1)), y=list(range(1, count + 1)), showscale=scale, **how)


def figure(title: str, x: str, y: str, *traces: go.Scatter | go.Bar | go.Heatmap | go.Contour, **layout: Any) -> go.Figure:
    """Traces in one frame; layout: further settings of plotly's, as `xaxis_type`."""
    made = go.Figure(list(traces))
    dress(made, title, **layout)
    made.update_xaxes(title_text=x)
    made.update_yaxes(title_text=y)
    if isinstance(traces[0], go.Heatmap):
        made.update_yaxes(autorange="reversed", dtick=1 if len(traces[0].z) <= 12 else None)
    made.update_xaxes(exponentformat="power", selector={"type": "log"})
    made.update_yaxes(exponentformat="power", selector={"type": "log"})
    return made


def dress(made: go.Figure, title: str, **layout: Any) -> go.Figure:
    """Title and legend. Traces without a name take no place in the legend."""
    made.update_traces(showlegend=False, selector=lambda trace: not trace.name)
    return made.update_layout(template=go.layout.Template(), title_text=title, **layout)


def shown(value: Any) -> str:
    """A number of a title, to four digits; what only rounding left is 0."""
    return f"{float(value) if abs(value) > 1e-12 else 0:.4g}"
