"""A checkpoint from the Hugging Face hub: safetensors only, no code, its size checked before the download."""

from pathlib import Path

from huggingface_hub import HfApi, snapshot_download
from huggingface_hub.errors import GatedRepoError, HfHubHTTPError, OfflineModeIsEnabled, RepositoryNotFoundError

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
    except ModelError:
        raise
    except (HfHubHTTPError, OfflineModeIsEnabled, OSError) as error:
        return _cached(name, error)


def _size(name: str, files: list) -> int:
    """Bytes that would be downloaded; refuses a model without safetensors or beyond the limit."""
    weights = [f for f in files if f.rfilename.endswith(".safetensors")]
    if not weights:
        raise ModelError(f"{name} has no .safetensors weights on the hub; only that format is loaded.")
    size = sum(f.size or 0 for f in weights)
    if size > MAX_DOWNLOAD:
        raise ModelError(f"{name} has {size / 2**30:.1f} GB of weights; at most {MAX_DOWNLOAD / 2**30:.0f} GB are loaded.")
    return size


def _cached(name: str, error: Exception) -> Path:
    """Without a network, a model that was downloaded before still loads."""
    try:
        return Path(snapshot_download(name, allow_patterns=WANTED, local_files_only=True))
    except OSError:
        raise ModelError(
            f"The hub cannot be reached ({type(error).__name__}) and {name} is not on this machine. "
            "Pick a bundled model, or try again later."
        ) from None
