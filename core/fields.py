"""Fields of frozen settings: help, range, type and number checked when one is made; canonical JSON and back.

What a field holds is told by its default: a number, a text, a truth value, another checked class, or a tuple whose
items are named in its metadata ("of"): a type of number, or a checked class.
"""

import dataclasses
from dataclasses import MISSING, field
from typing import Any

from core.errors import InputError


def choice(default: Any, help: str, low: float | None = None, high: float | None = None) -> Any:
    """A number, text or truth value; low and high are allowed."""
    return field(default=default, metadata={"help": help, "low": low, "high": high})


def several(of: type, help: str, most: int, low: float | None = None, high: float | None = None) -> Any:
    """A tuple of at most `most` items of type `of`; low and high hold for each number."""
    return field(default=(), metadata={"help": help, "low": low, "high": high, "of": of, "most": most})


def part(cls: type, help: str) -> Any:
    """A checked class inside another, at its defaults."""
    return field(default_factory=cls, metadata={"help": help})


class Checked:
    """Types, ranges and counts of a frozen dataclass, checked when it is made."""

    def __post_init__(self) -> None:
        for item in dataclasses.fields(self):
            value = getattr(self, item.name)
            if item.default is MISSING:
                if not isinstance(value, item.default_factory):
                    wanted = item.default_factory.__name__
                    raise InputError(f"{item.name} must be {wanted}, not {type(value).__name__}.")
            elif "of" in item.metadata:
                object.__setattr__(self, item.name, _items(item, value))
            else:
                object.__setattr__(self, item.name, _value(item, item.name, value, type(item.default)))


def _items(item: dataclasses.Field, value: Any) -> tuple:
    of, most = item.metadata["of"], item.metadata["most"]
    if not isinstance(value, tuple | list):
        raise InputError(f"{item.name} must be a list, not {type(value).__name__} ({shown(value)}).")
    if len(value) > most:
        raise InputError(f"{item.name} has {len(value):,} items; at most {most:,} are allowed.")
    return tuple(_value(item, f"{item.name}, item {at + 1},", one, of) for at, one in enumerate(value))


def _value(item: dataclasses.Field, name: str, value: Any, kind: type) -> Any:
    whole = kind is float and type(value) is int
    if type(value) is not kind and not whole:
        raise InputError(f"{name} must be {kind.__name__}, not {type(value).__name__} ({shown(value)}).")
    low, high = item.metadata["low"], item.metadata["high"]
    if low is not None and not low <= value <= high:  # NaN is in no range
        raise InputError(f"{name} is {shown(value)}; it must be between {low} and {high}.")
    return float(value) if whole else value  # only now: a number out of range may be too large for a float


def shown(value: Any) -> str:
    """A value as a sentence shows it: cut to 30 characters."""
    try:
        text = repr(value)
    except (ValueError, RecursionError):  # Python writes out no number of thousands of digits
        return f"a very large {type(value).__name__}"
    return text if len(text) <= 30 else text[:30] + "…"


def differences(item: Any) -> dict[str, Any]:
    """Field -> value for every field that is not at its default; what is nested likewise."""
    out = {}
    for entry in dataclasses.fields(item):
        value = getattr(item, entry.name)
        if entry.default is MISSING:
            if inner := differences(value):
                out[entry.name] = inner
        elif value != entry.default:
            out[entry.name] = [_plain(one) for one in value] if isinstance(value, tuple) else value
    return out


def _plain(one: Any) -> Any:
    return differences(one) if dataclasses.is_dataclass(one) else one


def build(cls: type, data: Any, path: str, unknown: list[str]) -> Any:
    """An item of `cls` from what `differences` gave; dotted names of unknown keys are added to `unknown` and dropped."""
    if not isinstance(data, dict):
        raise InputError(f"{path.rstrip('.')} must be an object, not {type(data).__name__}.")
    known = {entry.name: entry for entry in dataclasses.fields(cls)}
    values = {}
    for key, value in data.items():
        entry = known.get(key)
        if entry is None:
            unknown.append(path + key)
        elif entry.default is MISSING:
            values[key] = build(entry.default_factory, value, f"{path}{key}.", unknown)
        elif dataclasses.is_dataclass(entry.metadata.get("of")) and isinstance(value, list):
            if len(value) > entry.metadata["most"]:  # before anything is built
                raise InputError(f"{path}{key} has {len(value):,} items; at most {entry.metadata['most']:,} are allowed.")
            of = entry.metadata["of"]
            values[key] = [build(of, one, f"{path}{key}.{at}.", unknown) for at, one in enumerate(value)]
        else:
            values[key] = value
    return cls(**values)
