"""BERT, GPT, ELECTRA, DeBERTa, ALBERT and SBERT on a person's text: all cards, or one family trained on it for some steps.

Their models are made when they are first asked for and kept: some MB for everybody. A family takes one turn of the model.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from app import relative_packs
from app.engine import Engine
from app.steps import Steps
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

        A newer ask of this visitor ends the older one; Stop ends a training within a step, and what it has come to is told.
        text: what is read; empty: the page's source.
        """
        from core.relatives import read

        loaded = self.engine.models.load(DEFAULT)
        text, seed = data.get("text", ""), data.get("seed", 0)
        own = isinstance(text, str) and not text.strip()
        with loaded.lock:
            reading = read(loaded.tokenizer, settings.text if own else text, seed)
        latest, name = self.engine.latest, self.ticket_of(visitor)
        ticket = latest.begin(name)

        def wanted() -> bool:
            return latest.wants(name, ticket)

        going = self._cards(loaded, reading) if what == "relatives" else self._falling(reading, data.get("name"), wanted)
        for message in going:
            if not wanted() and (latest.overtaken(name, ticket) or message["kind"] != "fall"):
                return
            yield message | {"text": reading.units.text, "own": own}

    @staticmethod
    def ticket_of(visitor: str) -> str:
        """Its name among what is wanted: no run of this visitor beside it ends it."""
        return f"{visitor} relatives"

    def stop(self, visitor: str) -> None:
        """The training of this visitor ends at its next step."""
        self.engine.latest.stop(self.ticket_of(visitor))

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

    def _falling(self, reading: Any, name: object, wanted: Callable[[], bool]) -> Iterator[dict[str, Any]]:
        """over: whether this was the last message; stopped: whether the training was ended before its end."""
        from core.relatives import falling

        if name not in ORDER:
            raise InputError(f"There is no family {shown(name)}; there are: {', '.join(ORDER)}.")
        steps, points = Steps(falling(name, reading, STEPS), self.engine.turn, wanted, INTERVAL), []
        told = {"kind": "fall", "name": name, "of": STEPS, "seed": reading.seed}
        for loss in steps:
            points.append(loss)
            if steps.due():
                yield told | {"points": points[:], "over": False, "stopped": False}
        yield told | {"points": points, "over": True, "stopped": not steps.ended}
