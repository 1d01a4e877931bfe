"""Sentences that the core writes, in the language of whoever is answered, from assets/sentences/."""

import json
import re
from functools import cache
from pathlib import Path

from app.words import speaking

FOLDER = Path(__file__).resolve().parents[1] / "assets" / "sentences"
LONGEST = 2000  # characters of a sentence that is looked up


def translated(sentence: str) -> str:
    """The sentence in the language of this request; in English where there is no other.

    English stands in the code, where the sentence is made, so it is known again by what stands around its values. A value may be
    a sentence or a word of the list itself.
    """
    whole, patterns = catalogue(speaking())
    if sentence in whole or not patterns or len(sentence) > LONGEST:
        return whole.get(sentence, sentence)
    for pattern, text in patterns:
        if found := pattern.fullmatch(sentence):
            values = [translated(value) for value in found.groups()]
            return text.format("", *values)  # places count from 1
    return sentence


@cache
def catalogue(language: str) -> tuple[dict[str, str], list[tuple[re.Pattern[str], str]]]:
    """(sentences without values, patterns of the others, those that say most first) of a language; nothing for English."""
    path = FOLDER / f"{language}.json"
    texts: dict[str, str] = json.loads(path.read_text("utf-8")) if path.is_file() else {}
    placed = sorted((english for english in texts if "{" in english), key=lambda one: -len(re.sub(r"\{\d+\}", "", one)))
    patterns = [(re.compile("(.*?)".join(map(re.escape, re.split(r"\{\d+\}", one))), re.S), texts[one]) for one in placed]
    return {english: text for english, text in texts.items() if "{" not in english}, patterns
