"""What can be moved on the formulas of the sheets 003 and 004: formula -> experiment."""

from app.experiments.experiment import Dial, Experiment
from app.experiments.first import FIRST

__all__ = ["EXPERIMENTS", "Dial", "Experiment"]

EXPERIMENTS: dict[str, Experiment] = {**FIRST}
