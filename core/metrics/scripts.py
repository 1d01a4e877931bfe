"""Which script a text is written in, and how texts in it are cut into words."""

import unicodedata
from collections import Counter
from collections.abc import Iterable
from functools import lru_cache

SPACELESS = {"HAN", "KANA", "THAI", "LAO", "KHMER", "MYANMAR", "TIBETAN"}  # no space between words
_KANA = {"HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA"}
_WIDTHS = {"HALFWIDTH", "FULLWIDTH"}
_WESTERN = {"LATIN", "CYRILLIC", "GREEK", ""}
_FEW_KANA = 0.05  # of Japanese text about half is kana; a quoted name in Chinese is less than this


@lru_cache(maxsize=4096)
def script(character: str) -> str:
    """The script of one letter or mark by its Unicode name, such as LATIN or THAI; HAN, KANA; "" for all other characters."""
    if unicodedata.category(character)[0] not in "LM":
        return ""
    words = unicodedata.name(character, "").split()
    word = words[1] if len(words) > 1 and words[0] in _WIDTHS else words[0] if words else ""
    if word == "COMBINING":  # an accent belongs to any script
        return ""
    return "HAN" if word == "CJK" else "KANA" if word in _KANA else word


def scripts(texts: Iterable[str]) -> Counter[str]:
    """Letters of each script."""
    found = Counter(map(script, "".join(texts)))
    del found[""]
    return found


def main_script(texts: Iterable[str]) -> str:
    """The script with the most letters, "" without letters; KANA for Japanese, whose Han stands between kana."""
    found = scripts(texts)
    kana, han = found.pop("KANA", 0), found.pop("HAN", 0)
    if kana + han:
        found["KANA" if kana > _FEW_KANA * (kana + han) else "HAN"] = kana + han
    return max(found, key=lambda name: (found[name], name), default="")


def tokenizer_for(texts: Iterable[str]) -> str:
    """sacrebleu's tokeniser for the main script of `texts`: 13a, zh, ja-mecab, char or intl.

    13a (WMT's) knows ASCII punctuation only: it leaves a sentence without spaces one word, and "。" or "؟" on its word.
    """
    name = main_script(texts)
    if name in ("HAN", "KANA"):
        return "zh" if name == "HAN" else "ja-mecab"
    return "char" if name in SPACELESS else "13a" if name in _WESTERN else "intl"
