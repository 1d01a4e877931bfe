"""CorpusResult: what one to three settings wrote for many texts, and how it scored; a record that sessions keep."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

from core.checks import check_floats
from core.metrics.corpus import MAX_LINES
from core.metrics.score import Score
from core.metrics.significance import Tested
from core.records import pack, unpack
from core.settings import Settings
from core.shapes import Floats

MOST_SYSTEMS = 3
NAMES = ("A", "B", "C")  # of the systems, in tables and tests


@dataclass(frozen=True, eq=False)
class System:
    """One setting. settings: with an empty text, as they are the same for all. outputs: a text for each source."""

    settings: Settings
    outputs: tuple[str, ...]
    scores: tuple[Score, ...] = ()

    @property
    def how(self) -> str:
        """The search and what it was told."""
        decoding = self.settings.decoding
        more = [f"no {decoding.no_repeat_ngram_size}-gram twice"] * bool(decoding.no_repeat_ngram_size)
        return ", ".join([decoding.how, *more])


@dataclass(frozen=True, eq=False)
class CorpusResult:
    """Texts, what each system wrote, scores of the whole and numbers of each text.

    references: a list for each reference of a text, None where a text has no such one. values: name -> (systems, texts), NaN
    where there is none: sentence scores, "log P" in nats, "tokens", "gaps" (source tokens with little attention).
    units: name -> unit. tests: each system by each metric, against the first. made: device, dtype, seconds, time.
    """

    kind = "corpus"

    systems: tuple[System, ...]
    fingerprint: str
    sources: tuple[str, ...]
    references: tuple[tuple[str | None, ...], ...]
    values: Mapping[str, Floats]
    units: Mapping[str, str] = field(default_factory=dict)
    tests: tuple[Tested, ...] = ()
    notes: tuple[str, ...] = ()
    made: dict = field(default_factory=dict)

    @property
    def settings(self) -> Settings:
        """Those of the first system, with the first text: what a session's list shows."""
        return replace(self.systems[0].settings, text=self.sources[0])

    @property
    def id(self) -> str:
        """SHA-256 of what was asked of which weights: settings, texts, references."""
        asked = [self.fingerprint, [one.settings.to_json() for one in self.systems], self.sources, self.references]
        return hashlib.sha256(json.dumps(asked, ensure_ascii=False).encode("utf-8", "surrogatepass")).hexdigest()

    @property
    def sentence(self) -> str:
        """One line: how many texts, and each system's first scores."""
        count = len(self.sources)
        said = [f"{name} {one.how}: " + ", ".join(f"{score.name} {score.value:.2f}" for score in one.scores[:2])
                for name, one in zip(NAMES, self.systems)]
        return f"{count} text{'s' * (count != 1)}. " + "; ".join(said) + "."

    def to_bytes(self) -> bytes:
        """One self-contained file (safetensors); no pickle."""
        head = {
            "systems": [{"settings": one.settings.to_json(), "outputs": one.outputs, "scores": [_plain(s) for s in one.scores]}
                        for one in self.systems],
            "fingerprint": self.fingerprint, "sources": self.sources, "references": self.references,
            "values": list(self.values), "units": dict(self.units), "tests": [asdict(test) for test in self.tests],
            "notes": self.notes, "made": self.made,
        }
        return pack(self.kind, head, {f"values.{at}": array for at, array in enumerate(self.values.values())})

    @classmethod
    def from_bytes(cls, data: bytes) -> "CorpusResult":
        """What `to_bytes` wrote; RecordError says what is wrong with anything else."""
        return unpack(cls.kind, data, cls._read)

    @classmethod
    def _read(cls, head: dict, arrays: dict[str, np.ndarray]) -> "CorpusResult":
        sources = _texts(head["sources"])
        if not 1 <= len(sources) <= MAX_LINES:
            raise ValueError(f"{len(sources)} texts; 1 to {MAX_LINES} fit")
        systems = tuple(
            System(Settings.from_json(one["settings"])[0], _texts(one["outputs"], len(sources)),
                   tuple(map(_score, one["scores"]))) for one in head["systems"])
        if not 1 <= len(systems) <= MOST_SYSTEMS:
            raise ValueError(f"{len(systems)} systems; 1 to {MOST_SYSTEMS} fit")
        values = {}
        for at, name in enumerate(head["values"]):
            values[str(name)] = array = arrays[f"values.{at}"]
            check_floats(str(name), np.nan_to_num(array, nan=0, posinf=np.inf, neginf=-np.inf), (len(systems), len(sources)))
        references = tuple(_texts(side, len(sources), missing=True) for side in head["references"])
        return cls(systems, str(head["fingerprint"]), sources, references, values,
                   {str(name): str(unit) for name, unit in head["units"].items()}, tuple(map(_tested, head["tests"])),
                   _texts(head["notes"]), dict(head["made"]))


def _texts(found: Any, count: int | None = None, missing: bool = False) -> tuple:
    """A list of texts, as a tuple; missing: None may stand among them."""
    if not isinstance(found, list) or any(not isinstance(text, str) and not (missing and text is None) for text in found):
        raise ValueError("a list of texts is something else")
    if count is not None and len(found) != count:
        raise ValueError(f"{len(found)} texts where there are {count} sources")
    return tuple(found)


def _plain(score: Score) -> dict[str, Any]:
    return {"name": score.name, "value": score.value, "signature": score.signature, "unit": score.unit,
            "lower": score.lower_is_better, "tokenizer": score.tokenizer, "notes": score.notes}


def _score(one: dict) -> Score:
    return Score(str(one["name"]), _number(one["value"]), str(one["signature"]), str(one["unit"]), bool(one["lower"]),
                 str(one["tokenizer"]), notes=_texts(one["notes"]))


def _tested(one: dict) -> Tested:
    numbers = {name: None if one[name] is None else _number(one[name]) for name in ("p", "reported", "mean", "half")}
    return Tested(str(one["system"]), str(one["metric"]), _number(one["score"]), **numbers, signature=str(one["signature"]),
                  identical=bool(one["identical"]), warning=str(one["warning"]))


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not np.isfinite(value):
        raise ValueError(f"{str(value)[:40]} is no finite number")
    return float(value)
