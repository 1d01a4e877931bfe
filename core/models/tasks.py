"""What a checkpoint says of itself: its tasks, and the head to look at. No torch: the page asks before a model has loaded."""

import json
from pathlib import Path
from typing import Any

from core.budget import cache_shape

GENERATION, HEADS = "generation_config.json", "alignment_heads"


def tasks_in(config: dict[str, Any]) -> dict[str, str]:
    """Task name -> prefix, from `task_specific_params` (T5) or `prefix` (BART, Marian); may be empty."""
    found = {}
    params = config.get("task_specific_params")
    for name, values in (params if isinstance(params, dict) else {}).items():
        if isinstance(values, dict) and isinstance(values.get("prefix"), str):
            found[name] = values["prefix"]
    prefix = config.get("prefix")
    return found or ({"default": prefix} if isinstance(prefix, str) and prefix else {})


def tasks_of_folder(folder: Path) -> dict[str, str]:
    """`tasks_in` a model folder's config.json; empty where it cannot be read."""
    try:
        return tasks_in(_json(folder / "config.json"))
    except AttributeError:
        return {}


def alignment_head_of_folder(folder: Path) -> tuple[int, int] | None:
    """(layer, head), from 0, of the cross-attention that follows words best: the first of generation_config.json's
    `alignment_heads`, which is where Whisper keeps its own; None where it names none."""
    made = _json(folder / GENERATION)
    heads = made.get(HEADS) if isinstance(made, dict) else None
    first = heads[0] if isinstance(heads, list) and heads else None
    right = isinstance(first, list) and len(first) == 2 and all(type(n) is int and 0 <= n < 1024 for n in first)
    return (first[0], first[1]) if right else None


def cache_shape_of_folder(folder: Path) -> tuple[int, int, int] | None:
    """`core.budget.cache_shape` of a model folder's config.json; None where it cannot be read."""
    made = _json(folder / "config.json")
    return cache_shape(made) if isinstance(made, dict) else None


def _json(path: Path) -> Any:
    """What a file holds; an empty dict where it cannot be read."""
    try:
        return json.loads(path.read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
