"""Matrices with their numbers, side by side: those with the same axes share one pointer. A panel can be a map of check boxes.

The value is what `pack` builds from `panel`s. `assets/js/matrices/` draws it into the static template below, by `textContent`
and on a canvas only, because labels are whatever a visitor typed. Gradio evaluates template and style as templates: keep both
free of `{{`, `${` and backticks.
"""

import base64
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from app.widgets.component import Component
from app.widgets.markup import Markup
from app.widgets.scripts import once, styles

_ui = Markup("matrices")
SCALES = ("sequential", "diverging")
TEMPLATE = f"""
<div class="ts-root mx-root" data-ts="root" role="group" {_ui.attributes(aria_label="label")}>
  <i class="ts-ramp" data-ts="ramp" hidden></i>
  <div class="mx-panels" data-ts="panels"></div>
  <span class="mx-tools">
    <button type="button" class="ts-text-button" data-ts="csv" {_ui.attributes(title="csv.title")} hidden>CSV</button></span>
  <p class="mx-empty" data-ts="empty" {_ui.say("empty")}</p>
  <p class="mx-live" data-ts="live" aria-live="polite"></p>
  <div class="ts-tip" data-ts="tip" aria-hidden="true"></div>
</div>
"""


def panel(
    title: str, values: np.ndarray, rows: Sequence[str], columns: Sequence[str], *, note: str = "", scale: str = "sequential",
    low: float | None = None, high: float | None = None, digits: int = 2, row_title: str = "", column_title: str = "",
    dead: Sequence[int] = (), checked: Iterable[tuple[int, int]] | None = None, check: str = "", drag: bool = False,
) -> dict[str, Any]:
    """One matrix (row, column) with what stands around it.

    low, high: ends of the colours, from the finite values where they are None. -inf is hatched, NaN stays empty. dead: rows
    that see nothing, said on those that are all 0. checked: cells that are ticked, which makes every cell a check box; check:
    what a tick means. drag: rows of weights as bars, of which a person drags the last; the first is what it was before.
    """
    if scale not in SCALES:
        raise ValueError(f"scale is {scale!r}; it must be one of {SCALES}")
    if np.shape(values) != (len(rows), len(columns)):
        raise ValueError(f"a matrix of {np.shape(values)} does not fit {len(rows)} rows and {len(columns)} columns")
    raw = base64.b64encode(np.ascontiguousarray(values, "<f4").tobytes()).decode()
    made: dict[str, Any] = {
        "title": title, "note": note, "rows": list(rows), "columns": list(columns), "values": raw, "scale": scale,
        "digits": digits, "low": low, "high": high, "row_title": row_title, "column_title": column_title,
        "dead": [int(row) for row in dead], "drag": drag,
    }
    if checked is not None:
        made |= {"checked": [[int(row), int(column)] for row, column in checked], "check": check}
    return made


def pack(panels: Sequence[dict[str, Any]], operators: Sequence[str] = (), beside: bool = False) -> dict[str, Any]:
    """What the browser draws; operators[k] stands between panels k and k + 1. beside: rather side by side than with numbers."""
    return {"kind": "matrices", "panels": list(panels), "operators": list(operators), "beside": beside}


class Matrices(Component):
    """A `gr.HTML` whose value is a pack (a dict) or None.

    Events: `select` with {"panel", "row", "column"} of a cell that was picked; `edit` with {"panel", "checked", "turn"},
    the ticked cells [row, column] after a tick and how many ticks there were, or with {"panel", "column", "share"}, a weight
    that was dragged. Not `change`, which Gradio itself fires with each new value.
    """

    KINDS = ("matrices",)

    def __init__(self, value: dict[str, Any] | None = None, **settings: Any):
        super().__init__(value, html_template=TEMPLATE, css_template=styles("stepper", "matrices"),
                         js_on_load=once("matrices"), **settings)
