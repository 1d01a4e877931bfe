"""A model folder becomes a Loaded model: safetensors only, no remote code, device and dtype chosen here."""

import hashlib
import re
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from transformers import AutoConfig, AutoModelForSeq2SeqLM, AutoTokenizer, PreTrainedModel
from transformers.utils import logging

from core import products
from core.attention import Sites, find_sites, install
from core.errors import ModelError, TwoStacksError
from core.models.checks import check_ids, check_tokenizer, check_weights
from core.models.families import eos_of, languages_of
from core.models.tasks import tasks_in

logging.set_verbosity_error()  # its warnings would go to the host's log once a request
logging.disable_progress_bar()

# transformers swaps torch's initialisers and default dtype while it loads, for the whole process: two loads at once
# could leave them swapped. Loads from disk take turns therefore; downloads do not.
_LOADING = threading.Lock()


@dataclass(frozen=True, eq=False)
class Loaded:
    """A model ready to run. tasks: name -> prefix. languages: code -> id of the token that asks for it."""

    name: str
    model: Any
    tokenizer: Any
    sites: Sites
    fingerprint: str
    device: torch.device
    dtype: torch.dtype
    tasks: dict[str, str]
    languages: dict[str, int]
    eos: frozenset[int]
    cross_shape: tuple[int, int]
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def max_source(self) -> int:
        """Source positions the model has; a large number where positions are relative."""
        config = self.model.config
        return _positions(getattr(config, "encoder", None) or config.get_text_config(encoder=True))

    @property
    def max_target(self) -> int:
        """Decoder positions the model has."""
        return _positions(self.model.config.get_text_config(decoder=True))


def choose_device(wanted: str | None = None) -> torch.device:
    """CUDA where there is one, else the CPU."""
    if wanted:
        return torch.device(wanted)
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def choose_dtype(config: Any, device: torch.device) -> torch.dtype:
    """float32, except for bfloat16 checkpoints on a GPU. Never float16: T5's feed-forward overflows in it."""
    own = getattr(config, "dtype", None)
    return torch.bfloat16 if device.type == "cuda" and own is torch.bfloat16 else torch.float32


def load_folder(name: str, folder: Path, device: str | None = None) -> Loaded:
    """Load `folder`; every failure is a ModelError that says what is missing."""
    if not (folder / "config.json").is_file():
        raise ModelError(f"The model {name} has no config.json; its folder is not a transformers checkpoint.")
    if not any(folder.glob("*.safetensors")):
        raise ModelError(f"The model {name} has no .safetensors weights; only that format is loaded.")
    try:
        with _LOADING:
            return _load(name, folder, choose_device(device))
    except TwoStacksError:
        raise
    except Exception as error:  # anything may be wrong in a folder from elsewhere; the person gets one sentence
        said = _first_line(_without_paths(str(error), name, folder))
        raise ModelError(f"The model {name} does not load ({said}).") from error


def _load(name: str, folder: Path, device: torch.device) -> Loaded:
    config = AutoConfig.from_pretrained(folder, trust_remote_code=False, local_files_only=True)
    model, info = AutoModelForSeq2SeqLM.from_pretrained(
        folder, config=config, dtype=choose_dtype(config, device), use_safetensors=True, trust_remote_code=False,
        local_files_only=True, output_loading_info=True, ignore_mismatched_sizes=True,
    )
    check_weights(name, model, info)
    check_ids(name, model)
    tokenizer = AutoTokenizer.from_pretrained(folder, trust_remote_code=False, local_files_only=True)
    check_tokenizer(name, tokenizer, folder)
    return prepare(name, model.to(device), tokenizer)


def prepare(name: str, model: Any, tokenizer: Any) -> Loaded:
    """Loaded from a transformers model and tokenizer already in memory; the model is put under our attention."""
    model.eval().requires_grad_(False)
    for part in model.modules():
        if isinstance(part, PreTrainedModel):
            # It reads ids back from the device at every step (GPT-2), to warn about padding that we never feed.
            part.warn_if_padding_and_no_attention_mask = _no_warning
    install(model)
    products.prepare(model)
    sites = find_sites(model)
    return Loaded(
        name=name, model=model, tokenizer=tokenizer, sites=sites, fingerprint=fingerprint(model),
        device=model.device, dtype=model.dtype, tasks=tasks_in(model.config.to_dict()),
        languages=languages_of(tokenizer), eos=eos_of(model),
        cross_shape=(sites.layers("cross"), sites.heads.get("cross", 0)),
    )


def _no_warning(*_: Any) -> None:
    pass


def fingerprint(model: Any) -> str:
    """SHA-256 of the architecture and of every weight: name, dtype, shape and the bytes of its values."""
    sha = hashlib.sha256(type(model).__name__.encode())
    for name, tensor in sorted(model.state_dict().items()):
        sha.update(f"{name}{tensor.dtype}{tuple(tensor.shape)}".encode())
        sha.update(tensor.detach().cpu().contiguous().view(torch.uint8).numpy().data)
    return sha.hexdigest()


def _positions(config: Any) -> int:
    return getattr(config, "max_position_embeddings", None) or 1_000_000


def _first_line(said: str) -> str:
    return (said.strip().splitlines() or ["no reason given"])[0][:200].rstrip(".")


def _without_paths(said: str, name: str, folder: Path) -> str:
    """No path of the host in what a person reads: the folder becomes the model's name, any other path an ellipsis."""
    for path in (folder.resolve(), folder.absolute()):
        said = said.replace(str(path), name)
    return re.sub(r"(?<![\w:/.])(?:/[\w.@+-]+){2,}", "…", said)
