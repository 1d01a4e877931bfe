"""What a training shows: a line every hundred steps, rows in `curve.jsonl`, and the curves as a picture."""

import json
from pathlib import Path

from core.train.curves import draw


class Progress:
    """Rows of one training, on the screen and in `folder`."""

    def __init__(self, folder: Path):
        self.path = folder / "curve.jsonl"
        self.picture = folder / "curve.svg"

    def rewind(self, step: int) -> None:
        """Forget rows after `step`: a resumed training writes them again."""
        if self.path.exists():
            rows = [row for row in self.rows() if row["step"] <= step]
            self.path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")

    def rows(self) -> list[dict]:
        """All rows so far."""
        return [json.loads(line) for line in self.path.read_text("utf-8").splitlines()]

    def add(self, kind: str, step: int, **values) -> None:
        """One line on the screen, the same row in the file."""
        row = {"kind": kind, "step": step} | {k: _short(v) for k, v in values.items()}
        print("  ".join(f"{k} {v}" for k, v in row.items()), flush=True)
        with open(self.path, "a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")

    def draw(self, title: str) -> None:
        """Write the picture again."""
        self.picture.write_text(draw(title, self.rows()), encoding="utf-8")


def _short(value):
    """Four significant digits: enough for a curve, and the file ships."""
    return float(f"{value:.4g}") if isinstance(value, float) else value
