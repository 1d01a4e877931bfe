"""What can be moved on each displayed formula of sheet 003: entry -> experiment."""

from app.experiments.decoder_only_layers import LAYERS
from app.experiments.decoder_only_reading import READING
from app.experiments.decoder_only_training import TRAINING
from app.experiments.decoder_only_using import USING
from app.experiments.experiment import Experiment

# In the order of the sheet, with those that sheet 000 has an entry of.
EXPERIMENTS_003: dict[str, Experiment] = READING | LAYERS | TRAINING | USING
