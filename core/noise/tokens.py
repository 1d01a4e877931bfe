"""Units: what a noise may choose from in one text, on any model's tokenizer. And which noises a tokenizer allows."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

import numpy as np

from core.settings import MAX_TOKENS
from core.text import Token, piece, tokenize, usable

SENTINEL, MOST = "<extra_id_{}>", 100
STOP = "."  # a sentence ends at a full stop, as in BART's paper


@dataclass(frozen=True)
class Units:
    """One text as a noise sees it.

    tokens (source,): labels of the source axis, special tokens included; text: what their offsets point into. The
    first `head` and last `tail` tokens (<s>, </s>, language codes) are never touched; between them is the body.
    starts (body,): a word starts here. stops (body,): a full stop. sentinels: ids of <extra_id_0> and on; mask: id of
    the mask token. rows: ids of the model's embedding. special: ids that are no text.
    """

    text: str
    tokens: tuple[Token, ...]
    head: int
    tail: int
    starts: tuple[bool, ...]
    stops: tuple[bool, ...]
    sentinels: tuple[int, ...]
    mask: int | None
    rows: int
    special: frozenset[int]
    cut: int = 0
    names: Callable[[int], str] = field(default=str, compare=False, repr=False)

    @cached_property
    def body(self) -> tuple[Token, ...]:
        """Tokens that a noise may touch."""
        return self.tokens[self.head : len(self.tokens) - self.tail]

    @cached_property
    def ids(self) -> list[int]:
        """Ids of the body."""
        return [token.id for token in self.body]

    def whole(self, words: bool) -> tuple[bool, ...]:
        """Where a choosable unit starts (body,): a word, or any token."""
        return self.starts if words else (True,) * len(self.body)

    def name_of(self, id: int) -> str:
        """The display text of any id."""
        return self.names(id)

    def random_id(self, lowest: int, rng: np.random.Generator, ordinary: bool, instead: int) -> int:
        """A uniform id from `lowest` on; ordinary: no special one, and not `instead` itself."""
        for _ in range(100):
            found = int(rng.integers(min(lowest, self.rows - 1), self.rows))
            if not ordinary or (found not in self.special and found != instead):
                return found
        return found  # a vocabulary of hardly anything but special ids


def units(tokenizer: Any, text: str, limit: int = MAX_TOKENS, rows: int | None = None) -> Units:
    """The units of `text`, cut to `limit` tokens. rows: of the model's embedding, where they are not the tokenizer's.

    InputError for what no tokenizer reads (NUL, half a character). An empty text has an empty body.
    """
    if text.strip():
        usable(text)
    tokens, cut = tokenize(tokenizer, text, limit)
    return units_of(tokenizer, tokens, text, rows, cut)


def units_for(loaded: Any, text: str) -> Units:
    """The units of `text` as a run of a loaded model cuts it."""
    return units(loaded.tokenizer, text, min(MAX_TOKENS, loaded.max_source), rows_of(loaded))


def units_of(tokenizer: Any, tokens: Sequence[Token], text: str, rows: int | None = None, cut: int = 0) -> Units:
    """The units of a text that is tokenised already, special tokens included."""
    special = frozenset(tokenizer.all_special_ids)
    added = [token.id in special and token.start == token.end for token in tokens]
    tail = _leading(added[::-1])
    head = _leading(added[: len(tokens) - tail])
    body = tokens[head : len(tokens) - tail]
    return Units(
        text, tuple(tokens), head, tail, tuple(_starts(body, text)),
        tuple(text[t.start : t.end].strip() == STOP for t in body),
        tuple(sentinels_of(tokenizer, rows)), mask_token_of(tokenizer, rows), rows or len(tokenizer), special, cut,
        partial(piece, tokenizer),
    )


def _leading(flags: Sequence[bool]) -> int:
    """How many are True before the first that is not."""
    return next((k for k, flag in enumerate(flags) if not flag), len(flags))


def _starts(body: Sequence[Token], text: str) -> list[bool]:
    """After white space, where a piece covers something; the first piece of all is a start."""
    out = [t.start < t.end and (t.start == 0 or text[t.start - 1].isspace()) for t in body]
    return [True, *out[1:]] if out else []


def sentinels_of(tokenizer: Any, rows: int | None = None) -> list[int]:
    """Ids of <extra_id_0>, <extra_id_1>, ..., as far as each is one id (mT5 has them with a leading \u2581)."""
    found: list[int] = []
    for number in range(MOST):
        names = (SENTINEL.format(number), "\u2581" + SENTINEL.format(number))
        ids = [id for name in names if (id := _id(tokenizer, name, rows)) is not None]
        if not ids:
            break
        found.append(ids[0])
    return found


def mask_token_of(tokenizer: Any, rows: int | None = None) -> int | None:
    """Id of the mask token, None without one or where the model has no row for it."""
    name = getattr(tokenizer, "mask_token", None)
    return None if not name else _id(tokenizer, str(name), rows)


def _id(tokenizer: Any, name: str, rows: int | None) -> int | None:
    id = tokenizer.convert_tokens_to_ids(name)
    unknown = id is None or id < 0 or id == getattr(tokenizer, "unk_token_id", None)
    return None if unknown or (rows is not None and id >= rows) else id


def can(tokenizer: Any, rows: int | None = None) -> dict[str, str]:
    """Noise -> why it is impossible, a sentence for a person; a noise that is not in it is possible.

    rows: of the model's embedding; a checkpoint may lack the row of its own mask token.
    """
    from core.noise import NOISES

    has = {"sentinels": bool(sentinels_of(tokenizer, rows)), "mask": mask_token_of(tokenizer, rows) is not None}
    why = {
        "sentinels": "This model's vocabulary has no sentinels (<extra_id_0> and on); pick a T5-like model.",
        "mask": "This model's vocabulary has no mask token; pick a BART-like model.",
    }
    if not has["mask"] and getattr(tokenizer, "mask_token", None):
        why["mask"] = (
            f"The mask token {tokenizer.mask_token} has no row in this model's embedding of {rows} ids; pick another model."
        )
    return {name: why[noise.needs] for name, noise in NOISES.items() if not has.get(noise.needs, True)}


def rows_of(loaded: Any) -> int:
    """Ids that a loaded model's encoder has a row for."""
    return len(loaded.model.get_encoder().get_input_embeddings().weight)
