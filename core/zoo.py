"""Released encoder-decoders by their published sizes: what the budget and the families of appendix B compare.

`source` says where the sizes come from: "library", the defaults of transformers' config class; "card", the config of the
released checkpoint as its page states it. Always count the model that is loaded: opus-mt vocabularies differ from pair to pair.
"""

from dataclasses import dataclass

from core.parameters import Architecture


@dataclass(frozen=True)
class Released:
    """One released model: sizes, and the dressings by which families differ (sheet 001, lesson 5).

    positions: "bias", "learned", "sinusoids" or "rotary". place: of the norm, "before", "after" each part, or "both".
    objective: what it was trained on, a word of `training.kinds.trained`.
    """

    name: str
    sizes: Architecture
    source: str
    positions: str
    norm: str
    place: str
    activation: str
    objective: str


def _t5(name: str, layers: int, d: int, heads: int, d_kv: int, d_ff: int, source: str, **more) -> Released:
    vocab, family, objective = more.pop("vocab", 32128), more.pop("family", "t5"), more.pop("objective", "spans_tasks")
    gated = bool(more.get("gated"))
    sizes = Architecture(family, d, layers, layers, heads, d_kv, d_ff, vocab, positions=32, **more)
    return Released(name, sizes, source, "bias", "RMSNorm", "before", "GeGLU" if gated else "ReLU", objective)


def _bart(
    name: str, family: str, layers: int, d: int, heads: int, d_ff: int, vocab: int, rows: int, source: str, *dress: str
) -> Released:
    return Released(name, Architecture(family, d, layers, layers, heads, d // heads, d_ff, vocab, positions=rows), source, *dress)


_BART = ("learned", "LayerNorm", "after", "GELU", "noises")
ZOO: tuple[Released, ...] = (
    _t5("t5-small", 6, 512, 8, 64, 2048, "library"),
    _t5("t5-base", 12, 768, 12, 64, 3072, "card"),
    _t5("t5-large", 24, 1024, 16, 64, 4096, "card"),
    _t5("t5-3b", 24, 1024, 32, 128, 16384, "card"),
    _t5("flan-t5-small", 8, 512, 6, 64, 1024, "card", gated=True, tied=False, objective="spans_then_tasks"),
    _t5("mt5-small", 8, 512, 6, 64, 1024, "library", family="mt5", vocab=250112, gated=True, tied=False,
        objective="spans_languages"),
    _bart("bart-base", "bart", 6, 768, 12, 3072, 50265, 1024, "card", *_BART),
    _bart("bart-large", "bart", 12, 1024, 16, 4096, 50265, 1024, "library", *_BART),
    _bart("opus-mt-en-de", "marian", 6, 512, 8, 2048, 58101, 512, "card", "sinusoids", "LayerNorm", "after", "SiLU",
          "translation"),
    _bart("pegasus-large", "pegasus", 16, 1024, 16, 4096, 96103, 1024, "card", "sinusoids", "LayerNorm", "before", "ReLU",
          "gaps"),
    Released("t5gemma-2b-2b", Architecture("t5gemma", 2304, 26, 26, 8, 256, 9216, 256000, True, True, 0, 4), "library",
             "rotary", "RMSNorm", "both", "GeGLU", "adapted"),
)
