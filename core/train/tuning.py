"""Training in the page: a copy of a model learns from a few pairs, or from a teacher, in pieces short enough to share the model.

`Tuning` is an iterator: each `next` does one small batch of a step, so that whoever asks for the model's turn waits for no more
than that. AdamW, no dropout, a constant rate after a short warm-up; the same seed gives the same steps.
"""

import random
import time
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from core.errors import InputError
from core.examples import OWN
from core.models.families import prefix_for
from core.models.loading import Loaded
from core.text import usable
from core.train.corpus import Pair, collate
from core.train.criteria import cross_entropy, distillation
from core.train.forcing import IGNORED, decoder_input, forward

PIECE = 4  # pairs of one forward and backward at first; fewer where that takes long, see LONG
LONG, SHORT = 0.12, 0.03  # seconds of a piece above which the next ones are half as large, and below which twice
BATCH = 8  # pairs of one step
WARM_UP = 10  # steps
MOST_STEPS, MOST_PAIRS, MOST_TOKENS = 1000, 64, 64
EVERY = 5  # of our own sentences, each fifth is held out


@dataclass(frozen=True)
class Point:
    """One step: means over its target tokens, nats. kl: NaN without a teacher; held: loss on held-out pairs, where measured."""

    step: int
    loss: float
    ce: float
    kl: float
    held: float | None


@dataclass(frozen=True)
class Recipe:
    """steps; rate: peak of AdamW's; mix λ and temperature T of the distillation loss; seed of the order of pairs."""

    steps: int = 200
    rate: float = 1e-3
    mix: float = 0.5
    temperature: float = 2.0
    seed: int = 0

    def __post_init__(self) -> None:
        for name, low, high in (("steps", 1, MOST_STEPS), ("rate", 1e-6, 0.1), ("mix", 0, 1), ("temperature", 0.1, 20),
                                ("seed", 0, 2**31 - 1)):
            value, whole = getattr(self, name), name in ("steps", "seed")
            if isinstance(value, bool) or not isinstance(value, int if whole else (int, float)) or not low <= value <= high:
                kind = "whole number" if whole else "number"
                raise InputError(f"{name} is {value!r:.40}; it must be a {kind} from {low} to {high}.")


class Tuning(Iterator[Point | None]):
    """Trains `model`, which must belong to nobody else; None is a piece of work, a Point the end of a step.

    teacher: the model whose softened predictions are learned too; both must have the same vocabulary.
    """

    def __init__(self, model: Any, pairs: Sequence[Pair], held: Sequence[Pair], pad: int, recipe: Recipe, teacher: Any = None):
        if not pairs:
            raise InputError("There is no pair to learn from.")
        if teacher is not None and _vocabulary(teacher) != _vocabulary(model):
            raise InputError(f"Teacher and student must share one vocabulary; they have {_vocabulary(teacher):,} and "
                             f"{_vocabulary(model):,} entries.")
        self.model, self.pairs, self.held, self.pad = model, list(pairs), list(held), pad
        self.recipe, self.teacher, self.points = recipe, teacher, []
        self.trained = [p for p in model.parameters() if p.requires_grad]
        self.optimizer = torch.optim.AdamW(self.trained, lr=recipe.rate, weight_decay=0.01)
        self.piece = PIECE
        self._work = self._steps()

    def __next__(self) -> Point | None:
        began = time.monotonic()
        with torch.inference_mode(False):
            found = next(self._work)
        took = time.monotonic() - began
        self.piece = max(1, self.piece // 2) if took > LONG else min(BATCH, 2 * self.piece) if took < SHORT else self.piece
        return found

    def _steps(self) -> Iterator[Point | None]:
        order, rng = [], random.Random(self.recipe.seed)
        every = max(1, self.recipe.steps // 10)
        held = yield from self._measured()
        yield self._keep(Point(0, float("nan"), float("nan"), float("nan"), held))
        for step in range(1, self.recipe.steps + 1):
            while len(order) < min(BATCH, len(self.pairs)):
                order += rng.sample(range(len(self.pairs)), len(self.pairs))
            chosen = [self.pairs[order.pop(0)] for _ in range(min(BATCH, len(self.pairs)))]
            sums = yield from self._step(step, chosen)
            due = step % every == 0 or step == self.recipe.steps
            held = (yield from self._measured()) if due else None
            yield self._keep(Point(step, *sums, held))

    def _keep(self, point: Point) -> Point:
        self.points.append(point)
        return point

    def _step(self, step: int, chosen: list[Pair]) -> Generator[None, None, list[float]]:
        """One update, a piece at a time; returns (loss, ce, kl)."""
        tokens = sum(len(pair.target) for pair in chosen)
        sums, at = [0.0, 0.0, 0.0], 0
        while at < len(chosen):
            part = chosen[at : at + self.piece]
            at += len(part)
            share = sum(len(pair.target) for pair in part) / tokens
            with torch.enable_grad():
                loss, ce, kl = self._losses(part)
                (loss * share).backward()
            sums = [total + share * float(one.detach()) for total, one in zip(sums, (loss, ce, kl), strict=True)]
            yield None
        for group in self.optimizer.param_groups:
            group["lr"] = self.recipe.rate * min(1.0, step / WARM_UP)
        torch.nn.utils.clip_grad_norm_(self.trained, 1.0)
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        return sums

    def _losses(self, pairs: list[Pair]) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        ids, mask, labels, fed = self._batch(self.model, pairs)
        logits = forward(self.model, ids, mask, fed)
        if self.teacher is None:
            ce = cross_entropy(logits, labels)
            return ce, ce, ce.new_tensor(torch.nan)
        with torch.no_grad():
            theirs = forward(self.teacher, ids, mask, decoder_input(self.teacher, labels))
        found = distillation(logits, theirs, labels, self.recipe.mix, self.recipe.temperature)
        return found.loss, found.ce, found.kl

    def _batch(self, model: Any, pairs: list[Pair]) -> tuple[torch.Tensor, ...]:
        batch = {name: value.to(self.model.device) for name, value in collate(pairs, self.pad).items()}
        return batch["input_ids"], batch["attention_mask"], batch["labels"], decoder_input(plain(model), batch["labels"])

    def _measured(self) -> Generator[None, None, float | None]:
        """Held-out loss, nats a token, a piece at a time; returns None where nothing is held out."""
        total = tokens = at = 0
        while at < len(self.held):
            part = self.held[at : at + self.piece]
            at += len(part)
            with torch.no_grad():
                ids, mask, labels, fed = self._batch(self.model, part)
                count = int((labels != IGNORED).sum())
                total += float(cross_entropy(forward(self.model, ids, mask, fed), labels)) * count
            tokens += count
            yield None
        return total / tokens if tokens else None


def plain(model: Any) -> Any:
    """What a LoRA model wraps; any other is itself."""
    return model.get_base_model() if hasattr(model, "get_base_model") else model


def _vocabulary(model: Any) -> int:
    return plain(model).get_output_embeddings().weight.shape[0]


def own_pairs(loaded: Loaded) -> tuple[list[Pair], list[Pair]]:
    """(to learn from, held out) of our own sentences, for every translation that `loaded` has a task for."""
    learned, held = [], []
    for task in [task for task in loaded.tasks if task in ("en-de", "en-fr")]:
        for at, row in enumerate(OWN):
            pair = pair_of(loaded, prefix_for(loaded, task) + row["en"], row[task[-2:]])
            (held if at % EVERY == EVERY - 1 else learned).append(pair)
    if not learned:
        raise InputError(f"{loaded.name} has no translation into German or French that our own sentences could teach.")
    return learned, held


def pair_of(loaded: Loaded, source: str, target: str) -> Pair:
    """Both sides as ids, end tokens included, cut at MOST_TOKENS."""
    with loaded.lock:
        sides = [loaded.tokenizer(usable(text))["input_ids"] for text in (source, target)]
    return Pair(*([*ids[: MOST_TOKENS - 1], ids[-1]] for ids in sides))


def typed_pairs(text: str) -> list[tuple[str, str]]:
    """Pairs that a person typed, one a line: source, then a tab or " = ", then target. InputError names the line."""
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        sides = [side.strip() for side in (line.split("\t") if "\t" in line else line.split(" = "))]
        if len(sides) != 2 or not all(sides):
            raise InputError(f"Line {number} is {line.strip()[:60]!r}; a pair is a source, then a tab or “ = ”, then a target.")
        found.append((sides[0], sides[1]))
    if not 1 <= len(found) <= MOST_PAIRS:
        raise InputError(f"These are {len(found)} pairs; it takes 1 to {MOST_PAIRS}, one a line.")
    return found
