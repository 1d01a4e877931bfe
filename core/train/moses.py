"""Moses' tokeniser for English, German and French, as far as captions need it: papers score text cut like this.

Source: mosesdecoder, scripts/tokenizer/tokenizer.perl (default options), rules in its order. Left out: protected
patterns and XML escapes. The lists of abbreviations that keep their full stop are cut to those of captions.
"""

import re

# Before a full stop, what is no end of a sentence; "no" only before a number. From nonbreaking_prefix.{en,de,fr}.
_PREFIXES = {
    "en": {"dr", "mr", "mrs", "ms", "prof", "st", "jr", "sr", "vs", "etc", "inc", "co", "corp", "mt", "ave", "lt"},
    "de": {"dr", "hr", "fr", "prof", "st", "nr", "bzw", "ca", "usw", "etc", "z.b", "u.a", "d.h", "ggf", "str", "inkl"},
    "fr": {"dr", "m", "mm", "mme", "mlle", "prof", "st", "etc", "av", "env", "ex", "bd"},
}
_LETTER = r"[^\W\d_]"


def tokenize(text: str, language: str) -> list[str]:
    """`text` as Moses cuts it. language: "en", "de" or "fr"; another is cut by German's rules."""
    text = f" {' '.join(text.split())} "
    text = re.sub(r"([^\w\s.'`,\-]|_)", r" \1 ", text)
    text = re.sub(r"\.{2,}", lambda m: f" DOTMULTI{len(m[0])} ", text)
    text = re.sub(r"(\D),", r"\1 , ", text)
    text = re.sub(r",(\D)", r" , \1", text)
    text = _apostrophes(text, language)
    words = text.split()
    cut = [piece for index, word in enumerate(words) for piece in _full_stop(word, words[index + 1 :], language)]
    return [re.sub(r"DOTMULTI(\d+)", lambda m: "." * int(m[1]), word) for word in cut]


def _apostrophes(text: str, language: str) -> str:
    """English cuts before an apostrophe inside a word ("dog 's"), French after it ("l' eau"), others around it."""
    if language == "en":
        text = re.sub(rf"((?!{_LETTER}).)'((?!{_LETTER}).)", r"\1 ' \2", text)
        text = re.sub(rf"((?!{_LETTER}|\d).)'({_LETTER})", r"\1 ' \2", text)
        text = re.sub(rf"({_LETTER})'((?!{_LETTER}).)", r"\1 ' \2", text)
        text = re.sub(rf"({_LETTER})'({_LETTER})", r"\1 '\2", text)
        return re.sub(r"(\d)'(s)", r"\1 '\2", text)
    if language == "fr":
        text = re.sub(rf"((?!{_LETTER}).)'((?!{_LETTER}).)", r"\1 ' \2", text)
        text = re.sub(rf"((?!{_LETTER}).)'({_LETTER})", r"\1 ' \2", text)
        text = re.sub(rf"({_LETTER})'((?!{_LETTER}).)", r"\1 ' \2", text)
        return re.sub(rf"({_LETTER})'({_LETTER})", r"\1' \2", text)
    return text.replace("'", " ' ")


def _full_stop(word: str, following: list[str], language: str) -> list[str]:
    """A full stop at the end of a word is cut off, but for abbreviations and in front of lower case."""
    if not word.endswith(".") or len(word) == 1:
        return [word]
    stem, after = word[:-1], following[0] if following else ""
    if ("." in stem and re.search(_LETTER, stem)) or stem.lower() in _PREFIXES.get(language, ()) or after[:1].islower():
        return [word]
    return [stem, "."]
