"""Two runs of the same weights, with the plain masks and with the drawn ones, for the masks tab. No visitor's state is held."""

import math
from collections.abc import Callable, Generator, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from threading import Lock

from app.engine import Engine
from app.steps import INTERVAL, PATIENCE, Steps
from app.words import worded
from core.comparison import Comparison, compare
from core.errors import InputError
from core.interventions import Edits, Masks
from core.masks import looks_ahead
from core.settings import Settings
from core.text import usable
from core.trace import Trace, run_id

MOST_STEPWISE = 64  # tokens of an old output that are scored one forward each, where a mask looks ahead
Progress = dict[str, object]  # a message for app.widgets.findings
Wanted = Callable[[], bool]


_telling = Lock()


@dataclass
class Drawn:
    """What one visitor has drawn; kept by the page for each visitor. turns: field -> the newest edit of it that was told.

    again: a moment of a session stands there, which the tab's opening leaves as it is.
    """

    masks: Masks = Masks()
    edits: Edits = Edits()
    turns: dict[str, int] = field(default_factory=dict)
    again: bool = False

    def take(self, name: str, value: object, turn: object) -> None:
        """Put a field as the browser tells it, unless a newer edit (with a larger turn) came before this one."""
        with _telling:
            newest = self.turns.get(name, 0)
            turn = turn if type(turn) is int else newest
            if turn >= newest:
                self.turns[name] = turn
                setattr(self, name, value)


@dataclass(frozen=True)
class Pair:
    """The plain run and the drawn one. comparison: None where nothing is drawn; `logp_old_now` is NaN until it is known."""

    old: Trace
    new: Trace
    comparison: Comparison | None = None

    @property
    def scored(self) -> bool:
        """Whether log P of the old output under the new masks is known."""
        return self.comparison is not None and not math.isnan(self.comparison.logp_old_now)


def plain(settings: Settings) -> Settings:
    """The same without masks and edits."""
    return replace(settings, masks=Masks(), edits=Edits())


class Masked:
    """Shared by all visitors. Settings come checked; errors are TwoStacksError."""

    def __init__(self, engine: Engine):
        self.engine = engine

    def kept(self, settings: Settings) -> Trace | None:
        """The run of these settings if it is there already; nothing is loaded and nothing is run for it."""
        if trace := self.engine.saved.get(settings.to_json()):
            return trace
        loaded = self.engine.models.loaded(settings.model)
        return self.engine.recent.get(run_id(settings, loaded.fingerprint)) if loaded else None

    def pair(
        self, settings: Settings, visitor: str = "", against: Settings | None = None, ticket: object = None
    ) -> Iterator[Pair | Progress]:
        """Progress while a run is long, then both runs, then once more with log P of the old output under the new masks.

        against: the old run, where it is not the plain one. ticket: of this visitor's run, begun here if there is none. The
        visitor's next run, or Stop, ends it at the next step.
        """
        against = plain(settings) if against is None else against
        engine = self.engine
        ticket = ticket or engine.latest.begin(visitor)
        usable(settings.text)
        engine.models.check(settings.model)

        def wanted() -> bool:
            return engine.latest.wants(visitor, ticket)

        old = yield from self._trace(against, wanted, visitor)
        new = old
        if old is not None and settings != against:
            new = yield from self._trace(settings, wanted, visitor)
        if old is None or new is None:
            if engine.latest.stopped(visitor):
                yield {"kind": "progress", "text": worded("told.stopped.picture")}
            return
        if new is old:
            yield Pair(old, new)
            return
        yield Pair(old, new, compare(old, new))
        now = self._old_now(old, settings) if wanted() else math.nan
        if not math.isnan(now):
            yield Pair(old, new, compare(old, new, now))
        engine.keeper.keep(visitor, lambda: compare(old, new, now))

    def trace(self, settings: Settings, wanted: Wanted = lambda: True) -> Trace:
        """The run of these settings, kept or made now."""
        made = self._trace(settings, wanted)
        with suppress(StopIteration):
            while True:
                next(made)
        found = self.kept(settings)
        if found is None:
            raise InputError("This run was stopped. Press Run both, then look again.")
        return found

    def _trace(self, settings: Settings, wanted: Wanted, visitor: str = "") -> Generator[Progress, None, Trace | None]:
        """One run, step by step in turns with everybody else's; None once it is not wanted any more."""
        engine = self.engine
        if trace := self.kept(settings):
            engine.keeper.keep(visitor, lambda: trace, asked=settings != plain(settings))
            return trace
        yield from engine.arriving(settings.model)
        going = engine.keeper.watch(visitor, engine.start(settings))
        steps = Steps(going, engine.turn, wanted, INTERVAL, PATIENCE)
        try:
            for _ in steps:
                if steps.due():
                    yield {"kind": "progress", "text": worded("told.writes", n=len(going.target))}
            if not steps.ended:
                return None
            trace = going.trace()
            engine.recent.add(trace)
            return trace
        finally:
            going.close()

    def _old_now(self, old: Trace, settings: Settings) -> float:
        """log P of the old output under the new masks, as the model would write it; NaN where that would take too long.

        One forward scores all rows at once, except under a mask that looks ahead: there it would see the answer.
        """
        from core.likelihood import score
        from core.runs import run

        ahead = looks_ahead(settings.masks.decoder)
        if not old.target or (ahead and len(old.target) > MOST_STEPWISE):
            return math.nan
        going = run(settings, self.engine.models)
        with self.engine.turn:
            return score(going, [token.id for token in old.target], stepwise=ahead).total
