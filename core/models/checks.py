"""What transformers lets pass when it loads a folder: missing weights, ids beyond the vocabulary, no tokenizer."""

from pathlib import Path
from typing import Any

from core.errors import ModelError
from core.models.families import eos_of, start_of

# One file of these holds a vocabulary.
VOCABULARIES = ("tokenizer.json", "vocab*", "*.vocab", "*.model", "*.spm")


def check_weights(name: str, model: Any, info: dict[str, Any]) -> None:
    """Refuse weights that the folder lacks: transformers fills them with random numbers. Tied ones are not lacking."""
    missing = sorted(key for key in info["missing_keys"] if not _computed(model, key))
    if missing:
        raise ModelError(f"The model {name} lacks {_some(missing)}; every weight must be in its .safetensors files.")
    if wrong := sorted(info["mismatched_keys"]):
        key, found, wanted = wrong[0]
        raise ModelError(
            f"The model {name} has weights of another shape than its config says: {_some([row[0] for row in wrong])}; "
            f"the first is {tuple(found)} and must be {tuple(wanted)}."
        )
    if info["error_msgs"]:
        raise ModelError(f"The model {name} has {len(info['error_msgs'])} weights that cannot be read.")


def _computed(model: Any, key: str) -> bool:
    """Sinusoids are computed, never learned; many checkpoints of Pegasus leave them out."""
    return "Sinusoidal" in type(model.get_submodule(key.rpartition(".")[0])).__name__


def _some(names: list[str]) -> str:
    """At most three of `names`, and how many more there are."""
    more = f" and {len(names) - 3:,} more" if len(names) > 3 else ""
    return ", ".join(names[:3]) + more


def check_ids(name: str, model: Any) -> None:
    """Refuse special ids without a row in the decoder's embedding: they would fail in the middle of a run."""
    rows, config = len(model.get_decoder().get_input_embeddings().weight), model.generation_config
    named = {
        "decoder start token": [start_of(model, name)], "end token": eos_of(model),
        "forced first token": _ids(config.forced_bos_token_id), "forced last token": _ids(config.forced_eos_token_id),
        "suppressed token": _ids(config.suppress_tokens),
        "bad word": [ids[0] for ids in config.bad_words_ids or [] if len(ids) == 1],
    }
    for what, ids in named.items():
        for id in ids:
            if not (isinstance(id, int) and 0 <= id < rows):
                raise ModelError(f"The model {name} has the {what} {id!r:.40}; its ids go from 0 to {rows - 1:,}.")


def _ids(value: Any) -> list:
    return [] if value is None else value if isinstance(value, list) else [value]


def check_tokenizer(name: str, tokenizer: Any, folder: Path) -> None:
    """Refuse a folder without a vocabulary: transformers makes up an empty one. ByT5 reads bytes and needs none."""
    if type(tokenizer).vocab_files_names and not any(path for kind in VOCABULARIES for path in folder.glob(kind)):
        raise ModelError(f"The model {name} has no tokenizer; its folder must hold one of: {', '.join(VOCABULARIES)}.")
