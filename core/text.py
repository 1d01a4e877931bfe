"""Token, and the way from text to tokens and back. The person's text is kept; display goes by offsets."""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from core.errors import InputError

METASPACE = "▁"
_UNSEEN = ("Cc", "Cf", "Zs", "Zl", "Zp")  # control, zero-width and space characters
_BYTE_ALPHABET = [*range(33, 127), *range(161, 173), *range(174, 256)]
_BYTES = {chr(b): b for b in _BYTE_ALPHABET} | {
    chr(256 + k): b for k, b in enumerate(b for b in range(256) if b not in _BYTE_ALPHABET)
}


@dataclass(frozen=True)
class Token:
    """One label of an axis. start, end: character offsets in the text it belongs to; equal where it covers none."""

    text: str
    id: int
    start: int = 0
    end: int = 0


def usable(text: str) -> str:
    """The text, or an InputError that says why no model can read it. Needs no tokenizer."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise InputError(
            f"The text holds half a character (the surrogate U+{ord(text[error.start]):04X}, at position "
            f"{error.start + 1}), which no tokenizer reads. Remove it."
        ) from None
    if all(unicodedata.category(c) in _UNSEEN for c in text):
        raise InputError("The text is empty. Type at least one word.")
    if "\0" in text:
        raise InputError("The text holds a NUL character, which no tokenizer reads. Remove it.")
    return text


def tokenize(tokenizer: Any, text: str, limit: int) -> tuple[list[Token], int]:
    """Tokens of `text`, special tokens included, cut to `limit` with the closing token kept; and how many were cut."""
    fast = getattr(tokenizer, "is_fast", False)
    batch = tokenizer(
        text, return_offsets_mapping=fast, return_special_tokens_mask=True, truncation=False, verbose=False
    )
    ids, special = list(batch["input_ids"]), list(batch["special_tokens_mask"])
    offsets = list(batch["offset_mapping"]) if fast else _found(tokenizer, ids, text)
    tail = 0  # closing special tokens, kept when the rest is cut
    while tail < len(ids) and special[len(ids) - 1 - tail]:
        tail += 1
    cut = max(0, len(ids) - limit)
    keep = [*range(len(ids) - tail - cut), *range(len(ids) - tail, len(ids))]
    tokens = []
    for index in keep:
        start, end = offsets[index]
        while start < end and text[start].isspace():
            start += 1
        tokens.append(Token(piece(tokenizer, ids[index], text[start:end]), ids[index], start, end))
    return tokens, cut


def next_token(tokenizer: Any, ids: Sequence[int], before: str) -> tuple[Token, str]:
    """The last token of `ids` with offsets into the output text, and that text so far; `before` is it without the last.

    A token that only begins a multi-byte character covers nothing yet; the one that completes it covers it all.
    """
    after = plain(tokenizer, ids)
    whole = after.rstrip("\ufffd")
    start = len(before)
    while start < len(whole) and whole[start].isspace():
        start += 1
    start, end = min(start, len(whole)), len(whole)
    return Token(piece(tokenizer, ids[-1], whole[start:end]), int(ids[-1]), start, max(start, end)), whole


def plain(tokenizer: Any, ids: Sequence[int]) -> str:
    """The output text of `ids`, without special tokens, spacing as the tokenizer gives it."""
    return tokenizer.decode(list(map(int, ids)), skip_special_tokens=True, clean_up_tokenization_spaces=False)


def piece(tokenizer: Any, id: int, covered: str = "") -> str:
    """The display text of one vocabulary id; `covered` is the text it stands for, shown for unknown pieces."""
    raw = tokenizer.convert_ids_to_tokens(int(id))
    if raw is None:  # an id beyond the tokenizer: padded embedding rows of real checkpoints
        return f"[{id}]"
    if id == getattr(tokenizer, "unk_token_id", None) and covered:
        return covered
    if id in getattr(tokenizer, "all_special_ids", ()) or (raw.startswith("<") and raw.endswith(">")):
        return raw
    if METASPACE in raw:
        return raw.replace(METASPACE, " ").strip() or METASPACE
    if _is_byte_level(tokenizer):
        return _from_bytes(raw)
    return raw.strip() or METASPACE


def _is_byte_level(tokenizer: Any) -> bool:
    backend = getattr(tokenizer, "backend_tokenizer", None)
    return type(getattr(backend, "decoder", None)).__name__ == "ByteLevel"


def _from_bytes(raw: str) -> str:
    """A byte-level piece as text; where it holds only part of a character, as hex, never as U+FFFD."""
    if any(c not in _BYTES for c in raw):
        return raw
    data = bytes(_BYTES[c] for c in raw)
    try:
        return data.decode("utf-8").strip() or METASPACE
    except UnicodeDecodeError:
        return "".join(f"<{b:02X}>" for b in data)


def _found(tokenizer: Any, ids: Sequence[int], text: str) -> list[tuple[int, int]]:
    """Offsets for tokenizers without an offset mapping: each piece is looked for after the one before it."""
    spans, at = [], 0
    for id in ids:
        shown = piece(tokenizer, id)
        start = text.find(shown, at)
        if start < 0 or id in tokenizer.all_special_ids or start - at > 40:
            spans.append((at, at))
        else:
            at = start + len(shown)
            spans.append((start, at))
    return spans
