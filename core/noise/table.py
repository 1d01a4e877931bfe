"""All noises on one text: what each does to it and how a model rebuilds it, one row at a time. Needs torch."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from core.errors import TwoStacksError
from core.noise import NOISES, can, corrupt, rows_of, units_for
from core.noise.corruption import Corruption
from core.noise.published import Figures, Table, figures_of
from core.noise.rebuild import rebuild
from core.settings import MAX_TOKENS, Decoding

_MORE = 16  # tokens that a model may write beyond the target before it is stopped


@dataclass(frozen=True, eq=False)
class Row:
    """One noise. Without a model's answer `reason` says why, and all that follows it is None.

    length, target_length: tokens of the corrupted text and of the target, special ones included. loss: −1/|y| Σ log P,
    nats a token. exact: the whole target was written. right of `spans` hidden spans were. wrote: the output text.
    """

    name: str
    title: str
    published: tuple[tuple[Table, Figures], ...]
    corruption: Corruption | None = None
    reason: str = ""
    loss: float | None = None
    exact: bool | None = None
    right: int | None = None
    spans: int | None = None
    wrote: str | None = None

    @property
    def length(self) -> int | None:
        return len(self.corruption.corrupted) if self.corruption else None

    @property
    def target_length(self) -> int | None:
        return len(self.corruption.target) if self.corruption else None

    @property
    def requested(self) -> float | None:
        return self.corruption.requested if self.corruption else None

    @property
    def achieved(self) -> float | None:
        return self.corruption.achieved if self.corruption else None


def every(text: str, loaded: Any, seed: int = 0, mode: str = "code") -> Iterator[Row]:
    """A row for each noise at its usual settings, in the order of the registry; InputError for an unreadable text."""
    units, impossible = units_for(loaded, text), can(loaded.tokenizer, rows_of(loaded))
    for name, noise in NOISES.items():
        published = tuple(figures_of(name))
        if name in impossible:
            yield Row(name, noise.title, published, reason=impossible[name])
            continue
        made = corrupt(units, noise.usual(seed=seed, mode=mode))
        try:
            found = rebuild(loaded, made, Decoding(max_new_tokens=min(MAX_TOKENS, len(made.target) + _MORE)))
        except TwoStacksError as error:  # an empty text, or too long for this model once corrupted
            yield Row(name, noise.title, published, made, str(error))
            continue
        yield Row(
            name, noise.title, published, made, loss=found.loss, exact=found.exact, right=found.right,
            spans=len(found.spans), wrote=found.trace.text,
        )
