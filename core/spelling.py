"""Which words of a text a model hardly knows: what its vocabulary has no piece for, or only small ones."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from core.text import Token, tokenize

PIECES = 3  # a word in this many pieces or more was rare in the text that the vocabulary was made from


@dataclass(frozen=True)
class Mark:
    """A word that a model hardly knows. start, end: character offsets; kind: "unknown" (read as <unk>) or "rare"."""

    start: int
    end: int
    kind: str
    pieces: tuple[str, ...]


def marks(tokenizer: Any, text: str, limit: int) -> list[Mark]:
    """The unknown and rare words of `text`, in order; at most the first `limit` tokens are looked at."""
    tokens, _ = tokenize(tokenizer, text, limit)
    unknown = getattr(tokenizer, "unk_token_id", None)
    found = []
    for word in _words(tokens, text):
        kind = "unknown" if any(t.id == unknown for t in word) else "rare" if len(word) >= PIECES else ""
        if kind:
            found.append(Mark(word[0].start, word[-1].end, kind, tuple(t.text for t in word)))
    return found


def _words(tokens: Sequence[Token], text: str) -> list[list[Token]]:
    """Tokens that cover text, joined where nothing lies between them and neither is a mark such as a full stop."""
    words: list[list[Token]] = []
    for token in (t for t in tokens if t.start < t.end):
        before = words[-1][-1] if words else None
        letters = all(any(c.isalnum() for c in text[t.start : t.end]) for t in (before, token) if t)
        if before and before.end == token.start and letters:
            words[-1].append(token)
        else:
            words.append([token])
    return words
