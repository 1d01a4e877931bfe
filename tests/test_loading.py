"""Folders that are nearly a checkpoint: each is refused with a sentence, none is filled up with random numbers."""

import json
import shutil
from pathlib import Path

import pytest
from safetensors.torch import load_file, save_file

from core.errors import ModelError
from core.models.loading import load_folder
from core.models.tasks import alignment_head_of_folder, tasks_in, tasks_of_folder
from core.runs import Run
from core.settings import Decoding, Settings
from tests import models as tiny


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> Path:
    return tiny.save("t5", tmp_path_factory.mktemp("whole"))


@pytest.fixture
def folder(whole, tmp_path) -> Path:
    """A fresh copy of a checkpoint that loads."""
    return Path(shutil.copytree(whole, tmp_path / "host-secret" / "t5"))


def refused(folder: Path) -> str:
    with pytest.raises(ModelError) as said:
        load_folder("mine", folder, "cpu")
    text = str(said.value)
    assert "mine" in text and text.endswith(".") and "\n" not in text and len(text) < 500
    assert "host-secret" not in text and "/tmp" not in text and "site-packages" not in text
    return text


def change_weights(folder: Path, change) -> None:
    weights = load_file(folder / "model.safetensors")
    change(weights)
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})


def change_json(path: Path, **values) -> None:
    path.write_text(json.dumps(json.loads(path.read_text()) | values))


@pytest.mark.parametrize("family", tiny.ALL)
def test_a_whole_checkpoint_of_every_family_loads(family, tmp_path):
    loaded = load_folder(family, tiny.save(family, tmp_path), "cpu")
    assert loaded.name == family


def test_missing_weights_are_named(folder):
    change_weights(folder, lambda w: w.pop("decoder.final_layer_norm.weight"))
    assert "decoder.final_layer_norm.weight" in refused(folder)


def test_at_most_three_missing_weights_are_named(folder):
    change_weights(folder, lambda w: [w.pop(key) for key in sorted(w)[:9]])
    text = refused(folder)
    assert text.count(".weight") == 3 and "6 more" in text


def test_weights_of_another_shape_are_named(folder):
    key = "encoder.block.0.layer.0.SelfAttention.q.weight"
    change_weights(folder, lambda w: w.update({key: w[key][:4].contiguous()}))
    text = refused(folder)
    assert key in text and "(4, 32)" in text and "(32, 32)" in text


def test_tied_weights_and_sinusoids_may_be_left_out(tmp_path):
    """One of the tied names is enough, and sinusoids are computed."""
    folder = tiny.save("pegasus", tmp_path)

    def drop(weights):
        assert "lm_head.weight" not in weights and "model.shared.weight" in weights
        for key in [key for key in weights if "embed_positions" in key]:
            del weights[key]

    before = load_folder("a", folder, "cpu").fingerprint
    change_weights(folder, drop)
    assert load_folder("a", folder, "cpu").fingerprint == before


@pytest.mark.parametrize("left", [["tokenizer_config.json"], []])
def test_a_folder_without_a_tokenizer(left, folder):
    for name in {"tokenizer.json", "tokenizer_config.json"} - set(left):
        (folder / name).unlink()
    assert "okenizer" in refused(folder)


@pytest.mark.parametrize(("key", "value"), [
    ("decoder_start_token_id", 9999), ("decoder_start_token_id", -1), ("eos_token_id", 9999),
    ("eos_token_id", [1, 9999]), ("forced_bos_token_id", 9999), ("forced_eos_token_id", 9999),
    ("suppress_tokens", [9999]), ("bad_words_ids", [[9999]]),
])
def test_ids_beyond_the_vocabulary(key, value, folder):
    change_json(folder / "generation_config.json", **{key: value})
    text = refused(folder)
    assert "9999" in text or "-1" in text
    assert f"0 to {tiny.VOCABULARY - 1}" in text


@pytest.mark.parametrize("values", [
    {"num_heads": 0}, {"num_heads": "four"}, {"d_model": -3}, {"vocab_size": None}, {"num_layers": 10**9 + 0.5},
    {"model_type": "no-such-type"}, {"model_type": 7}, {"model_type": "bert"}, {"decoder_start_token_id": "x"},
    {"task_specific_params": [1]}, {"dtype": "float99"}, {"feed_forward_proj": "none-such"},
])
def test_a_malformed_config_loads_or_is_refused_with_a_sentence(values, folder):
    change_json(folder / "config.json", **values)
    try:
        load_folder("mine", folder, "cpu")
    except ModelError:
        refused(folder)


def test_a_config_nested_too_deep(folder):
    (folder / "config.json").write_text('{"a":' * 100_000 + "1" + "}" * 100_000)
    refused(folder)
    assert tasks_of_folder(folder) == {}


@pytest.mark.parametrize("params", [[1], "x", 7, {"a": 3}, {"a": {"prefix": 3}}, None])
def test_tasks_of_an_odd_config(params, folder):
    assert tasks_in({"task_specific_params": params, "prefix": "say: "}) == {"default": "say: "}
    (folder / "config.json").write_text("[1]")
    assert tasks_of_folder(folder) == {}


@pytest.mark.parametrize("heads", [None, 3, [], [3], [[1]], [["1", 2]], [[True, 2]], [[-1, 0]], [[1e9, 0]], {"0": [1, 2]}])
def test_alignment_heads_that_are_none(heads, folder):
    path = folder / "generation_config.json"
    path.write_text(json.dumps({"alignment_heads": [[1, 4], [0, 2]]}))
    assert alignment_head_of_folder(folder) == (1, 4)
    path.write_text(json.dumps({"alignment_heads": heads}))
    assert alignment_head_of_folder(folder) is None
    for text in ("[1]", "{", "\xff"):
        path.write_text(text)
        assert alignment_head_of_folder(folder) is None
    path.unlink()
    assert alignment_head_of_folder(folder) is None


def test_other_paths_of_the_host_are_not_shown(folder, monkeypatch):
    def broken(*_, **__):
        raise OSError(f"{folder}/x and /srv/host-secret/y are bad, see https://example.org/a/b")

    monkeypatch.setattr("core.models.loading.AutoConfig.from_pretrained", broken)
    assert "mine/x and … are bad, see https://example.org/a/b" in refused(folder)


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_weights_that_are_not_finite_stop_a_run_with_a_sentence(number, folder):
    change_weights(folder, lambda w: w["decoder.final_layer_norm.weight"].fill_(number))
    run = Run(Settings(text=tiny.TEXT, decoding=Decoding(max_new_tokens=4)), load_folder("mine", folder, "cpu"))
    with pytest.raises(ModelError, match="not finite") as said:
        next(run)
    assert "float32" in str(said.value) and str(said.value).endswith(".")
