"""BERT, GPT, ELECTRA, DeBERTa, ALBERT and SBERT on a person's text: all cards, or one family trained on it for some steps.

Their models are made when they are first asked for and kept: some MB for everybody. A family takes one turn of the model.
"""

import time
from collections.abc import Iterator, Mapping
from typing import Any

from app import relative_packs
from app.engine import Engine
from core.errors import InputError
from core.fields import shown
from core.models import DEFAULT
from core.settings import Settings

ORDER = ("bert", "gpt", "electra", "deberta", "albert", "sbert")  # as sheet 004 has them
STEPS, INTERVAL = 40, 0.15  # of a training; seconds between curves
ASKS = ("relatives", "fall")


class Relatives:
    """Shared by all visitors; holds no visitor's state. Errors are TwoStacksError."""

    def __init__(self, engine: Engine):
        self.engine = engine

    def messages(self, what: str, settings: Settings, data: Mapping[str, Any], visitor: str) -> Iterator[dict[str, Any]]:
        """"relatives": {"kind": "making"} before each family, then all cards; "fall": the curve so far, until it is whole.

        A newer ask of this visitor ends the older one. text: what is read; empty: the page's source.
        """
        from core.relatives import read

        loaded = self.engine.models.load(DEFAULT)
        text, seed = data.get("text", ""), data.get("seed", 0)
        own = isinstance(text, str) and not text.strip()
        with loaded.lock:
            reading = read(loaded.tokenizer, settings.text if own else text, seed)
        name = f"{visitor} relatives"
        ticket = self.engine.latest.begin(name)
        going = self._cards(loaded, reading) if what == "relatives" else self._falling(reading, data.get("name"))
        for message in going:
            if not self.engine.latest.wants(name, ticket):
                return
            yield message | {"text": reading.units.text, "own": own}

    def _cards(self, loaded: Any, reading: Any) -> Iterator[dict[str, Any]]:
        from core.relatives import RELATIVES, beside, look, model

        cards = []
        for name in ORDER:
            yield {"kind": "making", "name": name, "n": len(cards) + 1, "of": len(ORDER)}
            network = model(name, reading.rows)
            with self.engine.turn:
                found = look(RELATIVES[name], network, reading)
            cards.append(relative_packs.pack(found, reading, loaded.tokenizer))
        with self.engine.turn:
            found = beside(loaded, reading)
        yield {"kind": "relatives", "cards": cards, "beside": relative_packs.beside(found), "seed": reading.seed,
               "cut": reading.units.cut, "alone": reading.alone, "rows": reading.rows, "steps": STEPS}

    def _falling(self, reading: Any, name: object) -> Iterator[dict[str, Any]]:
        from core.relatives import falling

        if name not in ORDER:
            raise InputError(f"There is no family {shown(name)}; there are: {', '.join(ORDER)}.")
        steps, points, last = falling(name, reading, STEPS), [], 0.0
        while True:
            with self.engine.turn:
                loss = next(steps, None)
            if loss is not None:
                points.append(loss)
            if loss is None or time.monotonic() - last > INTERVAL:
                last = time.monotonic()
                yield {"kind": "fall", "name": name, "points": points[:], "of": STEPS, "seed": reading.seed}
            if loss is None:
                return
