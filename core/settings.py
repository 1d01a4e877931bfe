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
MAX_VOCABULARY = 1_000_000
SAMPLING = ("temperature", "top_k", "top_p", "min_p", "typical_p")


@dataclass(frozen=True)
class Decoding(Checked):
    """How the decoder writes: the best token at each step, a drawn one, or the best of several beams.

    What is said of sampling and of beams acts only there.
    """

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
    min_new_tokens: int = choice(0, "Forbid ending before this many tokens are written; 0 is off.", 0, MAX_TOKENS)
    beams: int = choice(1, "How many hypotheses go on at each step.", 1, MAX_BEAMS)
    length_penalty: float = choice(
        1.0, "Beams: a hypothesis of m tokens scores log P / m^α. 0 is neutral, above it long outputs gain, below it short "
        "ones. No effect with a single beam.", -5.0, 5.0
    )
    early_stopping: str = choice(
        "false", "Beams: stop as soon as so many have ended (true); when none at its present length can beat them (false); "
        "when none can at any length (never)."
    )
    do_sample: bool = choice(False, "Draw each token by its probability instead of taking the best.")
    seed: int = choice(0, "Sampling: the same number draws the same tokens again.", 0, 2**31 - 1)
    temperature: float = choice(
        1.0, "Sampling: divide the logits by this; below 1 the best tokens gain, 0 takes the best.", 0.0, 100.0
    )
    top_k: int = choice(50, "Sampling: draw from this many best tokens; 0 is off.", 0, MAX_VOCABULARY)
    top_p: float = choice(
        1.0, "Sampling: draw from the fewest best tokens that hold this probability; 1 is off.", 0.0, 1.0
    )
    min_p: float = choice(
        0.0, "Sampling: draw only tokens with this fraction of the best one's probability; 0 is off.", 0.0, 1.0
    )
    typical_p: float = choice(
        1.0, "Sampling: draw from tokens whose surprise is near the entropy, until they hold this probability; 1 is off.",
        0.01, 1.0,
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.early_stopping not in EARLY_STOPPING:
            raise InputError(f"early_stopping is {shown(self.early_stopping)}; it must be one of: {', '.join(EARLY_STOPPING)}.")
        if self.do_sample and self.beams > 1:
            raise InputError(f"Sampling writes one text, not {self.beams} beams; set beams to 1, or switch sampling off.")

    @property
    def how(self) -> str:
        """The search and what it was told: "greedy", "4 beams, α 0.6, early stopping false", "sampled, seed 3, top_p 0.9"."""
        if self.beams > 1:
            return f"{self.beams} beams, α {self.length_penalty:g}, early stopping {self.early_stopping}"
        if not self.do_sample:
            return "greedy"
        said = [f"{name} {value:g}" for name in SAMPLING if (value := getattr(self, name)) != getattr(type(self), name)]
        return ", ".join(["sampled", f"seed {self.seed}", *said])


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


__all__ = ["MAX_CHARACTERS", "MAX_SOURCE", "MAX_TOKENS", "SCHEMA", "Decoding", "NoiseSettings", "Settings"]
