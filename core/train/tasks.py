"""What each task makes of the data: `Examples.pairs(epoch)` are its pairs for one epoch, new noise each time."""

import random
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from core.noise.bart import NOISES
from core.noise.spans import corrupt, spans_mask
from core.noise.words import hide_word, infill
from core.train.corpus import Pair, batches, read_lines
from core.train.recipes import Recipe, Task

CAPTIONS = 5  # independent captions of one image, in `captions.<split>.<1..5>.en`
ONE_WORD = 0.7  # the share of fill examples that hide one word; the others are T5's span corruption
DENSITY, MEAN_SPAN = 0.15, 3.0  # T5's own
# How often a document meets each of BART's noises: infilling is the one that is scored.
SHARES = {"infilling": 0.5, "masking": 0.15, "deletion": 0.15, "permutation": 0.1, "rotation": 0.1}


class Examples:
    """One task's texts of one split."""

    def __init__(self, task: Task, folder: Path, split: str, tokenizer, max_length: int):
        self.task, self.tokenizer, self.max_length = task, tokenizer, max_length
        self.make, self.count = KINDS[task.kind](self, folder, split)

    def chosen(self, rng: random.Random) -> list[int]:
        """Indices of the examples that an epoch takes: whole passes, then a random part."""
        whole, part = divmod(self.task.passes, 1)
        rest = rng.sample(range(self.count), round(part * self.count))
        return [*range(self.count)] * int(whole) + rest

    def pairs(self, seed: str, every: bool = False) -> list[Pair]:
        """The pairs of the epoch that `seed` names, the same for the same seed; `every`: each example once."""
        rng = random.Random(f"{seed}:{self.task.name}")
        indices = [*range(self.count)] if every else self.chosen(rng)
        return self.make(indices, np.random.default_rng(rng.getrandbits(64)))

    def ids(self, texts: list[str]) -> list[list[int]]:
        """Token ids of each text, eos at the end."""
        return self.tokenizer(texts)["input_ids"] if texts else []

    def fitting(
        self, sources: list[list[int]], targets: list[list[int]], texts: tuple[int, int] = (1, 1),
    ) -> list[Pair]:
        """Pairs of which neither side is too long; texts: how many each side consists of."""
        most, rows = self.max_length, zip(sources, targets, strict=True)
        return [Pair(s, t) for s, t in rows if len(s) <= most * texts[0] and len(t) <= most * texts[1]]


Make = Callable[[list[int], np.random.Generator], list[Pair]]


def _pair(examples: Examples, folder: Path, split: str) -> tuple[Make, int]:
    """Translation: tokenised once; no noise."""
    task = examples.task
    sources, targets = (read_lines(folder, split, language) for language in (task.source, task.target))
    if len(sources) != len(targets):
        raise ValueError(f"{split}.{task.source} has {len(sources)} lines, {split}.{task.target} {len(targets)}")
    source_ids = examples.ids([task.prefix + text for text in sources])
    target_ids = examples.ids(targets)
    fits = examples.fitting(source_ids, target_ids)
    return lambda indices, rng: [fits[k] for k in indices], len(fits)


def _fill(examples: Examples, folder: Path, split: str) -> tuple[Make, int]:
    """Captions with one word, or T5's spans, behind sentinels."""
    texts = [text for lines in captions(folder, split) for text in lines]
    first = examples.tokenizer.convert_tokens_to_ids("<extra_id_0>")
    eos = examples.tokenizer.eos_token_id

    def make(indices: list[int], rng: np.random.Generator) -> list[Pair]:
        one = rng.random(len(indices)) < ONE_WORD
        hidden = [found for k in np.array(indices, int)[one] if (found := hide_word(texts[k], rng))]
        prefix = examples.task.prefix
        sources = examples.ids([prefix + row[0] for row in hidden])
        targets = examples.ids([row[1] for row in hidden])
        for ids in examples.ids([prefix + texts[k] for k in np.array(indices, int)[~one]]):
            mask = spans_mask(len(ids) - 1, DENSITY, MEAN_SPAN, rng, roll=True)  # eos is never hidden
            source, target = corrupt(ids[:-1], mask, first)
            sources.append([*source, eos])
            targets.append([*target, eos])
        return examples.fitting(sources, targets)

    return make, len(texts)


def _summary(examples: Examples, folder: Path, split: str) -> tuple[Make, int]:
    """Three captions of an image, in any order, and a fourth to write."""
    images = list(zip(*captions(folder, split), strict=True))

    def make(indices: list[int], rng: np.random.Generator) -> list[Pair]:
        rows = [[images[k][j] for j in rng.permutation(CAPTIONS)[:4]] for k in indices]
        sources = examples.ids([examples.task.prefix + " ".join(row[:3]) for row in rows])
        return examples.fitting(sources, examples.ids([row[3] for row in rows]), texts=(3, 1))

    return make, len(images)


def _denoise(examples: Examples, folder: Path, split: str) -> tuple[Make, int]:
    """Documents of one to five captions of one image under a noise; the clean document is the target. For validation: of five.

    What is left is to be copied, and a short document shows how. Infilling is on words, as it is scored and as a person types
    it; the other noises are on pieces.
    """
    tokenizer = examples.tokenizer
    images = list(zip(*captions(folder, split), strict=True))
    mask, stop, eos = tokenizer.mask_token_id, tokenizer.convert_tokens_to_ids("."), tokenizer.eos_token_id
    names, shares = list(SHARES), list(SHARES.values())

    def text_of(captions: Sequence[str], rng: np.random.Generator) -> str:
        if split == "val":
            return " ".join(captions)
        return " ".join(captions[j] for j in rng.permutation(len(captions))[: rng.integers(1, len(captions) + 1)])

    def source(text: str, ids: list[int], name: str, rng: np.random.Generator) -> list[int]:
        if name == "infilling":
            return examples.ids([examples.task.prefix + infill(text, rng)[0]])[0]
        return [*NOISES[name](ids[:-1], [True] * (len(ids) - 1), mask, stop, rng), eos]

    def make(indices: list[int], rng: np.random.Generator) -> list[Pair]:
        drawn = rng.choice(names, len(indices), p=shares)
        texts = [text_of(images[k], rng) for k in indices]
        targets = examples.ids(texts)
        sources = [source(*one, rng) for one in zip(texts, targets, drawn, strict=True)]
        return examples.fitting(sources, targets, texts=(CAPTIONS, CAPTIONS))

    return make, len(images)


KINDS = {"pair": _pair, "fill": _fill, "summary": _summary, "denoise": _denoise}


def captions(folder: Path, split: str) -> list[list[str]]:
    """The files `captions.<split>.1.en` .. `.5.en`, each a list of lines; a folder without them gives `<split>.en`."""
    try:
        return [read_lines(folder, f"captions.{split}.{k}", "en") for k in range(1, CAPTIONS + 1)]
    except FileNotFoundError:
        return [read_lines(folder, split, "en")]


def examples_of(recipe: Recipe, folder: Path, split: str, tokenizer) -> list[Examples]:
    """The recipe's tasks on `split`; "train" means the split that the task itself names."""
    return [
        Examples(task, folder, task.train if split == "train" else split, tokenizer, recipe.max_length)
        for task in recipe.tasks
    ]


def epoch_batches(tasks: list[Examples], recipe: Recipe, epoch: int) -> list[list[Pair]]:
    """The batches of one epoch, the same again after a resume. A batch holds one task: their shapes differ."""
    seed = f"{recipe.seed}:{epoch}"
    groups = [
        group for task in tasks
        for group in batches(task.pairs(seed), recipe.batch_tokens, random.Random(f"{seed}:{task.task.name}:order"))
    ]
    random.Random(seed).shuffle(groups)
    return groups
