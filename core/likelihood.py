"""How likely the model finds a given output, under any masks and edits: teacher forcing (sheet 000, lessons 1, 7, 8)."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from core.checks import check_floats
from core.controls import Controls, use
from core.errors import InputError
from core.records import pack, unpack
from core.runs import Run
from core.settings import Settings
from core.shapes import Floats
from core.text import Token, piece
from core.trace import run_id


@dataclass(frozen=True, eq=False)
class ForcedPass:
    """log P of each token of a given output, log P(y_t | y_<t, x) in nats (target,), under the masks of `settings`.

    stepwise: each token was scored with nothing after it in sight, as when the model writes. Otherwise in one forward
    over the whole output; under a mask that looks ahead the model then sees the answer: that is the leak.
    """

    kind = "forced"

    settings: Settings
    fingerprint: str
    target: tuple[Token, ...]
    logprobs: Floats
    stepwise: bool

    @property
    def id(self) -> str:
        """What was scored, under what, by which weights, and how."""
        asked = f"{run_id(self.settings, self.fingerprint)}\n{[t.id for t in self.target]}\n{self.stepwise}"
        return hashlib.sha256(asked.encode()).hexdigest()

    @property
    def total(self) -> float:
        """log P(y | x), nats."""
        return float(self.logprobs.sum(dtype=np.float64))

    @property
    def loss(self) -> float:
        """-log P(y | x) / |y|, nats a token (lesson 7); NaN for an output without tokens."""
        return -self.total / len(self.logprobs) if len(self.logprobs) else float("nan")

    def to_bytes(self) -> bytes:
        """One self-contained file (safetensors); no pickle."""
        head = {"settings": self.settings.to_json(), "fingerprint": self.fingerprint, "stepwise": self.stepwise,
                "target": [[t.text, t.id, t.start, t.end] for t in self.target]}
        return pack(self.kind, head, {"logprobs": self.logprobs})

    @classmethod
    def from_bytes(cls, data: bytes) -> "ForcedPass":
        """What `to_bytes` wrote; RecordError says what is wrong with anything else."""
        return unpack(cls.kind, data, cls._read)

    @classmethod
    def _read(cls, head: dict, arrays: dict[str, np.ndarray]) -> "ForcedPass":
        settings, _ = Settings.from_json(head["settings"])
        target = tuple(Token(str(text), int(id), int(start), int(end)) for text, id, start, end in head["target"])
        logprobs = check_floats("logprobs", arrays["logprobs"], (len(target),))
        return cls(settings, str(head["fingerprint"]), target, logprobs, bool(head["stepwise"]))


def score(going: Run, target: Sequence[int], stepwise: bool = False) -> ForcedPass:
    """log P of `target` (ids, the start token left out) after the source of `going`, under its masks and edits.

    `going` need not have made a step. stepwise: one forward a token instead of one for all.
    """
    ids = list(map(int, target))
    if not ids:
        raise InputError("There is no output to score: it has no tokens.")
    logits = _stepwise(going, ids) if stepwise else logits_of(going, ids)[0]
    logprobs = logits.float().log_softmax(-1).gather(1, torch.tensor(ids, device=logits.device)[:, None])[:, 0]
    tokens = tuple(Token(piece(going.loaded.tokenizer, id), id) for id in ids)
    return ForcedPass(going.settings, going.loaded.fingerprint, tokens, logprobs.cpu().numpy(), stepwise)


@torch.inference_mode()
def logits_of(going: Run, target: Sequence[int], controls: Controls | None = None, batch: int = 1) -> torch.Tensor:
    """(batch, target, vocab) in one forward: encoder and decoder under the controls of `going`, or under others."""
    loaded = going.loaded
    source, real = source_of(going)
    fed = torch.tensor([[going.start.id, *target[:-1]]], device=loaded.device)
    options = {} if real is None else {"attention_mask": real.expand(batch, -1)}
    with use(controls or going.controls):
        return loaded.model(
            input_ids=source.expand(batch, -1), decoder_input_ids=fed.expand(batch, -1), use_cache=False, **options
        ).logits


def source_of(going: Run) -> tuple[torch.Tensor, torch.Tensor | None]:
    """Ids (1, source) on the model's device, and which are real, None where all are."""
    ids = torch.tensor([[t.id for t in going.source]], device=going.loaded.device)
    return ids, None if going.real is None else torch.tensor([going.real], device=ids.device)


@torch.inference_mode()
def _stepwise(going: Run, target: list[int]) -> torch.Tensor:
    """(target, vocab): each row by a forward of its own that ends there."""
    loaded = going.loaded
    source, real = source_of(going)
    options: dict[str, Any] = {} if real is None else {"attention_mask": real}
    with use(going.controls):
        memory = loaded.model.get_encoder()(input_ids=source, return_dict=True, **options)
        rows = []
        for end in range(1, len(target) + 1):
            fed = torch.tensor([[going.start.id, *target[: end - 1]]], device=loaded.device)
            out = loaded.model(encoder_outputs=memory, decoder_input_ids=fed, use_cache=False, **options)
            rows.append(out.logits[0, -1])
    return torch.stack(rows)
