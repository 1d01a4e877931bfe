"""A page with nothing but the stepper and made-up packs: `python -m tests.browser.stepper_page --port N`.

The buttons send what a run sends: a whole pack, a stream, a stream with lost and swapped messages, a message. The
numbers are random softmax rows, made by `pack`, so that the tests know every weight.
"""

from __future__ import annotations

import argparse
import base64
import time
from collections.abc import Iterator
from typing import Any

import gradio as gr
import numpy as np

from app.widgets.stepper import PLOTLY_FILE, Stepper
from app.words import TRANSLATIONS
from core.records import blocked, in_blocks

ENGLISH = "translate English to German: A man rides a brown horse near the old fence </s>".split()
GERMAN = "Ein Mann reitet ein braun es Pferd nahe dem alten Zaun </s>".split()
MARKUP = ["<s>", "<img src=x onerror=1>", "<b>bold</b>", "▁", "", " ", "&lt;"]
HOSTILE = [*MARKUP, "שלום", "مرحبا", "馬", "Donau" * 12, "</s>"]


def pack(run: str, source: list[str], target: list[str], *, prefix=0, layers=3, heads=6, seed=0) -> dict[str, Any]:
    """A whole pack; weights (layers, heads, source) a row are the softmax of noise with a bump on the diagonal."""
    random = np.random.default_rng(seed)
    n, m, rows, place = len(source), len(target), [], 0
    for t, token in enumerate(target):
        scores = random.normal(0, 1.3, (layers, heads, n))
        scores -= np.abs(np.arange(n) - prefix - (n - prefix) * t / m) * random.uniform(0.2, 1.6, (layers, heads, 1))
        weights = softmax(scores)
        p = np.sort(random.dirichlet(np.full(12, 0.25)))[::-1] * 0.98 + 1e-4
        logs = [float(x) for x in np.log(p)]
        end = place if token == "</s>" else place + len(token)
        rows.append({
            "t": [token, 100 + t, place, end],
            "lp": logs[0],
            "H": float(-(p * np.log(p)).sum()),
            "top": [[target[(t + k) % m], 100 + (t + k) % m, logs[k]] for k in range(10)],
            "kv": [2 * layers * 192 * 4 * (t + 1), 2 * layers * 192 * 4 * n],
            "notes": ["minimum length: </s> was banned"] if t == 2 else [],
            "w": halves(in_blocks(weights, blocked(weights)[0]) if "cross" in blocked(weights)[1] else weights),
            "d": halves(softmax(random.normal(0, 1.3, (layers, heads, t + 1)))),
        })
        place = end + 1 if end > place else place
    block, maps = blocked(np.zeros((layers, heads, n)))
    encoder = softmax(random.normal(0, 1.3, (layers, heads, n, n)))
    ends = [10 * i + (0 if token == "</s>" else max(1, len(token))) for i, token in enumerate(source)]
    return {
        "kind": "trace", "run": run, "done": True, "prefix": prefix, "rows": rows,
        "shapes": {name: [layers, heads] for name in ("encoder", "decoder", "cross")}, "first": ["<pad>", 0, 0, 0],
        "enc": halves(in_blocks(encoder, block, rows=True) if maps else encoder), "block": block, "blocked": maps,
        "source": [[token, i, 10 * i, end] for i, (token, end) in enumerate(zip(source, ends))],
        "input": " ".join(source), "output": " ".join(target[:-1]), "notes": [],
        "about": "pocket-t5 · cpu · float32 · greedy",
    }


def softmax(scores: np.ndarray) -> np.ndarray:
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True)


def halves(weights: np.ndarray) -> str:
    return base64.b64encode(np.ascontiguousarray(weights, "<f2").tobytes()).decode()


def first() -> dict[str, Any]:
    return pack("first", ENGLISH, GERMAN, prefix=4)


def large() -> dict[str, Any]:
    words = (ENGLISH[4:-1] * 16)[:127]
    return pack("large", [*words, "</s>"], [*(GERMAN[:-1] * 16)[:127], "</s>"], layers=6, heads=8, seed=2)


def long() -> dict[str, Any]:
    """A source of 512 tokens, the most there may be: its encoder map arrives in blocks of 4."""
    words = [f"{word}{i // 10}" for i, word in enumerate((ENGLISH[4:-1] * 57)[:507])]
    return pack("long", [*ENGLISH[:4], *words, "</s>"], [*(GERMAN[:-1] * 16)[:127], "</s>"], prefix=4, seed=9)


def wide() -> dict[str, Any]:
    """As many heads as a BART has, of 300 tokens: cross-attention arrives in blocks of 3, too."""
    words = (ENGLISH[4:-1] * 34)[:299]
    return pack("wide", [*words, "</s>"], GERMAN, layers=6, heads=12, seed=10)


def hostile() -> dict[str, Any]:
    bad = pack("hostile", HOSTILE, HOSTILE, seed=3)
    bad["notes"] = ["cut to 128 tokens <img src=x onerror=1>"]
    return bad


def square() -> dict[str, Any]:
    """The reference picture: 12 x 12."""
    return pack("square", ENGLISH[4:] + ["of", "grey"], GERMAN, seed=4)


def pieces() -> dict[str, Any]:
    """Words in pieces, in several scripts: offsets touch within a word."""
    source = [("A", 0, 1), ("um", 2, 4), ("brella", 4, 10), (".", 10, 11), ("東", 12, 13), ("京", 13, 14), ("</s>", 14, 14)]
    target = [("Ein", 0, 3), ("Re", 4, 6), ("gen", 6, 9), ("schirm", 9, 15), ("<C3>", 15, 15), ("é", 15, 16), (".", 16, 17)]
    target.append(("</s>", 17, 17))
    made = pack("pieces", [text for text, *_ in source], [text for text, *_ in target], seed=7)
    made["source"] = [[text, i, start, end] for i, (text, start, end) in enumerate(source)]
    for row, (text, start, end) in zip(made["rows"], target, strict=True):
        row["t"] = [text, row["t"][1], start, end]
    return made


def again() -> dict[str, Any]:
    """Another output of the source of `square`."""
    return pack("again", ENGLISH[4:] + ["of", "grey"], [*GERMAN[:7], "</s>"], seed=8) | {"output": "Ein Mann"}


def pointed() -> dict[str, Any]:
    """A model that names the head which follows words best: layer 2, head 5 in the page's numbers."""
    return pack("pointed", ENGLISH, GERMAN, prefix=4, seed=11) | {"best": [1, 4]}


def start_of(whole: dict[str, Any]) -> dict[str, Any]:
    keys = ("run", "shapes", "block", "blocked", "source", "prefix", "first", "enc", "input", "about")
    return {"kind": "start", **{key: whole[key] for key in keys}}


def rows_of(whole: dict[str, Any], first_row: int, last_row: int) -> dict[str, Any]:
    return {"kind": "rows", "run": whole["run"], "from": first_row, "rows": whole["rows"][first_row:last_row]}


def streamed(pause: float = 0.12) -> Iterator[dict[str, Any]]:
    whole = pack("streamed", ENGLISH, GERMAN, prefix=4, seed=5)
    yield start_of(whole)
    for t in range(len(whole["rows"])):
        time.sleep(pause)
        yield rows_of(whole, t, t + 1)
    time.sleep(2 * pause)
    yield whole


def broken(pause: float = 0.25) -> Iterator[dict[str, Any]]:
    """Rows 2 and 3 swapped, row 5 lost: the view stops at five rows until the whole pack heals it."""
    whole = pack("broken", ENGLISH, GERMAN, prefix=4, seed=6)
    yield start_of(whole)
    for t in (0, 1, 3, 2, 4, 6, 7):
        time.sleep(pause)
        yield rows_of(whole, t, t + 1)
    time.sleep(4 * pause)
    yield whole


def message() -> dict[str, Any]:
    return {"kind": "message", "text": "Type <b>some</b> text first."}


def build() -> gr.Blocks:
    with gr.Blocks(title="stepper") as page:
        stepper = Stepper(first(), elem_id="stepper")
        with gr.Row():
            for send in (first, large, long, wide, hostile, square, again, pieces, pointed, streamed, broken, message):
                button = gr.Button(send.__name__, elem_id=send.__name__, min_width=80)
                button.click(send, None, stepper, show_progress="hidden")
    return page


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, required=True)
    port = parser.parse_args().port
    gr.set_static_paths([PLOTLY_FILE])
    build().launch(
        i18n=TRANSLATIONS, server_name="127.0.0.1", server_port=port, quiet=True, run_history=False, ssr_mode=False,
        enable_monitoring=False, footer_links=[],
    )


if __name__ == "__main__":
    main()
