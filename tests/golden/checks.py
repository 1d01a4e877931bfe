"""The vector files by name: what checks each one, and those whose product functions do not exist yet."""

from collections.abc import Callable
from pathlib import Path

from tests.golden import Report
from tests.golden.beam_search import check_beam_search
from tests.golden.model_behaviour import check_model_behaviour
from tests.golden.param_budget import check_param_budget

CHECKS: dict[str, Callable[[dict, Path, Report], None]] = {
    "beam_search.json": check_beam_search,
    "model_behaviour.json": check_model_behaviour,
    "param_budget.json": check_param_budget,
}

PENDING = frozenset({
    "bart_noise.json", "coverage_pointer.json", "length_penalty.json", "logits_processors.json", "masks.json",
    "metrics.json", "relative_position_bucket.json", "significance.json", "t5_end_to_end.json", "t5_objectives.json",
    "t5_span_corruption.json", "teacher_forcing_losses.json",
})
