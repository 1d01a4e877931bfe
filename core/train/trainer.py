"""The training loop: Adafactor, warm-up then cosine, label smoothing; it resumes after a kill at most a minute back."""

import json
import math
import random
import shutil
import time
from pathlib import Path

import torch
from torch.nn.functional import cross_entropy
from transformers import AutoConfig, AutoModelForSeq2SeqLM, AutoTokenizer, PreTrainedTokenizerBase

from core.train.checkpoints import export, load_state, save_state
from core.train.corpus import batches, collate, read_lines, read_pairs
from core.train.forcing import IGNORED, decoder_input, forward
from core.train.recipes import Recipe
from core.train.vocabulary import train_tokenizer

SAVE_SECONDS = 60
SAMPLES = 3


def tokenizer_for(recipe: Recipe, data: Path, work: Path) -> PreTrainedTokenizerBase:
    """The recipe's tokenizer: trained once from the training text, then read back from the work folder."""
    folder = work / "tokenizer"
    if not (folder / "tokenizer.json").exists():
        lines = [line for language in recipe.languages for line in read_lines(data, "train", language)]
        train_tokenizer(lines, recipe.vocabulary, recipe.words).save_pretrained(folder)
    return AutoTokenizer.from_pretrained(folder)


def build_model(recipe: Recipe, tokenizer: PreTrainedTokenizerBase):
    """A freshly initialised model of the recipe, its prefix and start token in its own config."""
    config = AutoConfig.for_model(
        recipe.model_type, **recipe.config, vocab_size=len(tokenizer), pad_token_id=tokenizer.pad_token_id,
        eos_token_id=tokenizer.eos_token_id, decoder_start_token_id=tokenizer.pad_token_id,
        task_specific_params={f"{t.source}-{t.target}": {"prefix": t.prefix} for t in recipe.tasks},
    )
    torch.manual_seed(recipe.seed)
    return AutoModelForSeq2SeqLM.from_config(config, attn_implementation="sdpa")


def rate(recipe: Recipe, step: int, total: int) -> float:
    """Learning rate at `step` of `total`: linear warm-up, then cosine down to `final_rate` of the peak."""
    if step < recipe.warmup_steps:
        return recipe.learning_rate * (step + 1) / recipe.warmup_steps
    done = min(1.0, (step - recipe.warmup_steps) / max(1, total - recipe.warmup_steps))
    return recipe.learning_rate * (recipe.final_rate + (1 - recipe.final_rate) * (1 + math.cos(math.pi * done)) / 2)


def loss_of(model, batch: dict[str, torch.Tensor], smoothing: float) -> torch.Tensor:
    """Mean cross-entropy over the real target tokens (sheet 000, lesson 7); `smoothing` spreads eps/V over all."""
    labels = batch["labels"]
    logits = forward(model, batch["input_ids"], batch["attention_mask"], decoder_input(model, labels))
    return cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=IGNORED,
                         label_smoothing=smoothing)


@torch.no_grad()
def validation(model, pairs, recipe: Recipe, pad: int) -> float:
    """Unsmoothed loss per token, in nats, over all pairs."""
    model.eval()
    total = tokens = 0
    for group in batches(pairs, recipe.batch_tokens, random.Random(0)):
        batch = collate(group, pad)
        count = int((batch["labels"] != IGNORED).sum())
        total += float(loss_of(model, batch, 0.0)) * count
        tokens += count
    model.train()
    return total / tokens


@torch.no_grad()
def samples(model, tokenizer, recipe: Recipe, data: Path) -> list[tuple[str, str]]:
    """Greedy outputs for the first validation sources."""
    model.eval()
    task = recipe.tasks[0]
    sources = read_lines(data, "val", task.source)[:SAMPLES]
    batch = tokenizer([task.prefix + s for s in sources], return_tensors="pt", padding=True)
    ids = model.generate(batch["input_ids"], attention_mask=batch["attention_mask"], max_new_tokens=recipe.max_length)
    model.train()
    return list(zip(sources, tokenizer.batch_decode(ids, skip_special_tokens=True), strict=True))


class Training:
    """One training of one recipe: `run()` goes from wherever the work folder stands to the end."""

    def __init__(self, name: str, recipe: Recipe, data: Path, work: Path, out: Path, init: Path | None = None):
        self.name, self.recipe, self.data, self.work, self.out = name, recipe, data, work, out
        work.mkdir(parents=True, exist_ok=True)
        if init:
            self.tokenizer = AutoTokenizer.from_pretrained(init)
            self.model = AutoModelForSeq2SeqLM.from_pretrained(init, dtype=torch.float32)
        else:
            self.tokenizer = tokenizer_for(recipe, data, work)
            self.model = build_model(recipe, self.tokenizer)
        self.optimizer = torch.optim.Adafactor(self.model.parameters(), lr=recipe.learning_rate)
        self.train_pairs = read_pairs(data, "train", recipe.tasks, self.tokenizer, recipe.max_length)
        self.val_pairs = read_pairs(data, "val", recipe.tasks, self.tokenizer, recipe.max_length)

    def epoch_batches(self, epoch: int) -> list:
        """The batches of one epoch, the same again after a resume."""
        return list(batches(self.train_pairs, self.recipe.batch_tokens, random.Random(f"{self.recipe.seed}:{epoch}")))

    def run(self) -> None:
        """Train to the end, saving the state every minute and the shippable folder after every epoch."""
        recipe, model, pad = self.recipe, self.model, self.tokenizer.pad_token_id
        progress = load_state(self.work, model, self.optimizer) or {"epoch": 0, "batch": 0, "step": 0, "seconds": 0.0}
        total = recipe.epochs * len(self.epoch_batches(0))
        print(f"{self.name}: {sum(p.numel() for p in model.parameters()):,} parameters, {len(self.train_pairs):,} "
              f"pairs, {len(self.tokenizer):,} pieces, step {progress['step']} of about {total}", flush=True)
        model.train()
        saved = started = time.monotonic()
        before, losses, tokens = progress["seconds"], [], 0
        for epoch in range(progress["epoch"], recipe.epochs):
            groups = self.epoch_batches(epoch)
            for index in range(progress["batch"] if epoch == progress["epoch"] else 0, len(groups)):
                step = progress["step"]
                torch.manual_seed(recipe.seed * 1_000_003 + step)  # dropout is the same after a resume
                batch = collate(groups[index], pad)
                for group in self.optimizer.param_groups:
                    group["lr"] = rate(recipe, step, total)
                loss = loss_of(model, batch, recipe.label_smoothing)
                loss.backward()
                torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                self.optimizer.step()
                self.optimizer.zero_grad(set_to_none=True)
                losses.append(float(loss.detach()))
                tokens += batch["attention_mask"].sum().item() + (batch["labels"] != IGNORED).sum().item()
                now = time.monotonic()
                progress.update(epoch=epoch, batch=index + 1, step=step + 1, seconds=before + now - started)
                if (step + 1) % 100 == 0:
                    left = progress["seconds"] / (step + 1) * (total - step - 1)
                    self.report(kind="train", step=step + 1, epoch=epoch + 1, loss=sum(losses) / len(losses),
                                rate=rate(recipe, step, total), tokens_per_second=tokens / (now - started),
                                minutes_left=left / 60)
                    losses = []
                if now - saved > SAVE_SECONDS:
                    save_state(self.work, model, self.optimizer, progress)
                    saved = time.monotonic()
            self.report(kind="validation", step=progress["step"], epoch=epoch + 1,
                        loss=validation(model, self.val_pairs, recipe, pad))
            for source, output in samples(model, self.tokenizer, recipe, self.data):
                print(f"    {source}\n      -> {output}", flush=True)
            progress.update(epoch=epoch + 1, batch=0)
            save_state(self.work, model, self.optimizer, progress)
            export(self.out, model, self.tokenizer)
            shutil.copy(self.work / "curve.jsonl", self.out)

    def report(self, **row) -> None:
        """One line on the screen, the same row in `curve.jsonl`."""
        shown = "  ".join(f"{k} {v:.4g}" if isinstance(v, float) else f"{k} {v}" for k, v in row.items())
        print(shown, flush=True)
        with open(self.work / "curve.jsonl", "a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")
