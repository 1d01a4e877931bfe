"""What a person reads when something cannot be done: one sentence, the value, what is allowed."""

import dataclasses
import re

import pytest

from core import Settings, run
from core.errors import ControlError, InputError, ModelError, TwoStacksError
from core.models import Models, folders_in
from tests import models as tiny

MALFORMED = [
    "../x", "a/b/c", "/etc/passwd", "", "x" * 180, "a/..", "owner/na me", "owner\\name", "https://x/y", "a//b",
    "owner/name\n",
]


def message(error: TwoStacksError) -> str:
    text = str(error)
    assert text.endswith((".", ")", '"')) and "Traceback" not in text and "\n" not in text and len(text) < 500
    assert not re.search(r"/work/|/tmp/|site-packages", text), text
    return text


@pytest.mark.parametrize("text", ["", " ", "\n\t  ", "\u3000", "\u200b\u200d", "\ufeff \xad", "\x01", "\u2028"])
def test_an_empty_text(text):
    with pytest.raises(InputError) as said:
        run(Settings(text=text))
    assert "empty" in message(said.value) and "at least one word" in message(said.value)


def test_a_text_that_is_too_long():
    with pytest.raises(InputError) as said:
        Settings(text="a" * 100_000)
    assert "100,000" in message(said.value) and "4,000" in message(said.value)


@pytest.mark.parametrize(
    ("text", "word"), [("a\0b", "NUL"), ("<extra_id_3>", "<extra_id_3>"), ("</s> </s>", "special")]
)
def test_texts_that_no_model_can_use(text, word):
    with pytest.raises(InputError) as said:
        run(Settings(text=text))
    assert word in message(said.value)


@pytest.mark.parametrize("text", ["\ud800", "A dog \udfff runs.", "\ud83d"])
def test_half_a_character(text):
    with pytest.raises(InputError) as said:
        run(Settings(text=text))
    at = next(k for k, c in enumerate(text) if "\ud800" <= c <= "\udfff")
    assert f"U+{ord(text[at]):04X}" in message(said.value) and f"position {at + 1}" in message(said.value)


def test_zero_width_characters_beside_a_word_are_no_reason_to_refuse():
    assert next(run(Settings(text="A\u200d dog"))).index == 0


@pytest.mark.parametrize(("text", "fits"), [(tiny.TEXT, True), (tiny.TEXT, False)])
def test_a_prefix_that_fills_the_limit_is_blamed_and_no_other(text, fits):
    from core.runs import Run

    loaded = dataclasses.replace(tiny.loaded("t5"), tasks={"say": "a dog " * (2 if fits else 300)})
    if fits:
        assert Run(Settings(text=text, model="t5"), loaded).prefix_tokens == 4
        return
    with pytest.raises(InputError) as said:
        Run(Settings(text=text, model="t5"), loaded)
    assert "prefix of t5 alone fills all 512" in message(said.value)


@pytest.mark.parametrize(("text", "unknown"), [("A dog 😀", "😀"), ("שלום", "ש"), ("日本", "日")])
def test_unknown_characters_are_named_and_the_run_goes_on(text, unknown):
    going = run(Settings(text=text))
    assert any(unknown in note and "<unk>" in note for note in going.notes)
    assert next(going).index == 0


@pytest.mark.parametrize("name", MALFORMED)
@pytest.mark.parametrize("allow_hub", [True, False])
def test_a_malformed_model_name_never_reaches_a_disk_or_the_hub(name, allow_hub, monkeypatch):
    monkeypatch.setattr("core.models.Path.is_file", lambda self: pytest.fail(f"looked at {self}"))
    with pytest.raises(ModelError) as said:
        Models(allow_hub=allow_hub).load(name)
    assert "pocket-t5" in message(said.value)


def test_a_hub_id_where_the_host_allows_none():
    with pytest.raises(ModelError) as said:
        Models(allow_hub=False).load("google/t5-small")
    assert "google/t5-small" in message(said.value) and "pocket-t5" in message(said.value)


def test_a_hub_id_that_cannot_be_had_offline():
    with pytest.raises(ModelError) as said:
        Models(allow_hub=True).load("nobody/no-such-model")
    assert "nobody/no-such-model" in message(said.value)


def test_a_control_character_in_a_name():
    with pytest.raises(InputError):
        Settings(text="a", model="a\nb")


@pytest.mark.parametrize("kind", ["empty", "no weights", "only bin", "damaged", "not json"])
def test_a_registered_folder_that_is_no_checkpoint(kind, tmp_path):
    folder = tmp_path / "mine"
    folder.mkdir()
    if kind != "empty":
        tiny.save("t5", folder)
        weights = folder / "model.safetensors"
        if kind == "no weights":
            weights.unlink()
        elif kind == "only bin":
            weights.rename(folder / "pytorch_model.bin")
        elif kind == "damaged":
            weights.write_bytes(weights.read_bytes()[:1000])
        else:
            (folder / "config.json").write_text("{")
    registry = Models(folders_in(tmp_path))
    assert "mine" in registry.names()
    with pytest.raises(ModelError) as said:
        registry.load("mine")
    assert "mine" in message(said.value)
    assert registry.load("pocket-t5").name == "pocket-t5"  # nobody else is disturbed


def test_a_registered_folder_runs_through_the_same_path(tmp_path):
    tiny.save("bart", tmp_path / "mine")
    going = run(Settings(text=tiny.TEXT, model="mine"), Models(folders_in(tmp_path)))
    assert next(going).cross_weights.shape[1:3] == (3, 4)


def test_a_models_dir_that_is_not_there():
    with pytest.raises(ModelError, match="MODELS_DIR"):
        folders_in("/no/such/folder")


def test_an_unreachable_model_says_which_sites_it_has():
    with pytest.raises(ControlError) as said:
        from core.runs import Run

        Run(Settings(text=tiny.TEXT, model="mvp"), tiny.loaded("mvp"))
    assert "cross attention of mvp" in message(said.value) and "none" in message(said.value)


def test_a_partly_reachable_model_runs_and_says_what_is_missing():
    from core.runs import Run

    going = Run(Settings(text=tiny.TEXT, model="longt5"), tiny.loaded("longt5"))
    assert any("encoder attention of longt5 cannot be reached" in note for note in going.notes)
    next(going)
    assert going.trace().encoder_weights.shape[:2] == (0, 0)
