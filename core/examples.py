"""Sentences of our own to start from, and `python -m core.examples`, which records them for the first screen.

They are in assets/examples.json: `first` with what to look at and an English gloss of each German word, `own` with references,
`summaries`: five captions of one scene each, three to read and two to compare with; `scored` with outputs to score.
None of them is taken from the training or test data.
"""

import json
import re
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import numpy as np

from core.noise.words import hide_word
from core.settings import Decoding, Settings
from core.trace import Trace

ASSETS = Path(__file__).resolve().parents[1] / "assets"
TRACES = ASSETS / "traces"
SEARCH = "search.safetensors"
SEARCHED = Decoding(beams=4)


@dataclass(frozen=True)
class Example:
    """A sentence, what it shows in a word, what to look at in it, and what each word of its translation means.

    task: empty is the model's first. reference: a translation into German by hand, where there is one.
    """

    text: str
    look: str = ""
    name: str = ""
    task: str = ""
    gloss: dict[str, str] = field(default_factory=dict)
    reference: str = ""

    @property
    def key(self) -> str:
        """The name as a key of assets/words."""
        return self.name.replace(",", "").replace(" ", "-")


_FILE = json.loads((ASSETS / "examples.json").read_text("utf-8"))
EXAMPLES = tuple(Example(**entry) for entry in _FILE["first"])  # the first one is the first screen
OWN: tuple[dict[str, str], ...] = tuple(_FILE["own"])  # language -> sentence, the same one in each
SUMMARIES: tuple[tuple[str, ...], ...] = tuple(map(tuple, _FILE["summaries"]))
SCORED: tuple[dict[str, str], ...] = tuple(_FILE["scored"])  # what pocket-t5 once wrote for some of OWN, beside the reference


def source_for(task: str, rng: np.random.Generator) -> str:
    """One of our own sources for a task of the bundled models: a sentence, one with a hidden word, or three captions."""
    if task == "summary":
        return " ".join(SUMMARIES[rng.integers(len(SUMMARIES))][:3])
    sentence = OWN[rng.integers(len(OWN))]["en"]
    hidden = hide_word(sentence, rng) if task == "fill" else None
    return hidden[0] if hidden else sentence


def saved(folder: Path = TRACES) -> list[Trace]:
    """The recorded traces, in the order of EXAMPLES; a missing or damaged file is left out."""
    found = []
    for number in range(len(EXAMPLES)):
        path = folder / f"{number}.safetensors"
        if path.is_file():
            found.append(Trace.from_bytes(path.read_bytes()))
    return found


@cache
def saved_search(path: Path = TRACES / SEARCH) -> Trace | None:
    """The recorded beam search of the first example; None where the file is missing."""
    return Trace.from_bytes(path.read_bytes()) if path.is_file() else None


def gloss(trace: Trace) -> list[tuple[int, int, str]]:
    """(start, end, English) of each word of a saved trace's output that has a gloss; offsets count characters."""
    words = {example.text: example.gloss for example in EXAMPLES}.get(trace.settings.text, {})
    return [(m.start(), m.end(), words[m[0]]) for m in re.finditer(r"\w+", trace.text) if m[0] in words]


def main() -> None:
    """Record every example with the default model, and a beam search of the first one."""
    from core import record

    TRACES.mkdir(parents=True, exist_ok=True)
    for number, example in enumerate(EXAMPLES):
        trace = record(Settings(text=example.text, task=example.task))
        (TRACES / f"{number}.safetensors").write_bytes(trace.to_bytes())
        print(f"{number}  {trace.text}  ({trace.id[:8]}, {len(trace.steps)} steps)")
    search = record(Settings(text=EXAMPLES[0].text, task=EXAMPLES[0].task, decoding=SEARCHED))
    (TRACES / SEARCH).write_bytes(search.to_bytes())


if __name__ == "__main__":
    main()
