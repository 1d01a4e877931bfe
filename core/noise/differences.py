"""Code against paper, in a sentence with the numbers of the text at hand; empty where both do the same."""

from fractions import Fraction
from math import ceil, comb

from core.noise.bart import hidden_count
from core.noise.spans import paper_counts, rounded, span_counts
from core.noise.tokens import Units
from core.noising import NoiseSettings


def of_spans(units: Units, settings: NoiseSettings) -> str:
    """Counts, places and the closing sentinel of span corruption."""
    length = len(units.body)
    if not length or not settings.rate:
        return ""
    noise, spans = span_counts(length, settings.rate, settings.mean_span)
    exact = paper_counts(length, settings.rate, settings.mean_span)
    clean = max(length, 2) - noise
    said = []
    if spans > min(noise, clean):
        said.append(f"the code stops with an error: {spans} spans do not fit between {clean} clean tokens")
    elif settings.roll:
        said.append("random_roll shifts the code's mask, so that it may begin hidden and number its targets one span late")
    elif comb(noise - 1, spans - 1) * comb(clean - 1, spans - 1) == 1:
        said.append(f"the code always hides the last {noise} of these {length} tokens, whatever the seed")
    else:
        said.append("the code's text always begins clean and ends hidden")
    said.append("the paper hides any place as likely")
    if (noise, spans) != exact:
        said.append(f"the code hides {noise} tokens in {spans} spans, the paper's rule gives {exact[0]} in {exact[1]}")
    said.append("the code closes its target with a sentinel only where the text ends clean, the paper always")
    return _sentence(said)


def of_scattered(units: Units, settings: NoiseSettings) -> str:
    """Independent coins against an exact count."""
    length = len(units.body)
    if not 0 < settings.rate < 1 or not length:
        return ""
    exact = rounded(length * Fraction(str(settings.rate)))
    said = [f"the code tosses a coin for each of the {length} tokens, so how many are hit is left to chance",
            f"the paper's share of {settings.rate:g} is exactly {exact}"]
    if settings.name == "bert_style" and settings.random_share:
        said.append("a random token of the code may be a sentinel or the token that was there")
    if settings.name == "iid":
        said.append("the code closes its target with a sentinel only where the text ends clean, the paper always")
    return _sentence(said)


def of_prefix(units: Units, settings: NoiseSettings) -> str:
    """The code ends at 0.5."""
    if settings.rate <= 0.5:
        return ""
    return _sentence([f"the code has no rate above 0.5 and takes that, not {settings.rate:g}"])


def of_bart(units: Units, settings: NoiseSettings) -> str:
    """Counts, overlaps and what is a sentence."""
    steps, said = settings.combined, []
    words = sum(units.whole(settings.whole_words))
    if {"masking", "deletion", "infilling"} & set(steps):
        code, exact = hidden_count(words, settings.rate), ceil(words * Fraction(str(settings.rate)))
        if code != exact:
            said.append(f"the code's float32 product hides {code} of {words}, exact arithmetic {exact}")
    if "infilling" in steps and settings.rate:
        said.append("the code's spans may overlap or run off the end, so that it hides less than asked; the paper's never do")
    if "permutation" in steps:
        said.append("the code moves a second full stop to the next sentence and leaves a lone last word in place; "
                    "the paper's sentences take both along")
    if "rotation" in steps and len(units.body) > 1:
        said.append("two of the code's offsets change nothing, one of the paper's")
    if "insertion" in steps:
        said.append("the code counts <s> and </s> when it inserts masks; the paper has no such noise of its own")
    if settings.random_share and {"masking", "infilling", "insertion"} & set(steps):
        said.append("a random token of the code may be a special one or the token that was there")
    return _sentence(said)


def of_bert(units: Units, settings: NoiseSettings) -> str:
    """Which tokens are counted, and how."""
    length, whole = len(units.body), len(units.tokens)
    if not length or not settings.rate:
        return ""
    exact = max(1, rounded(length * Fraction(str(settings.rate))))
    if settings.name == "roberta":
        said = [f"the code takes {settings.rate:g} of {whole} tokens, special ones counted, and rounds by chance"]
    else:
        said = [f"the code chooses {max(1, round(whole * settings.rate))}: it counts the special tokens too"]
    said.append(f"of the {length} tokens of the text itself the share is {exact}")
    if settings.random_share and settings.name != "electra":
        said.append("a random token of the code may be a special one or the token that was there")
    return _sentence(said)


def _sentence(said: list[str]) -> str:
    text = "; ".join(said)
    return f"{text[0].upper()}{text[1:]}." if said else ""
