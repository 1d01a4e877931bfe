"""Up to eight ways to decode one source, run in one batch; the last runs by id for a closer look. No visitor's state is held."""

from collections.abc import Iterator, Sequence
from dataclasses import fields, replace
from typing import Any

from app import trial_packs
from app.engine import Engine
from app.reranked import reranked
from app.steps import PATIENCE
from app.trial_packs import Trial
from app.words import worded
from core.decode.rescoring import LIMIT
from core.errors import InputError
from core.fields import shown
from core.settings import MAX_CHARACTERS, Decoding, Settings
from core.text import usable
from core.trace import Trace

MOST = 8
BETA = "beta"  # of a row: no setting of the search, but of how its hypotheses are ranked afterwards
FIELDS = ("beams", "length_penalty", "no_repeat_ngram_size", "do_sample", "temperature", "top_k", "top_p", "seed")
FIRST = (
    {"beams": 1}, {"beams": 2}, {"beams": 4}, {"beams": 4, "length_penalty": 0.0}, {"beams": 8},
    {"do_sample": True, "seed": 1}, {"do_sample": True, "seed": 1, "top_p": 0.8},
)


class Trials:
    """Shared by all visitors. Errors are TwoStacksError."""

    def __init__(self, engine: Engine):
        self.engine = engine

    def messages(
        self, settings: list[Settings], reference: object, visitor: str = "", betas: Sequence[float] = (),
    ) -> Iterator[dict[str, Any]]:
        """How far it is, then the whole table. The visitor's next run, or Stop, ends it at the next step.

        betas: of each row; above 0 the hypotheses of its search are ranked by GNMT's penalties, and its winner is the row.
        """
        engine, text = self.engine, _reference(reference)
        ticket = engine.latest.begin(visitor)
        yield from engine.arriving(settings[0].model)
        group = engine.maker.compare(settings)
        runs, steps = group.runs, engine.steps(group, visitor, ticket, patience=PATIENCE)
        ends = [0.0] * len(runs)
        try:
            for made in steps:
                for place in made:
                    ends[place] = steps.seconds
                if steps.due():
                    step = max(len(going.steps) for going in runs)
                    yield {"kind": "progress", "text": worded("told.trials.step", step=step, n=len(made), of=len(runs))}
            found = [Trial(going.trace(), end) for going, end in zip(runs, ends, strict=True)] if steps.ended else []
            for at, beta in enumerate(betas[:len(found)]):
                found[at] = replace(found[at], beta=beta, search=found[at].trace)
                if (again := reranked(engine, found[at].trace, beta)) is not None:
                    for _ in (steps := engine.steps(again, visitor, ticket)):
                        pass
                    if not steps.ended:
                        break
                    found[at] = replace(found[at], trace=again.trace())
            if steps.ended:
                yield trial_packs.rows([self._kept(visitor, trial) for trial in found], text)
            elif engine.latest.stopped(visitor):
                yield {"kind": "progress", "text": worded("told.trials.stopped")}
        finally:
            group.close()

    def first(self, search: Trace | None) -> dict[str, Any]:
        """The rows to start from, and under them what the saved runs of two of them gave: no model is asked."""
        pack: dict[str, Any] = {"kind": "first", "rows": list(FIRST)}
        plain = next((one for one in self.engine.saved.values() if search and one.settings.text == search.settings.text), None)
        if search is None or plain is None or plain.fingerprint != search.fingerprint:
            return pack
        self.engine.recent.add(search)
        return pack | {"found": trial_packs.rows([Trial(trace, None) for trace in (plain, search)], "")}

    def _kept(self, visitor: str, trial: Trial) -> Trial:
        self.engine.recent.add(trial.trace)
        self.engine.keeper.keep(visitor, lambda: trial.trace)
        return trial

    def two(self, data: object) -> tuple[dict[str, Any], dict[str, Any] | None]:
        """(what was found, heatmaps) of two runs that the table names."""
        old, new = (self._run(data, name) for name in ("old", "new"))
        if old.fingerprint != new.fingerprint or [t.id for t in old.source] != [t.id for t in new.source]:
            raise InputError("The two runs are of different models or sources. Compare the settings again.")
        return trial_packs.two(old, new)

    def _run(self, data: object, name: str) -> Trace:
        id = data.get(name) if isinstance(data, dict) else None
        trace = self.engine.recent.get(id) if isinstance(id, str) else None
        if trace is None:
            raise InputError("These runs are no longer kept here. Compare the settings again, then choose two.")
        return trace


def settings_of(plain: Settings, data: object) -> list[Settings]:
    """One Settings for each row that the browser sends: a list of dicts of FIELDS; types and ranges are checked."""
    asked = data.get("rows") if isinstance(data, dict) else None
    if not isinstance(asked, list) or not 1 <= len(asked) <= MOST:
        raise InputError(f"The settings to compare are {shown(asked)}; choose 1 to {MOST} rows.")
    usable(plain.text)
    return [replace(plain, decoding=replace(plain.decoding, **_fields(row, at))) for at, row in enumerate(asked, 1)]


def betas_of(data: object) -> list[float]:
    """β of each row that the browser sends, which `settings_of` has checked to be rows; 0 where none acts."""
    found = []
    for at, row in enumerate(data["rows"] if isinstance(data, dict) else (), 1):
        beta = row.get(BETA, 0)
        if isinstance(beta, bool) or not isinstance(beta, int | float) or not 0 <= beta <= LIMIT:
            raise InputError(f"β of row {at} is {shown(beta)}; it must be a number from 0 to {LIMIT:g}.")
        if beta and row.get("beams", 1) == 1:
            raise InputError(f"Row {at} has β {beta:g} and one beam: there are no hypotheses to rank. Choose at least 2 beams.")
        found.append(float(beta))
    return found


def _fields(row: object, at: int) -> dict[str, Any]:
    if not isinstance(row, dict) or any(name not in (*FIELDS, BETA) for name in row):
        raise InputError(f"Row {at} is {shown(row)}; it may name {', '.join((*FIELDS, BETA))}.")
    defaults = {item.name: item.default for item in fields(Decoding)}
    found = {name: defaults[name] for name in FIELDS}
    for name, value in row.items():
        if name == BETA:
            continue
        exact = isinstance(defaults[name], float) and type(value) is int
        found[name] = float(value) if exact and abs(value) < 1e6 else value
    return found


def _reference(text: object) -> str:
    if not isinstance(text, str) or len(text) > MAX_CHARACTERS:
        raise InputError(f"The reference must be a text of at most {MAX_CHARACTERS:,} characters.")
    return text.strip()
