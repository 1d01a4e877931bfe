"""beam_search.json: greedy and beam searches, and teacher-forced logits, of the tiny models."""

import copy
import dataclasses
from collections.abc import Sequence
from pathlib import Path

import torch

from core.decode.beam import Rules, beam
from core.decode.driver import decode, encode
from core.decode.greedy import greedy
from core.decode.processors import Processor
from core.models.families import processors_for, start_for
from core.models.loading import Loaded
from core.search_tree import tree_of
from core.settings import Decoding, Settings
from tests.golden import LOGITS, Report, differs
from tests.golden.tiny import Tiny, logits

# Beside the fields of Decoding these are all the choices a run may name.
CHECKPOINT_CHOICES = ("forced_bos_token_id", "forced_eos_token_id", "bad_words_ids", "suppress_tokens")

SCORES = 1e-3  # how close scores must be, as the vectors' README says


def check_beam_search(data: dict, folder: Path, report: Report) -> None:
    """Every run, every beam search after a prompt of several ids, and check_logits."""
    tiny = Tiny(folder)
    for name, spec in data.get("models", {}).items():
        for index, run in enumerate(spec.get("runs", [])):
            check = _greedy_run if run.get("num_beams") == 1 else _beams
            label = f"{name} run {index} ({run.get('tag', 'no tag')})"
            report.case(label, check, tiny, name, run, spec.get("max_new_tokens", 12))
        if "decoder_prompt_case" in spec:
            report.case(f"{name} decoder_prompt_case", _prompted, tiny, name, spec["decoder_prompt_case"])
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
    decoding, processors = chosen(loaded, source, params, limit)
    search = greedy(start_for(loaded), loaded.eos, decoding.max_new_tokens)
    steps = decode(loaded.model, loaded.sites, encode(loaded.model, loaded.sites, source), search, processors)
    return [start_for(loaded), *(int(step.request.ids[0]) for step in steps)]


def chosen(loaded: Loaded, source: Sequence[int], params: dict, limit: int) -> tuple[Decoding, list[Processor]]:
    """Settings and processors of a run of the file."""
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
        return decoding, processors_for(loaded, Settings(text="-", decoding=decoding), decoding.max_new_tokens, source)
    finally:
        model.generation_config = before


def _beams(tiny: Tiny, name: str, run: dict, limit: int) -> str | None:
    """Every source by itself: the hypotheses of each, best first, with sums and scores."""
    loaded, sources = tiny.load(name), tiny.sources(name)
    if len(run["rows"]) != len(sources):
        return f"{len(run['rows'])} rows for {len(sources)} sources"
    for expected in run["rows"]:
        found = hypotheses(loaded, sources[expected["source"]], [start_for(loaded)], run, limit)
        if wrong := _unlike(found, expected["hypotheses"], loaded.eos, 1):
            return f"source {expected['source']}: {wrong}"
    return None


def _prompted(tiny: Tiny, name: str, case: dict) -> str | None:
    """Beam search after a prompt of several ids; the rows of all sources follow each other."""
    loaded, beams = tiny.load(name), case["num_beams"]
    for row, (source, prompt) in enumerate(zip(tiny.sources(name), case["decoder_input_ids"], strict=True)):
        found = hypotheses(loaded, source, prompt, case, case.get("max_new_tokens", 12))
        if wrong := _unlike(found, case["rows"][row * beams : (row + 1) * beams], loaded.eos, len(prompt)):
            return f"source {row}: {wrong}"
    return None


def hypotheses(loaded: Loaded, source: Sequence[int], prompt: Sequence[int], run: dict, limit: int) -> list[dict]:
    """What our beam search gives, in the words of the file."""
    decoding, processors = chosen(loaded, source, run.get("params", {}), limit)
    early = str(run.get("early_stopping", False)).lower()
    rules = Rules(run["num_beams"], loaded.eos, decoding.max_new_tokens, run.get("length_penalty", 1.0), early)
    encoded = encode(loaded.model, loaded.sites, source)
    steps = decode(loaded.model, loaded.sites, encoded, beam(prompt, rules), processors)
    tree = tree_of([step.request.level for step in steps], rules.beams)
    return [
        {"sequence": [*prompt, *tree.token[tree.path(node)].tolist()], "score": float(tree.score[node]),
         "generated_len": len(tree.path(node)), "sum_logprob": float(tree.total[node])}
        for node in tree.ranking
    ]


def _unlike(found: list[dict], wanted: list[dict], eos: frozenset[int], prompt: int) -> str | None:
    """What differs; theirs are padded after the end."""
    if len(found) != len(wanted):
        return f"{len(found)} hypotheses, the file has {len(wanted)}"
    for ours, theirs in zip(found, wanted):
        sequence = [*theirs["sequence"][: prompt - 1], *ended(theirs["sequence"][prompt - 1 :], eos)]
        if ours["sequence"] != sequence:
            return f"{ours['sequence']}, the file has {sequence}"
        if ours["generated_len"] != theirs["generated_len"]:
            return f"{ours['generated_len']} tokens counted, the file has {theirs['generated_len']}"
        for number in ("score", "sum_logprob"):
            if wrong := differs(number, ours[number], theirs[number], SCORES):
                return wrong
    return None


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
