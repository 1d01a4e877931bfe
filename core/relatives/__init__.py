"""Families beside the encoder-decoder, as running code on one text: masks, inputs, objectives (sheets 003 and 004).

    from core.relatives import RELATIVES, look, model, read
    found = look(RELATIVES["bert"], model("bert", reading.rows), reading := read(tokenizer, "A dog runs. It barks."))

The weights are random and seeded, so a loss is about what knowing nothing costs: log V for a token, log 2 for one of two answers.
"""

from collections.abc import Iterator
from copy import deepcopy
from functools import cache
from typing import Any

import torch

from core.relatives.albert import Albert
from core.relatives.bert import Bert
from core.relatives.beside import Beside, beside
from core.relatives.deberta import Deberta
from core.relatives.electra import Electra
from core.relatives.family import Family, Part, Relative, look, made
from core.relatives.gpt import Gpt
from core.relatives.reading import Reading, read
from core.relatives.sbert import Sbert

RELATIVES: dict[str, Family] = {
    "albert": Albert(), "bert": Bert(), "deberta": Deberta(), "electra": Electra(), "gpt": Gpt(), "sbert": Sbert(),
}
RATE = 3e-3


@cache
def model(name: str, rows: int) -> Any:
    """A family's model over `rows` ids, kept: about one MB each."""
    return made(RELATIVES[name], rows)


def falling(name: str, reading: Reading, steps: int) -> Iterator[float]:
    """The total loss before each of `steps` steps of Adam on this one text, on a copy; then after the last."""
    family, copied = RELATIVES[name], deepcopy(model(name, reading.rows))
    optimizer = torch.optim.Adam(copied.parameters(), RATE)
    for _ in range(steps):
        loss = family.judge(copied, reading).losses["total"]
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        yield float(loss.detach())
    with torch.inference_mode():
        yield float(family.judge(copied, reading).losses["total"])


__all__ = ["RELATIVES", "Beside", "Family", "Part", "Reading", "Relative", "beside", "falling", "look", "made", "model", "read"]
