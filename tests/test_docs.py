"""What the documents say is so: variables, limits, numbers, names, commands of make, links, and every example."""

import ast
import json
import re
from pathlib import Path

import pytest

from app.calls import DEEP, UNREAD
from app.config import ENVIRONMENT, AppConfig, read_config
from app.door import MOST
from app.endpoints import MOST_TEXTS, NAMES
from app.presence import GONE
from app.storage import AGAIN
from app.trials import MOST as MOST_TRIALS
from app.turns import RUNS
from core.corpus_result import MOST_SYSTEMS
from core.errors import InputError
from core.examples import OWN
from core.lectures import LESSONS
from core.metrics.corpus import MAX_BYTES, MAX_LINES
from core.models import ASSETS, BUNDLED, KEPT
from core.models.hub import MAX_DOWNLOAD
from core.products import LARGEST
from core.sessions.backup import EVERY
from core.sessions.exchange import MOST_FILE
from core.settings import MAX_BEAMS, MAX_CHARACTERS, MAX_SOURCE, MAX_TOKENS
from core.train.recipes import RECIPES
from core.zoo import ZOO

ROOT = Path(__file__).resolve().parents[1]
NAMED = ("README.md", "GUIDE.md", "API.md", "CHANGELOG.md", "tests/README.md")
DOCUMENTS = {name: (ROOT / name).read_text("utf-8") for name in NAMED}
README, GUIDE, API, CHANGES = (DOCUMENTS[name] for name in NAMED[:4])
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
    assert rows["settings compared on one text"] == [MOST_TRIALS] and rows["settings for a corpus"] == [MOST_SYSTEMS]
    assert rows["a session as a file"] == [MOST_FILE // 2**20] and rows["a download from the hub"] == [MAX_DOWNLOAD // 2**30]
    assert len(rows) == 16  # what is new has a line above


def constant(path: str, name: str) -> float:
    """A number from the head of a module that cannot be imported here, because Ray is not installed."""
    return float(re.search(rf"^{name} = ([\d.]+)", (ROOT / path).read_text("utf-8"), re.M)[1])


def test_the_prose_of_the_guide_names_the_numbers_of_the_code():
    count = {2: "two", 3: "three"}
    told = " ".join(GUIDE.split())
    for sentence in (
        f"a whole copy goes there every {EVERY / 60:g} minutes",
        f"at most {EVERY / 60:g} minutes after it was shared",
        f"a place that could not be opened is tried again after {'a minute' if AGAIN == 60 else AGAIN}",
        f"{count[len(BUNDLED)].capitalize()} small models are bundled",
        f"{count[KEPT].capitalize()} models are in memory at once",
        f"Each such name counts as one of the {count[KEPT]} models",
        f"of models above {LARGEST / 2**30:g} GB none is made",
        f"what arrives within {1000 * constant('core/engines/replica.py', 'WAIT'):g} ms",
        f"while one has more than {constant('core/engines/cluster.py', 'BUSY'):g} runs under way",
        f"{RUNS} runs are answered at once; a lecture of 300 who click at once fills the queue of {AppConfig.queue_size}",
        "Gradio keeps 200 open pages",  # as the row of the limits, which is held above
    ):
        assert sentence in told


def test_no_document_names_a_variable_that_nobody_reads():
    makefile = (ROOT / "Makefile").read_text("utf-8")
    ours = {*ENVIRONMENT, *re.findall(r"\$\((\w+)\)", makefile), "SEED", "HF_HUB_OFFLINE"}
    others = {"OMP_NUM_THREADS", "FORWARDED_ALLOW_IPS", "PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL"}  # torch's, uvicorn's, pip's
    named = {name: place for place, text in DOCUMENTS.items()
             for name in re.findall(r"\b[A-Z]+(?:_[A-Z]+)+\b|\b[A-Z]{2,}(?==)", text)}
    assert len(named) > 20
    assert {name: place for name, place in named.items() if name not in ours | others} == {}
    assert "environ.get(\"SEED\")" in (ROOT / "tests" / "conftest.py").read_text("utf-8")


def test_every_place_that_a_document_names_is_there():
    """Paths in backquotes and in links; x stands for what somebody adds."""
    found = 0
    for document, text in DOCUMENTS.items():
        linked = re.findall(r"\]\((?!https?:)([^)#]+)", text)
        for place in linked + re.findall(r"`([\w.-]+/[\w./-]*|[\w.-]+\.(?:py|md|js))`", text):
            if re.search(r"\bxx?\b", place) or place in ("shots/", "__init__.py"):  # made by make shots; in many folders
                continue
            folders = ROOT, ROOT / Path(document).parent, ROOT / "tests/browser"
            assert any((folder / place).exists() for folder in folders), (document, place)
            found += 1
    assert found > 40


def test_what_is_added_in_a_file_is_named_there():
    """README, "Add something": `NAME` in `path`."""
    rows = README.split("## Add something")[1].split("\n## ")[0]
    pairs = re.findall(r"`(\w+)` in `([\w./]+\.(?:py|json))`", rows)
    assert len(pairs) >= 5
    for name, path in pairs:
        assert name in (ROOT / path).read_text("utf-8"), (name, path)


def test_every_endpoint_is_documented_and_no_other():
    table = API.split("## Endpoints")[1].split("\n## ")[0]
    assert sorted(re.findall(r"^\| `/(\w+)` \|", table, re.M)) == sorted(NAMES)
    (client,) = examples("python client")
    assert set(re.findall(r'api_name="/(\w+)"', client)) == set(NAMES) - {"session"}  # which needs a session that is shared
    assert "the five endpoints" in API and len(NAMES) == 5


def test_the_changes_count_what_is_there():
    count = {10: "Ten", 11: "eleven", 40: "forty"}
    sheets = {sheet: len(json.loads((ROOT / f"tests/course/{sheet}.json").read_text("utf-8"))) for sheet in ("003", "004")}
    told = " ".join(CHANGES.split())
    for sentence in (f"(003, {sheets['003']} formulas)", f"(004, {sheets['004']} formulas)",
                     f"one of {count[len(OWN)]} sentences", f"{count[len(LESSONS)]} ready lectures",
                     f"{count[len(ZOO)]} released models"):
        assert sentence in told, sentence


KINDS = ("Added", "Changed", "Deprecated", "Removed", "Fixed", "Security")


def test_the_changes_have_one_form():
    """Keep a Changelog: versions, the newest first, under each its kinds in their order, under each a list of sentences."""
    head, *versions = re.split(r"^## ", CHANGES, flags=re.M)
    assert head.startswith("# Changelog\n") and versions[0].startswith("Unreleased\n")
    for version in versions:
        title, *kinds = re.split(r"^### ", version, flags=re.M)
        assert re.fullmatch(r"Unreleased\s+|\d+\.\d+\.\d+ - \d{4}-\d\d-\d\d\s+", title)
        names = [kind.partition("\n")[0] for kind in kinds]
        assert names and names == [kind for kind in KINDS if kind in names]
        for kind in kinds:
            blocks = kind.partition("\n")[2].strip().split("\n\n")  # lists, each below a line that says what it is about
            lists = [block for block in blocks if block.startswith("- ")]
            assert lists and not [block for block in blocks if block not in lists and ("\n" in block or block.endswith("."))]
            for entry in (entry for block in lists for entry in re.split(r"\n(?=- )", block)):
                assert re.fullmatch(r"- [A-Z`?0-9].*(\n  \S.*)*", entry) and entry.endswith("."), entry


def test_every_command_of_make_is_documented_and_no_other():
    text = (ROOT / "Makefile").read_text("utf-8")
    targets = set(re.search(r"^\.PHONY: (.*)$", text, re.M)[1].split()) - {"help", "chromium"}
    helped = set(re.findall(r"make ([\w-]+)", text.split("help:")[1].split("\nrun:")[0]))
    named = {target for each in DOCUMENTS.values() for target in re.findall(r"(?:`|^    )make ([\w-]+)", each, re.M)}
    assert named == targets == helped


def test_modules_that_the_documents_run_are_there():
    named = {name for text in DOCUMENTS.values() for name in re.findall(r"python -m ([\w.]+)", text)} - {"pytest", "pip"}
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
