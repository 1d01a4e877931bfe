"""The model card of a pocket model: `python -m core.train.card NAME --data DIR` scores it and writes README.md."""

import argparse
import json
from pathlib import Path

from core.evaluate import scores, translate
from core.models import ASSETS, BUNDLED, models
from core.train.corpus import read_lines
from core.train.recipes import RECIPES, Recipe

TESTS = ("test_2016_flickr", "test_2017_flickr")

CARD = """---
license: cc-by-nc-4.0
language: {languages}
tags: [encoder-decoder, {model_type}, two-stacks]
---

# {name}

A very small {model_type} encoder-decoder ({parameters:,} parameters, float16 on disk) for looking at, not for use:
it {about}. Anything else it gets wrong, which is instructive too.

## Data and terms

Trained on Multi30k (29,000 image captions with translations; derived from Flickr30k), which is provided for
researchers and educators for non-commercial research and educational purposes. The weights are for the same use.
No line of the data is in this repository. The code's licence is another one (Apache-2.0).

## How it was made

    python -m core.train {name} --data DIR

{settings}

Loss per token on the validation set (nats, unsmoothed, teacher forcing), by epoch:

| epoch | {epochs} |
| --- | {rule} |
| loss | {losses} |

## Scores

Test sets are for this report only; nothing was chosen on them. `case:lc` is lower-cased; none is tokenised BLEU4.

{scores}

## Limits

English photo captions of the kind "A man in a red shirt rides a bike" to German. It has never seen news, speech or
long text. Unknown characters become `<unk>`. It repeats the data's habits, stereotypes of people in photographs among
them.

## Tried, and what did not help

A unigram vocabulary (tokenizers' own trainer) cut common words such as "läuft" in three; BPE does not.
Known from earlier runs at this size: AdamW at 2e-3 on T5's initialisation learns far slower than Adafactor with
parameter scaling (BLEU 8 against 20 after 4 epochs); bfloat16 autocast on a CPU is slower than float32.
"""


def card(name: str, recipe: Recipe, parameters: int, losses: list[float], lines: list[str]) -> str:
    """The card's text. losses: one per epoch; lines: score lines with their signatures."""
    settings = {"architecture": recipe.config, "tasks": {f"{t.source}-{t.target}": t.prefix for t in recipe.tasks},
                "vocabulary": f"{recipe.vocabulary} pieces (BPE, {', '.join(recipe.languages)}), 100 sentinels",
                "optimiser": f"Adafactor with parameter scaling, {recipe.learning_rate}, {recipe.warmup_steps} steps of "
                             f"warm-up, cosine to {recipe.final_rate:.0%}",
                "epochs": recipe.epochs, "padded tokens a batch": recipe.batch_tokens,
                "label smoothing": recipe.label_smoothing, "seed": recipe.seed}
    return CARD.format(
        name=name, languages=f"[{', '.join(recipe.languages)}]", model_type=recipe.model_type, parameters=parameters,
        about=BUNDLED[name], settings="\n".join(f"- {key}: {value}" for key, value in settings.items()),
        epochs=" | ".join(map(str, range(1, len(losses) + 1))), rule=" | ".join(["---"] * len(losses)),
        losses=" | ".join(f"{loss:.3f}" for loss in losses), scores="\n".join(lines),
    )


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m core.train.card", description=__doc__)
    parser.add_argument("name", choices=sorted(RECIPES))
    parser.add_argument("--data", type=Path, required=True)
    args = parser.parse_args()
    recipe, folder = RECIPES[args.name], ASSETS / args.name
    loaded = models().load(args.name)
    lines = []
    for task in recipe.tasks:
        for test in TESTS:
            sources, references = (read_lines(args.data, test, language) for language in (task.source, task.target))
            for beams in (1, 4):
                found = scores(translate(loaded, sources, task.prefix, beams), references)
                lines += [f"- {task.source}-{task.target}, {test}, beam {beams}: {line}" for line in found]
                print("\n".join(lines[-3:]), flush=True)
    curve = [json.loads(line) for line in (folder / "curve.jsonl").read_text("utf-8").splitlines()]
    losses = [row["loss"] for row in curve if row["kind"] == "validation"]
    parameters = sum(p.numel() for p in loaded.model.parameters())
    (folder / "README.md").write_text(card(args.name, recipe, parameters, losses, lines), encoding="utf-8")


if __name__ == "__main__":
    main()
