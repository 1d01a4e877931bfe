"""Settings and Trace: same settings same id, to and from bytes, and only RecordError for anybody else's bytes."""

import dataclasses
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.recent import Recent
from core import Decoding, Settings, Step, Trace, record
from core.budget import longest_source
from core.errors import InputError, RecordError
from core.examples import saved
from core.records import browser_trace, pack
from core.settings import MAX_SOURCE

TEXTS = st.text(max_size=60)
SETTINGS = st.builds(
    Settings, text=TEXTS, model=st.sampled_from(["pocket-t5", "owner/name"]), task=st.sampled_from(["", "en-de"]),
    decoding=st.builds(Decoding, max_new_tokens=st.integers(1, 128),
                       repetition_penalty=st.floats(0.1, 10).map(lambda x: round(x, 2) or 0.1),
                       no_repeat_ngram_size=st.integers(0, 128)),
)


@pytest.fixture(scope="module")
def trace() -> Trace:
    return record(Settings(text="A brown dog sleeps.", decoding=Decoding(max_new_tokens=6)))


@given(SETTINGS)
def test_settings_come_back_from_their_json(settings):
    again, unknown = Settings.from_json(settings.to_json())
    assert again == settings and unknown == []


def test_defaults_are_left_out_and_unknown_keys_are_reported_and_dropped():
    assert json.loads(Settings(text="a").to_json()) == {"schema": 1, "text": "a"}
    old = '{"schema": 1, "text": "a", "colour": "red", "decoding": {"rays": 4, "max_new_tokens": 9}}'
    settings, unknown = Settings.from_json(old)
    assert sorted(unknown) == ["colour", "decoding.rays"]
    assert settings == Settings(text="a", decoding=Decoding(max_new_tokens=9))


@pytest.mark.parametrize("text", [
    "not json", "[]", "{", "7", '{"text": 5}', '{"decoding": 3}', '{"decoding": {"max_new_tokens": 0}}',
    '{"decoding": {"repetition_penalty": NaN}}', "", "[" * 100_000,
])
def test_bad_settings_are_input_errors(text):
    with pytest.raises(InputError):
        Settings.from_json(text)


@pytest.mark.parametrize(("field", "value"), [
    ("max_new_tokens", 0), ("max_new_tokens", 129), ("max_new_tokens", 3.5), ("max_new_tokens", True),
    ("repetition_penalty", 0.0), ("repetition_penalty", float("inf")), ("repetition_penalty", float("nan")),
    ("repetition_penalty", "2"), ("repetition_penalty", 10**400), ("repetition_penalty", -(10**400)),
    ("max_new_tokens", 10**400), ("no_repeat_ngram_size", -1), ("no_repeat_ngram_size", "9" * 999),
])
def test_ranges_and_types_are_named(field, value):
    with pytest.raises(InputError, match=field) as said:
        Decoding(**{field: value})
    assert len(str(said.value)) < 120


@pytest.mark.parametrize("field", ["repetition_penalty", "max_new_tokens"])
def test_numbers_that_python_will_not_write_out(field):
    for value in (10**5000, -(10**5000), [10**5000]):
        with pytest.raises(InputError, match=f"{field} .* very large") as said:
            Decoding(**{field: value})
        assert len(str(said.value)) < 120


def test_a_whole_number_is_as_good_as_a_float():
    assert Decoding(repetition_penalty=2) == Decoding(repetition_penalty=2.0)
    assert type(Decoding(repetition_penalty=2).repetition_penalty) is float


def test_the_types_are_frozen(trace):
    for item, name in ((trace.settings, "text"), (trace, "text"), (trace.steps[0], "token"), (trace.source[0], "id")):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(item, name, None)


def test_the_arrays_are_frozen_too(trace):
    for made in (trace, Trace.from_bytes(trace.to_bytes()), saved()[0]):
        before = made.digest
        for array in made._arrays().values():
            with pytest.raises(ValueError, match="read-only"):
                array.flat[0] = 0
        assert made.path().flags.writeable and made.coverage().shape == (len(made.source),)
        assert made.digest == before


def test_same_settings_same_id_and_digest(trace):
    again = record(trace.settings)
    assert again == trace and again.id == trace.id and again.digest == trace.digest
    other = record(dataclasses.replace(trace.settings, text="A brown dog sleeps"))
    assert other.id != trace.id and other != trace
    assert dataclasses.replace(trace, fingerprint="other weights").id != trace.id
    assert dataclasses.replace(trace, made={}).id == trace.id


def test_one_changed_number_changes_the_digest(trace):
    step = trace.steps[2]
    for name in ("cross_weights", "decoder_weights", "logprob", "candidate_logprobs", "entropy"):
        array = getattr(step, name).copy()
        array.flat[0] += 1e-6
        changed = (*trace.steps[:2], dataclasses.replace(step, **{name: array}), *trace.steps[3:])
        assert dataclasses.replace(trace, steps=changed).digest != trace.digest, name


def test_a_trace_comes_back_from_its_bytes_and_is_drawn_the_same(trace):
    again = Trace.from_bytes(trace.to_bytes())
    assert again == trace and again.made == trace.made and again.notes == trace.notes and again.text == trace.text
    assert browser_trace(again) == browser_trace(trace)


def test_rows_are_distributions_and_coverage_grows_by_one_a_step(trace):
    for step in trace.steps:
        assert step.decoder_weights.shape[-1] == step.index + 1
        np.testing.assert_allclose(step.cross_weights.sum(-1), 1, atol=1e-5)
        np.testing.assert_allclose(step.decoder_weights.sum(-1), 1, atol=1e-5)
    np.testing.assert_allclose(trace.coverage().sum(), len(trace.steps), atol=1e-4)
    assert trace.path().shape == (3, 6, len(trace.target), len(trace.source))


def test_a_path_follows_parents():
    """Two hypotheses that swap rows: the path takes each step's weights from the row that made the token."""
    def step(index, parent):
        weights = np.zeros((2, 1, 1, 3), np.float32)
        weights[0, ..., 0] = weights[1, ..., 1] = 1
        two = np.zeros(2, np.float32)
        return Step(index, np.arange(2, dtype=np.int32), np.array(parent, np.int32), two, np.zeros((2, 1), np.int32),
                    np.zeros((2, 1), np.float32), two, weights, np.zeros((2, 1, 1, index + 1), np.float32), ("a", "b"),
                    (("a",), ("b",)), 0, 0)

    first = saved()[0]
    steps = (step(0, [0, 1]), step(1, [1, 0]), step(2, [1, 1]))
    made = dataclasses.replace(first, source=first.source[:3], steps=steps)
    assert made.path(0)[0, 0].argmax(-1).tolist() == [0, 0, 1]


@given(st.data())
def test_damaged_bytes_are_record_errors(data):
    whole = saved()[1].to_bytes()
    at = data.draw(st.integers(0, min(len(whole) - 1, 4000)))
    kind = data.draw(st.sampled_from(["cut", "flip", "insert"]))
    damaged = {"cut": whole[:at], "flip": whole[:at] + bytes([whole[at] ^ 0x55]) + whole[at + 1 :],
               "insert": whole[:at] + b"\x00" + whole[at:]}[kind]
    try:
        Trace.from_bytes(damaged)
    except RecordError as error:
        assert len(str(error)) < 2000


@pytest.mark.parametrize(
    "data", [b"", b"\0" * 8, b"\xff" * 64, (2**63).to_bytes(8, "little") + b"{}", b"not a record at all"]
)
def test_other_bytes_are_record_errors(data):
    with pytest.raises(RecordError):
        Trace.from_bytes(data)


def _repacked(trace: Trace, change=lambda arrays: None, change_head=lambda head: None) -> bytes:
    arrays = {name: array.copy() for name, array in trace._arrays().items()}
    change(arrays)
    whole = trace.to_bytes()
    header = json.loads(whole[8 : 8 + int.from_bytes(whole[:8], "little")])["__metadata__"]
    head = json.loads(header["head"])
    change_head(head)
    return pack("trace", head, arrays)


def test_saved_runs_and_unreachable_encoders_are_read():
    for trace in saved():
        assert Trace.from_bytes(_repacked(trace)) == trace
    first = saved()[0]
    n = len(first.source)
    partial = dataclasses.replace(first, encoder_weights=np.zeros((0, 0, n, n), np.float32))
    assert Trace.from_bytes(partial.to_bytes()) == partial
    begun = dataclasses.replace(first, steps=(), target=())
    assert Trace.from_bytes(begun.to_bytes()) == begun
    banned = _repacked(first, lambda a: a["steps.0.candidate_logprobs"].fill(-np.inf))
    assert np.isneginf(Trace.from_bytes(banned).steps[0].candidate_logprobs).all()


@pytest.mark.parametrize("change", [
    lambda a: a["steps.0.cross_weights"].fill(np.nan),
    lambda a: a.update({"steps.1.cross_weights": a["steps.1.cross_weights"][..., :-1]}),
    lambda a: a.update({"steps.0.parent": np.array([9], np.int32)}),
    lambda a: a.update({"steps.2.decoder_weights": a["steps.1.decoder_weights"]}),
    lambda a: a.pop("steps.0.token"),
    lambda a: a.update({"encoder_weights": a["encoder_weights"][0]}),
    lambda a: a["encoder_weights"].fill(np.nan),
    lambda a: a.update({"encoder_weights": a["encoder_weights"][:0]}),
    *[lambda a, name=name, to=to: a[name].fill(to) for to in (-0.1, 1.01, np.inf)
      for name in ("encoder_weights", "steps.0.cross_weights", "steps.1.decoder_weights")],
    *[lambda a, name=name, to=to: a[f"steps.1.{name}"].fill(to)
      for name in ("logprob", "entropy", "candidate_logprobs") for to in (np.nan, np.inf)],
    lambda a: a["steps.1.logprob"].fill(-np.inf),
    *[lambda a, name=name, dtype=dtype: a.update({name: a[name].astype(dtype)}) for name, dtype in (
        ("encoder_weights", "f8"), ("steps.0.logprob", "f8"), ("steps.0.token", "i8"), ("steps.0.candidates", "i8"))],
    lambda a: a.update({"steps.0.token": a["steps.0.token"].astype(np.float32)}),
    lambda a: a.update({"steps.0.token": a["steps.0.token"][None]}),
    lambda a: [a.update({f"steps.{k}.cross_weights": a[f"steps.{k}.cross_weights"][:, :0]}) for k in range(99)
               if f"steps.{k}.cross_weights" in a],
    lambda a: a.update({"steps.0.decoder_weights": a["steps.0.decoder_weights"][:, :, :0]}),
    lambda a: a.update({"steps.1.candidates": np.repeat(a["steps.1.candidates"], 2, 0)}),
])
def test_lying_arrays_are_record_errors(change):
    with pytest.raises(RecordError):
        Trace.from_bytes(_repacked(saved()[0], change))


@pytest.mark.parametrize("change", [
    lambda h: h.update(prefix_tokens=-1), lambda h: h.update(prefix_tokens=999), lambda h: h.update(prefix_tokens=None),
    *[lambda h, name=name, to=to: h["steps"][0].update({name: to})
      for name in ("self_cache_bytes", "cross_cache_bytes") for to in (-1, float("inf"), float("nan"), "x")],
    lambda h: h["steps"][1]["candidate_texts"][0].pop(), lambda h: h["steps"][1].update(candidate_texts=[]),
    lambda h: h["steps"][1].update(texts=["a", "b"]), lambda h: h["steps"].pop(), lambda h: h["target"].pop(),
    lambda h: h["source"].pop(), lambda h: h["source"][0].append(1),
    lambda h: h["source"][0].__setitem__(1, float("inf")),
    lambda h: h.update(settings='{"decoding": {"repetition_penalty": 1' + "0" * 400 + "}}"),
])
def test_lying_headers_are_record_errors(change):
    with pytest.raises(RecordError) as said:
        Trace.from_bytes(_repacked(saved()[0], change_head=change))
    assert len(str(said.value)) < 500


def test_a_record_of_another_kind_is_named():
    with pytest.raises(RecordError, match="probe"):
        Trace.from_bytes(pack("probe", {}, {}))


def test_a_long_source_travels_in_blocks_and_is_kept_by_bytes(monkeypatch):
    """At most MAX_SOURCE tokens; the encoder's weights never travel whole, a row of cross-attention does."""
    long = record(Settings(text="A man rides a horse near the old fence. " * 90, decoding=Decoding(max_new_tokens=2)))
    sent = browser_trace(long)
    assert len(long.source) == MAX_SOURCE and "cut" in long.notes[0]
    assert (sent["block"], sent["blocked"]) == (4, ["encoder"])
    layers, heads = sent["shapes"]["encoder"]
    assert len(sent["enc"]) == 4 * -(-2 * layers * heads * 128 * 128 // 3)
    assert len(sent["rows"][0]["w"]) < 33_000 and Trace.from_bytes(long.to_bytes()) == long
    short = saved()[0]
    monkeypatch.setattr("app.recent.KEPT", long.nbytes + short.nbytes // 2)
    kept = Recent()
    kept.add(short)
    kept.add(long)
    assert kept.get(short.id) is None and kept.get(long.id) is long


def test_the_longest_source_leaves_room_for_a_record():
    assert longest_source(6, 12) > MAX_SOURCE == longest_source(12, 16) > longest_source(24, 16) > 300
