"""How numbers of a formula travel to its card: texts for the places of a line, small heatmaps with their labels, data to move."""

import base64
from collections.abc import Sequence
from typing import Any

import numpy as np

from core.formulas.moment import Moment

MOST = 24  # tokens drawn on an axis
FEW = 6  # numbers written out in a line


def number(value: float, places: int = 3) -> str:
    """With a true minus sign; a number that rounds to nothing says so by its size."""
    value = float(value)
    if not np.isfinite(value):
        return "−∞" if value < 0 else "∞"
    if abs(value) >= 1e6:
        text = f"{value:.1e}".replace("e+0", "e").replace("e+", "e")
    elif value == 0 or abs(value) >= 0.5 * 10**-places:
        text = f"{value:.{places}f}"
    elif abs(value) >= 1e-4:
        text = f"{value:.4f}".rstrip("0")
    else:
        text = f"{value:.0e}".replace("e-0", "e-")
    return text.replace("-", "−")


def listing(values: Sequence[float], places: int = 2, most: int = FEW, sign: str = ",\u2009") -> str:
    """The first few numbers, with an ellipsis where there are more."""
    shown = [f"{float(value):.{places}f}".replace("-inf", "−∞").replace("-", "−") for value in list(values)[:most]]
    return sign.join(shown) + (f"{sign}…" if len(values) > most else "")


def packed(values: np.ndarray, dtype: str = "<f2") -> str:
    """Little-endian, base64: float16 has the three digits that are shown; what is computed with travels as "<f4"."""
    return base64.b64encode(np.ascontiguousarray(values, dtype).tobytes()).decode()


def panel(title: str, values: np.ndarray, rows: Sequence[str], columns: Sequence[str], *, lights: Sequence[str] = (),
          axes: tuple[str, str] = ("", ""), label: str = "", kind: str = "signed", row: int = -1, column: int = -1) -> dict[str,
              Any]:
    """One heatmap. lights: the symbols that are this picture; axes: names of rows and columns in core/shapes.py's alphabet.

    kind: "weights" from 0 to 1, "signed" around 0, "mask" 0 and −∞. label: STATE, CONFIG or θ. row, column: marked, where not -1.
    """
    values = np.asarray(values)[:MOST, :MOST]
    return {"title": title, "values": packed(values), "rows": list(rows)[:MOST], "columns": list(columns)[:MOST], "kind": kind,
            "lights": list(lights), "axes": list(axes), "label": label, "row": row if row < MOST else -1,
            "column": column if column < MOST else -1}


class Place:
    """What all cards of a moment share: labels of the axes, the step t, the source token i that it reads most."""

    def __init__(self, moment: Moment):
        self.moment, self.t = moment, moment.step
        self.source = [token.text for token in moment.source]
        self.target = [token.text for token in moment.target]
        self.fed = [moment.start.text, *self.target[:-1]]
        self.n, self.m = len(self.source), len(self.target)
        self.i = int(moment.arrays["cross.weights"][self.t].argmax())
        self.d = int(moment.facts["d"])

    def __getitem__(self, name: str) -> np.ndarray:
        return self.moment.arrays[name]

    def slots(self, name: str) -> list[str]:
        """Labels of the last axis of an array that is no token axis."""
        return [str(at + 1) for at in range(self[name].shape[-1])]

    def hidden(self, title: str, name: str, side: str, lights: Sequence[str], **more: Any) -> dict[str, Any]:
        """States (token, width), cut, of the source or the target."""
        rows = self.source if side == "source" else self.fed
        return panel(title, self[name], rows, self.slots(name), lights=lights, axes=(side, "width"),
                     row=self.i if side == "source" else self.t, **({"label": "STATE"} | more))


def shown(values: dict[str, str], panels: Sequence[dict] = (), note: tuple[str, dict] | None = None, **data: Any) -> dict[str,
                                                                                                                          Any]:
    """What a card gets. data: what its script needs to move it."""
    return {"values": values, "panels": list(panels), "note": list(note) if note else None, "data": data}
