"""Where training text comes from: a folder of files named as Multi30k's, a pair of text files, or a data set of the hub."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

from core.evaluate import lines_of
from core.train.corpus import read_lines
from core.train.recipes import Recipe, Task

MOST = 1_000_000  # rows of a split that are taken
HELD_OUT = 1000  # rows that become the validation set where there is none, and never more than a tenth
_HUB_ID = re.compile(r"[\w.-]+/[\w.-]+", re.ASCII)


def folder_of(given: Sequence[str], recipe: Recipe, work: Path) -> Path:
    """The folder that holds the text; what is not one already is written into the work folder, once.

    given: DIR; or SOURCE_FILE TARGET_FILE, line by line, plain or gzip; or owner/name of the hub, whose rows have a column
    for each language or one column "translation" of them. Errors: SystemExit with what is wrong.
    """
    paths = [Path(one) for one in given]
    if len(paths) == 1 and paths[0].is_dir():
        return paths[0]
    pair = next((task for task in recipe.tasks if task.kind == "pair"), None)
    if pair is None:
        raise SystemExit("The model has no task that translates; give a folder.")
    if len(paths) == 2 and all(path.is_file() for path in paths):
        sources, targets = map(lines_of, paths)
        if len(sources) != len(targets):
            counts = " and ".join(f"{path} has {len(side):,} lines" for path, side in zip(paths, (sources, targets)))
            raise SystemExit(f"{counts}; they must match line by line.")
        rows = [{pair.source: source, pair.target: target} for source, target in zip(sources, targets)]
        return written({"train": rows}, pair, work / "data")
    if len(given) == 1 and _HUB_ID.fullmatch(given[0]):
        return written(hub_rows(given[0]), pair, work / "data")
    raise SystemExit(f"--data is {' '.join(given)}; it must be a folder, two text files, or owner/name of a data set on the hub.")


def hub_rows(name: str) -> Mapping[str, Iterable[dict]]:
    """Split -> rows of a data set of the hub."""
    try:
        from datasets import load_dataset
    except ImportError:
        raise SystemExit("A data set of the hub needs one package more: .venv/bin/python -m pip install datasets") from None
    try:
        return load_dataset(name)
    except Exception as error:  # the network, a name that is not there, a format of its own
        raise SystemExit(f"{name} does not load: {type(error).__name__} ({str(error).splitlines()[0][:200]})") from None


def written(splits: Mapping[str, Iterable[dict]], pair: Task, folder: Path) -> Path:
    """`train.<language>` and `val.<language>` in `folder`, from rows; rows without text on both sides are left out."""
    found = {name: [texts for row in islice(rows, MOST) if all(texts := _texts(row, pair))] for name, rows in splits.items()}
    train = found.get("train", [])
    held_out = found.get("validation") or found.get("val") or []
    if not held_out:
        count = min(HELD_OUT, len(train) // 10)
        train, held_out = train[: len(train) - count], train[len(train) - count :]
    if not train or not held_out:
        raise SystemExit(f"Too few rows with {pair.source} and {pair.target}: {len(train)} to train and {len(held_out)} to "
                         "validate.")
    folder.mkdir(parents=True, exist_ok=True)
    for split, rows in (("train", train), ("val", held_out)):
        for side, language in enumerate((pair.source, pair.target)):
            (folder / f"{split}.{language}").write_text("".join(f"{texts[side]}\n" for texts in rows), "utf-8")
    return folder


def _texts(row: dict[str, Any], pair: Task) -> tuple[str, str]:
    """Source and target of a row, each on one line; empty where it has none."""
    columns = row["translation"] if isinstance(row.get("translation"), dict) else row
    source, target = (" ".join(str(columns.get(language) or "").split()) for language in (pair.source, pair.target))
    return source, target


def possible(recipe: Recipe, folder: Path) -> Recipe:
    """The recipe with the tasks and languages that the folder has text for."""
    languages = tuple(language for language in recipe.languages if _has(folder, language))
    tasks = tuple(task for task in recipe.tasks if {task.source, task.target} <= set(languages))
    if not tasks:
        raise SystemExit(f"{folder} has train and val files of {', '.join(languages) or 'no language'}; "
                         f"{', '.join(task.name for task in recipe.tasks)} need others.")
    return recipe if tasks == recipe.tasks else replace(recipe, tasks=tasks, languages=languages)


def _has(folder: Path, language: str) -> bool:
    try:
        return all(read_lines(folder, split, language) for split in ("train", "val"))
    except FileNotFoundError:
        return False
