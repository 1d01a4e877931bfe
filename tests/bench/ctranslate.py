"""CTranslate2, a faster engine for the same weights, as a peer: converted in a folder of its own.

It is needed for nothing else, so it is imported only here: pip install -e ".[bench]".
"""

import tempfile
from collections.abc import Callable
from pathlib import Path

import torch

from core.models.loading import Loaded

MISSING = 'CTranslate2 is not installed, so it is left out: pip install -e ".[bench]"'
Call = Callable[[list[int], int, int], list[int]]  # source ids, tokens, beams -> the best hypothesis


def translator(loaded: Loaded, compute: str = "float32") -> Call | None:
    """A search by CTranslate2 over the weights of a T5, on as many threads as torch has; None where it is not installed.

    compute: "float32" or "int8", how it reads its weights.
    """
    try:
        import ctranslate2
        from ctranslate2.converters.transformers import T5Loader
    except ImportError:
        return None
    loader, names = T5Loader(), [f"t{id}" for id in range(loaded.model.config.vocab_size)]
    with torch.no_grad(), tempfile.TemporaryDirectory() as folder:
        spec = loader.get_model_spec(loaded.model)
        loader.set_vocabulary(spec, names)
        for part in ("bos_token", "decoder_start_token", "unk_token"):
            setattr(spec.config, part, names[0])
        spec.config.eos_token = names[1]  # never written: the length is forced
        spec.validate()
        spec.optimize(quantization=None)
        place = Path(folder) / "model"
        place.mkdir()
        spec.save(str(place))
        engine = ctranslate2.Translator(str(place), device="cpu", compute_type=compute, intra_threads=torch.get_num_threads())

    def call(source: list[int], tokens: int, beams: int) -> list[int]:
        found = engine.translate_batch(
            [[names[id] for id in source]], beam_size=beams, length_penalty=1, min_decoding_length=tokens,
            max_decoding_length=tokens)
        return [int(name[1:]) for name in found[0].hypotheses[0]]

    return call
