"""What a person may change inside attention, as settings: masks (what may be seen) and edits (heads, rows, padding).

Positions count from 0 along the axes as the model reads them: source position 0 is the first source token (the task
prefix included), target position 0 the row that reads the start token. Layer or head -1 means all of them.
"""

from dataclasses import dataclass

from core.errors import InputError
from core.fields import Checked, choice, part, several, shown

STACKS = ("encoder", "decoder", "cross")
OWN = ""
PRESETS = (OWN, "bidirectional", "causal", "prefix", "window", "diagonal", "padding")
SIZED = ("prefix", "window")  # presets that read `size`
ALL = -1
MAX_POSITION = 1023
MAX_LAYER = 255
MAX_EXCEPTIONS = 4096
MAX_PADS = 64


def _named(name: str, value: str, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        listed = ", ".join(repr(one) for one in allowed)
        raise InputError(f"{name} is {shown(value)}; it must be one of: {listed}.")


@dataclass(frozen=True)
class Cell(Checked):
    """One cell of a drawn mask: whether `query` may read `key`, in one layer or in all."""

    query: int = choice(0, "Row: the position that looks.", 0, MAX_POSITION)
    key: int = choice(0, "Column: the position that is looked at.", 0, MAX_POSITION)
    layer: int = choice(ALL, "Layer, counted from 0; -1 is all.", ALL, MAX_LAYER)
    allowed: bool = choice(False, "Whether the row may read the column.")


@dataclass(frozen=True)
class StackMask(Checked):
    """The mask of one stack: a preset, hidden columns, and cells that differ. The preset holds beyond what is drawn.

    An exception wins over the preset and over `hidden`; one for a layer wins over one for all layers. Padding stays
    hidden whatever is drawn. `size` is 0 unless the preset reads it, so that equal masks are equal settings.
    """

    preset: str = choice(OWN, "Which mask: empty is the model's own.")
    size: int = choice(0, "prefix: its length p. window: how far a row sees to either side (decoder: back).", 0, 1024)
    hidden: tuple[int, ...] = several(int, "Positions that no row may read.", 1024, 0, MAX_POSITION)
    exceptions: tuple[Cell, ...] = several(Cell, "Cells that differ from the preset.", MAX_EXCEPTIONS)

    def __post_init__(self) -> None:
        super().__post_init__()
        _named("preset", self.preset, PRESETS)
        if self.preset not in SIZED:
            object.__setattr__(self, "size", 0)
        object.__setattr__(self, "hidden", tuple(sorted(set(self.hidden))))
        cells = {(cell.layer, cell.query, cell.key): cell for cell in self.exceptions}  # the last word on a cell counts
        object.__setattr__(self, "exceptions", tuple(cells[place] for place in sorted(cells)))

    @property
    def own(self) -> bool:
        """Whether it leaves the model's own mask as it is."""
        return self == StackMask()


@dataclass(frozen=True)
class Masks(Checked):
    """What each stack may see."""

    encoder: StackMask = part(StackMask, "Encoder self-attention: source rows, source columns.")
    decoder: StackMask = part(StackMask, "Decoder self-attention: target rows, target columns.")
    cross: StackMask = part(StackMask, "Cross-attention: target rows, source columns.")

    def of(self, stack: str) -> StackMask:
        """The mask of a stack by name."""
        return getattr(self, stack)


@dataclass(frozen=True)
class Head(Checked):
    """One head that is switched off: its output is 0 and so are its weights."""

    stack: str = choice("encoder", "encoder, decoder or cross.")
    layer: int = choice(0, "Layer, counted from 0.", 0, MAX_LAYER)
    head: int = choice(0, "Head, counted from 0.", 0, MAX_LAYER)

    def __post_init__(self) -> None:
        super().__post_init__()
        _named("stack", self.stack, STACKS)


@dataclass(frozen=True)
class Row(Checked):
    """Weights put in place of what the softmax gave one row; what the mask hides stays 0, the rest adds up to 1."""

    stack: str = choice("cross", "encoder, decoder or cross.")
    query: int = choice(0, "Which row.", 0, MAX_POSITION)
    weights: tuple[float, ...] = several(float, "One weight a column, from the first; the rest is 0.", 1024, 0.0, 1e6)
    layer: int = choice(ALL, "Layer, counted from 0; -1 is all.", ALL, MAX_LAYER)
    head: int = choice(ALL, "Head, counted from 0; -1 is all.", ALL, MAX_LAYER)

    def __post_init__(self) -> None:
        super().__post_init__()
        _named("stack", self.stack, STACKS)
        if not any(self.weights):
            raise InputError(f"The weights of row {self.query} are all 0; at least one must be above 0.")


@dataclass(frozen=True)
class Edits(Checked):
    """What is changed beside the masks."""

    heads: tuple[Head, ...] = several(Head, "Heads that are switched off.", 1024)
    rows: tuple[Row, ...] = several(Row, "Rows of weights that are set by hand.", 256)
    pads: int = choice(0, "Pad tokens added after the source.", 0, MAX_PADS)
    padding_mask: bool = choice(True, "Whether those pad tokens are hidden, as they should be.")
    forced: tuple[int, ...] = several(int, "Ids the decoder must write first: a branch starts after them.", 1024, 0, 2**31 - 1)

    def __post_init__(self) -> None:
        super().__post_init__()
        heads = {(head.stack, head.layer, head.head): head for head in self.heads}
        object.__setattr__(self, "heads", tuple(heads[place] for place in sorted(heads)))


def wording(choice: StackMask, stack: str) -> str:
    """What a person calls the mask of a stack: "causal", "prefix 3", "causal, hidden 2, 4 cells changed"."""
    own = {"encoder": "bidirectional", "decoder": "causal", "cross": "padding only"}[stack]
    words = [own if choice.preset == OWN else "padding only" if choice.preset == "padding" else choice.preset]
    if choice.preset in SIZED:
        words[0] += f" {choice.size}"
    if choice.hidden:
        words.append("hidden " + " ".join(str(at + 1) for at in choice.hidden[:6]) + (" …" if len(choice.hidden) > 6 else ""))
    if choice.exceptions:
        words.append(f"{len(choice.exceptions)} cell{'s' * (len(choice.exceptions) != 1)} changed")
    return ", ".join(words)
