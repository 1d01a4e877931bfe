"""Four beam searches over one encoding in one batch, against four calls of `generate`: same weights, same source, A B A B.

Both sides are timed whole, encoder included: that it runs once is part of what a group saves.
"""

import time
from collections.abc import Iterator

import torch

from core.attention import NAME
from core.decode.beam import Rules, beam
from core.decode.driver import encode, together
from core.decode.greedy import greedy
from core.decode.search import Search
from core.models.loading import Loaded
from core.search_tree import tree_of
from tests.bench import Spread, ratios
from tests.bench.decoding import SHAPES, TOKENS, Shape, build, source_of

BEAMS = (1, 2, 4, 8)
SOURCE = 64


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


def compare(shape: Shape, source: int, tokens: int, repeats: int) -> tuple[Spread, float, int]:
    """ours / theirs, seconds of theirs, and how many of the searches give the same tokens."""
    loaded = build(shape, [source])
    ids = source_of(loaded, source)
    sides, taken, found = ((called, "sdpa"), (grouped, NAME)), ([], []), [[], []]
    for turn in range(repeats + 1):
        for side, (call, attention) in enumerate(sides):
            loaded.model.set_attn_implementation(attention)
            began = time.perf_counter()
            found[side] = call(loaded, ids, tokens)
            if turn:  # the first turn warms up
                taken[side].append(time.perf_counter() - began)
    same = sum(a == b for a, b in zip(*found, strict=True))
    return ratios(taken[1], taken[0]), Spread.of(taken[0]).middle, same


def lines(repeats: int, quick: bool) -> Iterator[str]:
    """The whole part, a line as soon as it is measured."""
    shape, tokens = (SHAPES[0], 8) if quick else (SHAPES[1], TOKENS)
    said = ", ".join(map(str, BEAMS))
    yield f"Beams {said} together in one batch, relative to {len(BEAMS)} generate calls, encoder included; target 0.40:"
    ratio, theirs, same = compare(shape, SOURCE, tokens, repeats)
    yield (f"{shape.name:<9} source {SOURCE}, {tokens} new tokens: {ratio}, generate {theirs:.2f} s; "
           f"tokens equal in {same} of {len(BEAMS)} searches")
