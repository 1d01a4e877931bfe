"""beam_search.json: greedy runs and teacher-forced logits of the tiny models."""

import copy
import dataclasses
from collections.abc import Sequence
from pathlib import Path

import torch

from core.decode.driver import decode, encode
from core.decode.greedy import greedy
from core.models.families import processors_for, start_for
from core.models.loading import Loaded
from core.settings import Decoding, Settings
from tests.golden import LOGITS, Report, differs
from tests.golden.tiny import Tiny, logits

# Beside the fields of Decoding these are all the choices a run may name.
CHECKPOINT_CHOICES = ("forced_bos_token_id", "forced_eos_token_id", "bad_words_ids", "suppress_tokens")


def check_beam_search(data: dict, folder: Path, report: Report) -> None:
    """Greedy runs and check_logits of every model; what needs more than one hypothesis waits for beam search."""
    tiny = Tiny(folder)
    for name, spec in data.get("models", {}).items():
        runs = spec.get("runs", [])
        for index, run in enumerate(runs):
            if run.get("num_beams") == 1:
                label = f"{name} run {index} ({run.get('tag', 'no tag')})"
                report.case(label, _greedy_run, tiny, name, run, spec.get("max_new_tokens", 12))
        report.not_yet("beam runs", sum(run.get("num_beams") != 1 for run in runs))
        report.not_yet("decoder_prompt_case", int("decoder_prompt_case" in spec))
        if "check_logits" in spec:
            for row in range(len(spec["check_logits"]["logits_last_position_first8"])):
                report.case(f"{name} check_logits row {row}", _check_logits, tiny, name, spec["check_logits"], row)


def _greedy_run(tiny: Tiny, name: str, run: dict, limit: int) -> str | None:
    """Every source by itself, unpadded, through our driver: the same tokens up to the end of the text."""
    loaded = tiny.load(name)
    sources = tiny.sources(name)
    if len(run["rows"]) != len(sources):
        return f"{len(run['rows'])} rows for {len(sources)} sources"
    for row, (source, expected) in enumerate(zip(sources, run["rows"])):
        ours = greedy_ids(loaded, source, run.get("params", {}), limit)
        theirs = ended(expected["sequence"], loaded.eos)
        if ours != theirs:
            return f"row {row} gives {ours}, the file {theirs}"
    return None


def greedy_ids(loaded: Loaded, source: Sequence[int], params: dict, limit: int) -> list[int]:
    """Start token and what greedy search writes after it."""
    known = {field.name for field in dataclasses.fields(Decoding)}
    unknown = set(params) - known - set(CHECKPOINT_CHOICES)
    if unknown:
        raise ValueError(f"no setting for {sorted(unknown)}")
    model = loaded.model
    before = model.generation_config
    model.generation_config = copy.deepcopy(before)  # a run's choices must not reach the next run
    for key in set(params) & set(CHECKPOINT_CHOICES):
        setattr(model.generation_config, key, params[key])
    try:
        decoding = Decoding(**{"max_new_tokens": limit} | {k: v for k, v in params.items() if k in known})
        processors = processors_for(loaded, Settings(text="-", decoding=decoding), decoding.max_new_tokens)
    finally:
        model.generation_config = before
    search = greedy(start_for(loaded), loaded.eos, decoding.max_new_tokens)
    steps = decode(model, loaded.sites, encode(model, loaded.sites, source), search, processors)
    return [start_for(loaded), *(int(step.request.ids[0]) for step in steps)]


def ended(sequence: Sequence[int], eos: frozenset[int]) -> list[int]:
    """A sequence cut after its first end token; the start token may be one and does not count."""
    for index, id in enumerate(sequence):
        if index and id in eos:
            return list(sequence[: index + 1])
    return list(sequence)


def _check_logits(tiny: Tiny, name: str, case: dict, row: int) -> str | None:
    """Teacher-forced logits of the padded batch, both as sdpa and as captured."""
    loaded = tiny.load(name)
    wanted = case["logits_last_position_first8"][row]
    for capturing in (False, True):
        found = logits(loaded, *tiny.batch(name), torch.tensor(case["decoder_input_ids"]), capturing)
        ours = found[row, -1, : len(wanted)].tolist()
        if wrong := differs("captured logit" if capturing else "logit", ours, wanted, LOGITS):
            return wrong
    return None
