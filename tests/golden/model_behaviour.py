"""model_behaviour.json: padding, wholly masked sources and teacher forcing on the tiny models."""

from pathlib import Path

import torch

from core.models.families import start_for
from core.train.forcing import IGNORED, decoder_input, forced
from tests.golden import LOGITS, Report, differs
from tests.golden.tiny import Tiny, largest, logits

TEACHER_FORCED = ("decoder_input_ids", "loss", "n_tokens", "nll", "loss_if_pad_id_kept_in_labels", "perplexity")


def check_model_behaviour(data: dict, folder: Path, report: Report) -> None:
    """Padding changes nothing, a wholly masked source gives no NaN, and teacher forcing: loss, tokens, perplexity."""
    tiny = Tiny(folder)
    for name, facts in data.items():
        if not isinstance(facts, dict) or not {"eager", "sdpa", "teacher_forced"} & set(facts):
            continue  # notes on other code: generation defaults and the like
        for path in ("eager", "sdpa"):
            for key, check in (("padding_invariance_max_diff", _padding), ("all_masked_has_nan", _all_masked)):
                if key in facts.get(path, {}):
                    report.case(f"{name} {path} {key}", check, tiny, name, path == "eager", facts[path][key])
        for key in TEACHER_FORCED:
            if key in facts.get("teacher_forced", {}):
                report.case(f"{name} teacher_forced {key}", _forced, tiny, name, facts["teacher_forced"], key)


def _targets(tiny: Tiny, name: str) -> torch.Tensor:
    """Some decoder input (batch, 3) to compare logits on."""
    ids, _ = tiny.batch(name)
    return torch.tensor([[start_for(tiny.load(name)), 5, 6]] * len(ids))


def _padding(tiny: Tiny, name: str, capturing: bool, wanted: float) -> str | None:
    """A padded batch gives each row the logits that it has alone."""
    loaded, (ids, mask), decoder = tiny.load(name), tiny.batch(name), _targets(tiny, name)
    together = logits(loaded, ids, mask, decoder, capturing)
    worst = 0.0
    for row, source in enumerate(tiny.sources(name)):
        alone = torch.tensor([source])
        found = logits(loaded, alone, torch.ones_like(alone), decoder[row : row + 1], capturing)
        worst = max(worst, largest(together[row] - found[0]))
    return differs("largest change by padding", worst, 0.0, LOGITS) or differs("largest change", worst, wanted, LOGITS)


def _all_masked(tiny: Tiny, name: str, capturing: bool, wanted: bool) -> str | None:
    ids, mask = tiny.batch(name)
    found = logits(tiny.load(name), ids, torch.zeros_like(mask), _targets(tiny, name), capturing)
    has = bool(found.isnan().any())
    return None if has is wanted else f"NaN {has}, the file has {wanted}"


@torch.inference_mode()
def _forced(tiny: Tiny, name: str, case: dict, key: str) -> str | None:
    model, (ids, mask), labels = tiny.load(name).model, tiny.batch(name), torch.tensor(case["labels"])
    wanted = case[key]
    if key == "decoder_input_ids":
        ours = decoder_input(model, labels).tolist()
        return None if ours == wanted else f"{ours}, the file has {wanted}"
    if key == "loss_if_pad_id_kept_in_labels":
        labels = labels.masked_fill(labels == IGNORED, model.config.pad_token_id)
    result = forced(model, ids, mask, labels)
    if key == "n_tokens":
        return None if result.tokens == wanted else f"{result.tokens}, the file has {wanted}"
    if key == "nll":
        return differs(key, result.nll[labels != IGNORED].tolist(), wanted, LOGITS)
    if key == "perplexity":
        return differs(key, result.perplexity, wanted, 0.0, LOGITS)
    return differs(key, float(result.loss), wanted, LOGITS)
