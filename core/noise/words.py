"""Noise on a text's words instead of its pieces: one word behind T5's first sentinel, or BART's infilling."""

import re

import numpy as np

from core.noise.bart import RATIO, text_infilling

# A word between spaces that is all letters, but for punctuation around it: "(man)," yes; "T-shirt", "3" and "'s" no.
_WORD = re.compile(r"(?<!\S)[\"'(]*([^\W\d_]+)[\"').,;:!?]*(?!\S)")


def words_of(text: str) -> list[tuple[int, int]]:
    """(start, end) of every alphabetic word."""
    return [match.span(1) for match in _WORD.finditer(text)]


def hide_word(text: str, rng: np.random.Generator) -> tuple[str, str, str] | None:
    """(text with <extra_id_0> for one uniformly chosen word, T5's target, the word); None without any word.

    The target has the closing sentinel <extra_id_1> only where text follows the word, as span corruption has it.
    """
    words = words_of(text)
    if not words:
        return None
    start, end = words[rng.integers(len(words))]
    word, rest = text[start:end], text[end:]
    closing = " <extra_id_1>" if rest.strip() else ""
    return f"{text[:start]}<extra_id_0>{rest}", f"<extra_id_0> {word}{closing}", word


def infill(text: str, rng: np.random.Generator, ratio: float = RATIO) -> tuple[str, list[str]]:
    """(text with <mask> for spans of words between spaces, the words that are hidden)."""
    words = text.split()
    out = text_infilling(range(len(words)), [True] * len(words), -1, None, rng, ratio)
    left = set(out)
    return " ".join("<mask>" if k < 0 else words[k] for k in out), [w for k, w in enumerate(words) if k not in left]
