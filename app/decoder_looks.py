"""A closer look at a decoder: what it makes of seeing the answer."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from app.mask_looks import Looks, fits
from core.errors import InputError
from core.interventions import Edits, StackMask
from core.models import DEFAULT
from core.settings import Decoding, Settings
from core.text import tokenize

CHEAT = "pocket-cheat"  # trained with a decoder that saw the answer
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
