"""What the relatives share: a model with random seeded weights, what it makes of a text, and how that is looked into.

The mask is not drawn from a rule: it is where any layer and head put weight. What moves when one token changes is measured.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn.functional import cross_entropy

from core.relatives.reading import IGNORED, Fed, Reading

WIDTH, INNER, HEADS, LAYERS, PLACES = 32, 64, 4, 2, 64
MOVED = 1e-5  # of a normed state in float32: more than rounding


@dataclass(eq=False)
class Judged:
    """An objective computed on one text. losses: scalars in nats with their gradients; "total" is what would be trained on.

    even: what knowing nothing costs. counts: predictions that a loss is the mean of. columns: by position of the input, in its
    order. facts: (key, numbers) of sentences. matrix: (texts, texts), cosines.
    """

    losses: dict[str, torch.Tensor]
    even: dict[str, float]
    counts: dict[str, int]
    columns: dict[str, list[Any]] = field(default_factory=dict)
    facts: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    matrix: torch.Tensor | None = None


@dataclass(frozen=True)
class Part:
    """One part of the input representation: shape of its table, and the root mean square of its vectors on this text."""

    name: str
    shape: tuple[int, ...]
    size: float | None


@dataclass(frozen=True, eq=False)
class Relative:
    """One family on one text. mask (tokens, tokens): bool, row reads column. moved (tokens,): whose state changes when the
    token at `changed` does. losses, even: nats by name."""

    name: str
    classes: str
    tokens: tuple[str, ...]
    mask: np.ndarray
    changed: int
    moved: tuple[bool, ...]
    columns: dict[str, list[Any]]
    parts: tuple[Part, ...]
    losses: dict[str, float]
    even: dict[str, float]
    counts: dict[str, int]
    facts: list[tuple[str, dict[str, Any]]]
    matrix: np.ndarray | None
    parameters: int


class Family:
    """One family. A subclass names itself and says how it is built, what it reads, what it is trained on."""

    name, classes = "", ""

    def build(self, rows: int) -> nn.Module:
        """A fresh model over `rows` ids; the caller has set the seed."""
        raise NotImplementedError

    def fed(self, reading: Reading) -> list[Fed]:
        """The rows that are looked into: one, or two that never see each other."""
        raise NotImplementedError

    def judge(self, model: nn.Module, reading: Reading) -> Judged:
        """The objective, live, with gradients where they are on."""
        raise NotImplementedError

    def parts(self, model: nn.Module, fed: Sequence[Fed]) -> list[Part]:
        """What the first layer's input is made of."""
        return embedded(self.reader(model).base_model.embeddings, fed)

    def reader(self, model: nn.Module) -> nn.Module:
        """The model of transformers that is looked into."""
        return model


def made(family: Family, rows: int, seed: int = 0) -> nn.Module:
    """The family's model, the same for the same seed, without dropout."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return family.build(rows).eval()


def forward(model: nn.Module, fed: Fed, **more: Any) -> Any:
    """One row through a model of transformers; segments only where it has them."""
    inputs = {"input_ids": torch.tensor([fed.ids])}
    if getattr(model.config, "type_vocab_size", 0):
        inputs["token_type_ids"] = torch.tensor([fed.segments])
    return model(**inputs, **more)


def each(logits: torch.Tensor, labels: Sequence[int]) -> torch.Tensor:
    """−log P of each label (tokens,) from logits (tokens, vocab); 0 where nothing is scored."""
    return cross_entropy(logits, torch.tensor(list(labels)), ignore_index=IGNORED, reduction="none")


def mean(nll: torch.Tensor, labels: Sequence[int]) -> torch.Tensor:
    """The mean over places that are scored."""
    return nll.sum() / max(1, sum(label != IGNORED for label in labels))


@torch.inference_mode()
def look(family: Family, model: nn.Module, reading: Reading) -> Relative:
    """All that is shown of one family on one text: two to five small forwards."""
    judged, fed, reader = family.judge(model, reading), family.fed(reading), family.reader(model)
    masks, moved, changed = [], [], 0
    for row in fed:
        out = forward(reader, row, output_attentions=True, output_hidden_states=True)
        masks.append((torch.stack(out.attentions)[:, 0] > 0).any(0).any(0))
        if row is fed[-1]:  # the rows before it never see it
            at = 2 * len(row.ids) // 3
            other = [*row.ids]
            other[at] = (row.ids[at] + 1) % (reading.rows - 3)
            after = forward(reader, Fed(other, row.segments, row.labels), output_hidden_states=True)
            moved += ((out.hidden_states[-1] - after.hidden_states[-1])[0].abs().amax(-1) > MOVED).tolist()
            changed = at + len(moved) - len(row.ids)
        else:
            moved += [False] * len(row.ids)
    tokens = [reading.name(id) for row in fed for id in row.ids]
    return Relative(
        family.name, family.classes, tuple(tokens), torch.block_diag(*masks).bool().numpy(), changed, tuple(moved),
        judged.columns, tuple(family.parts(model, fed)), {name: float(loss) for name, loss in judged.losses.items()},
        judged.even, judged.counts, judged.facts, None if judged.matrix is None else judged.matrix.numpy(),
        sum(one.numel() for one in model.parameters()))


def embedded(table: nn.Module, fed: Sequence[Fed]) -> list[Part]:
    """Token, segment and position, as BERT's embeddings add them."""
    ids = torch.tensor([id for row in fed for id in row.ids])
    segments = torch.tensor([segment for row in fed for segment in row.segments])
    places = torch.cat([torch.arange(len(row.ids)) for row in fed])
    return [part("token", table.word_embeddings, ids), part("segment", table.token_type_embeddings, segments),
            part("position", table.position_embeddings, places)]


def part(name: str, table: nn.Module, rows: torch.Tensor | None) -> Part:
    """A table, and how large its vectors are that this text reads."""
    size = None if rows is None else float(table.weight[rows].square().mean().sqrt())
    return Part(name, tuple(table.weight.shape), size)


def places(fed: Sequence[Fed], segments: bool = True) -> dict[str, list[Any]]:
    """The columns that say where each token stands."""
    found: dict[str, list[Any]] = {"segment": ["AB"[segment] for row in fed for segment in row.segments]} if segments else {}
    return found | {"position": [at for row in fed for at in range(len(row.ids))]}


def scored(reading: Reading, fed: Fed, nll: torch.Tensor) -> dict[str, list[Any]]:
    """What is to be predicted at each place, and what it costs."""
    hit = [label != IGNORED for label in fed.labels]
    return {"label": [reading.name(label) if on else None for label, on in zip(fed.labels, hit)],
            "nll": [x if on else None for x, on in zip(nll.tolist(), hit)]}
