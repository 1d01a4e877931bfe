"""The tasks a checkpoint names in its own config. No torch: the page lists them before a model has loaded."""

import json
from pathlib import Path
from typing import Any


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
        return tasks_in(json.loads((folder / "config.json").read_text("utf-8")))
    except (OSError, ValueError, AttributeError, RecursionError):
        return {}
