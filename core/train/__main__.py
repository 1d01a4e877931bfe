"""`python -m core.train NAME --data DIR`: train a pocket model, or go on from where the last run stopped."""

import argparse
from dataclasses import replace
from pathlib import Path

import torch

from core.train.origin import folder_of, possible
from core.train.recipes import RECIPES, Recipe
from core.train.trainer import GENTLER, Training, gentler

ROOT = Path(__file__).resolve().parents[2]


def passing(recipe: Recipe, passes: list[str]) -> Recipe:
    """The recipe with other passes of some of its tasks, each told as TASK=N."""
    told = dict(one.partition("=")[::2] for one in passes)
    names = [task.name for task in recipe.tasks]
    if strange := set(told) - set(names):
        raise SystemExit(f"--passes names {', '.join(sorted(strange))}; the tasks are {', '.join(names)}.")
    try:
        tasks = tuple(replace(task, passes=float(told.get(task.name, task.passes))) for task in recipe.tasks)
    except ValueError as error:
        raise SystemExit(f"--passes must be TASK=N with a number N: {error}.") from None
    return replace(recipe, tasks=tasks)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m core.train", description=__doc__)
    parser.add_argument("name", choices=sorted(RECIPES))
    parser.add_argument("--data", nargs="+", required=True, metavar="WHERE",
                        help="folder with train.en[.gz], train.de[.gz], val.*; or two text files; or owner/name of the hub")
    parser.add_argument("--work", type=Path, help="where the resumable state lives (default runs/NAME)")
    parser.add_argument("--out", type=Path, help="where the model is written (default assets/models/NAME)")
    parser.add_argument("--init", type=Path, help="go on from the weights of this model folder")
    parser.add_argument("--epochs", type=int, help="instead of the recipe's")
    parser.add_argument("--rates", type=float, default=GENTLER, metavar="SHARE",
                        help=f"with --init: the share of the recipe's rates and warm-up (default {GENTLER})")
    parser.add_argument("--passes", nargs="+", default=[], metavar="TASK=N", help="instead of the recipe's, such as en-de=0.5")
    parser.add_argument("--threads", type=int, help="CPU threads (default: torch's own choice)")
    args = parser.parse_args()
    if args.threads:
        torch.set_num_threads(args.threads)
    recipe = passing(RECIPES[args.name], args.passes)
    if args.epochs:
        recipe = replace(recipe, epochs=args.epochs)
    if args.init:
        recipe = gentler(recipe, args.rates)
    work = args.work or ROOT / "runs" / args.name
    data = folder_of(args.data, recipe, work)
    Training(
        args.name, possible(recipe, data), data, work, args.out or ROOT / "assets" / "models" / args.name, args.init,
    ).run()


if __name__ == "__main__":
    main()
