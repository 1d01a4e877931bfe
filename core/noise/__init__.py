"""Noise: where (a boolean mask over tokens) times what (how hidden tokens are written), both pure and seeded.

    from core.noise import NOISES, corrupt, histogram, units
    made = corrupt(units(tokenizer, "A dog runs."), NOISES["spans"].usual(seed=3))

Each entry of NOISES says where it comes from. A test keeps its names equal to core.noising.NOISE_NAMES.
"""

from dataclasses import replace

from core.noise import bert, denoising, differences, t5
from core.noise.corruption import Corruption, corrupt, histogram, series
from core.noise.drawn import Noise
from core.noise.tokens import Units, can, rows_of, sentinels_of, units, units_for

_T5 = "Raffel et al. 2020; t5/data/preprocessors.py"
_BART = "Lewis et al. 2020, section 2.2; fairseq denoising_dataset.py"
_MASKING = ("rate", "whole_words", "each_piece", "random_share")


def _bart(name: str, step: str, title: str, help: str, settings: tuple[str, ...], **more) -> Noise:
    return Noise(
        name, title, "BART", help, _BART, settings, denoising.single(step),
        lambda units, chosen: differences.of_bart(units, replace(chosen, combined=(step,))),
        **{"needs": "mask"} | more,
    )


def _t5(name: str, title: str, help: str, source: str, corrupt, difference=differences.of_scattered, **more) -> Noise:
    settings = more.pop("settings", ("rate",))
    return Noise(name, title, "T5", help, f"{_T5}, {source}", settings, corrupt, difference, **{"needs": "sentinels"} | more)


def _bert(name: str, title: str, help: str, source: str, corrupt, *settings: str, **more) -> Noise:
    start = {"random_share": 0.1, "keep_share": 0.1} if "keep_share" in settings else {}
    return Noise(
        name, title, "BERT", help, source, ("rate", "whole_words", *settings), corrupt, differences.of_bert, start=start, **more
    )


NOISES: dict[str, Noise] = {
    "bert": _bert(
        "bert", "BERT: 80/10/10", "Of the chosen tokens 80 % are masked, 10 % are random, 10 % stay.",
        "Devlin et al. 2019, section 3.1; bert/create_pretraining_data.py", bert.bert, "random_share", "keep_share",
        needs="mask",
    ),
    "bert_style": _t5(
        "bert_style", "T5: BERT-style", "Hidden tokens become one and the same sentinel, a tenth of them a random token; "
        "the decoder writes the whole text.", "iid_15_r10s90_f", t5.bert_style,
        settings=("rate", "random_share"), start={"random_share": 0.1},
    ),
    "combined": Noise(
        "combined", "BART: combined", "BART", "Several of BART's noises, in the reference's order.", _BART,
        ("combined", *_MASKING, "poisson", "permute_rate", "rotate_rate", "insert_rate"), denoising.combined,
        differences.of_bart, start={"rate": 0.3}, needs="mask",
    ),
    "deshuffle": _t5(
        "deshuffle", "T5: deshuffling", "The tokens in random order; the decoder puts them right.", "all_permute",
        t5.deshuffle, start={"rate": 1.0}, needs="", edits=False,
    ),
    "document_rotation": _bart(
        "document_rotation", "rotation", "BART: document rotation", "The text starts at a random token and goes round.",
        ("rotate_rate",), amount="rotate_rate", needs="", edits=False,
    ),
    "drop": _t5(
        "drop", "T5: drop tokens", "Hidden tokens vanish without a trace; the decoder writes nothing but them.",
        "iid_15_d_d", t5.drop, needs="",
    ),
    "electra": _bert(
        "electra", "ELECTRA: replaced tokens", "Chosen tokens are replaced by others; find them.",
        "Clark et al. 2020, section 2; electra/pretrain/pretrain_helpers.py", bert.electra,
    ),
    "iid": _t5(
        "iid", "T5: single tokens", "Each token by itself is hidden or not; neighbours share a sentinel.", "iid_15_u_u", t5.iid,
    ),
    "mass_style": _t5(
        "mass_style", "T5: MASS-style", "Hidden tokens become one and the same sentinel; the decoder writes the whole text.",
        "iid_15_m_f", t5.mass_style,
    ),
    "prefix_lm": _t5(
        "prefix_lm", "T5: prefix LM", "The encoder reads a beginning of random length; the decoder goes on.", "prefix_lm",
        t5.prefix_lm, differences.of_prefix, start={"rate": 0.5}, needs="", edits=False,
    ),
    "roberta": _bert(
        "roberta", "RoBERTa: dynamic masking", "BERT's masking, drawn anew each epoch.",
        "Liu et al. 2019, section 4.1; fairseq mask_tokens_dataset.py", bert.roberta, "random_share", "keep_share", "epoch",
        needs="mask",
    ),
    "sentence_permutation": _bart(
        "sentence_permutation", "permutation", "BART: sentence permutation", "Sentences change places.", ("permute_rate",),
        amount="permute_rate", needs="", edits=False,
    ),
    "spans": _t5(
        "spans", "T5: span corruption", "Runs of tokens behind one sentinel each; the decoder writes the runs.",
        "span_corruption", t5.spans, differences.of_spans, settings=("rate", "mean_span", "roll"),
    ),
    "text_infilling": _bart(
        "text_infilling", "infilling", "BART: text infilling", "Spans of words become one mask each; some spans are empty.",
        (*_MASKING, "poisson"), start={"rate": 0.3, "whole_words": True},
    ),
    "token_deletion": _bart(
        "token_deletion", "deletion", "BART: token deletion", "Tokens vanish without a trace.", ("rate", "whole_words"),
        start={"rate": 0.3}, needs="",
    ),
    "token_insertion": _bart(
        "token_insertion", "insertion", "BART: insertion noise", "Masks are added; all tokens stay.",
        ("insert_rate", "random_share"), amount="insert_rate", edits=False,
    ),
    "token_masking": _bart(
        "token_masking", "masking", "BART: token masking", "Tokens become masks.", _MASKING, start={"rate": 0.3},
    ),
}

__all__ = [
    "NOISES", "Corruption", "Noise", "Units", "can", "corrupt", "histogram", "rows_of", "sentinels_of", "series", "units",
    "units_for",
]
