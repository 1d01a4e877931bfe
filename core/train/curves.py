"""The curves of a training as one SVG without scripts: validation loss by task, training loss, learning rate."""

from collections.abc import Sequence
from html import escape

WIDTH, HEIGHT, LEFT, BOTTOM, TOP, RIGHT = 720, 360, 52, 40, 34, 130
COLOURS = ("#4269d0", "#e8710a", "#2e8b57", "#b03a82", "#7a5af5", "#6b6b6b")  # told apart by their labels too

Curve = list[tuple[float, float]]


def curves_of(rows: Sequence[dict]) -> dict[str, Curve]:
    """Name -> points (step, nats per token): "training", and each task of the validation rows."""
    found: dict[str, Curve] = {}
    for row in rows:
        if row["kind"] == "train":
            found.setdefault("training", []).append((row["step"], row["loss"]))
        if row["kind"] == "validation":
            for name, loss in row["losses"].items():
                found.setdefault(name, []).append((row["step"], loss))
    return found


def draw(title: str, rows: Sequence[dict]) -> str:
    """An SVG of every curve on one pair of axes, the learning rate as a pale area behind them."""
    curves = curves_of(rows)
    points = [point for curve in curves.values() for point in curve]
    last = max((step for step, _ in points), default=1)
    low = int(min((loss for _, loss in points), default=0))
    high = min(max((loss for _, loss in points), default=1), low + 6)

    def place(step: float, loss: float) -> str:
        across = LEFT + (WIDTH - LEFT - RIGHT) * step / last
        up = (HEIGHT - TOP - BOTTOM) * (min(loss, high) - low) / (high - low or 1)
        return f"{across:.1f},{HEIGHT - BOTTOM - up:.1f}"

    parts = [f'<text x="{LEFT}" y="20" font-size="14">{escape(title)}</text>', _rates(rows, last)]
    parts += [_level(place, last, loss) for loss in range(low, int(high) + 1)]
    parts += [
        f'<text x="{place(step, low).split(",")[0]}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">{step}</text>'
        for step in (0, round(last / 2), last)
    ]
    ends = _spread([float(place(*curve[-1]).split(",")[1]) for curve in curves.values()])
    for colour, (name, curve), y in zip(COLOURS, curves.items(), ends):
        line = " ".join(place(*point) for point in curve)
        parts.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="1.6"/>')
        parts.append(f'<text x="{WIDTH - RIGHT + 6}" y="{y + 4:.1f}" fill="{colour}">'
                     f"{escape(name)} {curve[-1][1]:.2f}</text>")
    parts.append(f'<text x="{LEFT}" y="{HEIGHT - 6}">step; nats per token; shaded: learning rate</text>')
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" '
            f'font-size="12" role="img"><title>{escape(title)}</title>'
            f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>{"".join(parts)}</svg>\n')


def _level(place, last: float, loss: float) -> str:
    """A horizontal grid line and its number."""
    (x1, y), (x2, _) = (place(step, loss).split(",") for step in (0, last))
    return (f'<line x1="{x1}" y1="{y}" x2="{x2}" y2="{y}" stroke="#ddd"/>'
            f'<text x="{LEFT - 8}" y="{float(y) + 4}" text-anchor="end">{loss}</text>')


def _rates(rows: Sequence[dict], last: float) -> str:
    """The learning rate as an area a quarter of the picture high."""
    rates = [(row["step"], row["rate"]) for row in rows if row["kind"] == "train"]
    if not rates:
        return ""
    top, floor = max(rate for _, rate in rates) or 1, HEIGHT - BOTTOM
    line = [f"{LEFT + (WIDTH - LEFT - RIGHT) * s / last:.1f},{floor - (floor - TOP) / 4 * r / top:.1f}"
            for s, r in rates]
    ends = [f"{p.split(',')[0]},{floor}" for p in (line[0], line[-1])]
    return f'<polygon points="{ends[0]} {" ".join(line)} {ends[1]}" fill="#eef1f7"/>'


def _spread(heights: list[float], gap: float = 14) -> list[float]:
    """Label heights moved down until none covers another."""
    out = list(heights)
    order = sorted(range(len(out)), key=lambda k: out[k])
    for above, below in zip(order, order[1:]):
        out[below] = max(out[below], out[above] + gap)
    return out
