"""Hub ids without a network: what is asked, what is refused, and what the cache still gives."""

import threading
from types import SimpleNamespace

import httpx
import pytest
from huggingface_hub.errors import HFValidationError, LocalEntryNotFoundError

from core.errors import ModelError
from core.models import BUNDLED, LISTED, Models, hub, loading


class Hub:
    """Stands in for the hub: `model_info` answers with files of the given sizes, or raises."""

    def __init__(self, monkeypatch, files=(), error=None, cached=None):
        self.files, self.error, self.cached, self.asked = files, error, cached, []
        monkeypatch.setattr(hub, "HfApi", lambda: self)
        monkeypatch.setattr(hub, "snapshot_download", self.snapshot)

    def model_info(self, name, **_):
        if self.error:
            raise self.error
        return SimpleNamespace(sha="1", siblings=[SimpleNamespace(rfilename=f, size=s) for f, s in self.files])

    def snapshot(self, name, local_files_only=False, **_):
        self.asked.append("cache" if local_files_only else "hub")
        if local_files_only and not self.cached:
            raise LocalEntryNotFoundError("not here")
        return self.cached or "/downloaded"


def said(call) -> str:
    with pytest.raises(ModelError) as error:
        call()
    assert str(error.value).endswith(".") and "owner/name" in str(error.value)
    return str(error.value)


ERRORS = [httpx.ConnectError("no route"), httpx.ReadTimeout("slow"), OSError("no network")]


@pytest.mark.parametrize("error", ERRORS, ids=lambda e: type(e).__name__)
def test_without_a_network_the_cache_answers_or_a_sentence_does(error, monkeypatch, tmp_path):
    away = Hub(monkeypatch, error=error)
    assert "cannot be reached" in said(lambda: hub.download("owner/name", print))
    away.cached = str(tmp_path)
    assert hub.download("owner/name", print) == tmp_path
    assert away.asked == ["cache", "cache"]


def test_a_download_that_breaks_off_falls_back_too(monkeypatch, tmp_path):
    Hub(monkeypatch, [("model.safetensors", 5)])

    def broken(name, local_files_only=False, **_):
        if not local_files_only:
            raise httpx.RemoteProtocolError("gone")
        return str(tmp_path)

    monkeypatch.setattr(hub, "snapshot_download", broken)
    assert hub.download("owner/name", print) == tmp_path


def test_a_name_that_the_hub_does_not_accept(monkeypatch):
    Hub(monkeypatch, error=HFValidationError("bad"))
    assert "not a name" in said(lambda: hub.download("owner/name", print))


def test_names_are_ascii():
    with pytest.raises(ModelError, match="There is no model"):
        Models(allow_hub=True).check("owner/nämé")


@pytest.mark.parametrize(("files", "word"), [
    ([("model.bin", 5)], "safetensors"),
    ([("model.safetensors", 5 * 2**30)], "5.0 GB"),
    ([("model.safetensors", 5), ("more/tokenizer.json", 5 * 2**30)], "5.0 GB"),  # what is not weights counts too
    ([("model.safetensors", None)], "how large model.safetensors"),
    ([("model.safetensors", 5), ("vocab.txt", None)], "how large vocab.txt"),
])
def test_sizes_are_checked_before_the_download(files, word, monkeypatch):
    answering = Hub(monkeypatch, files)
    assert word in said(lambda: hub.download("owner/name", print))
    assert answering.asked == []


def test_files_that_are_not_downloaded_do_not_count(monkeypatch):
    answering = Hub(monkeypatch, [("model.safetensors", 5), ("pytorch_model.bin", 9 * 2**30), ("x.h5", None)])
    hub.download("owner/name", print)
    assert answering.asked == ["hub"]


@pytest.fixture
def loads(monkeypatch):
    """Counts the folders loaded, without loading any."""
    names = []

    def load_folder(name, folder, device):
        names.append(name)
        return SimpleNamespace(name=name, tasks={})

    monkeypatch.setattr(loading, "load_folder", load_folder)
    return names


def test_a_slow_download_stops_no_other_model_and_happens_once(monkeypatch, loads, tmp_path):
    registry, started, go = Models(allow_hub=True), threading.Event(), threading.Event()

    def slow(name, progress):
        started.set()
        assert go.wait(20)
        return tmp_path

    monkeypatch.setattr(hub, "download", slow)
    got = []
    threads = [threading.Thread(target=lambda: got.append(registry.load("owner/slow"))) for _ in range(3)]
    for thread in threads:
        thread.start()
    assert started.wait(20)
    other = threading.Thread(target=registry.load, args=("pocket-t5",))
    other.start()
    other.join(20)
    assert not other.is_alive() and loads == ["pocket-t5"]
    go.set()
    for thread in threads:
        thread.join(20)
    assert loads == ["pocket-t5", "owner/slow"] and len({id(loaded) for loaded in got}) == 1 and len(got) == 3


def test_a_failed_load_is_tried_again_and_old_models_leave(monkeypatch, loads, tmp_path):
    registry = Models({name: tmp_path for name in "abcd"}, allow_hub=True)
    Hub(monkeypatch, error=httpx.ConnectError("no route"))
    for _ in range(2):
        said(lambda: registry.load("owner/name"))
    for name in ["pocket-t5", *"abcd", "pocket-t5", "d"]:
        registry.load(name)
    assert loads == ["pocket-t5", *"abcd"] and list(registry._loaded) == ["c", "pocket-t5", "d"]


def test_an_unknown_model_lists_a_few_of_many_names(tmp_path):
    registry = Models({f"model-{k:03}": tmp_path for k in range(200)})
    for name in ("nothing", "owner/name"):
        with pytest.raises(ModelError) as error:
            registry.check(name)
        shown, left = LISTED - len(BUNDLED) - 1, LISTED - len(BUNDLED)
        assert f"model-{shown:03}, …" in str(error.value) and f"model-{left:03}" not in str(error.value)
