"""relative_position_bucket.json: T5's buckets by distance, key minus query."""

import re
from pathlib import Path

import numpy as np

from core.positions import bucket
from tests.golden import Report

_TABLE = re.compile(r"nb(\d+)_md(\d+)_(bi|causal)")


def check_relative_position_bucket(data: dict, folder: Path, report: Report) -> None:
    """Whole tables, far distances, where each bucket begins, and grids of query by key."""
    for name, table in data.get("tables", {}).items():
        report.case(f"table {name}", _table, name, table)
    far = data.get("long_range", {})
    for name in far.keys() - {"relative_position"}:
        report.case(f"long_range {name}", _equal, bucket(np.array(far["relative_position"]), name == "bi"), far[name])
    for key, group in data.items():
        if match := re.fullmatch(r"first_distance_of_bucket_nb(\d+)_md(\d+)", key):
            for name, firsts in group.items():
                report.case(f"{key} {name}", _firsts, *map(int, match.groups()), name, firsts)
    for name, grid in data.get("bias_grids_rows_query_cols_key", {}).items():
        report.case(f"grid {name}", _grid, name, grid)


def _equal(ours: np.ndarray, wanted: list) -> str | None:
    return None if ours.tolist() == wanted else f"{str(ours.tolist())[:80]}, the file has {str(wanted)[:80]}"


def _table(name: str, table: dict) -> str | None:
    match = _TABLE.fullmatch(name)
    if not match:
        raise ValueError("its name does not say nb, md and bi or causal")
    distances = np.arange(table["relative_position_from"], table["relative_position_to"] + 1)
    return _equal(bucket(distances, match[3] == "bi", int(match[1]), int(match[2])), table["bucket"])


def _firsts(buckets: int, furthest: int, name: str, firsts: dict) -> str | None:
    """The first distance that falls into each bucket, going away from the query on one side."""
    away = np.arange(0, 2 * furthest)
    found = bucket(away if name.endswith("future") else -away, name.startswith("bi"), buckets, furthest).tolist()
    ours = {str(b): found.index(b) for b in dict.fromkeys(found)}
    wanted = {str(b): d for b, d in firsts.items()}
    return None if ours == wanted else f"{ours}, the file has {wanted}"


def _grid(name: str, grid: list) -> str | None:
    """Rows are queries, columns keys; a cached row is the last of its grid."""
    rows, keys = len(grid), len(grid[0])
    offset = keys - rows if "cached" in name else 0
    distances = np.arange(keys)[None, :] - (np.arange(rows)[:, None] + offset)
    return _equal(bucket(distances, name.startswith("encoder")), grid)
