"""All noises on one text, a row each as it comes, beside published figures that are named as such.

The value is {"kind": "table", "rows": [written(row), ...]}, a refusal, or None. Drawn by
`assets/js/noise_table/`, by `textContent`.
"""

from typing import Any

from app.widgets.component import Component
from app.widgets.markup import Markup
from app.widgets.scripts import script
from core.noise.published import TABLES

_ui = Markup("noise_table")
COLUMNS = ("noise", "length", "target", "achieved", "loss", "exact", "spans", "published")
_HEAD = "".join(f"<th {_ui.say(f'column.{name}')}</th>" for name in COLUMNS)
TEMPLATE = f"""
<div class="nz-root nz-table" data-ts="root" hidden role="region" {_ui.attributes(aria_label="label")}>
  <div class="nz-refusal" data-ts="refusal" role="alert"></div>
  <p class="nz-about" data-ts="about" aria-live="polite"></p>
  <div class="nz-scroll" tabindex="0"><table><thead><tr>{_HEAD}</tr></thead><tbody data-ts="rows"></tbody></table></div>
  <p class="nz-key" {_ui.say("how")}</p>
  <ul class="nz-key" data-ts="sources"></ul>
</div>
"""


def written(row: Any) -> dict[str, Any]:
    """A row of core.noise.table as the browser writes it."""
    loss = row.loss
    return {
        "name": row.name, "reason": row.reason, "length": row.length, "target": row.target_length, "requested": row.requested,
        "achieved": row.achieved, "loss": None if loss is None or loss != loss else round(loss, 3), "exact": row.exact,
        "right": row.right, "spans": row.spans, "wrote": row.wrote,
        "original": len(row.corruption.source) if row.corruption else None,
        "published": [
            {"table": table.name, "label": figures.label, "figures": [
                [column, value] for column, value in zip(table.columns, figures.values, strict=True) if value is not None
            ]} for table, figures in row.published
        ],
    }


class NoiseTable(Component):
    """A `gr.HTML` whose value is a table that grows."""

    def __init__(self, value: dict[str, Any] | None = None, **settings: Any):
        super().__init__(value, html_template=TEMPLATE,
                         js_on_load=script("noise_table", ("text", "rows")),
                         **{"sources": [[table.name, table.source] for table in TABLES]} | settings)
