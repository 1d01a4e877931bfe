"""CTranslate2, a faster engine for the same weights, as a peer: converted in a folder of its own, run in a process of its own.

In one process both would be wrong: after its first run torch's products take 1.6 times as long there, for good.
It is needed for nothing else, so it is imported only here: pip install -e ".[bench]".
"""

import json
import subprocess
import sys
import tempfile
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # the process that runs it has no torch
    from core.models.loading import Loaded

MISSING = 'CTranslate2 is not installed, so it is left out: pip install -e ".[bench]"'
Call = Callable[[list[int], int, int], list[int]]  # source ids, tokens, beams -> the best hypothesis


def translator(loaded: "Loaded", compute: str = "float32") -> Call | None:
    """A search by CTranslate2 over the weights of a T5, on as many threads as torch has; None where it is not installed.

    compute: "float32" or "int8", how it reads its weights.
    """
    import torch

    try:
        import ctranslate2  # noqa: F401
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
        engine = subprocess.Popen(
            [sys.executable, "-m", "tests.bench.ctranslate", str(place), compute, str(torch.get_num_threads())],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
        assert engine.stdout.readline() == "ready\n"  # it has read the folder

    def call(source: list[int], tokens: int, beams: int) -> list[int]:
        engine.stdin.write(json.dumps([[names[id] for id in source], tokens, beams]) + "\n")
        return [int(name[1:]) for name in json.loads(engine.stdout.readline())]

    weakref.finalize(call, engine.kill)
    return call


def answer(place: str, compute: str, threads: str) -> None:
    """The process: a line in, [source tokens, length, beams]; a line out, the tokens of the best hypothesis."""
    import ctranslate2

    engine = ctranslate2.Translator(place, device="cpu", compute_type=compute, intra_threads=int(threads))
    print("ready", flush=True)
    for line in sys.stdin:
        source, tokens, beams = json.loads(line)
        found = engine.translate_batch(
            [source], beam_size=beams, length_penalty=1, min_decoding_length=tokens, max_decoding_length=tokens)
        print(json.dumps(found[0].hypotheses[0]), flush=True)


if __name__ == "__main__":
    answer(*sys.argv[1:])
