"""What all tests share: no network, one printed seed, and how many cases a test tries (a sample, or every one)."""

import os
import random
import shutil
import tempfile
from pathlib import Path

# Before anything imports gradio, transformers or torch.
os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["GRADIO_ANALYTICS_ENABLED"] = "False"
os.environ["OMP_NUM_THREADS"] = "1"  # several files run at once, on models too small to share out
os.environ["SESSIONS_DIR"] = tempfile.mkdtemp(prefix="two-stacks-")  # no test writes to the user's own

import hypothesis
import pytest

EXHAUSTIVE = os.environ.get("EXHAUSTIVE", "0") not in ("", "0")
NO_BROWSER = os.environ.get("NO_BROWSER", "0") not in ("", "0")
BROWSER_TESTS = Path(__file__).parent / "browser"

MARKERS = {
    "gpu": "needs CUDA; run alone with -m gpu",
    "exhaustive": "every case of something that is sampled elsewhere; runs with EXHAUSTIVE=1",
}

hypothesis.settings.register_profile("sample", max_examples=30, deadline=None, print_blob=True)
hypothesis.settings.register_profile("exhaustive", max_examples=1000, deadline=None, print_blob=True)


@pytest.hookimpl(tryfirst=True)  # before hypothesis reads its own --hypothesis-seed
def pytest_configure(config):
    for name, meaning in MARKERS.items():
        config.addinivalue_line("markers", f"{name}: {meaning}")
    hypothesis.settings.load_profile("exhaustive" if EXHAUSTIVE else "sample")
    try:
        seed = int(os.environ.get("SEED") or random.SystemRandom().randrange(2**32))
    except ValueError:
        raise pytest.UsageError(f"SEED is {os.environ['SEED']!r}; it must be a whole number.") from None
    os.environ["SEED"] = str(seed)  # processes that a test starts sample alike
    if config.getoption("hypothesis_seed", None) is None:
        config.option.hypothesis_seed = str(seed)


def pytest_unconfigure(config):
    shutil.rmtree(os.environ["SESSIONS_DIR"], ignore_errors=True)


def pytest_sessionstart(session):
    # Not pytest_report_header: -q leaves the header out.
    line = f"seed: {os.environ['SEED']}, cases: {'all' if EXHAUSTIVE else 'a sample'}"
    if terminal := session.config.pluginmanager.get_plugin("terminalreporter"):
        terminal.write_line(line)


def pytest_collection_modifyitems(items):
    """Skip, with the reason, what this machine or this call leaves out."""
    cuda = _cuda() if any(item.get_closest_marker("gpu") for item in items) else False
    for item in items:
        if item.get_closest_marker("gpu") and not cuda:
            item.add_marker(pytest.mark.skip(reason="no CUDA device here"))
        if item.get_closest_marker("exhaustive") and not EXHAUSTIVE:
            item.add_marker(pytest.mark.skip(reason="runs with EXHAUSTIVE=1 (make exhaustive)"))
        if NO_BROWSER and BROWSER_TESTS in item.path.parents:
            item.add_marker(pytest.mark.skip(reason="NO_BROWSER=1"))


def _cuda() -> bool:
    import torch  # only when a gpu test was collected: importing it takes seconds

    return torch.cuda.is_available()


@pytest.fixture(scope="session")
def seed() -> int:
    """The seed printed at the start: for `random.Random(seed)` or `numpy.random.default_rng(seed)`."""
    return int(os.environ["SEED"])
