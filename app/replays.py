"""A moment of a session drawn again without the model, by the parts of the page that drew it."""

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

from app import corpus_packs, look_packs, mask_packs
from app.corruptions import Corruptions
from app.engine import Engine
from app.masked import Pair
from app.moments import LOOKS, Moment, settings_of
from app.searches import Searches
from app.sentences import translated
from app.widgets import corruption
from app.words import worded
from core.errors import TwoStacksError
from core.settings import Settings

TABS = ("attention", "search", "masks", "noise", "scores", "formulas", "train", "sessions")
MAPS = ("cross", "decoder", "encoder")


@dataclass(frozen=True)
class Replay:
    """A moment drawn again, on `tab`. settings: what was set, for the controls. packs: part of the page -> what it draws."""

    bar: dict[str, Any]
    tab: str
    settings: Settings | None = None
    packs: dict[str, Any] = field(default_factory=dict)


class Replays:
    """Shared by all visitors. Errors are TwoStacksError."""

    def __init__(self, engine: Engine):
        self.engine, self.searches, self.corruptions = engine, Searches(engine), Corruptions(engine)

    def of(self, session: Any, moment: Moment, view: dict | None) -> Replay:
        """What each part of the page draws of a moment, and where."""
        if moment.row is None:
            return self._set(settings_of(moment))
        record, seen = self.engine.keeper.store.load(session, moment.row), moment.data if moment.kind in LOOKS else {}
        if record.kind == "trace":
            return self._trace(record, view or (view_of(seen) if moment.kind == "look" else None),
                               seen if moment.kind == "rank" else {})
        if record.kind == "corruption":
            return self._corruption(record, self._settings(session, record.text, record.settings))
        if record.kind == "probe":
            return Replay({}, "sessions", None, {"told": look_packs.probe_said(record), "maps": look_packs.probe(record)})
        if record.kind == "comparison":
            return self._comparison(session, record)
        if record.kind == "corpus":
            return Replay({}, "sessions", None, {"told": corpus_packs.told(record)})
        total = worded("told.pass", total=f"{record.total:.3f}", loss=f"{record.loss:.3f}")
        return Replay({}, "sessions", None, {"told": _said(total)})

    def _corruption(self, record: Any, settings: Settings | None) -> Replay:
        """A text under a noise on the noise tab; where its run is not there, or its vocabulary, to be looked at only."""
        if settings:
            live = self._set(settings)
            if live.packs.get("corruption", {}).get("id") == record.id[:24]:
                return live
        drawn = corruption.pack(record, SimpleNamespace(head=0, tail=0, tokens=record.source), []) | {"edits": False}
        return Replay({}, "sessions", settings, {"noise": drawn})

    def _set(self, settings: Settings | None) -> Replay:
        """A moment without a record: what was set then; of a noise the text under it, for which no model is needed."""
        if settings is None:
            return Replay({}, "sessions", None, {"told": _said(worded("page.sessions.gone"))})
        if not settings.noise.name:
            return Replay({}, "sessions", settings, {"told": _said(worded("page.sessions.removed"))})
        try:
            return Replay({}, "noise", settings, {"corruption": self.corruptions.shown(settings) | {"again": True}})
        except TwoStacksError as error:  # a model that this host does not have
            return Replay({}, "sessions", settings, {"told": _said(translated(str(error)))})

    def _trace(self, trace: Any, view: dict | None, seen: dict) -> Replay:
        """A run: the heatmaps of the first tab; of beams the tree as well; the grid shows the masks that it had."""
        packs = {"stepper": self.engine.saved_pack(trace) | ({"view": view} if view else {}),
                 "grid": mask_packs.grid(trace, masks=trace.settings.masks) | {"take": True}}
        if trace.tree is None:
            return Replay({}, "attention", trace.settings, packs)
        return Replay({}, "search", trace.settings, packs | {"tree": self.searches.drawn(trace) | {"view": ranks_of(seen)}})

    def _comparison(self, session: Any, record: Any) -> Replay:
        """Two runs side by side on the masks tab; the sentence alone where one of them is not there any more."""
        runs = {one.id: one.row for one in self.engine.keeper.store.kept(session) if one.kind == "trace" and one.status == "done"}
        if record.old not in runs or record.new not in runs:
            return Replay({}, "sessions", None, {"told": _said(translated(record.sentence))})
        old, new = (self.engine.keeper.store.load(session, runs[name]) for name in (record.old, record.new))
        pair = Pair(old, new, record)
        return Replay({}, "masks", new.settings, {"pair": mask_packs.told(pair), "pair_maps": mask_packs.heatmaps(pair),
                                                  "grid": mask_packs.grid(new, masks=new.settings.masks) | {"take": True}})

    def _settings(self, session: Any, text: str, noise: Any) -> Settings | None:
        """What the run had that read this text under this noise."""
        runs = (Settings.from_json(one.settings)[0] for one in self.engine.keeper.store.kept(session)
                if one.kind == "trace" and one.input == text)
        return next((one for one in runs if one.noise == noise), None)


def _said(sentence: str) -> dict[str, Any]:
    return {"kind": "found", "sentence": sentence, "lines": [], "notes": []}


def ranks_of(data: object) -> dict[str, float | int]:
    """How a tree was looked at: length penalty, coverage penalty, steps in view; what is strange is left out."""
    data, out = data if isinstance(data, dict) else {}, {}
    for name, low, high in (("alpha", -2, 2), ("beta", 0, 2), ("upto", 1, 10_000)):
        value = data.get(name)
        if type(value) in (int, float) and low <= value <= high and (name != "upto" or type(value) is int):
            out[name] = value
    return out


def view_of(data: object) -> dict[str, Any]:
    """What a link shows first, checked: tab, map, layer, head, step and the record in view; what is strange is left out."""
    data = data if isinstance(data, dict) else {}
    out: dict[str, Any] = {}
    for name, allowed in (("tab", TABS), ("map", MAPS)):
        if data.get(name) in allowed:
            out[name] = data[name]
    for name in ("layer", "head"):
        value = data.get(name)
        if isinstance(value, str) and (value in ("mean", "max", "rollout") or value.isdecimal() and len(value) <= 3):
            out[name] = value
    for name in ("step", "row", "event"):
        if type(data.get(name)) is int and 0 <= data[name] < 2**53:
            out[name] = data[name]
    return out
