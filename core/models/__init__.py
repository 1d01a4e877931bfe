"""Models by name: the bundled ones, folders the host registers, and, where the host allows it, hub ids owner/name.

Each of them with its weights in fewer bits, too, as NAME@bfloat16 or NAME@int8 (core.precision).

Importing this needs no torch; the first `load` does.
"""

import os
import re
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

from core.errors import ModelError
from core.models.tasks import alignment_head_of_folder, cache_shape_of_folder, tasks_of_folder
from core.models.vocabulary import Vocabulary, rows_in

if TYPE_CHECKING:
    from core.models.loading import Loaded

ASSETS = Path(__file__).resolve().parents[2] / "assets" / "models"

# name -> what the small model knows, shown beside the text box
BUNDLED: dict[str, str] = {
    "pocket-t5": "learned photo captions: people, animals, streets, sport",
    "pocket-bart": "learned to restore five captions of a photo from any noise, and English to German",
    "pocket-cheat": "learned with a decoder that saw the answer: it copies, and cannot write",
}
# the same of one stack that reads and writes: for core.prefix, not for the views of two stacks
ONE_STACK: dict[str, str] = {"pocket-prefix": "learned English to German with one stack that reads both ways or causally"}
DEFAULT = "pocket-t5"
PRECISIONS = ("bfloat16", "int8")
KEPT = 3  # models in memory at once; the default one always stays
LISTED = 8  # names in a sentence
_HUB_ID = re.compile(r"[A-Za-z0-9][\w.-]{0,95}/[A-Za-z0-9][\w.-]{0,95}", re.ASCII)

Progress = Callable[[str], None]


class Models:
    """The registry one process serves from. Thread-safe; each model is loaded once."""

    def __init__(self, folders: Mapping[str, Path] | None = None, allow_hub: bool = False, device: str | None = None):
        self.folders = dict(folders or {})
        self.allow_hub = allow_hub
        self.device = device
        self._loaded: OrderedDict[str, Loaded] = OrderedDict()
        self._vocabularies: dict[str, tuple[Vocabulary, int]] = {}
        self._lock = threading.Lock()  # around the two dicts; never held while anything loads
        # A lock for each name that loads just now: it goes when the last thread that holds it does.
        self._loading: WeakValueDictionary[str, threading.RLock] = WeakValueDictionary()

    def names(self) -> list[str]:
        """Names that can be picked from a list: bundled, then registered."""
        return [*BUNDLED, *sorted(self.folders)]

    def about(self, name: str) -> str:
        """One line on what a model knows."""
        base = name.partition("@")[0]
        return BUNDLED.get(base, "registered by this host" if base in self.folders else "from the Hugging Face hub")

    def check(self, name: str) -> None:
        """Refuse a name that cannot be loaded here, before any work; nothing typed is ever used as a path."""
        name, at, precision = name.partition("@")
        if at and precision not in PRECISIONS:
            raise ModelError(f"Behind @ stands how weights are read: {' or '.join(PRECISIONS)}, not {precision!r:.40}.")
        if name in BUNDLED or name in self.folders:
            return
        names = self.names()
        listed = ", ".join(names[:LISTED]) + (", …" if len(names) > LISTED else "")
        if not _HUB_ID.fullmatch(name) or ".." in name or "--" in name:
            raise ModelError(f"There is no model {name!r:.80}. Pick one of: {listed}; or type a hub id as owner/name.")
        if not self.allow_hub:
            raise ModelError(f"This host does not load models from the hub ({name}). Pick one of: {listed}.")

    def tasks(self, name: str) -> list[str]:
        """Task names of a model whose folder is here; empty for a hub model that is not loaded yet."""
        loaded = self._loaded.get(name)
        folder = self._folder(name)
        return list(loaded.tasks if loaded else tasks_of_folder(folder) if folder else ())

    def alignment_head(self, name: str) -> tuple[int, int] | None:
        """(layer, head) of cross-attention that follows words best, where a model whose folder is here says so."""
        folder = self._folder(name)
        return alignment_head_of_folder(folder) if folder else None

    def cache_shape(self, name: str) -> tuple[int, int, int] | None:
        """(layers, heads, d_kv) of its decoder's caches, where a model whose folder is here says so."""
        folder = self._folder(name)
        return cache_shape_of_folder(folder) if folder else None

    def is_loaded(self, name: str) -> bool:
        """Whether it is in memory."""
        return name in self._loaded

    def loaded(self, name: str) -> "Loaded | None":
        """The model if it is in memory; nothing is loaded for it, and its turn to be let go does not change."""
        return self._loaded.get(name)

    def vocabulary(self, name: str) -> tuple[Vocabulary, int]:
        """The tokenizer of an unloaded model, and how many rows its embedding has; ModelError where only a load can say."""
        self.check(name)
        if name not in self._vocabularies:
            folder = self._folder(name)
            if folder is None:
                raise ModelError(f"{name} is not loaded yet. Press Run once, then its tokenizer is here.")
            made = Vocabulary(folder)
            self._vocabularies[name] = made, rows_in(folder) or len(made)
        return self._vocabularies[name]

    def _folder(self, name: str) -> Path | None:
        name = name.partition("@")[0]
        return ASSETS / name if name in BUNDLED else self.folders.get(name)

    def load(self, name: str, progress: Progress = lambda text: None) -> "Loaded":
        """The loaded model, from memory where it is there. Raises ModelError with a sentence."""
        self.check(name)
        with self._lock:
            mine = self._loading.setdefault(name, threading.RLock())
        with mine:  # a second visitor of this model waits for the first; those of other models do not
            loaded = self._kept(name)
            return loaded or self._keep(name, self._fresh(name, progress))

    def _fresh(self, name: str, progress: Progress) -> "Loaded":
        base, _, precision = name.partition("@")
        if precision:
            whole = self.load(base, progress)
            from core.precision import lighter

            progress(f"reading {base} as {precision}")
            return lighter(whole, precision, name)
        progress(f"loading {name}")
        from core.models.loading import load_folder

        folder = self._folder(name)
        if folder is None:
            from core.models.hub import download

            folder = download(name, progress)
        return load_folder(name, folder, self.device)

    def _kept(self, name: str) -> "Loaded | None":
        with self._lock:
            if name in self._loaded:
                self._loaded.move_to_end(name)
            return self._loaded.get(name)

    def _keep(self, name: str, loaded: "Loaded") -> "Loaded":
        with self._lock:
            self._loaded[name] = loaded
            for old in [n for n in self._loaded if n not in (DEFAULT, name)][: max(0, len(self._loaded) - KEPT)]:
                del self._loaded[old]
        return loaded


def folders_in(root: str | Path) -> dict[str, Path]:
    """Name -> folder for every subfolder of `root`, but hidden ones and names of bundled models: what MODELS_DIR registers."""
    root = Path(root)
    if not root.is_dir():
        raise ModelError(f"MODELS_DIR is {str(root)!r}, which is not a folder.")
    found = {p.name: p for p in sorted(root.iterdir()) if p.is_dir() and p.name not in BUNDLED}
    return {name: path for name, path in found.items() if not name.startswith(".")}


@cache
def models() -> Models:
    """The registry of a plain Python session: bundled models, and MODELS_DIR and ALLOW_HUB from the environment."""
    root = os.environ.get("MODELS_DIR")
    return Models(folders_in(root) if root else {}, allow_hub=os.environ.get("ALLOW_HUB", "1") == "1")
