"""The registry of noises, their settings, and corruptions as records: true, checked, and only sentences for errors."""

import dataclasses
import json

import numpy as np
import pytest
from hypothesis import given

from core.errors import InputError, RecordError
from core.noise import NOISES, Corruption, corrupt
from core.noising import NOISE_NAMES, NoiseSettings
from core.records import pack
from core.settings import Settings
from tests.noise_texts import made_up, settings


def test_the_registry_is_true():
    fields = {field.name for field in dataclasses.fields(NoiseSettings)}
    assert sorted(NOISE_NAMES) == sorted(NOISES) == list(NOISES)
    for name, noise in NOISES.items():
        assert noise.name == name and noise.title and noise.help.endswith(".") and ";" in noise.source
        assert set(noise.settings) | set(noise.start) | {noise.amount} <= fields
        assert noise.amount in noise.settings or name == "combined"


@pytest.mark.parametrize(("field", "value"), [
    ("name", "colour"), ("mode", "both"), ("rate", -0.1), ("rate", 1.1), ("rate", float("nan")), ("rate", "0.5"),
    ("mean_span", 0.5), ("poisson", 0.01), ("poisson", 16.5), ("poisson", float("inf")), ("seed", -1), ("seed", 2**32),
    ("seed", 1.5), ("seed", True), ("epoch", 1000), ("combined", ("colour",)), ("combined", 3), ("combined", ([],)),
    ("hide", (-1,)), ("hide", (1.0,)), ("hide", ("1",)), ("show", (10**400,)), ("show", {1}), ("roll", 1), ("random_share", 2),
])
def test_settings_name_what_is_wrong(field, value):
    with pytest.raises(InputError, match=field if field != "name" else "noise") as said:
        NoiseSettings(**{field: value})
    assert len(str(said.value)) < 250


def test_settings_that_contradict_each_other():
    with pytest.raises(InputError, match="1.2"):
        NoiseSettings(random_share=0.6, keep_share=0.6)
    with pytest.raises(InputError, match="Position 3"):
        NoiseSettings(hide=(3, 1), show=(3,))
    with pytest.raises(InputError, match="noise is chosen"):
        corrupt(made_up(5), NoiseSettings())


@given(settings())
def test_settings_come_back_from_their_json(chosen):
    again, unknown = NoiseSettings.from_json(chosen.to_json())
    assert again == chosen and again.to_json() == chosen.to_json() and unknown == []
    assert Settings.from_json(Settings(text="a", noise=chosen).to_json())[0].noise == chosen


def test_no_noise_leaves_no_mark_in_the_json():
    assert json.loads(Settings(text="a").to_json()) == {"schema": 1, "text": "a"}
    assert NoiseSettings(hide=(3, 1, 3)).to_json() == NoiseSettings(hide=[1, 3]).to_json()


@pytest.mark.parametrize("change", [
    lambda h, a: a.update(mask=a["mask"][:-1]), lambda h, a: a.update(mask=a["mask"].astype(np.int32)),
    lambda h, a: a.update(corrupted_from=a["corrupted_from"] + 50), lambda h, a: a.update(target_kind=a["target_kind"] - 9),
    lambda h, a: a.update(source_span=a["source_span"].astype(np.int64)), lambda h, a: a.pop("target_span"),
    lambda h, a: h.update(achieved=2), lambda h, a: h.update(requested=float("nan")), lambda h, a: h.update(settings="{"),
    lambda h, a: h["source"].pop(), lambda h, a: h["target"][0].append(1), lambda h, a: h.pop("notes"),
])
def test_lying_bytes_are_record_errors(change):
    made = corrupt(made_up(20), NoiseSettings("spans"))
    whole = made.to_bytes()
    head = json.loads(json.loads(whole[8 : 8 + int.from_bytes(whole[:8], "little")])["__metadata__"]["head"])
    arrays = {name: getattr(made, name).copy() for name in (
        "mask", "source_span", "corrupted_from", "corrupted_span", "corrupted_kind", "target_from", "target_span", "target_kind")}
    assert Corruption.from_bytes(pack("corruption", head, arrays)) == made
    change(head, arrays)
    with pytest.raises(RecordError):
        Corruption.from_bytes(pack("corruption", head, arrays))
