"""The experiments of sheet 004: one for each of its own entries, and for the cross-attention that it shares with sheet 000."""

from app.experiments.experiment import Experiment
from app.experiments.family_blocks import BLOCKS
from app.experiments.family_objectives import OBJECTIVES
from app.experiments.family_sentences import SENTENCES

EXPERIMENTS_004: dict[str, Experiment] = BLOCKS | OBJECTIVES | SENTENCES
