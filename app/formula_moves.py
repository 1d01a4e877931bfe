"""One thing to move on a formula: its dials as they are sent, and the picture for where they stand. Needs no model's turn."""

import html
import re
from collections.abc import Mapping
from functools import cache
from typing import Any

from gradio.components.plot import PlotData

from app.palette import BLUE, CATEGORIES, DARK, DIVERGING, ORANGE, SKY, VERMILION, VIRIDIS
from core.errors import InputError
from core.formulas.sheets import ALL

HEIGHT = 330  # pixels, where a picture does not say
MOST = 200_000  # characters of a picture
MOST_TURN = 2**31
LIGHTER = {BLUE: SKY, VERMILION: ORANGE}


def dials(id: str) -> list[list[Any]]:
    """[symbol, least, most, first, step] of each dial; nothing where a formula has no experiment."""
    from app.experiments import EXPERIMENTS  # plotly is not needed before the tab opens

    one = EXPERIMENTS.get(id)
    return [[dial.name, dial.lowest, dial.highest, dial.first, dial.step] for dial in one.dials] if one else []


def moved(data: object) -> tuple[dict[str, Any], PlotData]:
    """What a browser asks with {"id", "values", "dark", "turn"}: a message for the panel, and the picture. InputError."""
    from app.experiments import EXPERIMENTS

    id, turn = named(data)
    if id not in EXPERIMENTS:
        raise InputError(f"There is nothing to move on {id[:60]!r}.")
    figure = EXPERIMENTS[id].picture(checked(id, data.get("values")))
    title = plain(figure.layout.title.text)
    dark = data.get("dark") is True
    if dark:
        lit(figure)
    figure.update_layout(template=look(dark), height=figure.layout.height or HEIGHT, title=None)
    if figure.layout.margin.t is None and len(figure.data) == 1 and not figure.layout.annotations:
        figure.update_layout(margin_t=12)  # neither a legend nor a heading stands above
    text = '{"config":{"displayModeBar":false},' + figure.to_json()[1:]
    if len(text) > MOST:
        raise InputError(f"The picture for these values would take {len(text):,} characters; at most {MOST:,} are sent.")
    return {"kind": "moved", "id": id, "turn": turn, "title": title}, PlotData(type="plotly", plot=text)


def named(data: object) -> tuple[str, int]:
    """The formula that is meant, and which question of the browser this is."""
    given = data if isinstance(data, Mapping) else {}
    id, turn = given.get("id"), given.get("turn")
    whole = isinstance(turn, int) and not isinstance(turn, bool) and 0 <= turn < MOST_TURN
    return (id if isinstance(id, str) and id in ALL else str(id)[:60]), (turn if whole else 0)


def checked(id: str, values: object) -> dict[str, float]:
    """A number for each dial, on its steps; whole where the dial has only whole ones."""
    from app.experiments import EXPERIMENTS

    wanted = {dial.name: dial for dial in EXPERIMENTS[id].dials}
    if not isinstance(values, Mapping) or set(values) != set(wanted):
        raise InputError(f"{id} is moved by {', '.join(wanted)}: a number for each of them.")
    found = {}
    for name, dial in wanted.items():
        value = values[name]
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if not number or not dial.lowest <= value <= dial.highest:  # what is not finite lies in no range
            raise InputError(f"{name} must be a number from {dial.lowest:g} to {dial.highest:g}; it is {str(value)[:40]!r}.")
        stepped = dial.lowest + round((value - dial.lowest) / dial.step) * dial.step
        whole = float(dial.lowest).is_integer() and float(dial.step).is_integer()
        found[name] = int(stepped) if whole else round(min(stepped, dial.highest), 10)
    return found


def plain(title: str | None) -> str:
    """The title as text: it stands above the picture, where a narrow page can break it."""
    return html.unescape(re.sub(r"</?(?:b|i|sub|sup)>", "", re.sub(r"<br\s*/?>", " ", title or "")))


def lit(figure: Any) -> None:
    """Lines and marks in blue and vermilion, as they are on a dark ground."""
    for trace in figure.data:
        for part in (getattr(trace, name, None) for name in ("line", "marker")):
            if part is not None and part.color is not None:
                lighter = [LIGHTER.get(one, one) for one in ([part.color] if isinstance(part.color, str) else part.color)]
                part.color = lighter[0] if isinstance(part.color, str) else lighter


@cache
def look(dark: bool) -> dict[str, Any]:
    """Gradio's plot does not follow the theme: colours of the page, on no ground of its own."""
    ink, line = ("#e2e8f0", "#47556b") if dark else ("#1e293b", "#d5dbe4")
    axis = {"gridcolor": line, "zerolinecolor": line, "linecolor": line, "automargin": True, "title": {"standoff": 8}}
    space = {"gridcolor": line, "backgroundcolor": "rgba(0,0,0,0)", "color": ink}
    return {"layout": {
        "font": {"family": "system-ui, Segoe UI, Noto Sans, sans-serif", "size": 13, "color": ink},
        "paper_bgcolor": "rgba(0,0,0,0)", "plot_bgcolor": "rgba(0,0,0,0)", "xaxis": axis, "yaxis": axis,
        "colorway": DARK if dark else CATEGORIES, "colorscale": {"sequential": VIRIDIS, "diverging": DIVERGING},
        "scene": {"xaxis": space, "yaxis": space, "zaxis": space}, "margin": {"l": 52, "r": 16, "t": 34, "b": 46},
        "legend": {"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom"}, "hovermode": "closest",
        "hoverlabel": {"font": {"color": ink}, "bgcolor": "#1e293b" if dark else "#ffffff"},
    }}
