"""Experiment: one thing to move on a formula, and the picture that answers."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import plotly.graph_objects as go


@dataclass(frozen=True)
class Dial:
    """A slider of an experiment. name: the symbol as the formula has it ("T", "d_k")."""

    name: str
    lowest: float
    highest: float
    first: float
    step: float = 1.0


@dataclass(frozen=True)
class Experiment:
    """picture: dial -> value, as a figure, made with the formula's own function; under 50 ms, without a model's turn.

    A picture draws numbers that were computed for these values; how they were made (seed, unit) stands in its title.
    """

    dials: tuple[Dial, ...]
    picture: Callable[[Mapping[str, float]], go.Figure]
