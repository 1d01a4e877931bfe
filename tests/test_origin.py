"""Training text from a folder, from two files, from the hub: the same files come of it, or a sentence that says why not."""

import gzip
import sys
from types import SimpleNamespace

import pytest

from core.train.corpus import read_lines
from core.train.origin import HELD_OUT, folder_of, possible, written
from core.train.recipes import RECIPES

T5 = RECIPES["pocket-t5"]


def read(folder) -> dict[str, list[str]]:
    return {f"{split}.{language}": read_lines(folder, split, language) for split in ("train", "val") for language in ("en", "de")}


def test_a_folder_is_taken_as_it_is(tmp_path):
    assert folder_of([str(tmp_path)], T5, tmp_path / "work") == tmp_path
    assert not (tmp_path / "work").exists()


def test_two_files_are_paired_by_line_and_a_tenth_is_held_out(tmp_path):
    (tmp_path / "a.txt").write_text("".join(f"a dog {k}\n" for k in range(30)), "utf-8")
    with gzip.open(tmp_path / "b.txt.gz", "wt", encoding="utf-8") as file:
        file.write("".join(f"ein Hund {k}\n" for k in range(30)))
    found = read(folder_of([str(tmp_path / "a.txt"), str(tmp_path / "b.txt.gz")], T5, tmp_path / "work"))
    assert found["train.en"] == [f"a dog {k}" for k in range(27)] and found["val.de"] == [f"ein Hund {k}" for k in (27, 28, 29)]
    assert len(found["train.de"]) == 27


@pytest.mark.parametrize("nested", [False, True])
def test_rows_of_the_hub_become_the_same_files(tmp_path, monkeypatch, nested):
    rows = [{"en": f"a dog\n{k}", "de": f"ein Hund {k}", "id": k} for k in range(5)] + [{"en": "no pair", "de": None}]
    data = {"train": [{"translation": row} for row in rows] if nested else rows, "validation": rows[:2] if not nested else []}
    asked = []
    monkeypatch.setitem(sys.modules, "datasets", SimpleNamespace(load_dataset=lambda name: asked.append(name) or data))
    if nested:  # too few to hold any out
        with pytest.raises(SystemExit, match="5 to train and 0 to validate"):
            folder_of(["somebody/pairs"], T5, tmp_path)
        return
    found = read(folder_of(["somebody/pairs"], T5, tmp_path))
    assert asked == ["somebody/pairs"] and found["train.en"] == [f"a dog {k}" for k in range(5)]  # a text is one line
    assert found["val.de"] == ["ein Hund 0", "ein Hund 1"]


def test_no_more_than_a_thousand_are_held_out(tmp_path):
    rows = [{"translation": {"en": str(k), "de": str(k)}} for k in range(20 * HELD_OUT)]
    assert len(read(written({"train": rows}, T5.tasks[0], tmp_path))["val.en"]) == HELD_OUT


def test_only_tasks_with_text_are_left(tmp_path):
    for name in ("train.en", "train.de", "val.en", "val.de", "train.fr"):
        (tmp_path / name).write_text("text\n", "utf-8")
    assert [task.name for task in possible(T5, tmp_path).tasks] == ["en-de", "fill", "summary"]
    assert possible(T5, tmp_path).languages == ("en", "de")
    (tmp_path / "val.fr").write_text("text\n", "utf-8")
    assert possible(T5, tmp_path) is T5


@pytest.mark.parametrize(("given", "said"), [
    (["/no/such/folder"], "must be a folder, two text files, or owner/name"), (["a", "b", "c"], "must be"),
    (["{0}/one", "{0}/two"], "they must match line by line"), (["owner/name"], "pip install datasets"),
])
def test_what_cannot_be_used_is_said(tmp_path, monkeypatch, given, said):
    monkeypatch.setitem(sys.modules, "datasets", None)
    (tmp_path / "one").write_text("a\nb\n", "utf-8")
    (tmp_path / "two").write_text("a\n", "utf-8")
    with pytest.raises(SystemExit, match=said):
        folder_of([one.format(tmp_path) for one in given], T5, tmp_path / "work")


def test_a_folder_without_a_language_of_the_model_is_refused(tmp_path):
    with pytest.raises(SystemExit, match="no language"):
        possible(T5, tmp_path)
