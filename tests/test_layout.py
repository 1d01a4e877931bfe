"""The layout keeps its promises: imports go one way, the README's tree is true, set-up files say what they must."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text("utf-8")

# The first screen and a replay must not wait for torch, so these never import it, not even through another module.
WITHOUT_TORCH = [
    "core.errors", "core.settings", "core.shapes", "core.text", "core.trace", "core.records",
    "core.models", "core.examples", "core.fields", "core.interventions", "core.masks", "core.mask_formulas",
    "core.comparison", "core.probe_record", "core.positions",
    "core.noise", "core.noise.published", "core.sessions",
    "core.metrics", "core.metrics.significance", "core.decode.rescoring",
    "core.decode.beam", "core.decode.greedy", "core.search_tree", "core.pointer", "core.formulas", "core.formulas.sheets",
]
HEAVY = ["torch", "transformers", "gradio", "app"]
PICKLES = {"pickle", "cPickle", "_pickle", "cloudpickle", "dill", "joblib", "shelve", "marshal"}
CODE = {".py", ".js", ".css"}


def sources(*folders: str, suffixes: tuple[str, ...] = (".py",)) -> list[Path]:
    return sorted(p for f in folders for p in (ROOT / f).rglob("*") if p.suffix in suffixes)


def short(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def imported(path: Path) -> set[str]:
    """Full names of all modules that the file imports, at its top or inside functions; relative ones resolved."""
    package = list(path.relative_to(ROOT).parent.parts)
    names = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            start = ".".join(base + ([node.module] if node.module else []))
            names |= {start} | {f"{start}.{alias.name}" for alias in node.names}
    return names


def loaded_by(statement: str, names: list[str]) -> list[str]:
    """Those of `names` that a fresh Python has loaded after `statement`."""
    code = f"{statement}\nimport sys; print(*[name for name in {names!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def roots(path: Path) -> set[str]:
    return {name.split(".")[0] for name in imported(path)}


# Imports

@pytest.mark.parametrize("path", sources("core"), ids=short)
def test_core_imports_neither_gradio_nor_app(path):
    assert not roots(path) & {"gradio", "gradio_client", "app", "tests"}


@pytest.mark.parametrize("path", sources("app"), ids=short)
def test_app_does_not_import_tests(path):
    assert "tests" not in roots(path)


@pytest.mark.parametrize("name", WITHOUT_TORCH)
def test_light_modules_leave_heavy_ones_alone(name):
    assert loaded_by(f"import {name}", HEAVY) == []


def test_the_page_is_built_without_torch():
    assert loaded_by("import app.page", ["torch", "transformers"]) == []


def test_core_package_loads_without_heavy_modules():
    """`from core import Settings, Trace` is what the first screen does."""
    assert loaded_by("from core import Settings, Step, Trace", HEAVY) == []


@pytest.mark.parametrize("path", sources("core", "app"), ids=short)
def test_nothing_is_unpickled(path):
    """A pickle runs code when it is read. So no module that reads one, and no call that does it behind the scenes."""
    assert not roots(path) & PICKLES
    assert "torch.load" not in imported(path)
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Attribute) and node.attr == "load":
            assert getattr(node.value, "id", "") != "torch", f"torch.load in line {node.lineno}"
        if isinstance(node, ast.Call):
            for word in node.keywords:
                allowed = word.arg == "allow_pickle" and getattr(word.value, "value", True) is not False
                assert not allowed, f"allow_pickle in line {node.lineno}"


@pytest.mark.parametrize("path", sources("app", "core", "tests", "assets/js", suffixes=(".py", ".js")), ids=short)
def test_a_module_fits_in_the_head(path):
    lines = path.read_text("utf-8").count("\n")
    assert lines <= 400


# The README's tree

def tree() -> list[tuple[str, str]]:
    """The first code block under "## The tree" as (path, phrase); two spaces a level, a folder ends with "/"."""
    block = re.search(r"^## The tree$.*?^```\w*\n(.*?)^```$", README, re.M | re.S)
    assert block, 'README.md has no code block under "## The tree"'
    entries, above = [], []
    for line in block[1].splitlines():
        match = re.fullmatch(r"((?:  )*)(\S+) {2,}(\S.*)", line)
        assert match, f"a line of the tree is not 'path  phrase': {line!r}"
        depth = len(match[1]) // 2
        assert depth <= len(above), f"indented too far: {line!r}"
        above = above[:depth] + [match[2]]
        entries.append(("".join(above), match[3]))
    return entries


def files() -> list[str]:
    """What git tracks or would track; of a copy without git, nothing can be said."""
    call = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    try:
        done = subprocess.run(call, cwd=ROOT, capture_output=True, text=True)
    except FileNotFoundError:
        pytest.skip("git is not installed")
    if done.returncode:
        pytest.skip("not a git clone")
    return sorted(name for name in set(done.stdout.split("\0")) if name and (ROOT / name).is_file())


def pattern(entry: str) -> re.Pattern:
    """`models/<name>/` stands for any folder of models; a folder's pattern covers all that is below it."""
    parts = ["[^/]+" if part.startswith("<") else re.escape(part) for part in re.split(r"(<\w+>)", entry)]
    return re.compile("".join(parts) + (".*" if entry.endswith("/") else ""))


def test_every_path_of_the_tree_exists():
    present = files()
    missing = [path for path, _ in tree() if not any(pattern(path).fullmatch(name) for name in present)]
    assert not missing


def test_every_file_is_in_the_tree():
    """Each is named, or lies in a folder that the tree does not open; code may not hide in such a folder."""
    paths = [path for path, _ in tree()]
    closed = [p for p in paths if p.endswith("/") and not any(q != p and q.startswith(p) for q in paths)]
    unnamed = []
    for name in files():
        own_line = any(pattern(p).fullmatch(name) for p in paths if not p.endswith("/"))
        if name.endswith("/__init__.py"):  # its folder's line speaks for it
            own_line = own_line or name.removesuffix("__init__.py") in paths
        hidden = Path(name).suffix not in CODE and any(pattern(p).fullmatch(name) for p in closed)
        if not own_line and not hidden:
            unnamed.append(name)
    assert not unnamed


def test_no_path_is_in_the_tree_twice():
    paths = [path for path, _ in tree()]
    assert sorted(set(paths)) == sorted(paths)


# Set-up files

def front_matter() -> dict[str, str]:
    block = re.match(r"---\n(.*?)\n---\n", README, re.S)
    assert block, "README.md does not start with a Space's front matter"
    pairs = (line.split(": ", 1) for line in block[1].splitlines())
    return {key: value.strip('"') for key, value in pairs}


def requirements(name: str) -> dict[str, str]:
    """Package -> version; every line that is not a comment must read `package==version  # reason`."""
    found = {}
    for line in (ROOT / name).read_text("utf-8").splitlines():
        if line.strip() and not line.startswith("#"):
            match = re.fullmatch(r"([\w.\[\]-]+)==([\w.+]+) +# \S.*", line)
            assert match, f"{name}: not 'package==version  # reason': {line!r}"
            found[match[1]] = match[2]
    return found


@pytest.mark.parametrize("name", ["requirements.txt", "requirements-dev.txt", "requirements-ray.txt"])
def test_requirements_are_pinned_with_a_reason(name):
    assert requirements(name)


def test_space_front_matter():
    facts = front_matter()
    assert facts["sdk"] == "gradio"
    assert facts["sdk_version"] == requirements("requirements.txt")["gradio"]
    assert (ROOT / facts["app_file"]).is_file()
    assert len(facts["short_description"]) <= 60
    assert facts["license"] == "apache-2.0"
    assert tuple(map(int, facts["python_version"].split("."))) >= (3, 11)


def test_procfile():
    assert (ROOT / "Procfile").read_text("utf-8") == "web: python -m app --host 0.0.0.0 --port $PORT\n"


def test_ci_runs_the_tests():
    script = ROOT / ".ci" / "run"
    assert "make test" in script.read_text("utf-8").splitlines()
    assert script.stat().st_mode & 0o111, ".ci/run is not executable"


def test_readme_names_the_two_commands():
    targets = re.findall(r"^(\w+):", (ROOT / "Makefile").read_text("utf-8"), re.M)
    for target in ("run", "test"):
        assert target in targets and f"make {target}" in README
