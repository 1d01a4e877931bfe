"""The resume file of a sweep: a line for each chunk that is made, written at once; a sweep begun again reads it and goes on."""

import os
from collections.abc import Sequence
from pathlib import Path

from core.errors import RecordError
from core.models import Models
from core.sweeps.plan import Chunk, Made


class ResumeFile:
    """One writer: whoever began the sweep. made: number of a chunk -> what it became, read from the file and added to."""

    def __init__(self, path: Path, chunks: Sequence[Chunk], models: Models):
        self.path, self.chunks, self.made = path, list(chunks), {}
        if path.exists():
            self._read(models)

    @property
    def left(self) -> list[Chunk]:
        """Chunks that are not made yet."""
        return [chunk for chunk in self.chunks if chunk.number not in self.made]

    def add(self, made: Made) -> None:
        """Keep it; it is on the disk when this returns."""
        with self.path.open("ab") as file:
            file.write(made.to_json().encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())
        self.made[made.number] = made

    def _read(self, models: Models) -> None:
        """RecordError for a file of another sweep or of other weights. A last line that was cut by a crash is taken away."""
        data = self.path.read_bytes()
        whole = data[: data.rfind(b"\n") + 1]
        if whole != data:
            with self.path.open("r+b") as file:
                file.truncate(len(whole))
        ids = {chunk.number: chunk for chunk in self.chunks}
        for number, line in enumerate(whole.decode("utf-8", "replace").splitlines(), 1):
            made = Made.from_json(line)
            chunk = ids.get(made.number)
            if chunk is None or chunk.id != made.id:
                raise RecordError(f"Line {number} of {self.path.name} is of another sweep: other texts, settings or chunks. "
                                  "Name another file, or remove this one.")
            if made.fingerprint != models.load(chunk.settings[0].model).fingerprint:
                raise RecordError(f"Line {number} of {self.path.name} was made with other weights of {chunk.settings[0].model}.")
            self.made[made.number] = made
