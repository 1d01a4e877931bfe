"""Settings: every choice a person can make, frozen, with its help, range and default.

Canonical JSON leaves out fields at their default and carries a schema number, so that an old file keeps its id
when a field is added. The model's weights are θ; everything here is CONFIG (course, lesson 1).
"""

import json
from dataclasses import dataclass

from core.errors import InputError
from core.fields import Checked, build, choice, differences, part
from core.interventions import Edits, Masks

SCHEMA = 1
MAX_CHARACTERS = 4000
MAX_TOKENS = 128


@dataclass(frozen=True)
class Decoding(Checked):
    """How the decoder writes. This build searches greedily: a beam of one."""

    max_new_tokens: int = choice(
        MAX_TOKENS, "Stop after this many tokens if the model has not ended by itself.", 1, MAX_TOKENS
    )
    repetition_penalty: float = choice(
        1.0, "Divide a positive logit of a token already written by this, multiply a negative one; 1 is off.", 0.1, 10.0
    )
    no_repeat_ngram_size: int = choice(
        0, "Forbid writing the same run of this many tokens twice; 0 is off.", 0, MAX_TOKENS
    )


@dataclass(frozen=True)
class Settings(Checked):
    """All that is needed to run again: together with a model's weights it gives the trace's id."""

    text: str = choice("", f"The source text, at most {MAX_CHARACTERS} characters.")
    model: str = choice("pocket-t5", "The name of a bundled or registered model, or a hub id owner/name.")
    task: str = choice("", "A task of the model; it says which prefix goes before the text. Empty: its first task.")
    source_language: str = choice("", "Language code of the source, for models with language tokens.")
    target_language: str = choice("", "Language the decoder is made to write, for models with language tokens.")
    decoding: Decoding = part(Decoding, "How the decoder writes.")
    masks: Masks = part(Masks, "What attention may see, in each stack.")
    edits: Edits = part(Edits, "Heads switched off, rows of weights set by hand, pad tokens, a forced beginning.")

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
        return json.dumps({"schema": SCHEMA, **differences(self)}, sort_keys=True, separators=(",", ":"))

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
        return build(cls, data, "", unknown), unknown

