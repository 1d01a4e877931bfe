"""`python -m core.train NAME --data DIR`: train a pocket model, or go on from where the last run stopped."""

import argparse
from dataclasses import replace
from pathlib import Path

import torch

from core.train.origin import folder_of, possible
from core.train.recipes import RECIPES
from core.train.trainer import Training

ROOT = Path(__file__).resolve().parents[2]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m core.train", description=__doc__)
    parser.add_argument("name", choices=sorted(RECIPES))
    parser.add_argument("--data", nargs="+", required=True, metavar="WHERE",
                        help="folder with train.en[.gz], train.de[.gz], val.*; or two text files; or owner/name of the hub")
    parser.add_argument("--work", type=Path, help="where the resumable state lives (default runs/NAME)")
    parser.add_argument("--out", type=Path, help="where the model is written (default assets/models/NAME)")
    parser.add_argument("--init", type=Path, help="go on from the weights of this model folder")
    parser.add_argument("--epochs", type=int, help="instead of the recipe's")
    parser.add_argument("--threads", type=int, help="CPU threads (default: torch's own choice)")
    args = parser.parse_args()
    if args.threads:
        torch.set_num_threads(args.threads)
    recipe = RECIPES[args.name]
    if args.epochs:
        recipe = replace(recipe, epochs=args.epochs)
    work = args.work or ROOT / "runs" / args.name
    data = folder_of(args.data, recipe, work)
    Training(
        args.name, possible(recipe, data), data, work, args.out or ROOT / "assets" / "models" / args.name, args.init,
    ).run()


if __name__ == "__main__":
    main()
