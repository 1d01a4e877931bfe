"""metrics.json: BLEU, chrF, TER and ROUGE of pairs and of a corpus, signatures, and how references lie."""

from pathlib import Path

from core.errors import InputError
from core.metrics import bleu, chrf, rouge, ter
from core.metrics.score import Score
from tests.golden import Report, differs

TOLERANCE = 1e-6  # the vectors' README


def check_metrics(data: dict, folder: Path, report: Report) -> None:
    """Each number of each pair, the corpus, the signatures; a layout that scores something else must be refused."""
    for pair in data.get("pairs", []):
        texts, name = ([pair["hypothesis"]], *([text] for text in pair["references"])), pair["name"]
        for index, row in enumerate(pair.get("bleu", [])):
            report.case(f"{name} bleu {index}", _bleu, texts, row)
        for tokenizer, wanted in pair.get("tokenized", {}).items():
            report.case(f"{name} tokenized {tokenizer}", _tokens, texts[0][0], tokenizer, wanted)
        for key in ("chrf", "chrf_lc", "chrf++", "chrf++_lc"):
            if key in pair:
                report.case(f"{name} {key}", _chrf, texts, key, pair[key])
        for row in pair.get("ter", []):
            report.case(f"{name} ter {row['params']}", _ter, texts, row)
        for key in ("rouge", "rouge_stem"):
            for kind, wanted in pair.get(key, {}).items():
                report.case(f"{name} {key} {kind}", _rouge, texts, kind, key == "rouge_stem", wanted["f"])
    if "corpus" in data:
        for row in data["corpus"]["scores"]:
            report.case(f"corpus {row.get('tokenize', row.get('metric'))}", _corpus, data["corpus"], row)
    for signature in data.get("signatures", []):
        report.case(f"signature {signature}", _signature, signature)
    if "reference_layout" in data:
        for check in (_layout, _missing, _refused):
            report.case(check.__name__[1:], check, data["reference_layout"])


def _bleu(texts: tuple, row: dict) -> str | None:
    found = bleu.score(*texts, tokenizer=row["tokenize"], smoothing=row["smooth"], effective_order=row["effective_order"])
    ours = (found.value, found.brevity_penalty, *found.precisions, *found.counts, *found.totals, *found.lengths)
    theirs = (row["score"], row["bp"], *row["precisions"], *row["counts"], *row["totals"], row["sys_len"], row["ref_len"])
    return differs("BLEU", ours, theirs, TOLERANCE)


def _tokens(text: str, tokenizer: str, wanted: str) -> str | None:
    found = bleu.tokens(text, tokenizer)
    return None if found == wanted.split() else f"cut into {found}, the file has {wanted.split()}"


def _chrf(texts: tuple, key: str, wanted: float) -> str | None:
    found = chrf.score(*texts, word_order=2 if "++" in key else 0, lowercase=key.endswith("_lc"))
    return differs(key, found.value, wanted, TOLERANCE)


def _ter(texts: tuple, row: dict) -> str | None:
    found = ter.score(*texts, **({"normalized": False, "asian_support": False} | row["params"]))
    return differs("TER", (found.value, *found.counts, *found.totals), (row["score"], row["num_edits"], row["ref_length"]),
                   TOLERANCE)


def _rouge(texts: tuple, kind: str, stem: bool, wanted: float) -> str | None:
    found = rouge.score(*texts, kind=kind, stem=stem, tokenizer="rouge-score", split=False)
    return differs(kind, found.value, wanted, TOLERANCE)


def _corpus(corpus: dict, row: dict) -> str | None:
    texts = corpus["hyps"], corpus["refs"]
    found = _named(row, *texts)
    if found.signature != row["signature"]:
        return f"signature is {found.signature}, the file has {row['signature']}"
    wanted = differs("score", found.value, row["score"], TOLERANCE)
    if wanted or "bp" not in row:
        return wanted
    alone = [_named(row, [one], [other]).value for one, other in zip(*texts)]
    ours = (found.brevity_penalty, *found.precisions, *found.lengths, sum(alone) / len(alone))
    theirs = (row["bp"], *row["precisions"], row["sys_len"], row["ref_len"], row["mean_of_sentence_scores"])
    return differs("part", ours, theirs, TOLERANCE)


def _named(row: dict, *texts: list) -> Score:
    if "tokenize" in row:
        return bleu.score(*texts, tokenizer=row["tokenize"])
    if row["metric"] == "ter":
        return ter.score(*texts, normalized=False, asian_support=False)
    return chrf.score(*texts)


def _signature(wanted: str) -> str | None:
    """The options are read from the signature itself; ours must say them again in its words."""
    said = dict(part.split(":", 1) for part in wanted.split("|"))
    smoothing, _, value = said["smooth"].rstrip("]").partition("[")
    tokenizer = "ja-mecab" if said["tok"].startswith("ja-mecab") else said["tok"]
    found = bleu.score(
        ["a b"], *[["a c"]] * int(said["nrefs"]), tokenizer=tokenizer, lowercase=said["case"] == "lc", smoothing=smoothing,
        smooth_value=float(value) if value else None, effective_order=said["eff"] == "yes").signature
    return None if found == wanted else f"is {found}"


def _layout(layout: dict) -> str | None:
    return differs("score", bleu.score(layout["hyps"], *layout["ref_streams"]).value, layout["score_correct"], TOLERANCE)


def _missing(layout: dict) -> str | None:
    found = bleu.score(layout["hyps"], *layout["ref_streams_with_missing"]).value
    return differs("score", found, layout["score_with_missing"], TOLERANCE)


def _refused(layout: dict) -> str | None:
    """A stream that is too short, or a text in a list's place: the reference takes them, ours must not."""
    for side in (layout["ref_streams"][0][:-1], layout["ref_streams"][0][0]):
        try:
            bleu.score(layout["hyps"], side)
        except InputError:
            continue
        return f"scored with {side!r:.60} as references"
    return None
