"""ROUGE by rouge-score, 0..1, with a Unicode tokeniser for scripts that it drops. Source: Lin 2004."""

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from importlib.metadata import version

from core.errors import InputError
from core.metrics.score import ONE, Score, checked, empty_notes
from core.metrics.scripts import SPACELESS, script

KINDS = {"rouge1": "ROUGE-1", "rouge2": "ROUGE-2", "rougeL": "ROUGE-L", "rougeLsum": "ROUGE-Lsum"}
TOKENIZERS = ("rouge-score", "unicode")
_DROPPED = 0.5  # where rouge-score's own tokeniser would drop more of the letters and digits, it is not used
_ENDS = re.compile(r"([.!?؟।]['\"”)\]]*)\s+(?=\S)|(?<=[。！？])(?=\S)")


class UnicodeTokenizer:
    """Lower-case words of letters, marks and digits of any script; one character a word where a script has no spaces."""

    def tokenize(self, text: str) -> list[str]:
        """Words of `text`, composed (NFC) so that equal letters are equal."""
        words, open_word, alone = [], False, False
        for character in unicodedata.normalize("NFC", text.lower()):
            kind, spaceless = unicodedata.category(character)[0], script(character) in SPACELESS
            if kind not in "LMN":
                open_word = False
            elif open_word and (kind == "M" or not (spaceless or alone)):
                words[-1] += character
            else:
                words.append(character)
                open_word, alone = True, spaceless
        return words


@lru_cache(maxsize=32)
def scorer(kinds: tuple[str, ...], tokenizer: str, stem: bool):
    """rouge-score's own object."""
    from rouge_score.rouge_scorer import RougeScorer  # imports nltk: half a second that the first screen need not wait

    return RougeScorer(list(kinds), tokenizer=cutter(tokenizer, stem))


def cutter(tokenizer: str, stem: bool = False):
    """What cuts a text into the words that are counted: its `tokenize`."""
    from rouge_score.tokenizers import DefaultTokenizer

    return UnicodeTokenizer() if tokenizer == "unicode" else DefaultTokenizer(stem)


def score(
    hypotheses: Sequence[str], *references: Sequence[str | None], kind: str = "rougeL", stem: bool = False, tokenizer: str = "",
    split: bool = True,
) -> Score:
    """Mean F over texts, 0..1, of flat lists; with several references the best counts.

    kind: one of KINDS. stem: Porter's, for English. split: for Lsum, which takes each line as a sentence, a text without
    line ends is cut after its full stops; else its Lsum would be its L.
    tokenizer: "rouge-score" (a to z and digits), "unicode", or "" for the second where the first drops most characters.
    """
    checked(hypotheses, references)
    if kind not in KINDS or tokenizer not in ("", *TOKENIZERS):
        raise InputError(f"There is no ROUGE {kind!r:.40} with tokeniser {tokenizer!r:.40}; there are {', '.join(KINDS)} "
                         f"with {' or '.join(TOKENIZERS)}.")
    sides = [list(side) for side in references]
    split = split and kind == "rougeLsum"
    if split:
        hypotheses, *sides = [[text and sentences(text) for text in side] for side in (hypotheses, *sides)]
    tokenizer, notes = chosen(tokenizer, hypotheses, *sides)
    stem = stem and tokenizer == "rouge-score"
    made = scorer((kind,), tokenizer, stem)
    values = [
        made.score_multi([text for text in row if text is not None], output)[kind].fmeasure
        for output, *row in zip(hypotheses, *sides)
    ]
    signature = f"nrefs:{len(sides)}|best|type:{kind}|stem:{'yes' if stem else 'no'}|tok:{tokenizer}"
    signature += ("|sentences:split" if split else "") + f"|rouge-score:{version('rouge-score')}"
    return Score(KINDS[kind], sum(values) / len(values), signature, ONE, tokenizer=tokenizer,
                 notes=notes + empty_notes(hypotheses, sides))


def sentences(text: str) -> str:
    """`text` with a line for each sentence; where it has lines already they are kept."""
    return text if "\n" in text else _ENDS.sub(lambda end: (end[1] or "") + "\n", text)


def chosen(tokenizer: str, *sides: Sequence[str | None]) -> tuple[str, tuple[str, ...]]:
    """(tokeniser, notes on what it does to these texts)."""
    text = "".join(text for side in sides for text in side if text).lower()
    kept = sum(character.isascii() and character.isalnum() for character in text)
    lost = sum(not character.isascii() and unicodedata.category(character)[0] in "LMN" for character in text)
    name = tokenizer or ("unicode" if lost > _DROPPED * (kept + lost) else "rouge-score")
    if not kept + lost:
        return name, ("No letter or digit: nothing that ROUGE can count, so 0.",)
    if name == "unicode":
        note = "rouge-score keeps only a to z and digits; a Unicode tokeniser was used, so that this script counts."
        return name, () if tokenizer else (note,)
    if not kept:
        return name, ("No scorable tokens: rouge-score keeps only a to z and digits, so 0 says nothing.",)
    note = f"rouge-score drops {lost} of {kept + lost} characters and cuts words there, such as at umlauts."
    return name, (note,) if lost else ()
