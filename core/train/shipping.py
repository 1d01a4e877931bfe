"""From a finished training to the folder that ships: only when validation likes it better than what is there."""

import shutil
from pathlib import Path

from core.evaluate import task_scores
from core.models.loading import load_folder
from core.prefix_model import is_prefix_model, load_prefix


def validation_scores(folder: Path, data: Path) -> dict[str, float]:
    """Task -> its first score on the validation set, searched greedily: BLEU, exact match or ROUGE-L."""
    loaded = load_prefix(folder.name, folder) if is_prefix_model(folder) else load_folder(folder.name, folder, "cpu")
    found = {task: task_scores(loaded, task, data, "val", beams=1) for task in loaded.tasks}
    return {task: scores[0].value for task, scores in found.items() if scores}


def better(new: dict[str, float], old: dict[str, float]) -> bool:
    """Whether the tasks that both have are done better on average; a task more does not outweigh them."""
    shared = [task for task in old if task in new]
    return sum(new[task] for task in shared) > sum(old[task] for task in shared) or not shared


def ship(made: Path, out: Path, data: Path) -> bool:
    """Copy the folder `made` over `out` if it is better on validation, or if there is nothing; says what it did."""
    new = validation_scores(made, data)
    old = validation_scores(out, data) if (out / "config.json").exists() else {}
    for name, scores in (("new", new), ("there", old)):
        print(f"validation, {name}: " + "  ".join(f"{task} {value:.2f}" for task, value in scores.items()), flush=True)
    if not better(new, old):
        print(f"{out} stays as it is; the new model is in {made}", flush=True)
        return False
    out.mkdir(parents=True, exist_ok=True)
    for path in made.iterdir():
        shutil.copy(path, out)
    print(f"written to {out}; next: python -m core.train.card {out.name} --data {data} --alignments FILE", flush=True)
    return True
