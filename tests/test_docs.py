"""What the documents say is so: variables, limits, commands of make, and every example."""

import ast
import re
from pathlib import Path

import pytest

from app.calls import DEEP, UNREAD
from app.config import ENVIRONMENT, AppConfig, read_config
from app.door import MOST
from app.endpoints import MOST_TEXTS
from app.presence import GONE
from app.turns import RUNS
from core.errors import InputError
from core.metrics.corpus import MAX_BYTES, MAX_LINES
from core.models import ASSETS
from core.settings import MAX_BEAMS, MAX_CHARACTERS, MAX_SOURCE, MAX_TOKENS
from core.train.recipes import RECIPES

ROOT = Path(__file__).resolve().parents[1]
GUIDE, API = ((ROOT / name).read_text("utf-8") for name in ("GUIDE.md", "API.md"))
# What the operating system sets, for finding the user's data directory.
SYSTEM = {"HOME", "LOCALAPPDATA", "XDG_DATA_HOME"}


def test_the_guide_lists_every_variable_as_the_code_has_it():
    rows = re.findall(r"^\| `(\w+)` \| (?:`([\w-]+)`)? *\| (.*?) \| (.*?) \|$", GUIDE, re.M)
    assert {name: tuple(rest) for name, *rest in rows} == {name: tuple(each) for name, each in ENVIRONMENT.items()}


def test_no_variable_is_read_that_the_guide_does_not_list():
    read = set()
    for path in sorted([*(ROOT / "app").rglob("*.py"), *(ROOT / "core").rglob("*.py")]):
        read |= variables_in(ast.parse(path.read_text("utf-8")))
    assert {"PORT", "MODELS_DIR", "SESSIONS_DIR", "SPACE_ID", "WEB_CONCURRENCY"} <= read  # the search finds what is there
    assert read - SYSTEM - {"GRADIO_ANALYTICS_ENABLED"} == set(ENVIRONMENT)  # that one is only set, to off


def variables_in(tree: ast.Module) -> set[str]:
    """Names of the environment's variables that a module reads: constants beside `environ` or `environment`."""
    named = {target.id: node.value.value for node in tree.body if isinstance(node, ast.Assign)
             for target in node.targets if isinstance(target, ast.Name) and isinstance(node.value, ast.Constant)}
    found = set()
    for node in ast.walk(tree):
        keys: list[ast.expr] = []
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and is_environment(node.func.value):
            keys = node.args[:1]
        if isinstance(node, ast.Subscript) and is_environment(node.value):
            keys = [node.slice]
        if isinstance(node, ast.Compare) and any(map(is_environment, node.comparators)):
            keys = [node.left]
        found |= {named.get(key.id) if isinstance(key, ast.Name) else key.value for key in keys
                  if isinstance(key, ast.Name | ast.Constant)}
    return found


def is_environment(node: ast.expr) -> bool:
    return getattr(node, "attr", getattr(node, "id", "")) in ("environ", "environment")


def test_options_and_variables_mean_the_same():
    variables = {"GRADIO_SERVER_NAME": "0.0.0.0", "PORT": "81", "GRADIO_ROOT_PATH": "/stacks/", "MODELS_DIR": "models",
                 "DEVICE": "cpu"}
    options = [word for name, value in variables.items() for word in (ENVIRONMENT[name].option, value)]
    assert read_config(options, {}) == read_config([], variables)
    assert read_config([], variables).root_path == "/stacks" and not read_config([], variables).allow_hub
    assert read_config([], {"GRADIO_SERVER_PORT": "82"}).port == 82


@pytest.mark.parametrize("variables", [{"GRADIO_ROOT_PATH": "stacks"}, {"GRADIO_ROOT_PATH": "ftp://here"}])
def test_a_root_path_that_is_none_is_refused(variables):
    with pytest.raises(InputError, match="must begin with /"):
        read_config([], variables)


def test_the_limits_of_the_guide_are_those_of_the_code():
    table = GUIDE.split("## Limits")[1].split("\n## ")[0]
    rows = {name: [int(number.replace(",", "")) for number in re.findall(r"[\d,]*\d", told)]
            for name, told in re.findall(r"^\| ([a-zA-Z][^|]*?) \| ([^|]*?) \|$", table, re.M)}
    served = (ROOT / "app" / "serving.py").read_text("utf-8")
    assert rows["a source text"] == [MAX_CHARACTERS, MAX_SOURCE] and rows["an output"] == [MAX_TOKENS]
    assert rows["beams"] == [MAX_BEAMS] and rows["an upload"] == [MAX_BYTES // 10**6]
    assert rows["runs that are answered at once"] == [RUNS]
    assert rows["texts that are scored"] == [MAX_LINES, MOST_TEXTS] and rows["events that wait"] == [AppConfig.queue_size]
    assert f"state_session_capacity={rows['sessions of Gradio in memory'][0]}" in served
    assert rows["answers that one tab has not read"] == [UNREAD] and rows["a request"] == [MOST // 2**20, DEEP, 64]
    beat = int(re.search(r"EVERY = (\d+);", (ROOT / "assets/js/beats.js").read_text("utf-8"))[1])
    assert rows["open tabs of one browser"] == [beat // 1000, GONE / 60]
    assert len(rows) == 12  # what is new has a line above


def test_every_command_of_make_is_documented_and_no_other():
    text = (ROOT / "Makefile").read_text("utf-8")
    targets = set(re.search(r"^\.PHONY: (.*)$", text, re.M)[1].split()) - {"help", "chromium"}
    helped = set(re.findall(r"make ([\w-]+)", text.split("help:")[1].split("\nrun:")[0]))
    documents = [(ROOT / name).read_text("utf-8") for name in ("README.md", "GUIDE.md", "tests/README.md")]
    named = {target for each in documents for target in re.findall(r"`make ([\w-]+)", each)}
    assert named | {"run", "test"} == targets == helped


def test_modules_that_the_documents_run_are_there():
    texts = [(ROOT / name).read_text("utf-8") for name in ("README.md", "GUIDE.md", "API.md", "tests/README.md")]
    named = {name for text in texts for name in re.findall(r"python -m ([\w.]+)", text)} - {"pytest", "pip"}
    assert len(named) >= 4
    for name in named:
        place = ROOT / name.replace(".", "/")
        assert place.with_suffix(".py").exists() or (place / "__main__.py").exists(), name


def test_a_card_says_the_epochs_of_its_recipe():
    for name, recipe in RECIPES.items():
        card = (ASSETS / name / "README.md").read_text("utf-8")
        assert f"- epochs: {recipe.epochs}\n" in card or "It went on from weights" in card, name


def examples(mark: str) -> list[str]:
    return re.findall(rf"^```{mark}\n(.*?)^```$", API, re.M | re.S)


@pytest.mark.parametrize("code", examples("python"), ids=lambda code: code.splitlines()[0])
def test_python_examples_run(code, capsys):
    exec(compile(code, "API.md", "exec"), {})
    assert "print" not in code or capsys.readouterr().out.strip()


def test_there_are_examples():
    assert len(examples("python")) >= 5 and len(examples("python client")) == 1
