"""Moments for the formulas tab, made a forward at a time or kept. No visitor's state is held."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from app import formula_packs
from app.engine import Engine
from app.mask_looks import within
from app.steps import PATIENCE, Steps
from core.errors import InputError
from core.examples import EXAMPLES
from core.formulas.moment import SAVED, TOUR, TOUR_TEXT, Moment
from core.settings import Settings
from core.trace import Trace, run_id

MOST_REFERENCE = 2000  # characters
# What a person would write for the first example; the model writes another preposition, so that the scores say something.
REFERENCE = "Ein Mädchen mit einem gelben Regenschirm wartet im Regen auf den Bus."
LOADING = {"kind": "progress", "key": "loading"}


class FormulaLooks:
    """Shared by all visitors. Errors are TwoStacksError."""

    def __init__(self, engine: Engine):
        self.engine = engine

    def first(self) -> dict[str, Any]:
        """The numbers of the saved run, without a model; nothing where the file is missing."""
        if not SAVED.is_file():
            return {}
        return {"numbers": formula_packs.numbers(Moment.from_bytes(SAVED.read_bytes()), REFERENCE)}

    def is_first(self, settings: Settings) -> bool:
        """Whether the saved numbers are of these settings."""
        return settings == Settings(text=EXAMPLES[0].text, task=EXAMPLES[0].task)

    def messages(self, settings: Settings, place: Sequence[Any], reference: object, visitor: str, fitted: bool = False,
                 ) -> Iterator[dict[str, Any]]:
        """The numbers of one place in a run: step, layer and head as a person counts them. Ended by the visitor's next look.

        fitted: a place that this run does not have is cut to the nearest that it has, instead of refused.
        """
        text = checked(reference)
        if fitted and settings.text != EXAMPLES[0].text and text == REFERENCE:
            text = ""  # it belongs to the first example
        # one that follows has its own name, so that it ends no run; one that was asked for ends with Stop, as a run does
        name = f"{visitor} formulas" if fitted else visitor
        for found in self._made(settings, place, name, "" if fitted else visitor, fitted):
            yield found if isinstance(found, dict) else self._numbers(found, text)

    def tour(self, settings: Settings, visitor: str) -> Iterator[dict[str, Any]]:
        """The numbers of the short example, of the model that is chosen; the default's are saved."""
        if settings.model == Settings().model and TOUR.is_file():
            yield {"kind": "tour", "tour": formula_packs.tour(Moment.from_bytes(TOUR.read_bytes()))}
            return
        own = Settings(text=TOUR_TEXT, model=settings.model, source_language=settings.source_language,
                       target_language=settings.target_language)
        for found in self._made(own, None, f"{visitor} tour", ""):
            yield found if isinstance(found, dict) else {"kind": "tour", "tour": formula_packs.tour(found)}

    def made_already(self, settings: Settings) -> bool:
        """Whether the run of these settings is there, so that its numbers cost no whole run."""
        loaded = self.engine.models.loaded(settings.model)
        return loaded is not None and self.engine.recent.get(run_id(settings, loaded.fingerprint)) is not None

    def _made(self, settings: Settings, place: Sequence[Any] | None, name: str, owner: str, fitted: bool = False,
              ) -> Iterator[dict[str, Any] | Moment]:
        """Progress, and at last a Moment. name: of the ticket. owner: whose session keeps a run made for it; "" is nobody's."""
        engine = self.engine
        engine.models.check(settings.model)
        ticket = engine.latest.begin(name)
        if not engine.models.is_loaded(settings.model):
            yield LOADING
        engine.wait_for_imports()
        from core.formulas.moments import moment
        from core.runs import run

        def wanted() -> bool:
            return engine.latest.wants(name, ticket)

        trace = None
        for found in self._trace(settings, owner, wanted):
            if isinstance(found, dict):
                yield found
            else:
                trace = found
        if trace is not None and not trace.target:
            raise InputError("The model wrote nothing, so there is no step to look at.")
        if trace is not None:
            making = moment(run(settings, engine.models), trace, *self._place(trace, place, fitted))
            for found in Steps(making, engine.turn, wanted):
                if found is not None:
                    yield found
                    return
        if engine.latest.stopped(name):
            yield {"kind": "progress", "key": "stopped"}

    def _trace(self, settings: Settings, owner: str, wanted: Callable[[], bool]) -> Iterator[dict[str, Any] | Trace]:
        """The run of these settings, kept or made, a step a turn; how far it is, where it takes longer than PATIENCE."""
        from core.runs import run

        engine, going = self.engine, run(settings, self.engine.models)
        if trace := engine.recent.get(going.id):
            yield trace
            return
        going = engine.keeper.watch(owner, going) if owner else going
        steps = Steps(going, engine.turn, wanted, PATIENCE)
        try:
            for _ in steps:
                if steps.due():
                    yield {"kind": "progress", "key": "running", "n": len(going.steps)}
            if steps.ended:
                engine.recent.add(trace := going.trace())
                yield trace
        finally:
            going.close()

    def _place(self, trace: Trace, place: Sequence[Any] | None, fitted: bool) -> tuple[int, int, int]:
        """Counted from 0. Layer and head must be there in cross-attention; other stacks take their nearest."""
        name = trace.settings.model
        if place is None:
            return min(1, len(trace.target) - 1), *(self.engine.models.alignment_head(name) or (0, 0))
        sites = self.engine.models.load(name).sites
        sites.require("cross", name)
        sizes = (len(trace.target), sites.layers("cross"), sites.heads["cross"])
        if fitted:
            place = [min(value, size) if isinstance(value, int | float) else 1 for value, size in zip(place, sizes, strict=True)]
        where = ("this output", name, name)
        step, layer, head = (within(*one) for one in zip(("step", "layer", "head"), place, sizes, where, strict=True))
        return step, layer, head

    def _numbers(self, moment: Moment, reference: str) -> dict[str, Any]:
        return {"kind": "numbers", "numbers": formula_packs.numbers(moment, reference)}


def checked(reference: object) -> str:
    """A reference text as it was typed; "" for none."""
    if not isinstance(reference, str) or len(reference) > MOST_REFERENCE:
        raise InputError(f"The reference must be a text of at most {MOST_REFERENCE:,} characters.")
    return reference
