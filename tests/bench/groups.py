"""Four beam searches over one encoding in one batch, against four calls of `generate` and of CTranslate2, same weights.

All sides are timed whole, encoder included: that it runs once is part of what a group saves.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch

from core.attention import NAME
from core.decode.beam import Rules, beam
from core.decode.driver import encode, together
from core.decode.greedy import greedy
from core.decode.search import Search
from core.models.loading import Loaded
from core.search_tree import tree_of
from tests.bench import Spread, ratios
from tests.bench.ctranslate import MISSING, translator
from tests.bench.decoding import SHAPES, TOKENS, Shape, build, source_of

BEAMS = (1, 2, 4, 8)
SOURCE = 64
GENERATE, CTRANSLATE = "generate calls", "CTranslate2 float32 run in turn"


def search_of(beams: int, tokens: int) -> Search:
    """No end-of-text id, so that every search writes every token."""
    return greedy(0, frozenset(), tokens) if beams == 1 else beam([0], Rules(beams, frozenset(), tokens))


def grouped(loaded: Loaded, source: list[int], tokens: int) -> list[list[int]]:
    """The best hypothesis of each search, all of them in one batch; every step gives its weights and its whole ranking."""
    encoded = encode(loaded.model, loaded.sites, source)
    searches = [(search_of(beams, tokens), []) for beams in BEAMS]
    steps = list(together(loaded.model, loaded.sites, encoded, searches))
    out = [[int(step[0].request.ids[0]) for step in steps]]
    for place, beams in list(enumerate(BEAMS))[1:]:
        tree = tree_of([step[place].request.level for step in steps], beams)
        out.append(tree.token[tree.path(tree.best)].tolist())
    return out


def called(loaded: Loaded, source: list[int], tokens: int) -> list[list[int]]:
    """The same by `generate`, one call after the other."""
    ids = torch.tensor([source])
    options = dict(attention_mask=torch.ones_like(ids), max_new_tokens=tokens, do_sample=False)
    return [loaded.model.generate(ids, num_beams=beams, **options)[0, 1:].tolist() for beams in BEAMS]


@dataclass(frozen=True)
class Peer:
    """ours / theirs by the wall and, of what runs here, by the process's clock; seconds of theirs; searches with equal tokens."""

    name: str
    ratio: Spread
    cpu: Spread | None
    seconds: float
    same: int

    def __str__(self) -> str:
        cpu = f", cpu time {self.cpu}" if self.cpu else ""
        return (f"{self.ratio} of {self.name} ({self.seconds:.2f} s){cpu}; "
                f"tokens equal in {self.same} of {len(BEAMS)} searches")


def compare(shape: Shape, source: int, tokens: int, repeats: int) -> list[Peer]:
    """Ours against `generate`, and against CTranslate2 float32 where it is installed; all in turn, A B C A B C."""
    loaded = build(shape, [source])
    ids = source_of(loaded, source)
    sides: dict[str, tuple[Callable, str]] = {"ours": (grouped, NAME), GENERATE: (called, "sdpa")}
    if translate := translator(loaded):
        sides[CTRANSLATE] = (lambda loaded, ids, tokens: [translate(ids, tokens, beams) for beams in BEAMS], "sdpa")
    taken, busy, found = {name: [] for name in sides}, {name: [] for name in sides}, {}
    for turn in range(repeats + 1):
        for name, (call, attention) in sides.items():
            loaded.model.set_attn_implementation(attention)
            began, worked = time.perf_counter(), time.process_time()
            found[name] = call(loaded, ids, tokens)
            if turn:  # the first turn warms up
                taken[name].append(time.perf_counter() - began)
                busy[name].append(time.process_time() - worked)
    return [Peer(name, ratios(taken["ours"], taken[name]),
                 ratios(busy["ours"], busy[name]) if name == GENERATE else None, Spread.of(taken[name]).middle,
                 sum(a == b for a, b in zip(found["ours"], found[name], strict=True))) for name in sides if name != "ours"]


def lines(repeats: int, quick: bool) -> Iterator[str]:
    """The whole part, a line as soon as it is measured."""
    shape, tokens = (SHAPES[0], 8) if quick else (SHAPES[1], TOKENS)
    said = ", ".join(map(str, BEAMS))
    yield (f"Beams {said} together in one batch, encoder included, relative to {len(BEAMS)} {GENERATE} (target 0.40) "
           f"and to {CTRANSLATE} (target below 1):")
    peers = compare(shape, SOURCE, tokens, repeats)
    for peer in peers:
        yield f"{shape.name:<9} source {SOURCE}, {tokens} new tokens: {peer}"
    if len(peers) == 1:
        yield MISSING
