"""One pair under teacher forcing, looked into: what the decoder reads and is to write, its prediction, loss and gradient.

The decoder reads the true target shifted by one (sheet 000, lesson 8). With one wrong token put in, the loss of the tokens
after it shows what the model makes of a prefix that it never saw while it was trained: exposure bias.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch

from core.errors import InputError
from core.models.families import reading
from core.models.loading import Loaded
from core.shapes import Floats, Ids
from core.text import Token, tokenize
from core.train.forcing import IGNORED, decoder_input, forward, rotate, shift_right

TOP = 8  # candidates of each position that are kept for show


@dataclass(frozen=True, eq=False)
class Taught:
    """fed (target,): what the decoder reads; labels (target,): what it is to write next.

    nll (target,): −log p̂ of the label. even (target,): −log p̂ averaged over the vocabulary: the loss smoothed by ε is
    (1 − ε) nll + ε even. best (target, candidates) ids and their chance, most likely first; rank (target,) of the label, from 0.
    """

    fed: Ids
    labels: Ids
    nll: Floats
    even: Floats
    best: Ids
    chance: Floats
    rank: Ids
    vocab: int

    @property
    def loss(self) -> float:
        """Mean nll, nats a token, end token counted."""
        return float(self.nll.mean(dtype=np.float64))

    @property
    def perplexity(self) -> float:
        """exp(loss), of the unsmoothed loss; not comparable between tokenisers."""
        return float(np.exp(self.nll.mean(dtype=np.float64)))

    def smoothed(self, epsilon: float) -> float:
        """Mean loss against (1 − ε) y + ε/V."""
        return (1 - epsilon) * self.loss + epsilon * float(self.even.mean(dtype=np.float64))


def label_tokens(loaded: Loaded, text: str, limit: int, language: str = "") -> tuple[list[Token], int]:
    """(tokens of a target as the model is to write them, how many were cut); the end token is last, or mBART's language code."""
    with reading(loaded, language) as tokenizer:
        return tokenize(tokenizer, text, min(limit, loaded.max_target))


@torch.inference_mode()
def teach(loaded: Loaded, source: Sequence[int], labels: Sequence[int], wrong: Mapping[int, int] | None = None) -> Taught:
    """One forward over ids source (source,) and labels (target,).

    wrong: decoder position -> id that it reads there in place of the true one; position 0 is the start token and stays.
    """
    if not source or not labels:
        raise InputError("Teacher forcing needs a source and a target, each of at least one token.")
    ids, wanted = (torch.tensor([list(side)], device=loaded.device) for side in (source, labels))
    fed = decoder_input(loaded.model, wanted)
    vocab = loaded.model.get_output_embeddings().weight.shape[0]
    for at, id in (wrong or {}).items():
        if not 0 < at < len(labels) or not 0 <= id < vocab:
            raise InputError(f"Token {id} cannot stand at position {at + 1} of the decoder's input: it has {len(labels)} "
                             f"positions, the first is the start token, and ids go to {vocab - 1}.")
        fed[0, at] = id
    logprobs = forward(loaded.model, ids, torch.ones_like(ids), fed)[0].float().log_softmax(-1)
    own = logprobs.gather(1, wanted[0][:, None])
    best = logprobs.topk(min(TOP, vocab), dim=-1)
    as_ids = [x.to(torch.int32).cpu().numpy() for x in (fed[0], wanted[0], best.indices, (logprobs > own).sum(-1))]
    as_floats = [x.cpu().numpy() for x in (-own[:, 0], -logprobs.mean(-1), best.values.exp())]
    return Taught(as_ids[0], as_ids[1], as_floats[0], as_floats[1], as_ids[2], as_floats[2], as_ids[3], vocab)


def divergence(true: Sequence[int], written: Sequence[int]) -> int | None:
    """The first position at which two outputs (target,) differ; None where they are the same."""
    if list(true) == list(written):
        return None
    pairs = enumerate(zip(true, written))
    return next((at for at, (a, b) in pairs if a != b), min(len(true), len(written)))


# family -> (what stands before the text in the labels, what stands after it, what the decoder starts from)
RULES: dict[str, tuple[tuple[str, ...], tuple[str, ...], str]] = {
    "t5": ((), ("</s>",), "<pad>"),
    "bart": (("<s>",), ("</s>",), "</s>"),
    "marian": ((), ("</s>",), "<pad>"),
    "mbart": ((), ("</s>", "de_DE"), ""),
}


def shifted(family: str, pieces: Sequence[str], width: int) -> tuple[list[str], list[str]]:
    """(decoder input, labels), each of `width` pieces, of a text under a family's rule; labels are padded with −100.

    The start token of mBART is the last real label, its language code; the others begin with a token of their own.
    """
    before, after, start = RULES[family]
    row = [*before, *pieces, *after]
    names = list(dict.fromkeys([*row, start, "<pad>"]))
    id = {name: at for at, name in enumerate(names)}
    labels = torch.tensor([[id[name] for name in row] + [IGNORED] * (width - len(row))])
    fed = shift_right(labels, id[start], id["<pad>"]) if start else rotate(labels, id["<pad>"])
    return [names[at] for at in fed[0].tolist()], ["−100" if at == IGNORED else names[at] for at in labels[0].tolist()]
