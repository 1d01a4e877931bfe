"""A traced step of our driver against a step of plain `generate`: same weights, same memory, same tokens, A B A B.

The clock starts at the first decoder forward and stops when the tokens are there, on both sides, so that neither the
encoder nor what `generate` prepares beforehand is counted. One model serves both: only its attention is switched.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from transformers import T5Config, T5ForConditionalGeneration

from core.attention import NAME
from core.decode.driver import Encoded, decode, encode
from core.decode.greedy import greedy
from core.models.loading import Loaded, prepare
from core.train.recipes import RECIPES
from tests.bench import Spread, ratios

POCKET = RECIPES["pocket-t5"]


@dataclass(frozen=True)
class Shape:
    """A T5 architecture by its config; the weights are random."""

    name: str
    config: dict[str, Any]
    vocabulary: int


SHAPES = (
    Shape("pocket", POCKET.config, POCKET.vocabulary),
    # as google-t5/t5-small
    Shape("T5-small", dict(d_model=512, num_layers=6, num_decoder_layers=6, num_heads=8, d_kv=64, d_ff=2048), 32128),
)
SOURCES = (64, 128, 256, 512)
TOKENS = 64
VARIED = 4  # distinct tokens among the first twelve


@dataclass
class Timed:
    """What one side took: seconds a step by the wall and by the process's clock; the tokens of its last turn."""

    wall: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)
    ids: list[int] = field(default_factory=list)


@dataclass(frozen=True)
class Comparison:
    """One line of the table. Ratios are ours / generate. `equal`: how many tokens agree before one differs."""

    shape: str
    source: int
    step_ms: float
    wall: Spread
    cpu: Spread
    tokens: int
    equal: int
    distinct: int

    @property
    def tokens_equal(self) -> bool:
        return self.equal == self.tokens

    def __str__(self) -> str:
        said = "tokens equal" if self.tokens_equal else f"TOKENS DIFFER from number {self.equal + 1} on"
        return (
            f"{self.shape:<9} {self.source:>6} {self.step_ms:>12.2f}   {str(self.wall):<18} {str(self.cpu):<18} "
            f"{said} ({self.tokens}, {self.distinct} distinct)"
        )


HEADER = f"{'shape':<9} {'source':>6} {'generate ms':>12}   {'ours, wall':<18} {'ours, cpu time':<18}"


def build(shape: Shape, sources: Sequence[int]) -> Loaded:
    """The shape with random weights that write varied tokens for every source: equal tokens would else say little."""
    for seed in range(100):
        loaded = _random(shape, seed)
        written = (traced(loaded, encode(loaded.model, loaded.sites, source_of(loaded, n)), 12) for n in sources)
        if all(len(set(ids)) >= VARIED for ids in written):
            return loaded
    raise LookupError(f"no seed gives {shape.name} a varied output")


def _random(shape: Shape, seed: int) -> Loaded:
    """No dropout and no end-of-text id: both sides then always write every token."""
    torch.manual_seed(seed)
    config = T5Config(
        **shape.config | dict(dropout_rate=0.0), vocab_size=shape.vocabulary, decoder_start_token_id=0, pad_token_id=0,
        eos_token_id=None,
    )
    model = T5ForConditionalGeneration(config)
    with torch.no_grad():
        for weight in model.parameters():
            if weight.ndim == 1:
                weight.normal_(0, 1)  # else tied embeddings repeat one token
    model.generation_config.eos_token_id = None
    return prepare(shape.name, model, None)


def source_of(loaded: Loaded, length: int) -> list[int]:
    """Random ids (length,), the same at every call."""
    generator = torch.Generator().manual_seed(length)
    return torch.randint(1, loaded.model.config.vocab_size, (length,), generator=generator).tolist()


class Clock:
    """Runs a call and times it from its first decoder forward on."""

    def __init__(self, model: Any):
        self.began: tuple[float, float] | None = None
        model.get_decoder().register_forward_pre_hook(self._begin)

    def _begin(self, *_: Any) -> None:
        if self.began is None:
            self.began = time.perf_counter(), time.process_time()

    def time(self, call: Callable[[], list[int]], into: Timed) -> None:
        self.began = None
        into.ids = call()
        wall, cpu = time.perf_counter() - self.began[0], time.process_time() - self.began[1]
        into.wall.append(wall / len(into.ids))
        into.cpu.append(cpu / len(into.ids))


def traced(loaded: Loaded, encoded: Encoded, tokens: int) -> list[int]:
    """Our driver: every step gives its weights, candidates, entropy and cache bytes, which are dropped."""
    forwards = decode(loaded.model, loaded.sites, encoded, greedy(0, frozenset(), tokens), [])
    return [int(forward.request.ids[0]) for forward in forwards]


def plain(loaded: Loaded, encoded: Encoded, tokens: int) -> list[int]:
    """`generate` as anybody calls it, given the encoder's output so that it does not encode again."""
    seen = torch.ones(encoded.output.last_hidden_state.shape[:2], dtype=torch.long)
    ids = loaded.model.generate(
        encoder_outputs=encoded.output, attention_mask=seen, max_new_tokens=tokens, do_sample=False, num_beams=1
    )
    return ids[0, 1:].tolist()


def compare(loaded: Loaded, source: int, tokens: int, repeats: int) -> Comparison:
    """`repeats` pairs at a source of `source` tokens, after one turn of each that is not counted."""
    loaded.model.set_attn_implementation(NAME)
    encoded = encode(loaded.model, loaded.sites, source_of(loaded, source))
    clock = Clock(loaded.model)
    sides = ((plain, "sdpa", Timed()), (traced, NAME, Timed()))
    for turn in range(repeats + 1):
        for call, attention, timed in sides:
            loaded.model.set_attn_implementation(attention)
            clock.time(lambda call=call: call(loaded, encoded, tokens), Timed() if turn == 0 else timed)
    theirs, ours = sides[0][2], sides[1][2]
    agree = (k for k, (a, b) in enumerate(zip(ours.ids, theirs.ids, strict=True)) if a != b)
    return Comparison(
        shape=loaded.name, source=source, step_ms=1000 * Spread.of(theirs.wall).middle,
        wall=ratios(ours.wall, theirs.wall), cpu=ratios(ours.cpu, theirs.cpu), tokens=tokens,
        equal=next(agree, tokens), distinct=len(set(theirs.ids)),
    )


def lines(repeats: int, quick: bool) -> Iterator[str]:
    """The whole table, a line as soon as it is measured."""
    sources, tokens = (SOURCES[:1], 8) if quick else (SOURCES, TOKENS)
    yield (
        "Traced step of our driver, relative to a step of plain generate (sdpa, greedy, nothing captured):\n"
        f"median [min-max] of {repeats} pairs. {tokens} new tokens, no end-of-text id on either side, encoder not counted."
    )
    yield HEADER
    for shape in SHAPES:
        loaded = build(shape, sources)
        for source in sources:
            yield str(compare(loaded, source, tokens, repeats))
