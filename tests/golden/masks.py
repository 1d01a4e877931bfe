"""masks.json: boolean masks, and the softmax of a row that sees nothing."""

from pathlib import Path

import numpy as np

from core import masks
from tests.golden import Report, differs, number


def check_masks(data: dict, folder: Path, report: Report) -> None:
    """Every case; and robust_zero_row, the one rule in the softmax block. The rest of that block is on other code."""
    for index, case in enumerate(data.get("cases", [])):
        report.case(f"case {index} ({case.get('name', 'no name')})", _case, case)
    if "robust_zero_row" in data.get("softmax", {}):
        report.case("softmax robust_zero_row", _softmax, data["softmax"])


def _case(case: dict) -> str | None:
    """allowed (batch, query, key) of the kind, and of the padding where there is any."""
    queries, keys, offset = case["q_len"], case["k_len"], case.get("q_offset") or 0
    real = case.get("attention_mask")
    kind = case["kind"]
    if kind == "cross":
        ours = masks.cross(queries, np.array(real if real is not None else [[1] * keys]))
    else:
        ours = _square(kind, case, queries, keys, offset)[None]
        if real is not None:
            ours = masks.both(ours, masks.padding(np.array(real)))
    found = ours.astype(int).tolist()
    return None if found == case["allowed"] else f"{found}, the file has {case['allowed']}"


def _square(kind: str, case: dict, queries: int, keys: int, offset: int) -> masks.Mask:
    if kind == "causal":
        return masks.causal(queries, keys, offset)
    if kind == "prefix":
        return masks.prefix(queries, keys, case["prefix_len"], offset)
    if kind in ("padding", "bidirectional", "full"):
        return masks.bidirectional(queries, keys, offset)
    raise ValueError(f"no mask of kind {kind!r:.40}")


def _softmax(block: dict) -> str | None:
    additive = np.array([[number(x) for x in row] for row in block["additive"]])
    ours = masks.softmax(np.array(block["scores"], float), additive == 0)
    wanted = [number(x) for row in block["robust_zero_row"] for x in row]
    return differs("weight", ours.ravel().tolist(), wanted, 1e-6)
