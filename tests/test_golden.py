"""The runner of the vector files: it passes what must pass, and it notices one changed number, weight or function."""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from safetensors.torch import load_file, save_file
from transformers import GenerationMixin

from tests.golden import DATA, Report, check_file, check_folder
from tests.golden.__main__ import main

ROOT = Path(__file__).parents[1]
# file -> cases that pass today; every other case of our own copy waits for its function
PASSING = {
    "bart_noise.json": 125, "beam_search.json": 93, "coverage_pointer.json": 15, "length_penalty.json": 18,
    "logits_processors.json": 51, "masks.json": 13, "metrics.json": 574, "model_behaviour.json": 30, "param_budget.json": 26,
    "relative_position_bucket.json": 12, "significance.json": 15, "t5_end_to_end.json": 7, "t5_objectives.json": 20,
    "t5_span_corruption.json": 101, "teacher_forcing_losses.json": 21,
}


def ours(name: str) -> dict:
    return json.loads((DATA / name).read_text("utf-8"))


def folder_of(tmp_path: Path, **files: object) -> Path:
    """A folder with these files (name without .json -> content) and the weights."""
    for weights in DATA.glob("*.safetensors"):
        shutil.copy(weights, tmp_path)
    for name, content in files.items():
        text = content if isinstance(content, str) else json.dumps(content)
        (tmp_path / f"{name}.json").write_text(text, "utf-8")
    return tmp_path


def checked(tmp_path: Path, name: str, content: object) -> Report:
    return check_file(folder_of(tmp_path, **{name: content}) / f"{name}.json")


# What must pass

def test_every_file_passes_as_far_as_its_functions_exist():
    reports = check_folder(DATA)
    assert {report.name: report.passed for report in reports} == PASSING
    assert [failure for report in reports for failure in report.failed] == []


def test_generate_is_not_called(tmp_path, monkeypatch):
    """Calling the reference in place of our own driver would prove nothing."""
    monkeypatch.setattr(GenerationMixin, "generate", lambda *_, **__: pytest.fail("the reference was called"))
    report = checked(tmp_path, "beam_search", only_run("marian", 4))
    assert (report.passed, report.failed) == (1, [])


# One changed number

def only_run(model: str, run: int) -> dict:
    """beam_search.json with one run and no config: those of our own copy are used."""
    spec = ours("beam_search.json")["models"][model]
    return {"models": {model: {"runs": [spec["runs"][run]], "max_new_tokens": spec["max_new_tokens"]}}}


def only_logits() -> dict:
    return {"models": {"bart": {"check_logits": ours("beam_search.json")["models"]["bart"]["check_logits"]}}}


def only(name: str, key: str, count: int | None = None) -> dict:
    return {key: ours(name)[key][:count]}


def forced(key: str) -> dict:
    facts = ours("model_behaviour.json")["t5"]["teacher_forced"]
    return {"t5": {"teacher_forced": {"labels": facts["labels"], key: facts[key]}}}


def only_pair(key: str) -> dict:
    """metrics.json with one key of its second pair, whose texts differ by a word."""
    pair = ours("metrics.json")["pairs"][1]
    return {"pairs": [{name: pair[name] for name in ("name", "hypothesis", "references", key)}]}


def padding() -> dict:
    return {"t5": {"eager": {"padding_invariance_max_diff": 0.0}}}


CHANGES: dict[str, tuple[str, Callable[[], dict], Callable[[dict], object]]] = {
    "a token": ("beam_search", lambda: only_run("marian", 4),
                lambda d: d["models"]["marian"]["runs"][0]["rows"][0]["sequence"].__setitem__(12, 7)),
    "a token fewer": ("beam_search", lambda: only_run("bart", 0),
                      lambda d: d["models"]["bart"]["runs"][0]["rows"][1]["sequence"].pop()),
    "a row fewer": ("beam_search", lambda: only_run("bart", 0), lambda d: d["models"]["bart"]["runs"][0]["rows"].pop()),
    "a penalty": ("beam_search", lambda: only_run("marian", 5),
                  lambda d: d["models"]["marian"]["runs"][0]["params"].update(repetition_penalty=9.0)),
    "an unknown setting": ("beam_search", lambda: only_run("marian", 5),
                           lambda d: d["models"]["marian"]["runs"][0]["params"].update(colour=1)),
    "a source": ("beam_search", lambda: only_run("marian", 5), lambda d: d["models"]["marian"].update(
        input_ids=[[9, 8, 7, 6, 5, 0], [11, 12, 13, 0, 49, 49]], attention_mask=[[1] * 6, [1, 1, 1, 1, 0, 0]])),
    "a logit": ("beam_search", only_logits,
                lambda d: add(d["models"]["bart"]["check_logits"]["logits_last_position_first8"][1], 7, 3e-4)),
    "padding": ("model_behaviour", padding, lambda d: d["t5"]["eager"].update(padding_invariance_max_diff=1.0)),
    "a loss": ("model_behaviour", lambda: forced("loss"), lambda d: add(d["t5"]["teacher_forced"], "loss", 3e-4)),
    "one nll": ("model_behaviour", lambda: forced("nll"), lambda d: add(d["t5"]["teacher_forced"]["nll"], 5, 3e-4)),
    "a perplexity": ("model_behaviour", lambda: forced("perplexity"),
                     lambda d: add(d["t5"]["teacher_forced"], "perplexity", 481)),
    "a token count": ("model_behaviour", lambda: forced("n_tokens"),
                      lambda d: add(d["t5"]["teacher_forced"], "n_tokens", 1)),
    "decoder input": ("model_behaviour", lambda: forced("decoder_input_ids"),
                      lambda d: add(d["t5"]["teacher_forced"]["decoder_input_ids"][1], 1, 1)),
    "measured bytes": ("param_budget", lambda: only("param_budget.json", "kv_measured", 1),
                       lambda d: add(d["kv_measured"][0], "cross_bytes", 4)),
    "a shape": ("param_budget", lambda: only("param_budget.json", "kv_measured", 1),
                lambda d: add(d["kv_measured"][0]["self_shape"], 2, 1)),
    "computed bytes": ("param_budget", lambda: only("param_budget.json", "kv_table", 1),
                       lambda d: add(d["kv_table"][0], "self", 1)),
    "a shifted label": ("teacher_forcing_losses", lambda: only("teacher_forcing_losses.json", "shift_right", 1),
                        lambda d: add(d["shift_right"][0]["decoder_input_ids"][0], 3, 1)),
    "a smoothed loss": ("teacher_forcing_losses", lambda: only("teacher_forcing_losses.json", "label_smoothing", 2),
                        lambda d: add(d["label_smoothing"][1], "loss_fairseq_variant", 1e-9)),
    "a gradient": ("teacher_forcing_losses", lambda: {"cross_entropy": ours("teacher_forcing_losses.json")["cross_entropy"]},
                   lambda d: add(d["cross_entropy"]["gradient"][0][1], 3, 1e-9)),
    "a smoothed target": ("teacher_forcing_losses", lambda: {
        "label_smoothing_gradient": ours("teacher_forcing_losses.json")["label_smoothing_gradient"]},
                          lambda d: add(d["label_smoothing_gradient"]["smoothed_target"], 2, 1e-9)),
    "a distilled loss": ("teacher_forcing_losses", lambda: only("teacher_forcing_losses.json", "distillation", 2),
                         lambda d: add(d["distillation"][1], "kl_teacher_student", 1e-9)),
    "a KL the other way": ("teacher_forcing_losses", lambda: {
        "distillation_wrong": ours("teacher_forcing_losses.json")["distillation_wrong"]},
                           lambda d: add(d["distillation_wrong"], "reverse_kl_T1", 1e-9)),
    "a parameter": ("param_budget", lambda: only("param_budget.json", "models", 3),
                    lambda d: add(d["models"][2], "hand_count_untied", 1)),
    "a share": ("param_budget", lambda: only("param_budget.json", "models", 1),
                lambda d: add(d["models"][0], "embedding_share", 1e-9)),
    "a hidden span": ("t5_span_corruption", lambda: only("t5_span_corruption.json", "examples", 1),
                      lambda d: add(d["examples"][0]["targets"], 0, 1)),
    "a cell of a mask": ("masks", lambda: only("masks.json", "cases", 3),
                         lambda d: add(d["cases"][1]["allowed"][0][2], 4, 1)),
    "a weight of a dead row": ("masks", lambda: {"softmax": ours("masks.json")["softmax"]},
                               lambda d: add(d["softmax"]["robust_zero_row"][1], 0, 1e-5)),
    "a bucket": ("relative_position_bucket", lambda: {"tables": ours("relative_position_bucket.json")["tables"]},
                 lambda d: add(d["tables"]["nb8_md20_bi"]["bucket"], 290, 1)),
    "a first distance": ("relative_position_bucket", lambda: {
        "first_distance_of_bucket_nb32_md128": ours("relative_position_bucket.json")["first_distance_of_bucket_nb32_md128"]},
                         lambda d: add(d["first_distance_of_bucket_nb32_md128"]["causal"], "17", 1)),
    "a helper's length": ("t5_span_corruption", lambda: only("t5_span_corruption.json", "random_spans_helper", 2),
                          lambda d: add(d["random_spans_helper"][1], "tokens_length", 1)),
    "a prefix": ("t5_objectives", lambda: {"prefix_lengths_density_0.25": {"5": [2, 3, 4]}},
                 lambda d: d["prefix_lengths_density_0.25"].update({"5": [1, 2, 3, 4]})),
    "a regular mask": ("t5_objectives", lambda: only("t5_objectives.json", "regular_examples", 1),
                       lambda d: d["regular_examples"][0].__setitem__(2, 1)),
    "a row's target": ("t5_end_to_end", lambda: {"last_row": ours("t5_end_to_end.json")["last_row"]},
                       lambda d: add(d["last_row"]["targets"], 1, 1)),
    "a segment": ("t5_end_to_end", lambda: {"segment_length": 70}, lambda d: d.update(segment_length=71)),
    "a noised token": ("bart_noise", lambda: {"examples": {"rotation": ours("bart_noise.json")["examples"]["rotation"]}},
                       lambda d: add(d["examples"]["rotation"][0]["noised"], 2, 1)),
    "a score": ("metrics", lambda: only_pair("bleu"), lambda d: add(d["pairs"][0]["bleu"][3], "score", 1e-3)),
    "a precision": ("metrics", lambda: only_pair("bleu"), lambda d: add(d["pairs"][0]["bleu"][3]["precisions"], 1, 1e-3)),
    "an edit": ("metrics", lambda: only_pair("ter"), lambda d: add(d["pairs"][0]["ter"][0], "num_edits", 1)),
    "an f": ("metrics", lambda: only_pair("rouge"), lambda d: add(d["pairs"][0]["rouge"]["rouge2"], "f", 1e-3)),
    "a cut": ("metrics", lambda: only_pair("tokenized"), lambda d: d["pairs"][0]["tokenized"].update({"13a": "The cat"})),
    "a signature": ("metrics", lambda: only("metrics.json", "signatures", 1),
                    lambda d: d["signatures"].__setitem__(0, d["signatures"][0].replace("lc", "mixed") + "|x:y")),
    "a p": ("significance", lambda: ours("significance.json"),
            lambda d: add(d["results"]["bs"]["scores"]["BLEU"][1], "p", 1e-3)),
    "an interval": ("significance", lambda: ours("significance.json"),
                    lambda d: add(d["results"]["bs"]["scores"]["chrF2"][0], "ci", 1e-2)),
    "a penalty's divisor": ("length_penalty", lambda: ours("length_penalty.json"),
                            lambda d: add(d["table"]["gnmt"]["0.6"], 3, 1e-6)),
    "a rank": ("length_penalty", lambda: ours("length_penalty.json"), lambda d: d["rankings"]["hf_1.0"].reverse()),
    "a coverage": ("coverage_pointer", lambda: only("coverage_pointer.json", "coverage", 2),
                   lambda d: add(d["coverage"][0]["coverage_final"], 1, 1e-6)),
    "a copy": ("coverage_pointer", lambda: only("coverage_pointer.json", "pointer_generator", 2),
               lambda d: add(d["pointer_generator"][1]["final"], 1, 1e-6)),
    "a probability": ("bart_noise", lambda: {"poisson": ours("bart_noise.json")["poisson"]},
                      lambda d: add(d["poisson"]["probs"], 3, 1e-7)),
}


def add(place: dict | list, key: str | int, amount: float) -> None:
    place[key] += amount


@pytest.mark.parametrize("what", CHANGES)
def test_one_changed_number_is_a_failure(what, tmp_path):
    name, make, change = CHANGES[what]
    data = make()
    before = checked(tmp_path, name, data)
    assert before.good and before.passed, f"{before.failed} {before.pending}"
    change(data)
    after = checked(tmp_path, name, data)
    assert (after.passed, len(after.failed), after.total) == (before.passed - 1, 1, before.total)


@pytest.mark.parametrize("index", range(33))
def test_a_changed_score_of_each_processor_is_a_failure(index, tmp_path):
    case = ours("logits_processors.json")["cases"][index]
    kept = case["kept"][-1]
    case["out"][kept] += 0.01
    assert len(checked(tmp_path, "logits_processors", {"cases": [case]}).failed) == 1
    case["out"][kept] = "-Infinity"
    assert len(checked(tmp_path, "logits_processors", {"cases": [case]}).failed) == 1


def test_a_number_within_the_tolerance_passes(tmp_path):
    data = only_logits()
    add(data["models"]["bart"]["check_logits"]["logits_last_position_first8"][1], 7, 3e-5)
    assert checked(tmp_path, "beam_search", data).good


def test_other_weights_are_a_failure(tmp_path):
    folder = folder_of(tmp_path, beam_search=only_run("bart", 4))
    weights = load_file(folder / "tiny_bart.safetensors")
    weights["model.decoder.layers.1.fc1.weight"].neg_()
    save_file(weights, folder / "tiny_bart.safetensors")
    assert len(check_file(folder / "beam_search.json").failed) == 1


# A broken product

def test_a_search_that_takes_the_second_best_is_a_failure(tmp_path, monkeypatch):
    monkeypatch.setattr("core.decode.driver.torch.Tensor.argmax", lambda x, *_, **__: x.argsort(-1)[..., -2:-1])
    assert len(checked(tmp_path, "beam_search", only_run("marian", 4)).failed) == 1


def test_a_wrong_formula_is_a_failure(tmp_path, monkeypatch):
    monkeypatch.setattr("tests.golden.param_budget.kv_bytes", lambda *sizes, **_: 1)
    report = checked(tmp_path, "param_budget", ours("param_budget.json"))
    assert report.passed == 6 and len(report.failed) == 20


# Other files

def test_a_file_may_hold_only_some_of_its_lists(tmp_path):
    """Each list by itself gives as many cases as it does beside the others."""
    found = 0
    for key, value in ours("param_budget.json").items():
        report = checked(tmp_path, "param_budget", {key: value})
        assert report.failed == []
        found += report.total
    assert found == sum(len(ours("param_budget.json")[key]) for key in ("models", "kv_measured", "kv_table"))


@pytest.mark.parametrize("name", [*PASSING, "something_new.json"])
def test_a_folder_without_a_case_is_no_pass(name, tmp_path, capsys):
    report = checked(tmp_path, Path(name).stem, {})
    assert report.passed == 0 and report.failed == []
    assert call(tmp_path) == 1
    assert capsys.readouterr().out.splitlines()[0].endswith(("nothing in it is a case", "not yet: all of it (1)"))


def test_a_file_whose_functions_do_not_exist_is_not_yet_and_counts_as_failed(tmp_path, capsys):
    folder_of(tmp_path, other_scores={"cases": []}, something_new="not even JSON")
    assert call(tmp_path) == 1
    first, second, total = capsys.readouterr().out.splitlines()
    assert first.split() == "other_scores.json 0 of 1 passed; not yet: all of it (1)".split()
    assert second.split() == "something_new.json 0 of 1 passed; not yet: all of it (1)".split()
    assert total.split() == "total 0 of 2 passed".split()


@pytest.mark.parametrize(("content", "said"), [
    ("{", "not readable as JSON"), ("", "not readable as JSON"), ("[" * 100_000, "not readable as JSON"),
    ("[]", "a vector file is a JSON object, this is a list"), ('{"models": 3}', "malformed"),
    ('{"models": {"t5": {"runs": [{"num_beams": 1}]}}}', "KeyError: 'rows'"),
    ('{"models": {"t6": {"runs": [{"num_beams": 1, "rows": []}]}}}', "t6"),
])
def test_a_broken_file_is_a_sentence_and_the_others_still_run(content, said, tmp_path, capsys):
    folder_of(tmp_path, beam_search=content, param_budget=only("param_budget.json", "kv_table", 2))
    assert call(tmp_path) == 1
    out = capsys.readouterr().out
    assert said in out and "Traceback" not in out
    assert "2 of 2 passed" in out


def test_weights_that_are_not_there_are_named(tmp_path):
    (tmp_path / "beam_search.json").write_text(json.dumps(only_run("t5", 0)), "utf-8")
    assert "tiny_t5.safetensors does not lie beside the file" in check_file(tmp_path / "beam_search.json").failed[0]


# The command

def call(*arguments: object) -> int:
    """The exit code of `python -m tests.golden ARGUMENTS`."""
    before = sys.argv
    sys.argv = ["tests.golden", *map(str, arguments)]
    try:
        return main()
    finally:
        sys.argv = before


def test_the_command_counts_lists_and_exits(tmp_path):
    """A process of its own, as anybody would start it."""
    data = only("param_budget.json", "kv_table", 3)
    folder_of(tmp_path, param_budget=data)
    command = [sys.executable, "-m", "tests.golden", str(tmp_path)]
    good = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert good.returncode == 0, good.stderr
    assert [line.split() for line in good.stdout.splitlines()] == [
        "param_budget.json 3 of 3 passed".split(), "total 3 of 3 passed".split()]
    data["kv_table"][1]["self"] += 1
    folder_of(tmp_path, param_budget=data)
    bad = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert bad.returncode == 1
    assert "2 of 3 passed" in bad.stdout and "param_budget.json: kv_table 1: self is" in bad.stdout


@pytest.mark.parametrize("arguments", [["/no/such/folder"], [ROOT / "tests"], ["a", "b"], ["--help"]])
def test_a_wrong_call_says_what_is_wrong(arguments, capsys):
    assert call(*arguments) == 1
    assert "vector files" in capsys.readouterr().out


def test_a_long_list_of_failures_is_cut(tmp_path, capsys):
    cases = ours("param_budget.json")["kv_table"][:1] * 30
    folder_of(tmp_path, param_budget={"kv_table": [dict(case, self=index) for index, case in enumerate(cases)]})
    assert call(tmp_path) == 1
    assert "and 10 more" in capsys.readouterr().out
