"""What a beam search ranked: a level a step, every candidate with its fate; and the tree that all levels make.

Plain numpy, no torch: a saved tree is drawn before any model has loaded. Only levels are kept. The tree, the final ranking
and the best hypothesis follow from them, so that no file can hold a tree that contradicts its steps.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from core.shapes import Floats, Ids

# A fate is an index into this: what a candidate came to, and if it was pruned, why.
FATES = (
    "kept", "finished", "rank", "ended too low", "finished pool", "early stop",
    "n-gram ban", "source n-gram ban", "minimum length", "banned word", "forced token",
)
KEPT, FINISHED, RANK, TOO_LOW, POOL, STOP = range(6)
REPEATED = -5e8  # half of decode.search.NEVER: below it lies what has no log P of its own
REASONS = {
    "rank": "other candidates ranked above it",
    "ended too low": "it ended, but not among the first of its step",
    "finished pool": "it ended, and better hypotheses ended too",
    "early stop": "the search stopped before it ended",
    "n-gram ban": "it would repeat a run of tokens",
    "source n-gram ban": "it would copy a run of source tokens",
    "minimum length": "the text must not end yet",
    "banned word": "the checkpoint never writes it",
    "forced token": "another token was forced here",
}


def fate_of(reason: str) -> int:
    """The fate of what a processor with this `reason` bans; one that names none bans a word."""
    return FATES.index(reason) if reason in REASONS else FATES.index("banned word")


@dataclass(frozen=True, eq=False)
class Level:
    """The candidates that one step ranked, best first, those that a ban kept out at the end; each array (ranked,).

    row, token: the row that it continues and the token. logprob: the model's own, in nats. total: log P of the whole
    hypothesis as it was ranked, penalties in. score: total under the length penalty, as if it ended here. fate: see FATES.
    """

    row: Ids
    token: Ids
    logprob: Floats
    total: Floats
    score: Floats
    fate: np.ndarray

    def __post_init__(self) -> None:
        for item in fields(self):
            getattr(self, item.name).flags.writeable = False

    @property
    def chosen(self) -> np.ndarray:
        """The places of those that are rows from here on; at the end of the search of those that would be, or that ended."""
        places = (np.flatnonzero(self.fate == fate) for fate in (KEPT, STOP, FINISHED))
        return next((found for found in places if len(found)), np.zeros(0, int))


LEVEL = {"row": "int32", "token": "int32", "logprob": "float32", "total": "float32", "score": "float32", "fate": "uint8"}


@dataclass(frozen=True, eq=False)
class SearchTree:
    """All levels together, each array (nodes,). beams: how many ended hypotheses the search kept.

    parent: the node continued, -1 at the start. step: where it was ranked. row: its row in the next forward, -1 for none.
    fate: as in its level, and POOL for one that was pushed out later. token, logprob, total, score: as in Level.
    """

    beams: int
    parent: Ids
    step: Ids
    row: Ids
    token: Ids
    logprob: Floats
    total: Floats
    score: Floats
    fate: np.ndarray
    complete: bool

    @property
    def real(self) -> np.ndarray:
        """The nodes with a log P of their own; the others repeat the first row, where a forced token leaves nothing better."""
        return np.flatnonzero(self.total > REPEATED)

    @cached_property
    def ranking(self) -> list[int]:
        """The nodes that ended and count, best score first; equal ones in the order they came."""
        ended = np.flatnonzero(self.fate == FINISHED)
        return ended[np.argsort(-self.score[ended], kind="stable")].tolist()

    @property
    def best(self) -> int:
        """The node that the text ends in: the winner, or while the search goes on the best that goes on; -1 for none."""
        if self.complete and self.ranking:
            return self.ranking[0]
        last = np.flatnonzero((self.step == self.step[-1]) & (self.row == 0)) if len(self.step) else []
        return int(last[0]) if len(last) else -1

    def path(self, node: int) -> list[int]:
        """The nodes from the first token to `node`."""
        out = []
        while node >= 0:
            out.append(node)
            node = int(self.parent[node])
        return out[::-1]

    def fed(self, node: int) -> int:
        """The row of the forward that ranked `node`: that of its parent, the first one at the start."""
        parent = int(self.parent[node])
        return int(self.row[parent]) if parent >= 0 else 0


class Place(NamedTuple):
    """One token of a hypothesis: the step that ranked it, the row of that forward, its id, log-probability and text."""

    step: Any
    fed: int
    id: int
    logprob: float
    text: str


def line(steps: Sequence[Any], row: int) -> list[Place]:
    """The hypothesis that ends in `row` of the last step."""
    out = []
    for step in reversed(steps):
        fed = int(step.parent[row])  # the forward that ranked this token ran on the row of its parent
        out.append(Place(step, fed, int(step.token[row]), float(step.logprob[row]), step.texts[row]))
        row = fed
    return out[::-1]


def line_of(steps: Sequence[Any], tree: SearchTree, node: int) -> list[Place]:
    """The hypothesis that ends in `node` of the tree of `steps`."""
    first = np.searchsorted(tree.step, np.arange(len(steps)))  # the first node of each step
    return [
        Place(steps[at := int(tree.step[each])], tree.fed(each), int(tree.token[each]), float(tree.logprob[each]),
              steps[at].ranked_texts[each - first[at]])
        for each in tree.path(node)
    ]


def best_line(steps: Sequence[Any], beams: int) -> list[Place]:
    """What the steps have written: the winner of a beam search that has come to its end, else what the first row holds."""
    last = steps[-1].ranked if steps else None
    if last is None or (last.fate == KEPT).any():
        return line(steps, 0)
    tree = tree_of([step.ranked for step in steps], beams)
    return line_of(steps, tree, tree.best)


def tree_of(levels: Sequence[Level], beams: int) -> SearchTree:
    """The tree of all levels so far."""
    parent, step, row = [], [], []
    before = np.full(1 + max((int(level.row.max()) for level in levels[:1]), default=0), -1)  # the node in each row fed
    made = 0
    for index, level in enumerate(levels):
        size, chosen = len(level.token), level.chosen
        parent.append(before[level.row])
        step.append(np.full(size, index))
        row.append(np.full(size, -1))
        row[-1][chosen] = np.arange(len(chosen))
        before = made + chosen
        made += size
    arrays = {name: _joined([getattr(level, name) for level in levels], dtype) for name, dtype in LEVEL.items() if name != "row"}
    arrays["fate"] = _settled(arrays["fate"], arrays["score"], beams)
    places = {name: _joined(parts, "int32") for name, parts in (("parent", parent), ("step", step), ("row", row))}
    complete = bool(levels) and not (levels[-1].fate == KEPT).any()
    return SearchTree(beams=beams, complete=complete, **places, **arrays)


def _joined(parts: list[np.ndarray], dtype: str) -> np.ndarray:
    return np.concatenate([np.zeros(0, dtype), *parts]).astype(dtype)


def _settled(fate: np.ndarray, score: Floats, beams: int) -> np.ndarray:
    """The fates after all: of those that ended only the best `beams` count."""
    ended = np.flatnonzero(fate == FINISHED)
    fate = fate.copy()
    fate[ended[np.argsort(-score[ended], kind="stable")[beams:]]] = POOL
    return fate


def check_level(step: Any, rows: int, where: str) -> None:
    """What a tree relies on in the level of one step; `rows`: how many were fed. A refusal is a ValueError."""
    level, size = step.ranked, len(step.ranked.token)
    for name, dtype in LEVEL.items():
        array = getattr(level, name)
        if array.dtype != dtype or array.shape != (size,):
            raise ValueError(f"{where}: ranked {name} is {array.dtype} {array.shape}, not {dtype} {(size,)}")
    if not size or size > 64 * rows:
        raise ValueError(f"{where}: {size} candidates ranked for {rows} rows")
    if len(step.ranked_texts) != size:
        raise ValueError(f"{where}: {len(step.ranked_texts)} texts for {size} ranked candidates")
    if level.row.min() < 0 or level.row.max() >= rows or level.token.min() < 0 or level.fate.max() >= len(FATES):
        raise ValueError(f"{where}: a ranked candidate with a row, a token or a fate that there is not")
    for name in ("logprob", "total", "score"):
        if not np.isfinite(getattr(level, name)).all():
            raise ValueError(f"{where}: a ranked {name} that is not finite")
    chosen = level.chosen
    if not (np.array_equal(level.row[chosen], step.parent) and np.array_equal(level.token[chosen], step.token)):
        raise ValueError(f"{where}: the hypotheses are not those that the ranking keeps")
