"""BERT's masking and two that came of it, RoBERTa's and ELECTRA's, on one text; as a seq2seq target the whole text.

Sources: google-research/bert `create_masked_lm_predictions` (Devlin et al. 2019, section 3.1); fairseq
`MaskTokensDataset` (Liu et al. 2019, section 4.1: a new mask each time a text is read); google-research/electra
`pretrain_helpers` (Clark et al. 2020, section 2).
"""

from fractions import Fraction

import numpy as np

from core.noise.bart import spans_of
from core.noise.drawn import MASK, RANDOM, UNCHANGED, Drawn, Piece, edited, whole_text
from core.noise.spans import rounded
from core.noise.tokens import Units
from core.noising import NoiseSettings


def bert(units: Units, settings: NoiseSettings, rng: np.random.Generator) -> Drawn:
    """Of the chosen tokens 80 % become the mask, 10 % a random token, 10 % stay (by the shares of the settings)."""
    return _masked(units, settings, rng, _count(units, settings))


def roberta(units: Units, settings: NoiseSettings, rng: np.random.Generator) -> Drawn:
    """The same with a new mask each epoch; its code rounds the count up or down by chance, so that the mean is exact."""
    if settings.mode == "paper":
        return bert(units, settings, rng)
    return _masked(units, settings, rng, int(settings.rate * len(units.tokens) + rng.random()))


def electra(units: Units, settings: NoiseSettings, rng: np.random.Generator) -> Drawn:
    """Chosen tokens are replaced by plausible ones, and a discriminator says of each token whether it was.

    There is no generator here: a uniformly drawn ordinary token stands for its sample. One that draws the token that
    was there counts as original, as in the paper.
    """
    spans, notes, done = _chosen(units, settings, rng, _count(units, settings))
    pieces, same = [], 0
    for k, id in enumerate(units.ids):
        if spans[k] < 0:
            pieces.append(Piece(id, k))
            continue
        found = units.random_id(0, rng, True, -1)
        same += found == id
        pieces.append(Piece(id, k, spans[k], UNCHANGED) if found == id else Piece(found, -1, spans[k], RANDOM))
    if same:
        notes.append(f"{same} of the replacements drew the token that was there; they count as original.")
    notes.append("ELECTRA's own target is a label for each token, replaced or original; the mask is that label.")
    return Drawn(spans, pieces, whole_text(units, spans), done, len(units.body), notes)


def _count(units: Units, settings: NoiseSettings) -> int:
    """How many tokens are chosen; the code counts the special tokens of the text too, and rounds in float64."""
    if settings.rate == 0:
        return 0
    if settings.mode == "code":
        return max(1, round(len(units.tokens) * settings.rate))
    return max(1, rounded(len(units.body) * Fraction(str(settings.rate))))


def _chosen(
    units: Units, settings: NoiseSettings, rng: np.random.Generator, count: int
) -> tuple[list[int], list[str], int]:
    """(span of each token, notes, tokens chosen). A word that would exceed the count is passed over, as in BERT's code."""
    whole = units.whole(settings.whole_words)
    firsts = [k for k, start in enumerate(whole) if start]
    ends, chosen, tokens = [*firsts[1:], len(whole)], [], 0
    for word in rng.permutation(len(firsts)):
        size = ends[word] - firsts[word]
        if tokens + size <= count:
            chosen.append(firsts[word])
            tokens += size
    spans = spans_of(whole, chosen, [1] * len(chosen))
    mask, notes = edited(np.array(spans) >= 0, units, settings)
    kept = [(spans[k] if spans[k] >= 0 else len(whole) + k) if hidden else -1 for k, hidden in enumerate(mask)]
    number = {span: k for k, span in enumerate(dict.fromkeys(span for span in kept if span >= 0))}
    return [number.get(span, -1) for span in kept], notes, int(mask.sum())


def _masked(units: Units, settings: NoiseSettings, rng: np.random.Generator, count: int) -> Drawn:
    spans, notes, done = _chosen(units, settings, rng, count)
    pieces, kept = [], 0
    for k, id in enumerate(units.ids):
        if spans[k] < 0:
            pieces.append(Piece(id, k))
            continue
        dice = rng.random()
        if dice < settings.random_share:
            found = units.random_id(0, rng, settings.mode == "paper", id)
            pieces.append(Piece(found, -1, spans[k], RANDOM))
        elif dice < settings.random_share + settings.keep_share:
            pieces.append(Piece(id, k, spans[k], UNCHANGED))
            kept += 1
        else:
            pieces.append(Piece(units.mask, -1, spans[k], MASK))
    if kept:
        notes.append(f"{kept} chosen tokens stay as they are, and are to be predicted all the same.")
    if done:
        notes.append("The model itself is scored on the chosen tokens only; here the target is the whole text.")
    return Drawn(spans, pieces, whole_text(units, spans), done, len(units.body), notes)
