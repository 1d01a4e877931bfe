"""param_budget.json: parameters of released architectures, and bytes of the KV caches."""

import copy
from dataclasses import replace
from pathlib import Path

import numpy as np

from core.budget import kv_bytes
from core.decode.driver import Encoded, decode, encode
from core.decode.search import Request, Search
from core.models.families import start_for
from core.parameters import Architecture, blocks, estimate, exact, frozen, refined
from core.zoo import ZOO
from tests.golden import Report, differs
from tests.golden.tiny import Tiny

# (decoder layers, inner width of the attention) of the released architectures that a kv_table may name
SIZES = {
    "t5-small": (6, 512), "t5-base": (12, 768), "t5-large": (24, 1024), "t5-3b": (24, 4096), "bart-base": (6, 768),
    "bart-large": (12, 1024), "opus-mt-en-de-shape": (6, 512),
}


def check_param_budget(data: dict, folder: Path, report: Report) -> None:
    """Parameters by the formula; bytes of the KV caches, measured on the tiny models and by the formula on real sizes."""
    for index, case in enumerate(data.get("models", [])):
        report.case(f"models {index} ({case.get('name')})", _counted, case)
    tiny = Tiny(folder)
    for index, case in enumerate(data.get("kv_measured", [])):
        report.case(f"kv_measured {index}", _kv_measured, tiny, case)
    sizes = SIZES | {m["name"]: (m["dec"], m["attn_inner"]) for m in data.get("models", []) if "dec" in m}
    for index, case in enumerate(data.get("kv_table", [])):
        report.case(f"kv_table {index}", _kv_table, sizes, case)


def _kv_measured(tiny: Tiny, case: dict) -> str | None:
    """Bytes in our driver's caches after `new_tokens` forwards of batch · beams rows."""
    loaded = tiny.load(case["model"])
    rows = case["batch"] * case["num_beams"]
    source = (tiny.sources(case["model"])[0] * case["source_len"])[: case["source_len"]]
    encoded = encode(loaded.model, loaded.sites, source)
    output = copy.copy(encoded.output)
    output.last_hidden_state = output.last_hidden_state.expand(rows, -1, -1)
    search = _rows(rows, start_for(loaded), case["new_tokens"])
    steps = list(decode(loaded.model, loaded.sites, Encoded(output, encoded.weights), search, []))
    for cache, length, ours in (
        ("self", case["new_tokens"], steps[-1].self_cache_bytes),
        ("cross", case["source_len"], steps[-1].cross_cache_bytes),
    ):
        if ours != case[f"{cache}_bytes"]:
            return f"{cache} cache holds {ours} bytes, the file has {case[f'{cache}_bytes']}"
        layers, heads = loaded.cross_shape
        d_kv = case[f"{cache}_shape"][3]
        if case[f"{cache}_shape"] != [rows, heads, length, d_kv]:
            return f"{cache} shape is {[rows, heads, length, d_kv]}, the file has {case[f'{cache}_shape']}"
        if kv_bytes(layers, heads, d_kv, length, case["batch"], case["num_beams"], 4) != ours:
            return f"the formula differs from the {ours} bytes measured in the {cache} cache"
    return None


def _rows(rows: int, start: int, limit: int) -> Search:
    """A search of `rows` hypotheses, each going on greedily by itself."""
    parents = np.arange(rows, dtype=np.int32)
    ranked = yield Request(np.full(rows, start, np.int32), parents)
    for written in range(1, limit + 1):
        ranked = yield Request(ranked.ids[:, 0].astype(np.int32), parents, written == limit)


def _kv_table(sizes: dict[str, tuple[int, int]], case: dict) -> str | None:
    layers, width = sizes[case["model"]]
    for cache, length in (("self", case["dec_len"]), ("cross", case["src_len"])):
        ours = kv_bytes(layers, 1, width, length, case["batch"], case["beams"], case["bytes_per"])
        if ours != case[cache]:
            return f"{cache} is {ours}, the file has {case[cache]}"
    return None


def _counted(case: dict) -> str | None:
    """Every count of one model from its sizes; positions and head width are those of the released model it is named after."""
    name = case["name"]
    known = next((one.sizes for one in sorted(ZOO, key=lambda one: -len(one.name)) if name.startswith(one.name)), None)
    if known is None:
        return f"no released model is known that {name!r:.40} could be named after"
    gated = "gated" in name or (known.gated and "d_ff" not in case)
    sizes = replace(known, d=case["d_model"], encoder=case["enc"], decoder=case["dec"], d_ff=case["d_ff"], vocab=case["vocab"],
                    heads=case["attn_inner"] // known.d_kv, gated=gated, tied=case["lm_head_tied"])
    wrong = next((f"{key} is {ours}, the file has {case[key]}" for key, ours in _counts(sizes).items()
                  if key in case and ours != case[key]), None)
    if wrong or "hand_count_untied" not in case:
        return wrong or _shares(sizes, case)
    if (untied := exact(replace(sizes, tied=False))) != case["hand_count_untied"]:
        return f"untied it has {untied}, the file {case['hand_count_untied']}"
    return _shares(sizes, case)


def _counts(sizes: Architecture) -> dict[str, int]:
    whole = exact(sizes)
    return {"parameters": whole, "hand_count": whole, "trainable": whole - frozen(sizes), "approx": estimate(sizes),
            "better": refined(sizes), "fp32_bytes": 4 * whole}


def _shares(sizes: Architecture, case: dict) -> str | None:
    whole = exact(sizes)
    found = {"relative_error": estimate(sizes) / whole - 1, "better_relative_error": refined(sizes) / whole - 1,
             "embedding_share": blocks(sizes)["embedding"] / whole}
    return next((wrong for key, ours in found.items() if key in case and (wrong := differs(key, ours, case[key], 1e-12))), None)
