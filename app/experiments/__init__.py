"""What can be moved on the formulas of the sheets 003 and 004: formula -> experiment."""

from app.experiments.decoder_only import EXPERIMENTS_003
from app.experiments.experiment import Dial, Experiment

__all__ = ["EXPERIMENTS", "Dial", "Experiment"]

EXPERIMENTS: dict[str, Experiment] = {**EXPERIMENTS_003}
