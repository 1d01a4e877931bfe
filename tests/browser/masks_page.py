"""A page with nothing but the mask grid and the matrices, on made-up values: `python -m tests.browser.masks_page --port N`.

The buttons send what the server would send. What the components tell is shown as text: masks after `core.fields.build` has
checked them and written them again, and the event of the matrices as it came.
"""

from __future__ import annotations

import argparse
import itertools
import json
from typing import Any

import gradio as gr
import numpy as np

from app.widgets import mask_grid, matrices, scripts
from app.words import TRANSLATIONS
from core.fields import build, differences
from core.interventions import Cell, Masks, StackMask
from core.masks import additive, causal, softmax

SOURCE = "A man rides a brown horse near the old fence . </s>".split()
TARGET = "Ein Mann reitet ein braun es Pferd nahe dem alten Zaun </s>".split()
HOSTILE = ["<s>", "<img src=x onerror=1>", "<b>bold</b>", "▁", "", " ", "&lt;", "שלום", "馬", "Donau" * 12, "{{value}}", "</s>"]
SENT = itertools.count()
LAYERS = {"encoder": 3, "decoder": 3, "cross": 3}


def labels(tokens: list[str]) -> list[tuple[str, bool]]:
    return [(token, token in ("</s>", "<pad>")) for token in tokens]


def grid(source: list[str], target: list[str], masks: Masks | None = None, **more: Any) -> dict[str, Any]:
    fed = labels(["<pad>", *target[:-1]])
    value = mask_grid.pack(labels(source), fed, LAYERS, masks, writes=target, take=masks is not None, **more)
    return value | {"sent": next(SENT)}  # a value like the one before it would not arrive


def first() -> dict[str, Any]:
    drawn = StackMask("prefix", 3, (7,), (Cell(2, 6, allowed=True), Cell(5, 1, 1), Cell(8, 8)))
    dead = StackMask("causal", exceptions=tuple(Cell(4, column) for column in range(5)))
    return grid(SOURCE, TARGET, Masks(decoder=drawn, encoder=dead))


def plain() -> dict[str, Any]:
    return grid(SOURCE, TARGET, Masks())


def another() -> dict[str, Any]:
    """Another source; the masks are the person's own."""
    return grid(SOURCE[:5] + ["dog", "</s>"], TARGET[:7] + ["</s>"])


def large() -> dict[str, Any]:
    return grid((SOURCE[:-1] * 12)[:127] + ["</s>"], (TARGET[:-1] * 12)[:127] + ["</s>"], Masks())


def hostile() -> dict[str, Any]:
    return grid(HOSTILE, HOSTILE, Masks())


def single() -> dict[str, Any]:
    """A model whose encoder cannot be reached and whose cross-attention has a row that only the server knows to be dead."""
    reasons = {"encoder": "this <b>encoder</b> has no attention that can be masked."}
    return grid(SOURCE, TARGET, Masks(), reached=("decoder", "cross"), reasons=reasons, dead={"cross": {2: [0, 2]}}, pads=1)


def head(rows: list[str], columns: list[str]) -> dict[str, Any]:
    """Score → + mask → softmax of one head, on numbers from one seed."""
    random = np.random.default_rng(1)
    scores = random.normal(0, 2, (len(rows), len(columns))).astype(np.float32)
    mask = causal(*scores.shape)
    mask[3] = False
    weights = softmax(scores, mask)
    panel = dict(rows=rows, columns=columns, row_title="reads", column_title="is read")
    return matrices.pack([
        matrices.panel("scores q·k", scores, note="T5 does not divide by √d", scale="diverging", **panel),
        matrices.panel("+ mask", additive(mask), note="0 or −∞", scale="diverging", **panel),
        matrices.panel("weights", weights, note="each row adds up to 1", low=0, high=1, dead=[3], **panel),
    ], ["+", "→ softmax →"])


def six() -> dict[str, Any]:
    return head(TARGET[:6], TARGET[:6])


def twelve() -> dict[str, Any]:
    return head(TARGET, TARGET)


def wide() -> dict[str, Any]:
    return head([f"row {i + 1}" for i in range(128)], [f"column {j + 1}" for j in range(128)])


def importance() -> dict[str, Any]:
    """Layers × heads, with check boxes, beside a bias of heads × distances and an unknown number."""
    random = np.random.default_rng(2)
    change = random.normal(0, 0.6, (6, 8))
    change[1, 1] = np.nan
    bias = random.normal(0, 3, (8, 49))
    return matrices.pack([
        matrices.panel("change in log P", change, [f"layer {i + 1}" for i in range(6)], [str(j + 1) for j in range(8)],
                       note="each head alone off", scale="diverging", row_title="layer", column_title="head",
                       checked=[(0, 2), (4, 7)], check="head off"),
        matrices.panel("relative position bias", bias, [f"head {i + 1}" for i in range(8)], [str(d) for d in range(-24, 25)],
                       scale="diverging", digits=1, row_title="head", column_title="key − query"),
    ])


def bars(row: tuple[float, ...] = (0.1, 0.4, 0.2, 0.0, 0.25, 0.05)) -> dict[str, Any]:
    """A row of weights as it is, and as it is dragged."""
    return matrices.pack([matrices.panel("a row", np.stack([row, row]), ["is", "set"], SOURCE[:6], low=0, high=1, drag=True)])


def others() -> dict[str, Any]:
    """Other bars with the same labels."""
    return bars((0.3, 0.4, 0.1, 0.0, 0.15, 0.05))


def strange() -> dict[str, Any]:
    values = np.arange(144, dtype=np.float32).reshape(12, 12)
    return matrices.pack([matrices.panel("<b>title</b>", values, HOSTILE, HOSTILE, note="<img src=x onerror=1>")])


def build_page() -> gr.Blocks:
    with gr.Blocks(title="masks") as page:
        component = mask_grid.MaskGrid(first(), elem_id="grid")
        told = gr.Textbox(label="told", elem_id="told")
        several = matrices.Matrices(six(), elem_id="matrices")
        event = gr.Textbox(label="event", elem_id="event")
        sent = {component: (first, plain, another, large, hostile, single),
                several: (six, twelve, wide, importance, bars, others, strange)}
        for to, senders in sent.items():
            for send in senders:
                button = gr.Button(send.__name__, elem_id=send.__name__, min_width=80)
                button.click(send, None, to, show_progress="hidden")

        def checked(data: gr.EventData) -> str:
            unknown: list[str] = []
            masks = build(Masks, data._data["masks"], "masks.", unknown)
            return json.dumps({"masks": differences(masks), "unknown": unknown})

        component.edit(checked, None, told, show_progress="hidden", trigger_mode="multiple")
        def selected(data: gr.EventData) -> str:
            return json.dumps({"select": data._data})

        def edited(data: gr.EventData) -> str:
            return json.dumps({"edit": data._data})

        several.select(selected, None, event, show_progress="hidden")
        several.edit(edited, None, event, show_progress="hidden")
    return page


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, required=True)
    port = parser.parse_args().port
    build_page().launch(
        i18n=TRANSLATIONS, server_name="127.0.0.1", server_port=port, quiet=True, run_history=False, ssr_mode=False,
        enable_monitoring=False, footer_links=[], head=scripts.head(),
    )


if __name__ == "__main__":
    main()
