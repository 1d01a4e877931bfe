"""Many people at one page over real HTTP: how long each waits, beside one alone and beside plain `generate` in turn; memory."""

import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import torch

from core.attention import NAME
from core.models import Models
from tests.bench import percentile, ratios
from tests.visitors import Visitor, free_port, pack_of, resident, served

PEOPLE = 20
WHO = ("A dog", "Two men", "The child", "A woman in red", "Some people")
WHERE = ("on the beach", "in the park", "near a tree", "at the lake")
TOKENS = 24  # of each output: as many as a caption may take, and the same for everybody


def texts(turn: int) -> list[str]:
    """A text for each person, another one each turn: equal runs would be made once."""
    return [f"{who} number {turn} waits {where}." for who in WHO for where in WHERE]


def lines(repeats: int, quick: bool) -> Iterator[str]:
    """The whole part, a line as soon as it is measured."""
    people = 3 if quick else PEOPLE
    models = Models()
    loaded = models.load("pocket-t5")
    with tempfile.TemporaryDirectory() as sessions, served(free_port(), Path(sessions)) as (address, process):
        told = httpx.get(f"{address}/config", timeout=60).json()
        visitors = [Visitor(address, told) for _ in range(people)]
        before = resident(process)
        alone, together, plain, first, last = [], [], [], [], []
        for turn in range(repeats + 1):
            chosen = texts(turn)[:people]
            began = time.perf_counter()
            run(visitors[0], f"A cat waits for turn {turn}.")
            alone += [time.perf_counter() - began][: bool(turn)]
            began = time.perf_counter()
            generated(loaded, chosen)
            plain += [time.perf_counter() - began][: bool(turn)]
            seen = crowd(visitors, chosen)
            together += [max(done for _, done in seen)][: bool(turn)]
            first += [one for one, _ in seen if turn]
            last += [done for _, done in seen if turn]
        yield (f"{people} people at once, at most {TOKENS} tokens each: all have their run after {ratios(together, plain)} of "
               f"generate called {people} times in turn, {ratios(together, alone)} of one person alone")
        yield f"seconds until a person sees the first step {middle_and_most(first)}, the whole run {middle_and_most(last)}"
        yield (f"memory of the page's process: {before / 1e6:.0f} MB with its model, {resident(process) / 1e6:.0f} MB after "
               f"{(repeats + 1) * (people + 1)} runs of {people} open pages")
        for visitor in visitors:
            visitor.leave()


def middle_and_most(seconds: list[float]) -> str:
    return f"{percentile(seconds, 0.5):.2f} / {percentile(seconds, 0.95):.2f} (median / 95th percentile, n {len(seconds)})"


def run(visitor: Visitor, text: str) -> tuple[float, float]:
    """One run; seconds until its first step is told, and until its last."""
    began, first = time.perf_counter(), 0.0
    visitor.press(text, max_new_tokens=TOKENS)
    for message in visitor.messages():
        if not first and message["msg"] in ("process_generating", "process_completed"):
            first = time.perf_counter() - began
    assert pack_of(message)["kind"] == "trace", message
    return first, time.perf_counter() - began


def crowd(visitors: list[Visitor], chosen: list[str]) -> list[tuple[float, float]]:
    """All at once."""
    seen: list[tuple[float, float]] = []
    people = [threading.Thread(target=lambda pair=pair: seen.append(run(*pair))) for pair in zip(visitors, chosen)]
    for one in people:
        one.start()
    for one in people:
        one.join()
    return seen


def generated(loaded, chosen: list[str]) -> None:
    """What a script without us does: one call of `generate` after the other."""
    loaded.model.set_attn_implementation("sdpa")
    try:
        for text in chosen:
            prefix = loaded.model.config.task_specific_params["en-de"]["prefix"]
            ids = loaded.tokenizer(prefix + text, return_tensors="pt")["input_ids"]
            with torch.inference_mode():
                loaded.model.generate(ids, attention_mask=torch.ones_like(ids), max_new_tokens=TOKENS, do_sample=False)
    finally:
        loaded.model.set_attn_implementation(NAME)
