"""Texts under noise for the page: quick answers by the tokenizer alone, and what a model rebuilds, as it is made."""

from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import replace
from threading import Lock

from app.engine import Engine
from app.noise_controls import EPOCHS
from app.sentences import translated
from app.steps import INTERVAL
from app.widgets.corruption import pack
from core.examples import SUMMARIES
from core.models import BUNDLED
from core.noise import NOISES, Units, corrupt, histogram, series, units, units_for
from core.noise.tokens import can
from core.settings import MAX_TOKENS, Settings

KEPT = 256  # cut texts, and histograms; each a few kB
# Task of a bundled model -> the noises that it taught the model to undo (core/train/tasks.py).
TAUGHT = {
    "fill": ("spans", "iid"),
    "denoise": ("token_masking", "token_deletion", "text_infilling", "sentence_permutation", "document_rotation", "combined"),
}
CAPTIONS = len(SUMMARIES[0])  # sentences of a text that `denoise` was taught on


class Corruptions:
    """Shared by all visitors; holds no visitor's state. Settings come checked; errors are TwoStacksError."""

    def __init__(self, engine: Engine):
        self.engine = engine
        self._kept: OrderedDict[tuple, object] = OrderedDict()
        self._lock = Lock()

    def units(self, settings: Settings) -> Units:
        """The text of the settings as its model's tokenizer cuts it."""
        models, name = self.engine.models, settings.model
        models.check(name)
        loaded = models.loaded(name)

        def cut() -> Units:
            if loaded is None:
                vocabulary, rows = models.vocabulary(name)
                return units(vocabulary, settings.text, MAX_TOKENS, rows)
            with loaded.lock:
                return units_for(loaded, settings.text)

        return self._once(("units", name, loaded and loaded.fingerprint, settings.text), cut)

    def impossible(self, name: str) -> dict[str, str]:
        """Noise -> why this model's vocabulary cannot do it; empty where only a load can say."""
        loaded = self.engine.models.loaded(name)
        if loaded is None:
            found = can(*self.engine.models.vocabulary(name))
            return {noise: translated(why) for noise, why in found.items()}
        from core.noise import rows_of

        return {noise: translated(why) for noise, why in can(loaded.tokenizer, rows_of(loaded)).items()}

    def shown(self, settings: Settings) -> dict:
        """The corruption of the settings, for the view."""
        cut = self.units(settings)
        made = corrupt(cut, settings.noise)
        epochs = "epoch" in NOISES[settings.noise.name].settings
        return pack(made, cut, list(series(cut, settings.noise, EPOCHS)) if epochs else [])

    def counted(self, settings: Settings) -> dict:
        """The same with how often each token is hidden, over many seeds."""
        cut, same = self.units(settings), replace(settings.noise, seed=0)
        shares = self._once(("histogram", settings.model, settings.text, len(cut.tokens), same.to_json()),
                            lambda: histogram(cut, same).round(4).tolist())
        return self.shown(settings) | {"shares": shares}

    def rebuilt(self, settings: Settings, visitor: str) -> Iterator[dict]:
        """What the model writes, as it grows; at the end each hidden span judged."""
        from app.widgets.rebuilding import judged
        from core.noise.rebuild import judge
        from core.runs import Run

        engine = self.engine
        ticket = engine.latest.begin(visitor)
        loaded = engine.models.load(settings.model)
        going = engine.keeper.watch(visitor, Run(settings, loaded))
        steps = engine.steps(going, visitor, ticket, INTERVAL)
        try:
            for _ in steps:
                if steps.due():
                    yield {"kind": "progress", "text": " ".join(t.text for t in going.target), "n": len(going.target)}
            if engine.latest.overtaken(visitor, ticket):
                return
            with engine.turn:
                found = judge(going)
            engine.keeper.keep(visitor, lambda: found.corruption)
            yield judged(found) | {"stopped": engine.latest.stopped(visitor)} | self.taught(settings)
        finally:
            going.close()

    def table(self, settings: Settings, visitor: str) -> Iterator[dict]:
        """All noises on one text, a row more with each message."""
        from app.widgets.noise_table import written
        from core.noise.table import every

        engine = self.engine
        ticket = engine.latest.begin(visitor)
        loaded = engine.models.load(settings.model)
        rows: list[dict] = []
        made = {"kind": "table", "of": len(NOISES), "model": loaded.name, "seed": settings.noise.seed,
                "tasks": self.engine.models.tasks(settings.model), "stopped": False, "mode": settings.noise.mode}
        yield made | {"rows": []}
        for row in every(settings.text, loaded, settings.noise.seed, settings.noise.mode, engine.turn):
            if not engine.latest.wants(visitor, ticket):
                if engine.latest.stopped(visitor):
                    yield made | {"rows": list(rows), "stopped": True}
                return
            rows.append(written(row) | {"learned": self.learned(settings.model, row.name)})
            yield made | {"rows": list(rows)}

    def learned(self, model: str, noise: str) -> bool:
        """Whether a bundled model was trained to undo a noise; of others nothing is known, and nothing said."""
        return model not in BUNDLED or any(noise in TAUGHT.get(task, ()) for task in self.engine.models.tasks(model))

    def taught(self, settings: Settings) -> dict:
        """What a rebuilding says of a model's training: its tasks, whether this noise was among them, and whether the
        text is shorter than those that it learned on."""
        name, noise = settings.model, settings.noise.name
        tasks, learned = self.engine.models.tasks(name), self.learned(name, noise)
        whole = name in BUNDLED and learned and noise in TAUGHT["denoise"]
        return {"tasks": tasks, "learned": learned, "captions": CAPTIONS,
                "short": whole and sum(self.units(settings).stops) < CAPTIONS}

    def _once(self, key: tuple, make):
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
        made = make()
        with self._lock:
            self._kept[key] = made
            while len(self._kept) > KEPT:
                self._kept.popitem(last=False)
        return made
