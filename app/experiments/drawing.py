"""What pictures of experiments are made of: bars, lines, marks, matrices, and whole figures of them.

Symbols need no translation; what is a word goes through `word`. Colours of paper and text are left to whoever shows the figure.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from app.palette import BLUE, DIVERGING, VERMILION, VIRIDIS
from app.words import worded
from core.formulas import FORMULAS
from core.formulas.decoder_only import FORMULAS_003
from core.formulas.families import FORMULAS_004

THIN = 10  # pixels of a scale of colours: a phone has few


def function(id: str) -> Callable[..., Any]:
    """What the entry computes: pictures are made with it alone."""
    return (FORMULAS_003.get(id) or FORMULAS_004.get(id) or FORMULAS[id]).function


def normal(*shape: int, seed: int = 0) -> Any:
    """Random normal numbers, float64, the same for the same seed."""
    import torch

    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def word(name: str, **values: object) -> str:
    """A word of a title or an axis, in the language of whoever is answered."""
    return worded(f"told.figure.{name}", **values)


def nats() -> str:
    """The unit of a log-probability."""
    return word("nats")


def seeded(numbers: object) -> str:
    """What random numbers of a picture began with."""
    return word("seed", n=numbers)


def digits(values: Any) -> Any:
    """Numbers, nested as they were, to seven digits: what a figure needs, at a third of its size. What is not finite is a gap."""
    values = np.asarray(values).tolist()
    if isinstance(values, list):
        return [digits(each) for each in values]
    return float(f"{values:.7g}") if math.isfinite(values) else None


def bars(y: Any, name: str = "", x: Any = None, colour: str | list[str] | None = BLUE) -> go.Bar:
    return go.Bar(x=list(range(1, len(y) + 1)) if x is None else x, y=digits(y), name=name, marker={"color": colour})


def line(x: Any, y: Any, name: str = "", colour: str | None = BLUE, dash: str = "solid", mode: str = "lines") -> go.Scatter:
    """colour: None is the next of the page's categories."""
    return go.Scatter(x=digits(x), y=digits(y), name=name, mode=mode, line={"color": colour, "dash": dash})


def marks(places: Sequence[tuple[float, float]], name: str = "") -> go.Scatter:
    """Where the dials stand: (x, y) each."""
    x, y = zip(*places, strict=True)
    return go.Scatter(x=digits(x), y=digits(y), name=name, mode="markers", marker={"color": VERMILION, "size": 11})


def point(x: float, y: float, name: str = "") -> go.Scatter:
    """One such place."""
    return marks([(x, y)], name)


def points(y: Any, name: str) -> go.Scatter:
    """The same numbers from another source, on top of bars."""
    mark = {"color": VERMILION, "size": 9, "symbol": "circle-open", "line": {"width": 2}}
    return go.Scatter(x=list(range(1, len(y) + 1)), y=digits(y), name=name, mode="markers", marker=mark)


def heat(z: Any, signed: bool = True, scale: bool = True, **settings: Any) -> go.Heatmap:
    """A matrix, first row on top, rows and columns from 1; signed: blue below 0, vermilion above. settings: more of plotly's."""
    count, width = np.shape(z)
    how = {"colorscale": DIVERGING, "zmid": 0} if signed else {"colorscale": VIRIDIS, "zmin": 0}
    places = {"x": list(range(1, width + 1)), "y": list(range(1, count + 1))}
    return go.Heatmap(z=digits(z), showscale=scale, colorbar_thickness=THIN, **how | places | settings)


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


def panels(title: str, x: str, y: str, matrices: Mapping[str, Any], signed: bool = True, across: int = 2,
           shared: bool = False) -> go.Figure:
    """Several matrices, each under its name, `across` in a row; shared: one scale of colours for all."""
    rows = -(-len(matrices) // across)
    made = make_subplots(rows, across, subplot_titles=list(matrices), shared_yaxes=rows == 1, horizontal_spacing=0.12 if rows > 1
                         else None, vertical_spacing=0.18)
    for at, values in enumerate(matrices.values()):
        trace = heat(values, signed, scale=False)
        if shared:
            trace.update(coloraxis="coloraxis", colorscale=None, zmid=None, zmin=None)
        made.add_trace(trace, at // across + 1, at % across + 1)
    if shared:
        made.update_layout(coloraxis={"colorscale": DIVERGING if signed else VIRIDIS, "colorbar_thickness": THIN}
                           | ({"cmid": 0} if signed else {"cmin": 0}))
    dress(made, title, **({"height": 190 * rows + 60} if rows > 1 else {}))
    made.update_yaxes(autorange="reversed")
    made.update_yaxes(title_text=y, col=1)
    return made.update_xaxes(title_text=x, row=rows)


def curves(
    title: str, x: str, y: str, grid: Any, rows: Mapping[str, Any], places: Sequence[tuple[float, float]] = (),
) -> go.Figure:
    """Curves over one grid, each under its name; places: where the dials stand."""
    lines = [line(grid, values, name, None) for name, values in rows.items()]
    return figure(title, x, y, *lines, *([marks(places)] if places else []))


def grouped(title: str, x: str, y: str, names: Sequence[str], rows: Mapping[str, Any], stacked: bool = False) -> go.Figure:
    """Bars side by side over the same names, or on top of each other."""
    made = figure(title, x, y, *[bars(values, name, list(names), None) for name, values in rows.items()])
    return made.update_layout(barmode="stack" if stacked else "group")


def counted(letter: str, count: int) -> list[str]:
    """x₁ to x_count."""
    below = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
    return [letter + str(k + 1).translate(below) for k in range(count)]


def dress(made: go.Figure, title: str, **layout: Any) -> go.Figure:
    """Title and legend. Traces without a name take no place in the legend."""
    made.update_traces(showlegend=False, selector=lambda trace: not trace.name)
    return made.update_layout(template=go.layout.Template(), title_text=title, **layout)


def shown(value: Any) -> str:
    """A number of a title, to four digits; what only rounding left is 0."""
    return f"{float(value) if abs(value) > 1e-12 else 0:.4g}"
