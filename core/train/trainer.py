"""The training loop: warm-up then cosine; snapshots to average; it resumes after a kill at most a minute back."""

import math
import shutil
import time
from dataclasses import replace
from pathlib import Path

import torch

from core.prefix_model import PrefixForCausalLM, drawn_prefixes
from core.train.averaging import best_average, keep_snapshot
from core.train.building import start
from core.train.checkpoints import export, load_state, save_state
from core.train.corpus import collate
from core.train.forcing import IGNORED
from core.train.losses import loss_of, validation, written
from core.train.optimizer import optimizer_for
from core.train.progress import Progress
from core.train.recipes import Recipe
from core.train.shipping import ship
from core.train.speed import keep_memory, quick_dropout
from core.train.tasks import epoch_batches, examples_of

SAVE_SECONDS = 60
REPORT_STEPS = 100
VALIDATED = 1014  # pairs of each task that validation looks at
SAMPLES = 2  # outputs shown of each task
GENTLER = 0.3  # how much of the rates and of the warm-up is left when it goes on from trained weights


def factor(recipe: Recipe, step: int, total: int) -> float:
    """Share of the peak rate at `step` of `total`: linear warm-up, then cosine down to `final_rate`."""
    if step < recipe.warmup_steps:
        return (step + 1) / recipe.warmup_steps
    done = min(1.0, (step - recipe.warmup_steps) / max(1, total - recipe.warmup_steps))
    return recipe.final_rate + (1 - recipe.final_rate) * (1 + math.cos(math.pi * done)) / 2


def gentler(recipe: Recipe, share: float = GENTLER) -> Recipe:
    """The recipe for going on from trained weights: a fresh optimiser at lower rates, a short warm-up."""
    return replace(recipe, matrix_rate=recipe.matrix_rate * share, rate=recipe.rate * share,
                   warmup_steps=round(recipe.warmup_steps * share))


class Training:
    """One training of one recipe: `run()` goes from wherever the work folder stands to the end, then ships it."""

    def __init__(self, name: str, recipe: Recipe, data: Path, work: Path, out: Path, init: Path | None = None):
        keep_memory()
        self.name, self.recipe = name, recipe
        self.data, self.work, self.out, self.init = data, work, out, init
        work.mkdir(parents=True, exist_ok=True)
        self.model, self.tokenizer = start(self.recipe, data, work, init)
        self.optimizer = optimizer_for(self.model, self.recipe.matrix_rate, self.recipe.rate)
        self.tasks = examples_of(self.recipe, data, "train", self.tokenizer)
        held_out = examples_of(self.recipe, data, "val", self.tokenizer)
        self.held_out = {t.task.name: t.pairs("validation", every=True)[:VALIDATED] for t in held_out}
        self.shown = Progress(work)

    def run(self) -> None:
        """Train to the end, then average, choose on validation and export."""
        at = load_state(self.work, self.model, self.optimizer) or self.fresh()
        if at.setdefault("recipe", repr(self.recipe)) != repr(self.recipe):
            raise SystemExit(f"{self.work} holds a training of another recipe; give another --work, or remove it.")
        self.shown.rewind(at["step"])
        total = self.recipe.epochs * len(epoch_batches(self.tasks, self.recipe, 0))
        print(f"{self.name}: {sum(p.numel() for p in self.model.parameters()):,} parameters, "
              f"{len(self.tokenizer):,} pieces, step {at['step']} of about {total}", flush=True)
        self.model.train()
        while at["epoch"] < self.recipe.epochs:
            self.epoch(at, total)
            self.validate(at)
            at.update(epoch=at["epoch"] + 1, batch=0)
            save_state(self.work, self.model, self.optimizer, at)
        self.finish(at)

    def fresh(self) -> dict:
        """Where a training begins; its first row says what the command changed of the recipe, for the card."""
        self.shown.rewind(-1)
        passes = {task.name: task.passes for task in self.recipe.tasks}
        self.shown.add("start", 0, init=self.init.name if self.init else "", passes=passes, rate=self.recipe.rate,
                       matrix_rate=self.recipe.matrix_rate, warmup_steps=self.recipe.warmup_steps)
        return {"epoch": 0, "batch": 0, "step": 0, "seconds": 0.0, "cpu": 0.0}

    def epoch(self, at: dict, total: int) -> None:
        """The rest of the epoch that `at` is in; `at` is kept up to date and saved every minute."""
        groups = epoch_batches(self.tasks, self.recipe, at["epoch"])
        saved = started = time.monotonic()
        before, losses, tokens, since = at["seconds"], [], 0, started
        cpu = at["cpu"] - time.process_time()
        for index in range(at["batch"], len(groups)):
            batch = collate(groups[index], self.tokenizer.pad_token_id)
            losses.append(self.step(batch, at["step"], total))
            tokens += int(batch["attention_mask"].sum() + (batch["labels"] != IGNORED).sum())
            now = time.monotonic()
            at.update(batch=index + 1, step=at["step"] + 1, seconds=before + now - started,
                      cpu=cpu + time.process_time())
            if at["step"] % self.recipe.snapshot_steps == 0:
                keep_snapshot(self.work / "snapshots", self.model, at["step"], self.recipe.snapshots)
            if at["step"] % REPORT_STEPS == 0:
                left = at["seconds"] / at["step"] * (total - at["step"]) / 60
                self.shown.add("train", at["step"], epoch=at["epoch"] + 1, loss=sum(losses) / len(losses),
                               rate=self.optimizer.param_groups[-1]["lr"], tokens_per_second=tokens / (now - since),
                               minutes=at["seconds"] / 60, cpu_minutes=at["cpu"] / 60, minutes_left=left)
                losses, tokens, since = [], 0, now
            if now - saved > SAVE_SECONDS:
                save_state(self.work, self.model, self.optimizer, at)
                saved = now

    def step(self, batch: dict[str, torch.Tensor], step: int, total: int) -> float:
        """One update; returns the unsmoothed loss in nats per token. Dropout is the same after a resume."""
        for group in self.optimizer.param_groups:
            group["lr"] = group["peak"] * factor(self.recipe, step, total)
        if isinstance(self.model, PrefixForCausalLM):
            batch["prefix"] = drawn_prefixes(batch["attention_mask"], (self.recipe.seed, step))
        with quick_dropout((self.recipe.seed, step)):
            loss, nll = loss_of(self.model, batch, self.recipe.label_smoothing)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        return float(nll.detach())

    def validate(self, at: dict) -> None:
        """Losses by task in the curve, some outputs on the screen, the curves drawn again."""
        self.shown.add("validation", at["step"], epoch=at["epoch"] + 1, losses=self.losses())
        for pairs in self.held_out.values():
            for source, output in written(self.model, self.tokenizer, pairs[:SAMPLES], self.recipe.max_length):
                print(f"    {source}\n      -> {output}", flush=True)
        self.shown.draw(f"{self.name}: loss by step")

    def losses(self) -> dict[str, float]:
        """Validation loss by task: mean nats per token, unsmoothed."""
        pad = self.tokenizer.pad_token_id
        return {
            name: round(validation(self.model, pairs, self.recipe.batch_tokens, pad), 4)
            for name, pairs in self.held_out.items()
        }

    def finish(self, at: dict) -> None:
        """Average the last snapshots, as many as validation likes; ship that if it is better than what is there."""
        keep_snapshot(self.work / "snapshots", self.model, at["step"], self.recipe.snapshots)
        found = best_average(self.work / "snapshots", self.model, lambda: sum(self.losses().values()))
        best = min(found, key=found.get)
        print("  ".join(f"average of {k}: {loss:.4f}" for k, loss in found.items()), flush=True)
        self.shown.add("average", at["step"], snapshots=best, losses=self.losses())
        self.shown.draw(f"{self.name}: loss by step")
        folder = self.work / "model"
        export(folder, self.model, self.tokenizer)
        for name in ("curve.jsonl", "curve.svg"):
            shutil.copy(self.work / name, folder)
        ship(folder, self.out, self.data)
