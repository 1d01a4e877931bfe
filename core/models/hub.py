"""A checkpoint from the Hugging Face hub: safetensors only, no code, its size checked before the download."""

from pathlib import Path

import httpx
from huggingface_hub import HfApi, snapshot_download
from huggingface_hub.errors import GatedRepoError, HFValidationError, RepositoryNotFoundError
from huggingface_hub.utils import filter_repo_objects

from core.errors import ModelError

MAX_DOWNLOAD = 4 * 2**30
WANTED = ["*.json", "*.safetensors", "*.model", "*.txt", "*.spm"]


def download(name: str, progress) -> Path:
    """The local folder of hub model `name` (owner/name, already checked), downloaded unless it is in the cache."""
    progress(f"asking the hub about {name}")
    try:
        info = HfApi().model_info(name, files_metadata=True, timeout=10)
        size = _size(name, info.siblings or [])
        progress(f"downloading {name} ({size / 2**20:,.0f} MB)")
        return Path(snapshot_download(name, allow_patterns=WANTED, revision=info.sha))
    except GatedRepoError:
        raise ModelError(f"{name} is gated on the hub; this host has no access to it.") from None
    except RepositoryNotFoundError:
        raise ModelError(f"There is no model {name} on the hub (or it is private). Check owner/name.") from None
    except HFValidationError:
        raise ModelError(f"{name} is not a name that the hub accepts. Type a hub id as owner/name.") from None
    except (httpx.HTTPError, OSError) as error:  # no network raises httpx's own errors, which are no OSErrors
        return _cached(name, error)


def _size(name: str, files: list) -> int:
    """Bytes that would be downloaded; refuses a model without safetensors or beyond the limit."""
    weights = [f for f in files if f.rfilename.endswith(".safetensors")]
    if not weights:
        raise ModelError(f"{name} has no .safetensors weights on the hub; only that format is loaded.")
    wanted = list(filter_repo_objects(files, allow_patterns=WANTED, key=lambda f: f.rfilename))
    if unknown := [f.rfilename for f in wanted if f.size is None]:
        what = unknown[0][:80]
        raise ModelError(f"{name}: the hub does not say how large {what} is; only known sizes are downloaded.")
    size = sum(f.size for f in wanted)
    if size > MAX_DOWNLOAD:
        limit = f"{MAX_DOWNLOAD / 2**30:.0f} GB"
        raise ModelError(f"{name} has {size / 2**30:.1f} GB of files; at most {limit} are downloaded.")
    return size


def _cached(name: str, error: Exception) -> Path:
    """Without a network, a model that was downloaded before still loads."""
    try:
        return Path(snapshot_download(name, allow_patterns=WANTED, local_files_only=True))
    except (OSError, HFValidationError):
        raise ModelError(
            f"The hub cannot be reached ({type(error).__name__}) and {name} is not on this machine. "
            "Pick a bundled model, or try again later."
        ) from None
