"""The process's one engine: the registry, loaded in the background, and runs turned into messages for the stepper."""

import logging
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from app.keeper import Keeper
from app.making import Making
from app.recent import Recent
from app.sentences import translated
from app.steps import INTERVAL, PATIENCE, Steps
from app.turns import Latest, Turn
from app.widgets.line import line
from app.words import worded
from core.engines import Engine as Maker
from core.engines import Lent, Options, engine_of
from core.errors import EngineError, InputError, TwoStacksError
from core.examples import gloss, saved
from core.models import DEFAULT, Models
from core.records import browser_attribution, browser_row, browser_start, browser_trace, how_made
from core.settings import Settings
from core.trace import Trace

log = logging.getLogger("two-stacks")
MOST_EXPLAINED = 256 * 128  # source x output tokens; input x gradient goes back through the encoder for each output token
HEAD_START = 1.0  # seconds that the browser has for the first picture before importing torch takes a core


class Engine:
    """Shared by all visitors; holds no visitor's state.

    maker: what makes runs, comparisons and corpora, here or on a cluster (core/engines).
    """

    def __init__(self, models: Models, keeper: Keeper | None = None, elsewhere: Lent | None = None,
                 options: Options | None = None):
        self.models, self.keeper, self._options, self._lent = models, keeper or Keeper(), options or Options(), elsewhere
        self._maker: Maker | None = None
        self.saved: dict[str, Trace] = {trace.settings.to_json(): trace for trace in saved()}
        self._status: tuple[str, dict[str, str]] = "unloaded", {}
        self.turn, self.latest, self.recent, self.making = Turn(), Latest(), Recent(self.saved.values()), Making()
        self._begin, self._choosing = threading.Lock(), threading.Lock()
        self._begun = False

    @property
    def told(self) -> dict[str, Any]:
        """One line about the default model (app/widgets/line.py)."""
        name, values = self._status
        return line(f"status.{name}", name=DEFAULT, **{key: translated(value) for key, value in values.items()})

    @property
    def status(self) -> str:
        """The same in words, for whoever asks."""
        told = self.told
        return worded(f"line.{told['key']}", **told["values"])

    def load_in_background(self) -> None:
        """Import torch and load the default model in a thread of its own; a second call does nothing."""
        with self._begin:
            if self._begun:
                return
            self._begun = True
        threading.Thread(target=self._load, name="load-model", daemon=True).start()

    def _load(self) -> None:
        time.sleep(HEAD_START)
        self._status = "imports", {}
        try:
            self.wait_for_imports()
            self._status = "weights", {}
            loaded = self.models.load(DEFAULT)
            cluster = self.maker.open()
        except Exception as error:  # whatever it is, the page must say so instead of waiting for ever
            log.exception("the default model does not load, or the cluster does not answer")
            self._status = ("refused", {"why": str(error)}) if isinstance(error, TwoStacksError) else ("failed", {})
            return
        self._status = "ready", {"where": str(cluster or loaded.device), "how": str(loaded.dtype).removeprefix("torch.")}
        with suppress(TwoStacksError):  # whoever runs something is told
            _ = self.keeper.store  # reads its file from end to end, seconds for gigabytes: best while nobody waits

    def arriving(self, name: str) -> Iterator[dict[str, Any]]:
        """A message where model `name` is not loaded yet; then torch and transformers are there. InputError for no model."""
        self.models.check(name)
        if not self.models.is_loaded(name):
            yield {"kind": "progress", "text": worded("told.loading")}
        self.wait_for_imports()

    def wait_for_imports(self) -> None:
        """Import torch and transformers, or wait for the thread that does.

        Whatever else of core needs them is imported after this: two threads that begin at different ends break the import.
        """
        import core.runs  # noqa: F401

    @property
    def settled(self) -> bool:
        """Whether what is told of the default model stays as it is."""
        return self._status[0] in ("ready", "refused", "failed")

    @property
    def ready(self) -> bool:
        """Whether the default model is in memory."""
        return self.models.is_loaded(DEFAULT)

    def messages(self, settings: Settings, visitor: str = "") -> Iterator[dict]:
        """Browser messages of one run (records.py). A saved run answers at once, before any model has loaded.

        The visitor's next run, or Stop, ends it at the next step; a stopped one says so in its notes.
        """
        ticket = self.latest.begin(visitor)
        if trace := self.saved.get(settings.to_json()):
            yield self.saved_pack(trace)
            self.keeper.keep(visitor, lambda: trace)
            return
        going = self.start(settings)
        while self.latest.wants(visitor, ticket):
            if trace := self.recent.get(going.id):
                yield self._pointed(_drawn(trace), settings.model)
                self.keeper.keep(visitor, lambda trace=trace: trace)
                return
            if self.making.lead(going.id):
                yield from self._made(self.keeper.watch(visitor, going), visitor, ticket)
                return
            for message in self.making.follow(going.id, lambda: self.latest.wants(visitor, ticket)):
                if message["kind"] != "trace":  # that one comes from `recent`; a run that was stopped is begun anew
                    yield message

    @property
    def maker(self) -> Maker:
        """Imports torch when first asked for."""
        with self._choosing:
            if self._maker is None:
                self.wait_for_imports()
                self._maker = engine_of(self._options, self.models, self._lent)
            return self._maker

    def start(self, settings: Settings) -> Any:
        """A run of these settings, not begun."""
        return self.maker.run(settings)

    def steps(self, work: Any, name: str, ticket: object, interval: float = INTERVAL, patience: float = 0.0) -> Steps:
        """The steps of some work in turns with everybody else's, while the run of `name` with this ticket is wanted."""
        return Steps(work, self.turn, lambda: self.latest.wants(name, ticket), interval, patience)

    def _made(self, going: Any, visitor: str, ticket: object) -> Iterator[dict]:
        """Messages of a run that this visitor makes, for whoever follows it too."""
        model = going.settings.model
        try:
            for message in _streamed(going, self.steps(going, visitor, ticket, INTERVAL, PATIENCE)):
                if not self.latest.wants(visitor, ticket):
                    break
                if message["kind"] == "trace":
                    self.recent.add(going.trace())
                pointed = self._pointed(message, model)
                self.making.tell(going.id, pointed)
                yield pointed
            if self.latest.stopped(visitor) and going.steps:
                why = worded("told.cut.restart" if self.latest.closed else "told.stopped.tokens", n=len(going.steps))
                yield self._pointed(_drawn(going.trace(), why), model)
        except EngineError as error:
            if going.steps:  # what was made until then is shown, and the sentence goes on to the page
                why = worded("told.cut.tokens", n=len(going.steps), why=translated(str(error)))
                yield self._pointed(_drawn(going.trace(), why), model)
            raise
        finally:
            self.making.end(going.id)
            going.close()

    def saved_pack(self, trace: Trace) -> dict:
        """A saved run for the stepper, with the English gloss of its words."""
        return self._pointed(_drawn(trace) | {"gloss": gloss(trace)}, trace.settings.model)

    def _pointed(self, message: dict, model: str) -> dict:
        """With the head of cross-attention that the stepper shows first, where the model names one."""
        return message if message["kind"] == "rows" else message | {"best": self.models.alignment_head(model)}

    def attribution(self, id: str) -> dict:
        """Input × gradient of a run on the page, for the stepper. InputError where the run or its weights are gone."""
        trace = self.recent.get(id)
        if trace is None:
            raise InputError("This run is no longer kept here. Press Run again, then ask once more.")
        if len(trace.source) * len(trace.target) > MOST_EXPLAINED:
            raise InputError(
                f"Input × gradient takes one backward pass per output token: {len(trace.source)} source and "
                f"{len(trace.target)} output tokens would hold the model for too long. Shorten the text."
            )
        loaded = self.models.load(trace.settings.model)
        if loaded.fingerprint != trace.fingerprint:
            raise InputError(f"This run was made with other weights than the {loaded.name} that is loaded now.")
        from core.attribution import input_x_gradient

        with self.turn:
            rows = input_x_gradient(loaded, [t.id for t in trace.source], trace.start.id, [t.id for t in trace.target])
        return browser_attribution(id, rows)


def _streamed(going: Any, steps: Steps) -> Iterator[dict]:
    """Rows of a run as messages are due; at its end the whole trace.

    With several beams they are those of the hypothesis that leads; `changed` rows take the place of others sent before.
    """
    places, sent = [], -1
    for _ in steps:
        if not steps.due():
            continue
        if sent < 0:
            yield browser_start(going.id, going, how_made(going.settings, going.device, going.dtype))
            sent = 0
        else:
            same = _alike(places, line := list(going.line))
            rows = [browser_row(*each) for each in zip(line[same:], going.target[same:], strict=True)]
            changed = {"changed": True} if same < sent else {}
            yield {"kind": "rows", "run": going.id, "from": same, "rows": rows} | changed
            places, sent = line, len(line)
    if steps.ended:
        yield _drawn(going.trace())


def _drawn(trace: Trace, *notes: str) -> dict:
    """A whole run for the stepper, its notes in the language of whoever asked."""
    pack = browser_trace(trace, *notes)
    return pack | {"notes": [translated(note) for note in pack["notes"]]}


def _alike(old: list, new: list) -> int:
    """How many tokens two hypotheses of one run begin alike, ranked on the same rows."""
    pairs = enumerate(zip(old, new, strict=False))
    differing = (at for at, (a, b) in pairs if (a.step.index, a.fed, a.id) != (b.step.index, b.fed, b.id))
    return next(differing, min(len(old), len(new)))
