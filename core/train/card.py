"""The model card: `python -m core.train.card NAME --data DIR --alignments FILE` scores a pocket model and writes README.md."""

import argparse
import json
from dataclasses import replace
from pathlib import Path

from core.alignments import AlignmentErrors
from core.evaluate import TESTS, aligned, readings, table
from core.models import ASSETS, BUNDLED, ONE_STACK
from core.models.tasks import GENERATION, HEADS
from core.train.notes import NOTES
from core.train.recipes import RECIPES, Recipe

CARD = """---
license: cc-by-nc-4.0
language: {languages}
tags: [{kind}, {model_type}, two-stacks]
---

# {name}

A very small {model_type} model ({parameters:,} parameters, float16 on disk) for looking at, not for use:
it {about}. Anything else it gets wrong, which is instructive too.

## Data and terms

Trained on Multi30k (29,000 images with five English captions each, and translations of one of them; derived from
Flickr30k), which is provided for researchers and educators for non-commercial research and educational purposes. The
weights are for the same use. No line of the data is in this repository. The code's licence is another one (Apache-2.0).

## How it was made

    python -m core.train {name} --data DIR

{settings}

{time}

![Loss by step](curve.svg)

Loss per token on the validation set (nats, unsmoothed, teacher forcing), by epoch:

{losses}

## Scores

Test sets are for this report only; nothing was chosen on them. BLEU is sacrebleu's on plain text; BLEU4 is of
lower-cased text cut by Moses' rules, as papers on captions report it. Beam 5; filling is greedy. Filling: one
alphabetic word hidden in each of 1,000 captions. Summary: three captions of an image in, the two others are the
references; the same number for the mean of the three inputs stands beside it. Restoring: 30 % of the words of five
captions behind masks, the noisy text without its masks beside it; an output below it says other things than the captions
do. Printed again by `python -m core.evaluate --data DIR`.

| task | test set | score | value | signature |
| --- | --- | --- | --- | --- |
{scores}

## Where it looks

Alignment error rate of cross-attention on sentence pairs linked by hand, the reference being written: each target word
is linked to the source word that it looks at most; 0 is what a person did.

{aligned}

## Limits

English photo captions of the kind "A man in a red shirt rides a bike". It has never seen news, speech or long text.
Unknown characters become `<unk>`. It repeats the data's habits, stereotypes of people in photographs among them.

## Tried, and what did not help

{tried}
"""


def settings_of(recipe: Recipe, rows: list[dict]) -> dict[str, object]:
    """What the card says about the recipe, and how many epochs of it were trained."""
    return {
        "architecture": recipe.config,
        "tasks": {task.name: f"{task.prefix!r}, {task.passes} of its examples an epoch" for task in recipe.tasks},
        "vocabulary": f"{recipe.vocabulary} pieces (BPE, {', '.join(recipe.languages)}), 100 sentinels",
        "optimiser": f"Muon at {recipe.matrix_rate} for matrices, Adam at {recipe.rate} for the rest; "
                     f"{recipe.warmup_steps} steps of warm-up, cosine to {recipe.final_rate:.0%}",
        "epochs": sum(row["kind"] == "validation" for row in rows), "padded tokens a batch": recipe.batch_tokens,
        "label smoothing": recipe.label_smoothing,
        "averaging": f"of the last of {recipe.snapshots} snapshots, {recipe.snapshot_steps} steps apart, as many as "
                     "the validation loss likes best",
        "seed": recipe.seed,
    }


def as_trained(recipe: Recipe, rows: list[dict]) -> Recipe:
    """The recipe with what the command changed of it; curves from before that was written have no such row."""
    start = next((row for row in rows if row["kind"] == "start"), None)
    if not start:
        return recipe
    tasks = tuple(replace(task, passes=start["passes"][task.name]) for task in recipe.tasks)
    return replace(recipe, tasks=tasks, **{key: start[key] for key in ("rate", "matrix_rate", "warmup_steps")})


def loss_table(rows: list[dict]) -> str:
    """Markdown: a row a task, a column an epoch, and the average that ships."""
    found = [row for row in rows if row["kind"] in ("validation", "average")]
    heads = [str(row["epoch"]) if row["kind"] == "validation" else f"average of {row['snapshots']}" for row in found]
    lines = [["epoch", *heads], ["---"] * (len(found) + 1)]
    lines += [[task, *(f"{row['losses'][task]:.3f}" for row in found)] for task in found[0]["losses"]]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def time_line(rows: list[dict]) -> str:
    """How long the training took; CPU minutes are of both cores together."""
    last = [row for row in rows if row["kind"] == "train"][-1]
    from_weights = any(row.get("init") for row in rows)
    earlier = " It went on from weights that an earlier training had made; times and losses are of the last one." * from_weights
    return (f"It took {last['minutes']:.0f} minutes on a shared machine with 2 cores, of which it used "
            f"{last['cpu_minutes'] / 2:.0f} minutes of both.{earlier}")


def score_row(line: str) -> str:
    """A line of the table of `core.evaluate` as Markdown."""
    model, task, split, rest = line.split(maxsplit=3)
    task += ", read causally" * model.endswith("/causal")
    name, _, value = rest.partition(" = ")
    number, _, signature = value.partition("  ")
    return f"| {task} | {split} | {name} | {number} | {signature.replace('|', ' ')} |"


def card(name: str, recipe: Recipe, parameters: int, rows: list[dict], lines: list[str], errors: list[AlignmentErrors]) -> str:
    """The card's text. rows: of curve.jsonl; lines: of the table."""
    return CARD.format(
        name=name, languages=f"[{', '.join(recipe.languages)}]", model_type=recipe.model_type, parameters=parameters,
        kind="prefix-lm" if name in ONE_STACK else "encoder-decoder", about=(BUNDLED | ONE_STACK)[name],
        settings="\n".join(f"- {key}: {value}" for key, value in settings_of(recipe, rows).items()),
        time=time_line(rows), losses=loss_table(rows), scores="\n".join(map(score_row, lines)),
        aligned="\n".join(f"- {line}" for one in errors for line in one.lines()) or "One stack has no cross-attention.",
        tried="\n".join(f"- {note}" for note in NOTES),
    )


def point_at(folder: Path, head: tuple[int, int]) -> None:
    """Keep (layer, head) as the one that the page shows first."""
    path = folder / GENERATION
    made = json.loads(path.read_text(encoding="utf-8")) | {HEADS: [list(head)]}
    path.write_text(json.dumps(made, indent=2, sort_keys=True) + "\n", encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m core.train.card", description=__doc__)
    parser.add_argument("name", choices=sorted(RECIPES))
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--alignments", type=Path, required=True)
    args = parser.parse_args()
    folder, lines = ASSETS / args.name, []
    for line in table([args.name], args.data, TESTS):
        print(line, flush=True)
        lines += [line] if " = " in line else []
    rows = [json.loads(line) for line in (folder / "curve.jsonl").read_text("utf-8").splitlines()]
    parameters = sum(p.numel() for p in readings(args.name)[0].model.parameters())
    errors = [found for _, _, found in aligned([args.name], args.alignments)]
    if errors:
        point_at(folder, errors[0].best)
    text = card(args.name, as_trained(RECIPES[args.name], rows), parameters, rows, lines, errors)
    (folder / "README.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
