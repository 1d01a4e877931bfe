"""Closer looks at a decoder: what it makes of seeing the answer, and a row of its attention set by hand."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from app.mask_looks import Looks, fits, within
from app.masked import Pair, Progress
from core.errors import InputError
from core.fields import shown
from core.interventions import ALL, Edits, Row, StackMask
from core.models import DEFAULT
from core.settings import Decoding, Settings
from core.shapes import Floats
from core.text import Token, tokenize
from core.trace import Trace

CHEAT = "pocket-cheat"  # trained with a decoder that saw the answer
SITES = ("cross", "decoder")  # whose rows can be set
MOST_WRITTEN = 32  # tokens of the cheat's own; it does not end by itself


@dataclass(frozen=True, eq=False)
class Unmasked:
    """One output under a causal and an unmasked decoder: core.likelihood.ForcedPass of each, in one forward.

    written: what the model writes by itself. held, leaked: what a perturbed last token moves, core.leaks.Leak of each.
    """

    name: str
    causal: Any
    ahead: Any
    written: str
    held: Any
    leaked: Any


def unmasked(looks: Looks, settings: Settings) -> Iterator[Unmasked]:
    """The model of the settings, then the cheat, both given the same text as the true output.

    The true output is what the model writes itself; the cheat writes none, so there the default model writes it.
    """
    author = Settings(settings.text, DEFAULT, decoding=settings.decoding) if settings.model == CHEAT else settings
    truth = looks.made.trace(_decoding(author, StackMask()))
    if settings.model != CHEAT:
        yield _under_both(looks, settings, [token.id for token in truth.target], truth.text)
    longest = min(MOST_WRITTEN, settings.decoding.max_new_tokens)
    cheat = Settings(settings.text, CHEAT, decoding=Decoding(max_new_tokens=longest))
    tokenizer = looks.engine.models.load(CHEAT).tokenizer
    ids = [token.id for token in tokenize(tokenizer, truth.text, settings.decoding.max_new_tokens)[0]]
    yield _under_both(looks, cheat, ids, looks.made.trace(cheat).text)


def _decoding(settings: Settings, decoder: StackMask) -> Settings:
    """The same with another mask of the decoder, and nothing set by hand in its rows."""
    edits = Edits(heads=settings.edits.heads)
    return replace(settings, masks=replace(settings.masks, decoder=decoder), edits=edits)


def _under_both(looks: Looks, settings: Settings, ids: list[int], written: str) -> Unmasked:
    from core.leaks import leak
    from core.likelihood import score
    from core.runs import run

    if len(ids) < 2:
        raise InputError("The true output has no two tokens, so no row of it could see a later one.")
    causal, ahead = (run(_decoding(settings, StackMask(name)), looks.engine.models) for name in ("", "bidirectional"))
    fits(causal, len(ids), 2, "sets of log-probabilities")
    with looks.engine.turn:
        passes = [score(going, ids) for going in (causal, ahead)]
    with looks.engine.turn:
        leaks = [leak(going, "target", len(ids) - 1, ids) for going in (causal, ahead)]
    return Unmasked(settings.model, *passes, written, *leaks)


@dataclass(frozen=True, eq=False)
class SetRow:
    """Row `query` of one site as the run has it, and as it is to be: before and after (key,), mean over layers and heads chosen.

    keys: tokens of the columns. layer and head count from 0; -1 is all. key: the column that was chosen; share: its weight.
    """

    trace: Trace
    site: str
    query: int
    layer: int
    head: int
    key: int
    share: float
    keys: tuple[Token, ...]
    before: Floats
    after: Floats

    @property
    def settings(self) -> Settings:
        """The branch: written as before up to this row, which is then as it was set."""
        old, given = self.trace.settings, tuple(map(float, self.after))
        row = Row(self.site, self.query, given, self.layer, self.head)
        forced = tuple(token.id for token in self.trace.target[: self.query])
        return replace(old, edits=replace(old.edits, rows=(*old.edits.rows, row), forced=forced))


def set_row(trace: Trace, site: object, query: object, layer: object, head: object, key: object, share: object) -> SetRow:
    """A row of the run with `share` of its weight on one column, the rest as it was in proportion.

    query and key count from 1, and so do layer and head, of which 0 is all of them.
    """
    if site not in SITES:
        raise InputError(f"There is no site {shown(site)} whose rows can be set; it must be one of: {', '.join(SITES)}.")
    if isinstance(share, bool) or not isinstance(share, int | float) or not 0 <= share <= 1:
        raise InputError(f"The weight is {shown(share)}; it must be between 0 and 1.")
    if not trace.target:
        raise InputError("The model writes nothing here, so there is no row to set.")
    at = within("target row", query, len(trace.target), "this output")
    keys = trace.source if site == "cross" else (trace.start, *trace.target[:at])
    place = trace.line()[at]
    step = place.step
    weights = (step.cross_weights if site == "cross" else step.decoder_weights)[place.fed]  # (layers, heads, key)
    if not weights.size:
        raise InputError(f"The {site} attention of {trace.settings.model} cannot be reached, so no row of it can be set.")
    chosen = [ALL if value == 0 and not isinstance(value, bool) else within(name, value, most, f"the {site} attention")
              for name, value, most in (("layer", layer, weights.shape[0]), ("head", head, weights.shape[1]))]
    column = within("token", key, len(keys), f"row {at + 1} of the {site} attention")
    before = np.mean([weights[layer, head] for layer in _of(chosen[0], weights.shape[0])
                      for head in _of(chosen[1], weights.shape[1])], axis=0)
    return SetRow(trace, site, at, *chosen, column, float(share), tuple(keys), before, _shared(before, column, float(share)))


def _of(value: int, count: int) -> list[int]:
    return list(range(count)) if value == ALL else [value]


def _shared(weights: np.ndarray, column: int, share: float) -> np.ndarray:
    """`share` on one column, what is left on the others as they were in proportion; all on the column where they were 0."""
    rest = np.where(np.arange(len(weights)) == column, 0, weights).astype(np.float64)
    total = rest.sum()
    out = rest / total * (1 - share) if total > 0 else np.zeros_like(rest)
    out[column] = share if total > 0 else 1.0
    return out.astype(np.float32)


def branch(looks: Looks, asked: SetRow, visitor: str) -> Iterator[Pair | Progress]:
    """Progress while it is long, then the run as it was and the branch."""
    yield from looks.made.pair(asked.settings, visitor, against=asked.trace.settings)
