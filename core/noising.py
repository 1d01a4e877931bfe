"""NoiseSettings: every choice about noise, as a part of Settings and by itself."""

from dataclasses import dataclass, field

from core.errors import InputError
from core.fields import Document, choice, several, shown

MIN_POISSON = 0.1  # below, nearly every span is empty and a text drowns in masks
EDITS = 4000  # positions that can be edited: as many as a text has characters
# What NoiseSettings.name may be (core.noise.NOISES has one entry for each) and which of BART's noises may be combined.
NOISE_NAMES = (
    "spans", "iid", "bert_style", "mass_style", "drop", "deshuffle", "prefix_lm",
    "token_masking", "token_deletion", "text_infilling", "sentence_permutation", "document_rotation", "token_insertion",
    "combined", "bert", "roberta", "electra",
)
BART_STEPS = ("permutation", "masking", "deletion", "infilling", "insertion", "rotation")  # in the reference's order
MODES = ("code", "paper")


@dataclass(frozen=True)
class NoiseSettings(Document):
    """What is done to the text before the encoder reads it. A name's own usual values: `core.noise.NOISES[name].start`."""

    name: str = choice("", "Which noise; empty: none.")
    mode: str = choice("code", "As in the reference's code, with what surprises there, or as in the paper.")
    rate: float = choice(0.15, "The share of tokens, or of words, that is hidden.", 0.0, 1.0)
    mean_span: float = choice(3.0, "T5: the mean length of a hidden span, in tokens.", 1.0, 20.0)
    poisson: float = choice(3.0, "BART: λ, the mean length of an infilled span before it is cut; 0: only insertions.", 0.0, 16.0)
    seed: int = choice(0, "The same seed hides the same places.", 0, 2**32 - 1)
    epoch: int = choice(0, "RoBERTa: a new mask each epoch.", 0, 999)
    whole_words: bool = choice(False, "BART and BERT: choose words and hide all their pieces, not single pieces.")
    each_piece: bool = choice(False, "BART: a mask for each piece of a hidden word, not one for all of it.")
    random_share: float = choice(0.0, "The share of chosen tokens that become a random token, not a mask.", 0.0, 1.0)
    keep_share: float = choice(0.0, "BERT: the share of chosen tokens that stay as they are.", 0.0, 1.0)
    roll: bool = choice(False, "T5: shift the mask by a random offset (random_roll), so that a text may begin hidden.")
    combined: tuple[str, ...] = field(default=("permutation", "infilling"), metadata={
        "help": f"BART: which noises are combined; of {', '.join(BART_STEPS)}.", "of": str, "most": len(BART_STEPS),
        "low": None, "high": None,
    })
    permute_rate: float = choice(1.0, "BART: the share of sentences that change places.", 0.0, 1.0)
    rotate_rate: float = choice(1.0, "BART: the probability that the text is rotated.", 0.0, 1.0)
    insert_rate: float = choice(0.1, "BART: masks inserted, as a share of the text's tokens.", 0.0, 1.0)
    hide: tuple[int, ...] = several(int, "Source positions that a person hid by hand.", EDITS, 0, EDITS - 1)
    show: tuple[int, ...] = several(int, "Source positions that a person showed by hand.", EDITS, 0, EDITS - 1)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.name not in ("", *NOISE_NAMES):
            raise InputError(f"There is no noise {shown(self.name)}; pick one of: {', '.join(NOISE_NAMES)}.")
        if self.mode not in MODES:
            raise InputError(f"mode is {shown(self.mode)}; it must be one of: {', '.join(MODES)}.")
        if (both := self.random_share + self.keep_share) > 1:
            raise InputError(f"random_share and keep_share add up to {both:g}; at most 1 is allowed.")
        if 0 < self.poisson < MIN_POISSON:
            raise InputError(f"poisson is {self.poisson:g}; it must be 0, or between {MIN_POISSON} and 16.")
        if wrong := [step for step in self.combined if step not in BART_STEPS]:
            raise InputError(f"combined has {shown(wrong[0])}; it may have {', '.join(BART_STEPS)}.")
        object.__setattr__(self, "combined", tuple(step for step in BART_STEPS if step in self.combined))
        self._check_edits()

    def _check_edits(self) -> None:
        for name in ("hide", "show"):
            object.__setattr__(self, name, tuple(sorted(set(getattr(self, name)))))  # the same edits, the same JSON
        if both := set(self.hide) & set(self.show):
            raise InputError(f"Position {min(both)} is both in hide and in show; it can be in one of them.")
