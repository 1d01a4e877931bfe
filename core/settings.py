"""Settings: every choice a person can make, frozen, with its help, range and default.

Canonical JSON leaves out fields at their default and carries a schema number, so that an old file keeps its id
when a field is added. The model's weights are θ; everything here is CONFIG (course, lesson 1).
"""

from dataclasses import dataclass

from core.errors import InputError
from core.fields import SCHEMA, Checked, Document, choice, part, shown
from core.interventions import Edits, Masks
from core.noising import NoiseSettings

MAX_CHARACTERS = 4000
MAX_TOKENS = 128  # of the output
MAX_SOURCE = 512
MAX_BEAMS = 8
EARLY_STOPPING = ("false", "true", "never")


@dataclass(frozen=True)
class Decoding(Checked):
    """How the decoder writes: greedily, with several beams, or by drawing each token."""

    max_new_tokens: int = choice(
        MAX_TOKENS, "Stop after this many tokens if the model has not ended by itself.", 1, MAX_TOKENS
    )
    repetition_penalty: float = choice(
        1.0, "Divide a positive logit of a token already written by this, multiply a negative one; 1 is off.", 0.1, 10.0
    )
    no_repeat_ngram_size: int = choice(
        0, "Forbid writing the same run of this many tokens twice; 0 is off.", 0, MAX_TOKENS
    )
    encoder_no_repeat_ngram_size: int = choice(
        0, "Forbid copying a run of this many tokens from the source; 0 is off.", 0, MAX_TOKENS
    )
    min_new_tokens: int = choice(0, "Do not end before so many tokens are written; 0 is off.", 0, MAX_TOKENS)
    beams: int = choice(1, "How many hypotheses go on at each step; 1 takes the best token each time.", 1, MAX_BEAMS)
    length_penalty: float = choice(
        1.0, "α: a hypothesis of m tokens scores log P / m^α. 0 is neutral, more favours long outputs, less short ones; "
        "no effect on a single beam.", -5.0, 5.0
    )
    early_stopping: str = choice(
        "false", "When several beams stop: true, as soon as as many have ended; false, when none at its present length can "
        "beat them; never, when none can at any length."
    )
    sample: bool = choice(False, "Draw each token by its chance, instead of taking the best.")
    temperature: float = choice(
        1.0, "When drawing: below 1 likely tokens gain, above 1 the others do; 0 takes the best.", 0.0, 10.0
    )
    top_k: int = choice(0, "When drawing: only the so many most likely tokens; 0 is off.", 0, 1000)
    top_p: float = choice(
        1.0, "When drawing: only the most likely tokens whose chances sum to this; 1 is off.", 0.0, 1.0
    )
    min_p: float = choice(
        0.0, "When drawing: only tokens with this share of the chance of the most likely one; 0 is off.", 0.0, 1.0
    )
    typical_p: float = choice(
        1.0, "When drawing: only the tokens of the most usual surprise whose chances sum to this; 1 is off.", 0.01, 1.0
    )
    seed: int = choice(0, "When drawing: the same seed draws the same text again.", 0, 2**32 - 1)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.early_stopping not in EARLY_STOPPING:
            raise InputError(f"early_stopping is {shown(self.early_stopping)}; it must be one of: {', '.join(EARLY_STOPPING)}.")
        if self.sample and self.beams > 1:
            raise InputError(f"Drawing writes one text, not {self.beams} beams; set beams to 1, or switch drawing off.")


@dataclass(frozen=True)
class Settings(Document):
    """All that is needed to run again: together with a model's weights it gives the trace's id."""

    text: str = choice("", f"The source text, at most {MAX_CHARACTERS} characters.")
    model: str = choice("pocket-t5", "The name of a bundled or registered model, or a hub id owner/name.")
    task: str = choice("", "A task of the model; it says which prefix goes before the text. Empty: its first task.")
    source_language: str = choice("", "Language code of the source, for models with language tokens.")
    target_language: str = choice("", "Language the decoder is made to write, for models with language tokens.")
    decoding: Decoding = part(Decoding, "How the decoder writes.")
    masks: Masks = part(Masks, "What attention may see, in each stack.")
    edits: Edits = part(Edits, "Heads switched off, rows of weights set by hand, pad tokens, a forced beginning.")
    noise: NoiseSettings = part(NoiseSettings, "What is done to the text before the model reads it.")

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


__all__ = ["MAX_BEAMS", "MAX_CHARACTERS", "MAX_SOURCE", "MAX_TOKENS", "SCHEMA", "Decoding", "NoiseSettings", "Settings"]
