"""What a model wrote for each hidden span: right or wrong, the truth's log-probability, and where the decoder looked.

The value is `judged(...)`, progress of a run, a refusal, or None. `assets/js/rebuilding/` draws it by `textContent` and canvas.
"""

from typing import Any

from app.widgets.component import Component
from app.widgets.markup import Markup
from app.widgets.scripts import script

_ui = Markup("rebuilding")
TEMPLATE = f"""
<div class="nz-root nz-rebuilding" data-ts="root" hidden role="region" {_ui.attributes(aria_label="label")}>
  <div class="nz-refusal" data-ts="refusal" role="alert"></div>
  <p class="nz-honest" data-ts="former" hidden {_ui.say("former")}</p>
  <p class="nz-honest" data-ts="honest"></p>
  <p class="nz-wrote" data-ts="wrote" aria-live="polite"></p>
  <p class="nz-loss" data-ts="loss"></p>
  <div class="nz-spans" data-ts="spans"></div>
  <p class="nz-key" data-ts="key"></p>
  <div class="nz-tip" data-ts="tip" aria-hidden="true"></div>
</div>
"""


def judged(found: Any) -> dict[str, Any]:
    """A Rebuilding as the browser draws it. weights: a span's rows (tokens, source), mean over layers and heads."""
    made = found.corruption
    spans = []
    for span in found.spans:
        rows = found.rows(span)
        weights = rows.mean((0, 1)).round(4).tolist() if rows.size else []
        spans.append({
            "span": span.span, "true": [t.text for t in span.true], "wrote": [t.text for t in span.wrote], "right": span.right,
            "logprob": round(span.logprob, 4), "each": found.forced.logprobs[list(span.rows)].round(4).tolist(),
            "weights": weights,
        })
    loss = found.loss
    return {
        "kind": "rebuilt", "id": made.id[:24], "model": found.trace.settings.model, "text": found.trace.text, "spans": spans,
        "source": [t.text for t in made.corrupted], "exact": found.exact, "right": found.right,
        "loss": None if loss != loss else round(loss, 4), "tokens": len(made.target), "n": len(found.trace.target),
        "shape": list(found.forced.cross_weights.shape[:2]),
    }


class RebuildingView(Component):
    """A `gr.HTML` whose value is what a model rebuilt, or how far it is."""

    def __init__(self, value: dict[str, Any] | None = None, **settings: Any):
        super().__init__(value, html_template=TEMPLATE,
                         js_on_load=script("rebuilding", ("text", "strips", "wiring")), **settings)
