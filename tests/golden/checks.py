"""The vector files by name: what checks each one. A file that is not here has no product function yet."""

from collections.abc import Callable
from pathlib import Path

from tests.golden import Report
from tests.golden.bart_noise import check_bart_noise
from tests.golden.beam_search import check_beam_search
from tests.golden.coverage_pointer import check_coverage_pointer
from tests.golden.length_penalty import check_length_penalty
from tests.golden.logits_processors import check_logits_processors
from tests.golden.masks import check_masks
from tests.golden.metrics import check_metrics
from tests.golden.model_behaviour import check_model_behaviour
from tests.golden.param_budget import check_param_budget
from tests.golden.relative_position_bucket import check_relative_position_bucket
from tests.golden.significance import check_significance
from tests.golden.t5_end_to_end import check_t5_end_to_end
from tests.golden.t5_objectives import check_t5_objectives
from tests.golden.t5_spans import check_t5_spans
from tests.golden.teacher_forcing import check_teacher_forcing

CHECKS: dict[str, Callable[[dict, Path, Report], None]] = {
    "bart_noise.json": check_bart_noise,
    "beam_search.json": check_beam_search,
    "coverage_pointer.json": check_coverage_pointer,
    "length_penalty.json": check_length_penalty,
    "logits_processors.json": check_logits_processors,
    "masks.json": check_masks,
    "metrics.json": check_metrics,
    "model_behaviour.json": check_model_behaviour,
    "param_budget.json": check_param_budget,
    "relative_position_bucket.json": check_relative_position_bucket,
    "significance.json": check_significance,
    "t5_end_to_end.json": check_t5_end_to_end,
    "t5_objectives.json": check_t5_objectives,
    "t5_span_corruption.json": check_t5_spans,
    "teacher_forcing_losses.json": check_teacher_forcing,
}
