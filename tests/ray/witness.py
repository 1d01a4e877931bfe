"""A chunk that leaves a trace on the disk of each time that it is begun; workers import it by name."""

import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from core.models import Models
from core.sweeps.plan import Chunk, Made


@dataclass(frozen=True)
class Witnessed(Chunk):
    """folder: gets a file for each time that this chunk is begun. pause: seconds, so that it can be met in the middle."""

    folder: str = ""
    pause: float = 0.0

    def make(self, models: Models) -> Iterator[Made | None]:
        Path(self.folder, f"{self.number}.{os.getpid()}.{time.monotonic_ns()}.begun").touch()
        time.sleep(self.pause)
        yield from super().make(models)


def begun(folder: Path) -> list[tuple[int, int]]:
    """(chunk, process) for each time that one was begun, oldest first."""
    files = sorted(folder.glob("*.begun"), key=lambda path: int(path.name.split(".")[2]))
    return [(int(number), int(process)) for number, process, *_ in (path.name.split(".") for path in files)]
