"""How well a model does each of its tasks: BLEU both ways, hidden words found, ROUGE-L of summaries."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from core.metrics import bleu, chrf, rouge
from core.metrics.score import Score, checked
from core.noise.words import hide_word, infill
from core.train.corpus import read_lines
from core.train.moses import tokenize

SENTENCES = 1000  # at most so many of a test set: the published sets have as many
_BETWEEN = re.compile(r"<extra_id_0>(.*?)(?:<extra_id_1>|</s>|$)")


def translation_scores(hypotheses: Sequence[str], references: Sequence[str], language: str = "") -> list[Score]:
    """sacrebleu cased and lower-cased, 13a on plain text; BLEU4 as papers report it; chrF."""
    scores = [
        bleu.score(hypotheses, references, tokenizer="13a", effective_order=False),
        bleu.score(hypotheses, references, tokenizer="13a", lowercase=True, effective_order=False),
        chrf.score(hypotheses, references),
    ]
    if language:
        scores.insert(2, tokenised_bleu(hypotheses, references, language))
    return scores


def tokenised_bleu(hypotheses: Sequence[str], references: Sequence[str], language: str) -> Score:
    """BLEU4 of lower-cased text that was cut by Moses' rules, as multi-bleu.perl counts it."""
    cut = [[" ".join(tokenize(text, language)) for text in side] for side in (hypotheses, references)]
    found = bleu.score(*cut, tokenizer="none", lowercase=True, effective_order=False)
    name = f"moses-{language}"
    return replace(found, name="BLEU4", tokenizer=name, signature=found.signature.replace("tok:none", f"tok:{name}"))


@dataclass(frozen=True)
class Hidden:
    """Captions with one word hidden each, and the words."""

    sources: list[str]
    words: list[str]


def hidden_words(data: Path, split: str, seed: int = 0) -> Hidden:
    """One uniformly chosen alphabetic word hidden in each caption of `<split>.en`, drawn from `seed`."""
    rng = np.random.default_rng(seed)
    found = [row for text in read_lines(data, split, "en")[:SENTENCES] if (row := hide_word(text, rng))]
    return Hidden([row[0] for row in found], [row[2] for row in found])


def filled(output: str) -> str:
    """What stands behind the first sentinel of a raw output (special tokens shown); the whole of it without one."""
    match = _BETWEEN.search(output)
    return (match[1] if match else output.replace("</s>", "")).strip()


def fill_score(outputs: Sequence[str], words: Sequence[str]) -> Score:
    """Per cent of hidden words written exactly."""
    checked(outputs, [words])
    right = sum(filled(output) == word for output, word in zip(outputs, words))
    return Score("exact match", 100 * right / len(words), f"words:{len(words)}|hidden:1|seed:0|greedy")


def rouge_l(text: str, references: Sequence[str]) -> float:
    """F of the longest common subsequence with the best of `references`, 0 to 100, of rouge-score's words without stemming."""
    return 100 * rouge.score([text], *([reference] for reference in references), tokenizer="rouge-score").value


@dataclass(frozen=True)
class Images:
    """Five captions an image, cut by chance into three that are read and two that are held out."""

    inputs: list[list[str]]
    held_out: list[list[str]]


def images(data: Path, split: str, seed: int = 0) -> Images:
    """`captions.<split>.1.en` .. `.5.en`, each image's five in an order drawn from `seed`."""
    rng = np.random.default_rng(seed)
    rows = list(zip(*(read_lines(data, f"captions.{split}.{k}", "en")[:SENTENCES] for k in range(1, 6))))
    orders = [rng.permutation(5) for _ in rows]
    mixed = [[row[j] for j in order] for row, order in zip(rows, orders)]
    return Images([row[:3] for row in mixed], [row[3:] for row in mixed])


def summary_scores(outputs: Sequence[str], found: Images) -> list[Score]:
    """ROUGE-L of the outputs against the held-out captions, and the mean of the three inputs against the same."""
    checked(outputs, list(zip(*found.held_out)))
    ours = [rouge_l(output, references) for output, references in zip(outputs, found.held_out)]
    inputs = [
        sum(rouge_l(text, references) for text in three) / 3 for three, references in zip(found.inputs, found.held_out)
    ]
    signature = f"images:{len(ours)}|nrefs:2|best|seed:0|rouge-score's words, no stemming"
    return [Score("ROUGE-L", sum(ours) / len(ours), signature),
            Score("ROUGE-L of the inputs", sum(inputs) / len(inputs), signature)]


@dataclass(frozen=True)
class Documents:
    """Five captions in a row each: clean, under noise, and the words that are hidden."""

    clean: list[str]
    noisy: list[str]
    hidden: list[list[str]]


def infilled_documents(data: Path, split: str, seed: int = 0) -> Documents:
    """The five captions of each image of `captions.<split>.*`, 30 % of their words infilled, drawn from `seed`."""
    rng = np.random.default_rng(seed)
    rows = zip(*(read_lines(data, f"captions.{split}.{k}", "en")[:SENTENCES] for k in range(1, 6)))
    clean = [" ".join(row) for row in rows]
    noisy = [infill(text, rng) for text in clean]
    return Documents(clean, [text for text, _ in noisy], [hidden for _, hidden in noisy])


def denoising_scores(outputs: Sequence[str], found: Documents) -> list[Score]:
    """chrF of the outputs, of the noisy text without its masks, and the per cent of hidden words that came back.

    A word came back when the output has it more often than the noisy text has; where it stands is not looked at.
    """
    checked(outputs, [found.clean])
    kept = [text.replace("<mask>", " ") for text in found.noisy]
    ours, theirs = (chrf.score(side, found.clean) for side in (outputs, kept))
    signature = f"{ours.signature}|infilling:0.3|seed:0"
    back = sum(
        ((Counter(output.split()) - Counter(left.split())) & Counter(hidden)).total()
        for output, left, hidden in zip(outputs, kept, found.hidden)
    )
    total = sum(map(len, found.hidden))
    return [replace(ours, signature=signature), replace(theirs, name="chrF2 of the noisy text", signature=signature),
            Score("words restored", 100 * back / total, f"words:{total}|infilling:0.3|seed:0")]
