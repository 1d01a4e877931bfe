"""The driver: what it costs (one encoder pass, one forward and one copy a step), and what a broken one is worth."""

import dataclasses
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch.overrides import TorchFunctionMode

from core.attention import capture
from core.decode.cache import empty
from core.decode.driver import decode, encode
from core.decode.greedy import greedy
from core.decode.processors import Forced, NoRepeatNgram, RepetitionPenalty, Suppressed
from core.models.families import start_for
from tests import models
from tests.reference import STEPS, compare, reference_for, started

REACHED = [*models.FAMILIES, *models.PARTIAL]
SOURCE = [8, 20, 31, 44, 52, 9, 17, 1]
# One of each: none of them may read a logit back.
PROCESSORS = (RepetitionPenalty(1.2), NoRepeatNgram(2), Suppressed((9,)), Forced(12, 3, "a test"))


# What it costs

@pytest.mark.parametrize("family", REACHED)
def test_the_encoder_runs_once_and_the_decoder_once_a_step(family):
    loaded, calls = models.loaded(family), []
    for name, part in (("encoder", loaded.model.get_encoder()), ("decoder", loaded.model.get_decoder())):
        part.register_forward_hook(lambda *_, name=name: calls.append(name))
    run = started(loaded)
    assert calls == []  # nothing runs before the first step is asked for
    for count, _ in enumerate(run, 1):
        assert calls == ["encoder"] + ["decoder"] * count
    trace = run.trace()
    trace.path(), trace.coverage(), trace.to_bytes()
    assert calls == ["encoder"] + ["decoder"] * STEPS


class HostCopies(TorchFunctionMode):
    """Counts the calls that make the host wait for a number of the device; on the CPU too, where nothing moves."""

    READS = {"cpu", "item", "tolist", "__bool__", "__int__", "__float__", "__index__", "__contains__", "__array__",
             "nonzero", "is_nonzero", "equal", "allclose", "masked_select", "unique"}

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[str] = []
        self._host: list[torch.Tensor] = []

    def __torch_function__(self, func: Callable, types: Any, args: tuple = (), kwargs: dict | None = None) -> Any:
        name = getattr(func, "__name__", "")
        out = func(*args, **kwargs or {})
        # A torch.device is what the models give, to keep a tensor where the others are.
        to_host = name == "to" and any(isinstance(x, str) and x == "cpu" for x in (*args[1:], *(kwargs or {}).values()))
        of_device = name == "numpy" and not any(args[0] is tensor for tensor in self._host)
        picked = name == "__getitem__" and isinstance(args[1], torch.Tensor) and args[1].dtype == torch.bool
        if name in self.READS or to_host or of_device or picked:
            self.seen.append(name)
        if name == "cpu":
            self._host.append(out)
        return out


def copies_of(loaded: Any, processors: tuple) -> list[list[str]]:
    """What reads from the device in each of ten steps."""
    encoded, found = encode(loaded.model, loaded.sites, SOURCE), []
    forwards = decode(loaded.model, loaded.sites, encoded, greedy(start_for(loaded), loaded.eos, 10), processors)
    for _ in range(10):
        with HostCopies() as copies:
            next(forwards)
        found.append(copies.seen)
    return found


@pytest.mark.parametrize("family", REACHED)
def test_one_copy_to_the_host_a_step(family):
    assert copies_of(models.shared(family), PROCESSORS) == [["cpu"]] * 10


@pytest.mark.parametrize("read", [
    lambda logits: logits.max().item(), lambda logits: bool((logits > 0).any()), lambda logits: logits[logits > 1e9],
    lambda logits: logits.to("cpu"), lambda logits: logits.argmax(-1).tolist(), lambda logits: logits.numpy(),
])
def test_a_second_copy_is_counted(read):
    def peek(logits, history, written):
        read(logits)
        return []

    assert [len(seen) for seen in copies_of(models.shared("t5"), (peek,))] == [2] * 10


# Bytes

@pytest.mark.parametrize("family", REACHED)
def test_cache_bytes_grow_with_the_text_and_the_cross_cache_stays(family):
    run = started(models.shared(family))
    steps = list(run)
    layers, heads = models.shared(family).cross_shape
    one = steps[0].self_cache_bytes
    assert [step.self_cache_bytes for step in steps] == [one * (k + 1) for k in range(STEPS)] or "window" in family
    assert {step.cross_cache_bytes for step in steps} == {one * len(run.source)}
    grouped = 2 if family.startswith("t5gemma") else 1  # query heads that share a key
    assert one == 2 * 4 * layers * heads // grouped * 8


# The same logits as without us

@pytest.mark.parametrize("family", REACHED)
def test_without_capture_logits_are_those_of_sdpa_to_the_bit(family):
    """Also in the middle of a run; where transformers has no sdpa for the family, those of eager."""
    no_sdpa = family.startswith("t5gemma") or family == "longt5"
    other = models.build(family, attention="eager" if no_sdpa else "sdpa")
    if no_sdpa:
        with pytest.raises(ValueError, match="scaled_dot_product_attention"):
            models.build(family, attention="sdpa")
    loaded = models.shared(family)
    run = started(loaded)
    next(run)
    ids = torch.tensor([[8, 10, 18, 20, 25, 40, 9, 30, 1], [9, 11, 12, 1, 0, 0, 0, 0, 0]])
    batch = dict(
        input_ids=ids, attention_mask=(ids != 0).long(), decoder_input_ids=torch.tensor([[2, 7, 9, 10], [2, 8, 9, 20]])
    )
    with torch.inference_mode():
        plain, ours = other(**batch).logits, loaded.model(**batch).logits
        with capture():
            captured = loaded.model(**batch).logits
    assert torch.equal(plain, ours)
    assert (captured - ours).abs().max() <= 5e-5 * max(1.0, float(ours.abs().max()))


# A comparison that broken drivers pass would be worth nothing.

def _no_cache(call):
    """Every step sees only its own token."""
    return lambda **inputs: call(**inputs | {"cache": empty()})


def _wrong_token(call):
    """The driver feeds the id next to the one that was chosen."""
    def forward(**inputs):
        return call(**inputs | {"decoder_input_ids": (inputs["decoder_input_ids"] + 1) % models.VOCABULARY})
    return forward


def _other_source(call):
    """The cross-attention reads the memory of another source."""
    def forward(**inputs):
        inputs["encoder_outputs"].last_hidden_state = inputs["encoder_outputs"].last_hidden_state.flip(1)
        return call(**inputs)
    return forward


@pytest.mark.parametrize("broken", [_no_cache, _wrong_token, _other_source])
@pytest.mark.parametrize("family", ["t5", "bart", "marian", "bert_gpt2", "t5gemma"])
def test_a_broken_driver_is_noticed(family, broken):
    loaded = models.loaded(family)
    loaded.model.forward = broken(loaded.model.forward)
    run = started(loaded)
    with pytest.raises(AssertionError):
        compare(list(run), reference_for(family, [t.id for t in run.source]))


@pytest.mark.parametrize(("what", "change"), [
    ("cross rows differ", lambda r: setattr(r, "cross", r.cross[:, ::-1])),
    ("cross rows differ", lambda r: setattr(r, "cross", r.cross[:, :, ::-1])),
    ("cross rows differ", lambda r: setattr(r, "cross", r.cross[::-1])),
    ("decoder rows differ", lambda r: setattr(r, "decoder", [row[:, ::-1] for row in r.decoder])),
    ("cross rows differ", lambda r: r.cross[17].__setitem__((2, 1, 3), r.cross[17][2, 1, 3] + 3e-5)),
    ("tokens differ", lambda r: r.ids.__setitem__(23, r.ids[23] + 1)),
    ("another number of steps", lambda r: r.decoder.pop()),
])
def test_swapped_layers_heads_steps_and_one_changed_number_are_noticed(what, change):
    run = started(models.shared("t5"))
    steps = list(run)
    reference = reference_for("t5", [t.id for t in run.source])
    compare(steps, reference)
    change(reference)
    with pytest.raises(AssertionError, match=what):
        compare(steps, reference)


def test_a_row_that_is_no_distribution_is_noticed():
    """Even where the reference has the same."""
    run = started(models.shared("t5"))
    steps = list(run)
    reference = reference_for("t5", [t.id for t in run.source])
    more = steps[5].cross_weights.copy()
    more[0, 0, 0, 0] += 0.01
    steps[5] = dataclasses.replace(steps[5], cross_weights=more)
    reference.cross[5][0, 0, 0] += 0.01
    with pytest.raises(AssertionError, match="step 5: a row is no distribution"):
        compare(steps, reference)


@pytest.mark.gpu
def test_one_copy_from_the_gpu_a_step():
    """As the profiler of CUDA counts them."""
    from torch.profiler import ProfilerActivity, profile

    loaded = models.prepare("t5", models.build("t5").to("cuda"), models.tokenizer())
    encoded = encode(loaded.model, loaded.sites, SOURCE)
    forwards = decode(loaded.model, loaded.sites, encoded, greedy(start_for(loaded), loaded.eos, 10), PROCESSORS)
    next(forwards)
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as seen:
        assert len(list(forwards)) == 9
    copies = sum(event.count for event in seen.key_averages() if "Memcpy DtoH" in event.key)
    assert copies == 9
