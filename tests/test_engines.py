"""Which engine answers: options of the environment, and that a page without a cluster neither needs nor imports Ray."""

import subprocess
import sys
from dataclasses import replace

import pytest

from core.engines import Options, engine_of
from core.engines.local import Local
from core.engines.options import options
from core.engines.workers import registry, registry_of
from core.errors import InputError, RecordError
from core.metrics.corpus import Corpus
from core.models import Models, models
from core.runs import record
from core.settings import Decoding, Settings
from core.sweeps.__main__ import main
from core.sweeps.plan import Made, plan
from core.sweeps.resume import ResumeFile

SOURCES = ("A dog runs.", "Two men talk.", "", "A cat sleeps on a chair.", "<extra_id_0>")


def test_options_are_those_of_the_environment(monkeypatch):
    assert options({}) == Options() == Options("local", "auto", 1, 2, 1, 0)
    monkeypatch.setattr("core.engines.options.find_spec", lambda name: object())
    asked = {"ENGINE": "Ray", "RAY_ADDRESS": "10.0.0.1:6379", "REPLICAS": "2-8", "REPLICA_CPUS": "4", "REPLICA_GPUS": "0.25"}
    assert options(asked) == Options("ray", "10.0.0.1:6379", 2, 8, 4, 0.25) and options(asked).threads == 4
    assert options({"REPLICAS": "3"}) == Options(least=3, most=3) and options({"REPLICA_CPUS": "0.5"}).threads == 1


@pytest.mark.parametrize("wrong,said", [
    ({"ENGINE": "spark"}, "ENGINE is 'spark'; it must be local or ray"),
    ({"REPLICAS": "0"}, "REPLICAS is '0'"), ({"REPLICAS": "4-2"}, "a range such as 1-4"), ({"REPLICAS": "some"}, "REPLICAS"),
    ({"REPLICA_CPUS": "0"}, "REPLICA_CPUS is '0'; it must be a number from 0.1"), ({"REPLICA_GPUS": "-1"}, "from 0 to 1024"),
    ({"REPLICA_CPUS": "nan"}, "REPLICA_CPUS is 'nan'"),
])
def test_what_cannot_be_meant_is_refused_with_the_value(wrong, said):
    with pytest.raises(InputError, match=said):
        options(wrong)


def test_ray_that_is_not_installed_is_said_before_anything_starts(monkeypatch):
    monkeypatch.setattr("core.engines.options.find_spec", lambda name: None)
    with pytest.raises(InputError, match="Ray is not installed: pip install -r requirements-ray.txt"):
        options({"ENGINE": "ray"})


def test_the_local_engine_imports_no_ray_and_the_interface_no_torch():
    code = ("import sys, core.engines, core.engines.options; assert 'torch' not in sys.modules\n"
            "import app.page, core.engines.local; assert not any(name.split('.')[0] == 'ray' for name in sys.modules)")
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)


def test_what_the_local_engine_gives_is_what_there_was():
    engine = engine_of(Options(), models())
    assert isinstance(engine, Local) and engine.open() == ""
    going = engine.run(Settings(text="A dog runs."))
    list(going)
    assert going.trace() == record(Settings(text="A dog runs.")) and not going.elsewhere
    group = engine.compare([Settings(text="A dog runs.", decoding=Decoding(beams=beams)) for beams in (1, 2)])
    assert all(list(group)) and not group.elsewhere and group.runs[0].written == going.written
    assert list(engine.sweep([])) == []


def test_a_registry_is_made_again_as_it_was(tmp_path):
    told = registry(Models({"own": tmp_path}, allow_hub=True, device="cpu"))
    again = registry_of(told)
    assert (again.folders, again.allow_hub, again.device) == ({"own": tmp_path}, True, "cpu") and registry_of(told) is again


def test_a_plan_covers_each_text_once_and_a_chunk_comes_back_from_its_line():
    asked = plan([[Settings(text="gone")], [Settings(decoding=Decoding(beams=2))]], {"a": SOURCES, "b": SOURCES[:1]}, 2)
    assert [(one.number, one.corpus, one.first, len(one.sources)) for one in asked[:4]] == [
        (0, "a", 0, 2), (1, "a", 2, 2), (2, "a", 4, 1), (3, "b", 0, 1)]
    assert len(asked) == 8 and len({one.id for one in asked}) == 8 and all(not way.text for one in asked for way in one.settings)
    made = [one for one in Local(models()).sweep(asked) if one]
    assert [one.number for one in made] == list(range(8))
    for one in made:
        assert Made.from_json(one.to_json()).to_json() == one.to_json()
    assert "Type" in made[1].lines[0][0].why and made[0].lines[0][0].text == "Ein Hund rennt."
    translating = Local(models()).translate([Settings()], Corpus(SOURCES))
    assert str([line for line in translating if line]) == str([line for one in made[:3] for line in one.lines])


@pytest.mark.parametrize("size", [0, 1001])
def test_chunks_of_no_size_are_refused(size):
    with pytest.raises(InputError, match="A chunk of"):
        plan([[Settings()]], {"a": SOURCES}, size)


def test_a_resume_file_of_something_else_is_refused_and_a_cut_line_is_not(tmp_path):
    asked, path = plan([[Settings()]], {"a": SOURCES[:4]}, 2), tmp_path / "kept.jsonl"
    kept = ResumeFile(path, asked, models())
    first, second = [one for one in Local(models()).sweep(asked) if one]
    kept.add(first)
    path.write_bytes(path.read_bytes() + second.to_json().encode()[:40])
    again = ResumeFile(path, asked, models())
    assert [one.number for one in again.left] == [1]
    again.add(second)
    assert not ResumeFile(path, asked, models()).left
    with pytest.raises(RecordError, match="Line 1 of kept.jsonl is of another sweep"):
        ResumeFile(path, plan([[Settings()]], {"a": SOURCES[1:5]}, 2), models())
    path.write_text(replace(first, fingerprint="other").to_json() + "\n")
    with pytest.raises(RecordError, match="made with other weights of pocket-t5"):
        ResumeFile(path, asked, models())
    path.write_text("[]\n")
    with pytest.raises(RecordError, match="This is no chunk of a sweep"):
        ResumeFile(path, asked, models())


def test_the_command_makes_a_table_and_goes_on_where_it_was(tmp_path, capsys, monkeypatch):
    monkeypatch.delenv("ENGINE", raising=False)
    (tmp_path / "set.tsv").write_text("A dog runs.\tEin Hund rennt.\nTwo men talk.\tZwei Männer reden.\n", "utf-8")
    ways = ("{}", '{"decoding": {"beams": 4}}', '{"decoding": {}}')  # the third is the first, spelled otherwise
    asked = [str(tmp_path / "set.tsv"), *(part for way in ways for part in ("--settings", way)), "--chunk", "1",
             "--resume", str(tmp_path / "kept.jsonl")]
    main(asked)
    first = capsys.readouterr().out
    rows = first.splitlines()[-18:]
    assert "4 of 4 chunks" in first and "set.tsv  pocket-t5  {}  BLEU  " in first and "tok:13a" in first
    main(asked)
    assert capsys.readouterr().out.splitlines() == ["4 of 4 chunks were made before.", *rows]
    table = (tmp_path / "kept.csv").read_text("utf-8").splitlines()
    assert table[0].startswith("test set,model,settings,score") and len(table) == 19


@pytest.mark.parametrize("wrong,said", [
    (["--settings", "[]"], "must be an object"), (["--settings", "{"], "is no JSON"), (["--settings", '{"beam": 4}'], "'beam'"),
    (["--resume", "kept.CSV"], "'kept.CSV'; the table is written beside it"),
    (["--model", "no-such"], "There is no model 'no-such'"), (["--chunk", "0"], "A chunk of 0 texts"),
])
def test_the_command_says_in_a_sentence_what_it_cannot_do(tmp_path, wrong, said, monkeypatch):
    monkeypatch.delenv("ENGINE", raising=False)
    (tmp_path / "set.txt").write_text("A dog runs.\n")
    with pytest.raises(SystemExit, match=f"This sweep stops: .*{said}"):
        main([str(tmp_path / "set.txt"), "--resume", str(tmp_path / "kept.jsonl"), *wrong])
