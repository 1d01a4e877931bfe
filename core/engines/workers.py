"""What processes on other machines are told of this host's models, and the registry that each of them keeps."""

from functools import cache
from pathlib import Path
from typing import NamedTuple

from core.models import Models


class Registry(NamedTuple):
    """What makes a registry again. folders: (name, folder), which must lie at the same place on every machine."""

    folders: tuple[tuple[str, str], ...]
    allow_hub: bool
    device: str | None


def registry(models: Models) -> Registry:
    """The registry of these models."""
    return Registry(tuple((name, str(folder)) for name, folder in models.folders.items()), models.allow_hub, models.device)


@cache
def registry_of(told: Registry) -> Models:
    """This process's models: one registry for all it is asked, so that each model is loaded once."""
    return Models({name: Path(folder) for name, folder in told.folders}, told.allow_hub, told.device)
