"""The model rebuilds a corrupted text: what it wrote for each hidden span, and how likely the truth was to it.

Needs torch, so `core.noise` does not import it.
"""

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any

import numpy as np

from core.errors import InputError
from core.forced import ForcedPair, force
from core.noise.corruption import Corruption
from core.noise.drawn import KINDS, SENTINEL
from core.runs import Run
from core.settings import Decoding, Settings
from core.shapes import PathWeights
from core.text import Token, plain
from core.trace import Trace

ALONE = nullcontext()  # of a model that nobody else uses


@dataclass(frozen=True, eq=False)
class Rebuilt:
    """One hidden span. true: its tokens; wrote: what the model wrote in its place; right: the same text.

    rows: places of the true tokens in the clean target, whose teacher-forced rows tell of them; logprob: Σ log P of
    them, in nats. wrote_rows: places of the written tokens in `trace.target`, rows of `trace.path()`.
    """

    span: int
    true: tuple[Token, ...]
    wrote: tuple[Token, ...]
    right: bool
    logprob: float
    rows: tuple[int, ...]
    wrote_rows: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Rebuilding:
    """A run on a corrupted text, judged. exact: it wrote the whole target. loss: −1/|y| Σ log P of the target, in nats."""

    corruption: Corruption
    trace: Trace
    forced: ForcedPair
    spans: tuple[Rebuilt, ...]
    exact: bool

    @property
    def loss(self) -> float:
        return self.forced.loss

    @property
    def right(self) -> int:
        """Spans that were rebuilt exactly."""
        return sum(span.right for span in self.spans)

    def rows(self, span: Rebuilt) -> PathWeights:
        """Cross-attention of a span's true tokens under teacher forcing: (layers, heads, span's tokens, source)."""
        return self.forced.cross_weights[:, :, list(span.rows)]


def settings_for(loaded: Any, corruption: Corruption, decoding: Decoding | None = None) -> Settings:
    """Settings whose run reads `corruption`."""
    return Settings(corruption.text, loaded.name, noise=corruption.settings, decoding=decoding or Decoding())


def rebuild(
    loaded: Any, corruption: Corruption, decoding: Decoding | None = None, turn: AbstractContextManager = ALONE
) -> Rebuilding:
    """Run greedily to the end and judge. To stream instead: step a `Run` of `settings_for`, then `judge` it.

    turn: entered anew for each step, where several share the model.

    InputError where the corruption was made for another tokenizer, or leaves nothing to read.
    """
    going = Run(settings_for(loaded, corruption, decoding), loaded)
    if going.corruption != corruption:
        raise InputError(f"This corruption was not made with the vocabulary of {loaded.name}. Make it anew for this model.")
    more = True
    while more:
        with turn:
            more = next(going, None) is not None
    with turn:
        return judge(going)


def judge(going: Run) -> Rebuilding:
    """What a run on a corrupted text made of it, as far as it has got."""
    corruption, loaded, trace = going.corruption, going.loaded, going.trace()
    if corruption is None:
        raise InputError("This run had no noise; choose one.")
    forced = force(loaded, [t.id for t in corruption.corrupted], [t.id for t in corruption.target])
    tokenizer = loaded.tokenizer
    marks = loaded.eos | {tokenizer.pad_token_id, tokenizer.bos_token_id, tokenizer.eos_token_id}
    written = [k for k, token in enumerate(trace.target) if token.id not in marks]
    rows = _rows(corruption)
    places = _by_sentinel if (corruption.target_kind == KINDS.index(SENTINEL)).any() else _by_alignment
    wrote = places(corruption, rows, [(k, trace.target[k].id) for k in written])
    spans = []
    for span, mine in rows.items():
        true, found = [corruption.target[k] for k in mine], [trace.target[k] for k in wrote[span]]
        spans.append(Rebuilt(
            span, tuple(true), tuple(found), _same(tokenizer, true, found), float(forced.logprobs[mine].sum()),
            tuple(mine), tuple(wrote[span]),
        ))
    exact = [t.id for t in corruption.target if t.id not in marks] == [trace.target[k].id for k in written]
    return Rebuilding(corruption, trace, forced, tuple(spans), exact)


def _rows(corruption: Corruption) -> dict[int, list[int]]:
    """Span -> places of its tokens in the target, of the spans that hide something."""
    rows: dict[int, list[int]] = {}
    for k, (origin, span) in enumerate(zip(corruption.target_from, corruption.target_span, strict=True)):
        if origin >= 0 and span >= 0:
            rows.setdefault(int(span), []).append(k)
    return dict(sorted(rows.items()))


def _same(tokenizer: Any, true: Sequence[Token], wrote: Sequence[Token]) -> bool:
    """The same ids, or another way to cut the same text."""
    ids = [[token.id for token in side] for side in (true, wrote)]
    texts = [plain(tokenizer, side).strip() for side in ids]
    return ids[0] == ids[1] or bool(texts[0]) and texts[0] == texts[1]


def _by_sentinel(
    corruption: Corruption, rows: dict[int, list[int]], written: list[tuple[int, int]]
) -> dict[int, list[int]]:
    """What stands behind the sentinel that the span stands behind in the true target (behind none: at the start)."""
    marked = corruption.target_kind == KINDS.index(SENTINEL)
    sentinels = {t.id for t, mark in zip((*corruption.target, *corruption.corrupted), [
        *marked, *(corruption.corrupted_kind == KINDS.index(SENTINEL))]) if mark}
    key, parts = None, {None: []}
    for place, id in written:
        if id in sentinels:
            key = id if id not in parts else -1  # what follows a repeated sentinel belongs to nothing
            parts.setdefault(key, [])
        else:
            parts[key].append(place)
    before = {span: np.flatnonzero(marked[: mine[0]]) for span, mine in rows.items()}
    return {
        span: parts.get(corruption.target[at[-1]].id if len(at) else None, []) for span, at in before.items()
    }


def _by_alignment(
    corruption: Corruption, rows: dict[int, list[int]], written: list[tuple[int, int]]
) -> dict[int, list[int]]:
    """Visible tokens of the target and of the output are aligned; what lies between them was written for the spans."""
    hidden = {k for mine in rows.values() for k in mine}
    true = [-1 - k if k in hidden else t.id for k, t in enumerate(corruption.target)]  # a hidden token is no anchor
    blocks = SequenceMatcher(None, true, [id for _, id in written], autojunk=False).get_opcodes()
    found: dict[int, list[int]] = {span: [] for span in rows}
    for span, mine in rows.items():
        for k in mine:
            last = k + 1 not in mine
            tag, i, end, j, stop = next(block for block in blocks if block[1] <= k < block[2])
            upto = stop if last and k + 1 == end else j + k + 1 - i
            found[span] += [place for place, _ in written[min(j + k - i, stop) : min(upto, stop)]]
    return found
