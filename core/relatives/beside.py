"""The encoder-decoder on the same text: T5's span corruption, and what its target costs a model that was trained."""

from dataclasses import dataclass
from typing import Any

from core.forced import force
from core.relatives.reading import Reading


@dataclass(frozen=True)
class Beside:
    """read, written: tokens of the encoder's input and of the decoder's target, end tokens included. hidden of `of` pieces
    are behind sentinels. loss: −log P of the target, mean over its tokens, in nats."""

    model: str
    read: tuple[str, ...]
    written: tuple[str, ...]
    hidden: int
    of: int
    loss: float


def beside(loaded: Any, reading: Reading) -> Beside:
    """One teacher-forced pass; `reading` is of the tokenizer of `loaded`, which has sentinels."""
    noise = reading.noised("spans")
    found = force(loaded, [token.id for token in noise.corrupted], [token.id for token in noise.target])
    return Beside(loaded.name, tuple(token.text for token in noise.corrupted), tuple(token.text for token in noise.target),
                  int(noise.mask.sum()), len(reading.units.body), found.loss)
