"""The process's one engine: the registry, loaded in the background, and runs turned into messages for the stepper."""

import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import nullcontext, suppress
from typing import Any

from app.keeper import Keeper
from app.making import Making
from app.recent import Recent
from app.turns import Latest, Turn
from app.widgets.line import line
from app.words import english
from core.engines import Engine as Maker
from core.engines import Lent, Options, engine_of
from core.errors import EngineError, InputError, TwoStacksError
from core.examples import gloss, saved
from core.models import DEFAULT, Models
from core.records import browser_attribution, browser_row, browser_start, browser_trace, how_made
from core.settings import Settings
from core.trace import Trace

log = logging.getLogger("two-stacks")
PATIENCE = 0.5  # seconds before a run is streamed; a shorter one arrives whole
INTERVAL = 0.1  # seconds between streamed messages
MOST_EXPLAINED = 256 * 128  # source x output tokens; input x gradient goes back through the encoder for each output token
LOADS = ("status.unloaded", "status.imports", "status.weights")  # what is told until the default model is there, or never will be
LOADING = "The model is still loading; this goes on as soon as it is there."
HEAD_START = 1.0  # seconds that the browser has for the first picture before importing torch takes a core


class Engine:
    """Shared by all visitors; holds no visitor's state. `told` is a line (app/widgets/line.py) about the default model.

    maker: what makes runs, comparisons and corpora, here or on a cluster (core/engines).
    """

    def __init__(self, models: Models, keeper: Keeper | None = None, elsewhere: Lent | None = None,
                 options: Options | None = None):
        self.models, self.keeper, self._options, self._lent = models, keeper or Keeper(), options or Options(), elsewhere
        self._maker: Maker | None = None
        self.saved: dict[str, Trace] = {trace.settings.to_json(): trace for trace in saved()}
        self.told = line("status.unloaded", name=DEFAULT)
        self.turn, self.latest, self.recent, self.making = Turn(), Latest(), Recent(self.saved.values()), Making()
        self._begin, self._choosing = threading.Lock(), threading.Lock()
        self._begun = False

    def load_in_background(self) -> None:
        """Import torch and load the default model in a thread of its own; a second call does nothing."""
        with self._begin:
            if self._begun:
                return
            self._begun = True
        threading.Thread(target=self._load, name="load-model", daemon=True).start()

    def _load(self) -> None:
        time.sleep(HEAD_START)
        self.told = line("status.imports", name=DEFAULT)
        try:
            self.wait_for_imports()
            self.told = line("status.weights", name=DEFAULT)
            loaded = self.models.load(DEFAULT)
            cluster = self.maker.open()
        except Exception as error:  # whatever it is, the page must say so instead of waiting for ever
            log.exception("the default model does not load, or the cluster does not answer")
            ours = isinstance(error, TwoStacksError)
            self.told = line("status.refused", name=DEFAULT, why=str(error)) if ours else line("status.failed", name=DEFAULT)
            return
        where, how = str(cluster or loaded.device), str(loaded.dtype).removeprefix("torch.")
        self.told = line("status.ready", name=DEFAULT, where=where, how=how)
        with suppress(TwoStacksError):  # whoever runs something is told
            _ = self.keeper.store  # reads its file from end to end, seconds for gigabytes: best while nobody waits

    def arriving(self, name: str) -> Iterator[dict[str, Any]]:
        """A message where model `name` is not loaded yet; then torch and transformers are there. InputError for no model."""
        self.models.check(name)
        if not self.models.is_loaded(name):
            yield {"kind": "progress", "text": LOADING}
        self.wait_for_imports()

    def wait_for_imports(self) -> None:
        """Import torch and transformers, or wait for the thread that does.

        Whatever else of core needs them is imported after this: two threads that begin at different ends break the import.
        """
        import core.runs  # noqa: F401

    @property
    def status(self) -> str:
        """What is told of the default model, in English."""
        return english(f"line.{self.told['key']}", **self.told["values"])

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
                yield self._pointed(browser_trace(trace), settings.model)
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

    def step(self, going: Any) -> Any:
        """The next of what `maker` gave, in its turn; None at its end. What is made elsewhere needs no turn of this process."""
        with nullcontext() if going.elsewhere else self.turn:
            return next(going, None)

    def _made(self, going: Any, visitor: str, ticket: object) -> Iterator[dict]:
        """Messages of a run that this visitor makes, for whoever follows it too."""
        model = going.settings.model
        try:
            for message in _streamed(going, self.step, lambda: self.latest.wants(visitor, ticket)):
                if not self.latest.wants(visitor, ticket):
                    break
                if message["kind"] == "trace":
                    self.recent.add(going.trace())
                pointed = self._pointed(message, model)
                self.making.tell(going.id, pointed)
                yield pointed
            if self.latest.stopped(visitor) and going.steps:
                why = "Cut, as this host is being restarted," if self.latest.closed else "Stopped"
                yield self._pointed(browser_trace(going.trace(), f"{why} after {len(going.steps)} tokens."), model)
        except EngineError as error:
            if going.steps:  # what was made until then is shown, and the sentence goes on to the page
                why = f"Cut after {len(going.steps)} tokens, which are kept. {error}"
                yield self._pointed(browser_trace(going.trace(), why), model)
            raise
        finally:
            self.making.end(going.id)
            going.close()

    def saved_pack(self, trace: Trace) -> dict:
        """A saved run for the stepper, with the English gloss of its words."""
        return self._pointed(browser_trace(trace) | {"gloss": gloss(trace)}, trace.settings.model)

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


def _streamed(going: Any, step_of: Callable[[Any], Any], wanted: Callable[[], bool]) -> Iterator[dict]:
    """Rows of a run that takes longer than PATIENCE, at most one message per INTERVAL; at the end the whole trace.

    step_of: gives the run's next step, None at its end.

    With several beams they are those of the hypothesis that leads; `changed` rows take the place of others sent before.
    """
    began = last = time.monotonic()
    places, sent = [], -1
    while wanted():
        step = step_of(going)
        if step is None:
            yield browser_trace(going.trace())
            return
        now = time.monotonic()
        if now - began < PATIENCE or now - last < INTERVAL:
            continue
        last = now
        if sent < 0:
            yield browser_start(going.id, going, how_made(going.settings, going.device, going.dtype))
            sent = 0
        else:
            same = _alike(places, line := list(going.line))
            rows = [browser_row(*each) for each in zip(line[same:], going.target[same:], strict=True)]
            changed = {"changed": True} if same < sent else {}
            yield {"kind": "rows", "run": going.id, "from": same, "rows": rows} | changed
            places, sent = line, len(line)


def _alike(old: list, new: list) -> int:
    """How many tokens two hypotheses of one run begin alike, ranked on the same rows."""
    pairs = enumerate(zip(old, new, strict=False))
    differing = (at for at, (a, b) in pairs if (a.step.index, a.fed, a.id) != (b.step.index, b.fed, b.id))
    return next(differing, min(len(old), len(new)))
