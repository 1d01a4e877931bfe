"""What the endpoints are asked with: JSON, whose kinds and sizes are checked before anything is made of it."""

import json
from typing import Any

from core.errors import InputError
from core.metrics.corpus import MAX_LINE
from core.settings import Settings

MOST_SETTINGS = 20_000  # characters of settings as JSON


def settings_of(given: Any, **named: Any) -> Settings:
    """Settings of a JSON object, and above them what has an argument of its own; InputError for anything else."""
    return document(Settings, plain_settings(given) | named)


def plain_settings(given: Any) -> dict[str, Any]:
    """A JSON object, or nothing; its size is limited."""
    if given is None:
        return {}
    if not isinstance(given, dict):
        raise InputError(f"settings must be an object, not {type(given).__name__}.")
    if (size := len(json.dumps(given))) > MOST_SETTINGS:
        raise InputError(f"settings has {size:,} characters as JSON; at most {MOST_SETTINGS:,} are read.")
    return given


def document(cls: Any, data: dict[str, Any]) -> Any:
    """A `cls` from JSON; a key that it does not know is refused here, because nobody would see that it was dropped."""
    found, unknown = cls.from_json(json.dumps(data))
    if unknown:
        raise InputError(f"There is no setting {unknown[0]!r:.60}.")
    return found


def list_of(name: str, given: Any, most: int) -> list:
    """A list of at most `most` items."""
    if not isinstance(given, list):
        raise InputError(f"{name} must be a list, not {type(given).__name__}.")
    if len(given) > most:
        raise InputError(f"{name} has {len(given):,} items; at most {most:,} are allowed.")
    return given


def texts_of(name: str, given: Any, most: int) -> list[str]:
    """A list of at most `most` texts of a length that can be scored."""
    for at, text in enumerate(list_of(name, given, most), 1):
        if not isinstance(text, str):
            raise InputError(f"Item {at} of {name} is a {type(text).__name__}; it must be a text.")
        if len(text) > MAX_LINE:
            raise InputError(f"Item {at} of {name} has {len(text):,} characters; a text has at most {MAX_LINE:,}.")
        if any(c == "\0" or "\ud800" <= c <= "\udfff" for c in text):
            raise InputError(f"Item {at} of {name} holds a character that is no text; take it out.")
    return given
