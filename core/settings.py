"""Settings: every choice a person can make, frozen, with its help, range and default.

Canonical JSON leaves out fields at their default and carries a schema number, so that an old file keeps its id
when a field is added. The model's weights are θ; everything here is CONFIG (course, lesson 1).
"""

import dataclasses
import json
from dataclasses import dataclass, field
from typing import Any

from core.errors import InputError

SCHEMA = 1
MAX_CHARACTERS = 4000
MAX_TOKENS = 128  # of the output
MAX_SOURCE = 512


def _choice(default: Any, help: str, low: float | None = None, high: float | None = None) -> Any:
    return field(default=default, metadata={"help": help, "low": low, "high": high})


class _Checked:
    """Types and ranges of a frozen dataclass, checked when it is made."""

    def __post_init__(self) -> None:
        for item in dataclasses.fields(self):
            value = getattr(self, item.name)
            if item.name in _NESTED:
                if not isinstance(value, _NESTED[item.name]):
                    raise InputError(f"{item.name} must be {_NESTED[item.name].__name__}, not {type(value).__name__}.")
                continue
            whole = isinstance(item.default, float) and type(value) is int
            if type(value) is not type(item.default) and not whole:
                raise InputError(
                    f"{item.name} must be {type(item.default).__name__}, not {type(value).__name__} ({_shown(value)})."
                )
            low, high = item.metadata["low"], item.metadata["high"]
            if low is not None and not low <= value <= high:  # NaN is in no range
                raise InputError(f"{item.name} is {_shown(value)}; it must be between {low} and {high}.")
            if whole:  # only now: a number out of range may be too large for a float
                object.__setattr__(self, item.name, float(value))


def _shown(value: Any) -> str:
    """A value as a sentence shows it: cut to 30 characters."""
    try:
        text = repr(value)
    except (ValueError, RecursionError):  # Python writes out no number of thousands of digits
        return f"a very large {type(value).__name__}"
    return text if len(text) <= 30 else text[:30] + "…"


@dataclass(frozen=True)
class Decoding(_Checked):
    """How the decoder writes. This build searches greedily: a beam of one."""

    max_new_tokens: int = _choice(
        MAX_TOKENS, "Stop after this many tokens if the model has not ended by itself.", 1, MAX_TOKENS
    )
    repetition_penalty: float = _choice(
        1.0, "Divide a positive logit of a token already written by this, multiply a negative one; 1 is off.", 0.1, 10.0
    )
    no_repeat_ngram_size: int = _choice(
        0, "Forbid writing the same run of this many tokens twice; 0 is off.", 0, MAX_TOKENS
    )


@dataclass(frozen=True)
class Settings(_Checked):
    """All that is needed to run again: together with a model's weights it gives the trace's id."""

    text: str = _choice("", f"The source text, at most {MAX_CHARACTERS} characters.")
    model: str = _choice("pocket-t5", "The name of a bundled or registered model, or a hub id owner/name.")
    task: str = _choice("", "A task of the model; it says which prefix goes before the text. Empty: its first task.")
    source_language: str = _choice("", "Language code of the source, for models with language tokens.")
    target_language: str = _choice("", "Language the decoder is made to write, for models with language tokens.")
    decoding: Decoding = field(default_factory=Decoding, metadata={"help": "How the decoder writes."})

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(self.text) > MAX_CHARACTERS:
            raise InputError(
                f"The text has {len(self.text):,} characters; at most {MAX_CHARACTERS:,} are allowed. Shorten it."
            )
        for name in ("model", "task", "source_language", "target_language"):
            value = getattr(self, name)
            if len(value) > 200 or any(ord(c) < 32 for c in value):
                raise InputError(f"{name} is not a usable name ({value!r:.60}).")

    def to_json(self) -> str:
        """Canonical JSON: sorted keys, no spaces, fields at their default left out, schema number in."""
        return json.dumps({"schema": SCHEMA, **_differences(self)}, sort_keys=True, separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str) -> tuple["Settings", list[str]]:
        """Settings from `to_json`, and the dotted names of unknown keys, which are dropped."""
        try:
            data = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise InputError(f"Settings are not valid JSON ({error}).") from None
        if not isinstance(data, dict):
            raise InputError(f"Settings must be a JSON object, not {type(data).__name__}.")
        data.pop("schema", None)
        unknown: list[str] = []
        return _build(cls, data, "", unknown), unknown


_NESTED: dict[str, type] = {"decoding": Decoding}


def _differences(item: Any) -> dict[str, Any]:
    """Field -> value for every field that is not at its default; nested settings likewise."""
    out = {}
    for entry in dataclasses.fields(item):
        value = getattr(item, entry.name)
        if entry.name in _NESTED:
            value = _differences(value)
            if value:
                out[entry.name] = value
        elif value != entry.default:
            out[entry.name] = value
    return out


def _build(cls: type, data: dict, path: str, unknown: list[str]) -> Any:
    known = {entry.name for entry in dataclasses.fields(cls)}
    values = {}
    for key, value in data.items():
        if key not in known:
            unknown.append(path + key)
        elif key in _NESTED:
            if not isinstance(value, dict):
                raise InputError(f"{path}{key} must be an object, not {type(value).__name__}.")
            values[key] = _build(_NESTED[key], value, f"{path}{key}.", unknown)
        else:
            values[key] = value
    return cls(**values)
