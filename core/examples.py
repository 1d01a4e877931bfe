"""Sentences of our own to start from, and `python -m core.examples`, which records them for the first screen."""

from dataclasses import dataclass
from pathlib import Path

from core.settings import Settings
from core.trace import Trace

TRACES = Path(__file__).resolve().parents[1] / "assets" / "traces"


@dataclass(frozen=True)
class Example:
    """A sentence and what to look at in it."""

    text: str
    look: str


# The first one is the first screen. None of these is taken from the training or test data.
EXAMPLES = (
    Example(
        "A girl with a yellow umbrella is waiting for the bus in the rain.", "one word for one word, almost in order",
    ),
    Example("The old man is not wearing a hat.", "'not a' becomes one word: 'keinen'"),
    Example("Yesterday evening two brown dogs chased a ball along the beach.", "the verb moves before the subject"),
    Example(
        "A boy and his father are building a sandcastle together.",
        "a compound: two English words or pieces, one German",
    ),
    Example(
        "People are standing in a long line in front of a small bakery.",
        "'in front of' is one German word: 'vor'",
    ),
    Example("The central bank raised its interest rate again.", "outside what the model knows: watch the entropy"),
)


def saved(folder: Path = TRACES) -> list[Trace]:
    """The recorded traces, in the order of EXAMPLES; a missing or damaged file is left out."""
    found = []
    for number in range(len(EXAMPLES)):
        path = folder / f"{number}.safetensors"
        if path.is_file():
            found.append(Trace.from_bytes(path.read_bytes()))
    return found


def main() -> None:
    """Record every example with the default model."""
    from core import record

    TRACES.mkdir(parents=True, exist_ok=True)
    for number, example in enumerate(EXAMPLES):
        trace = record(Settings(text=example.text))
        (TRACES / f"{number}.safetensors").write_bytes(trace.to_bytes())
        print(f"{number}  {trace.text}  ({trace.id[:8]}, {len(trace.steps)} steps)")


if __name__ == "__main__":
    main()
