"""One text under one noise: the source, what the encoder reads and what the decoder is to write, linked span by span.

The value is `pack(...)`, with `shares` where they are counted, or a refusal; either may have `asked` and `turn`, by which an
answer that comes late is known. `assets/js/corruption/` draws it; tokens reach the page by `textContent` only. The one event
is `edit`: `window.twoStacks.edited` has the places that a person hid and showed by hand.
"""

from typing import Any

from app.widgets.component import Component
from app.widgets.markup import Markup
from app.widgets.scripts import once
from core.noise import NOISES, Corruption, Units
from core.noise.corruption import SEEDS
from core.noise.drawn import KINDS

_ui = Markup("corruption")


def _line(name: str) -> str:
    return f"""<div class="nz-line"><div class="nz-name"><span {_ui.say(name)}</span><small data-ts="{name}-count"></small></div>
    <div class="nz-tokens" data-ts="{name}" dir="auto"></div></div>"""


TEMPLATE = f"""
<div class="nz-root" data-ts="root" role="region" {_ui.attributes(aria_label="label")}>
  <div class="nz-refusal" data-ts="refusal" role="alert"></div>
  <div data-ts="body">
    <div class="nz-facts"><span data-ts="rates"></span><span data-ts="lengths"></span>
      <span class="nz-edited" data-ts="edited"></span>{_ui.button("reset")}</div>
    {_line("source")}
    <p class="nz-key" data-ts="key"></p>
    {_line("corrupted")}
    {_line("target")}
    <div class="nz-series" data-ts="series"></div>
    <p class="nz-difference" data-ts="difference"></p>
    <ul class="nz-notes" data-ts="notes"></ul>
  </div>
  <div class="nz-tip" data-ts="tip" aria-hidden="true"></div>
</div>
"""


def pack(made: Corruption, units: Units, epochs: list[Corruption]) -> dict[str, Any]:
    """What the browser draws. `free`: the source places that can be edited, from and up to."""
    out: dict[str, Any] = {
        "kind": "corruption", "id": made.id[:24], "noise": made.settings.name, "mode": made.settings.mode,
        "edits": NOISES[made.settings.name].edits, "free": [units.head, len(units.tokens) - units.tail], "seeds": SEEDS,
        "source": _side(made.source), "span": made.source_span.tolist(), "mask": made.mask.tolist(), "spans": made.spans,
        "requested": made.requested, "achieved": made.achieved, "notes": list(made.notes), "difference": made.difference,
        "hide": list(made.settings.hide), "show": list(made.settings.show), "epoch": made.settings.epoch,
    }
    for name in ("corrupted", "target"):
        out[name] = {
            "tokens": _side(getattr(made, name)), "from": getattr(made, f"{name}_from").tolist(),
            "span": getattr(made, f"{name}_span").tolist(), "kind": [KINDS[k] for k in getattr(made, f"{name}_kind")],
        }
    out["series"] = [
        {"texts": [t.text for t in one.corrupted], "kind": [KINDS[k] for k in one.corrupted_kind],
         "span": one.corrupted_span.tolist()} for one in epochs
    ]
    return out


def _side(tokens) -> list[list]:
    return [[token.text, token.id] for token in tokens]


class CorruptionView(Component):
    """A `gr.HTML` whose value is a pack, {"kind": "refused", "text": a sentence}, or None."""

    def __init__(self, value: dict[str, Any] | None = None, **settings: Any):
        super().__init__(value, html_template=TEMPLATE, js_on_load=once("corruption"), **settings)
