"""Training in the page, a piece at a time in turns with everybody else's runs: distillation, and fine-tuning on typed pairs.

A copy of a model is trained and shown, then let go; the shared weights are never touched. Few trainings go on at once.
"""

from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from threading import BoundedSemaphore
from typing import Any

import numpy as np

from app import training_packs
from app.engine import Engine
from app.steps import Steps
from app.taught import Taught
from app.words import worded
from core.errors import InputError, TwoStacksError
from core.fields import shown
from core.settings import MAX_CHARACTERS, Settings

AT_ONCE = 2  # trainings, of all visitors
INTERVAL = 0.25  # seconds between two messages
LONGEST = 40  # tokens of an output that is shown
SHOWN = 3  # outputs of a distillation, and of each kind in fine-tuning
STUDENTS = ("half", "fresh")
TRAINED = "trained"  # what this visitor's last distillation made
KEPT = 4  # of these, of all visitors


@dataclass
class Job:
    """What one training needs. shown: (source ids, source text, target text) of outputs before and after."""

    loaded: Any
    student: Any
    tuning: Any
    shown: list[tuple[list[int], str, str]]
    before: list[str]


class Trainings:
    """Shared by all visitors; holds the last students of a few, each for whoever distilled it. Errors are TwoStacksError."""

    def __init__(self, engine: Engine, taught: Taught):
        self.engine, self.taught, self._room = engine, taught, BoundedSemaphore(AT_ONCE)
        self._trained_by: OrderedDict[str, tuple[str, Any]] = OrderedDict()  # visitor -> (teacher's name, student)

    def messages(self, what: str, settings: Settings, data: Mapping[str, Any], visitor: str) -> Iterator[dict[str, Any]]:
        """Points of the curve as they are made, then outputs before and after. Stop ends it within a step."""
        name = self.ticket_of(visitor)
        ticket = self.engine.latest.begin(name)

        def wanted() -> bool:
            return self.engine.latest.wants(name, ticket)

        if not self._room.acquire(blocking=False):
            raise InputError(f"{AT_ONCE} trainings are going on here just now. Try again in a minute.")
        try:
            yield {"kind": "progress", "text": worded("told.training.copies")}
            job = self._distilling(settings, data) if what == "distil" else self._tuning(settings, data)
            job.before = yield from self._written(job, wanted)
            for message in self._trained(job, wanted):
                if what == "distil" and message["kind"] == "outcome" and message["rows"]:
                    self._keep(visitor, settings.model, job.student)
                yield message
        finally:
            self._room.release()

    @staticmethod
    def ticket_of(visitor: str) -> str:
        """Its name among what is wanted: no run of this visitor beside it ends it."""
        return f"{visitor} training"

    def stop(self, visitor: str) -> None:
        """The training of this visitor ends at its next step; what it has learned until then is shown."""
        self.engine.latest.stop(self.ticket_of(visitor))

    def _keep(self, visitor: str, teacher: str, student: Any) -> None:
        self._trained_by[visitor] = teacher, student
        self._trained_by.move_to_end(visitor)
        while len(self._trained_by) > KEPT:
            self._trained_by.popitem(last=False)

    def _mine(self, visitor: str, teacher: str) -> Any:
        """The student that this visitor distilled from `teacher`, while it is kept."""
        name, student = self._trained_by.get(visitor, ("", None))
        return student if name == teacher else None

    def _distilling(self, settings: Settings, data: Mapping[str, Any]) -> Job:
        from core.train.tuning import Tuning, own_pairs

        teacher = self.engine.models.load(settings.model)
        loaded, model = self._student(teacher, data.get("student"))
        learned, held = own_pairs(teacher)
        tuning = Tuning(model, learned, held, teacher.tokenizer.pad_token_id, recipe(data), teacher.model)
        return Job(loaded, model, tuning, [_as_text(teacher, pair) for pair in held[:SHOWN]], [])

    def _tuning(self, settings: Settings, data: Mapping[str, Any]) -> Job:
        from core.models.families import prefix_for
        from core.train.students import COPY, student, with_lora
        from core.train.tuning import Tuning, own_pairs, pair_of, typed_pairs

        text = data.get("pairs")
        if not isinstance(text, str) or len(text) > 4 * MAX_CHARACTERS:
            raise InputError(f"The pairs must be a text of at most {4 * MAX_CHARACTERS:,} characters.")
        typed = typed_pairs(text)
        loaded = self.engine.models.load(settings.model)
        prefix = prefix_for(loaded, settings.task)
        pairs = [pair_of(loaded, prefix + source, target) for source, target in typed]
        held = own_pairs(loaded)[1] if set(loaded.tasks) & {"en-de", "en-fr"} else []
        model = student(loaded, COPY)
        model = with_lora(model) if data.get("lora") is True else model
        tuning = Tuning(model, pairs, held, loaded.tokenizer.pad_token_id, recipe(data))
        told = [(pair.source, source, target) for pair, (source, target) in zip(pairs, typed, strict=True)][:SHOWN]
        return Job(loaded, model, tuning, told + [_as_text(loaded, pair) for pair in held[:2]], [])

    def _student(self, teacher: Any, kind: object) -> tuple[Any, Any]:
        """(the model that the student comes from, the student): half of the teacher, a fresh one, or another model's copy."""
        from core.train.students import COPY, student

        if kind in STUDENTS:
            return teacher, student(teacher, kind)
        if kind not in self.others(teacher):
            raise InputError(f"There is no student {shown(kind)} with the vocabulary of {teacher.name}; there are: "
                             f"{', '.join((*STUDENTS, *self.others(teacher)))}.")
        other = self.engine.models.load(kind)
        return other, student(other, COPY)

    def others(self, teacher: Any) -> list[str]:
        """Bundled and registered models whose vocabulary is the teacher's, entry by entry."""
        mine, found = teacher.tokenizer.get_vocab(), []
        for name in self.engine.models.names():
            try:
                if name != teacher.name and self.engine.models.vocabulary(name)[0].backend_tokenizer.get_vocab() == mine:
                    found.append(name)
            except TwoStacksError:  # a folder that is not a model is no student; choosing it above says what is wrong
                continue
        return found

    def _trained(self, job: Job, wanted: Callable[[], bool]) -> Iterator[dict[str, Any]]:
        tuning, sent = job.tuning, 0
        steps = Steps(tuning, self.engine.turn, wanted, INTERVAL)
        for _ in steps:
            if len(tuning.points) > sent and steps.due():
                yield self._curve(tuning, sent, steps)
                sent = len(tuning.points)
        yield self._curve(tuning, 0, steps)
        yield from self._outcome(job, len(tuning.points) <= tuning.recipe.steps)

    def _curve(self, tuning: Any, start: int, steps: Steps) -> dict[str, Any]:
        learned = sum(weight.numel() for weight in tuning.trained)
        return {"kind": "curve", "from": start, "points": training_packs.points(tuning.points, start), "of": tuning.recipe.steps,
                "seconds": steps.seconds, "longest": steps.longest, "learned": learned,
                "pairs": len(tuning.pairs), "held": len(tuning.held)}

    def _outcome(self, job: Job, stopped: bool) -> Iterator[dict[str, Any]]:
        from core.train.students import merged

        steps, rows = max(0, len(job.tuning.points) - 1), []
        if steps:
            job.student = merged(job.tuning.model)
            after = yield from self._written(job, lambda: True)
            rows = [{"source": source, "target": target, "before": old, "after": new}
                    for (_, source, target), old, new in zip(job.shown, job.before, after, strict=True)]
        yield {"kind": "outcome", "rows": rows, "stopped": stopped, "step": steps}

    def _written(self, job: Job, wanted: Callable[[], bool]) -> Iterator[dict[str, Any]]:
        """Greedy outputs of the student for all that is shown, a token a turn; returned as texts."""
        from core.decode.driver import decode, encode
        from core.decode.greedy import greedy
        from core.models.families import start_for
        from core.models.loading import prepare
        from core.text import plain

        trained = [p for p in job.student.parameters() if p.requires_grad]
        base = job.student.get_base_model() if hasattr(job.student, "get_base_model") else job.student
        with self.engine.turn:
            ready = prepare(job.loaded.name, base, job.loaded.tokenizer)
        texts = []
        for ids, *_ in job.shown:
            with self.engine.turn:
                encoded = encode(ready.model, ready.sites, ids)
            search = greedy(start_for(ready), ready.eos, LONGEST)
            work = decode(ready.model, ready.sites, encoded, search, [])
            written = [int(step.request.ids[0]) for step in Steps(work, self.engine.turn, wanted)]
            texts.append(plain(ready.tokenizer, written))
            yield {"kind": "progress", "text": worded("told.training.outputs", n=len(texts), of=len(job.shown))}
        for weight in trained:  # `prepare` freezes a model
            weight.requires_grad_(True)
        return texts

    def bars(self, settings: Settings, data: Mapping[str, Any], visitor: str = "") -> dict[str, Any]:
        """Logits of teacher and student at one position of a pair, whole, so that the browser can soften and mix them."""
        import torch

        from core.train.forcing import decoder_input, forward

        pair, at = self.taught.pair(settings, data), data.get("at", 0)
        if type(at) is not int or not 0 <= at < len(pair.labels):
            raise InputError(f"There is no position {shown(at)}; the target has {len(pair.labels)} tokens.")
        mine, chosen = self._mine(visitor, pair.loaded.name), data.get("student")
        model = mine if chosen == TRAINED and mine is not None else self._student(pair.loaded, chosen)[1]
        logits = []
        for one in (pair.loaded.model, model):
            ids, labels = (torch.tensor([side], device=pair.loaded.device) for side in (pair.source, pair.labels))
            with self.engine.turn, torch.inference_mode():
                logits.append(forward(one, ids, torch.ones_like(ids), decoder_input(one, labels))[0, at].float().cpu().numpy())
        label = pair.labels[at]
        top = {int(id) for row in logits for id in np.argsort(-row)[:8]} | {label}
        ids = sorted(top)
        names = {str(id): text for id, text in zip(ids, training_packs.texts(pair.loaded, ids), strict=True)}
        teacher, student = map(training_packs.packed, logits)
        return {"kind": "bars", "at": at, "labels": training_packs.texts(pair.loaded, pair.labels), "label": label,
                "target": pair.text, "own": pair.own, "teacher": teacher, "student": student, "names": names,
                "model": pair.loaded.name, "students": [*STUDENTS, *self.others(pair.loaded), *[TRAINED] * (mine is not None)],
                "chosen": chosen}


def _as_text(loaded: Any, pair: Any) -> tuple[list[int], str, str]:
    """(source ids, source, target) of a pair of ids, prefix and special tokens as they are read."""
    from core.text import plain

    return pair.source, plain(loaded.tokenizer, pair.source), plain(loaded.tokenizer, pair.target)


def recipe(data: Mapping[str, Any]) -> Any:
    """A checked recipe from what the browser sends; a whole number may come as 12.0."""
    from core.train.tuning import Recipe

    found = {}
    for name in ("steps", "rate", "mix", "temperature", "seed"):
        if (value := data.get(name)) is not None:
            whole = name in ("steps", "seed") and isinstance(value, float) and value.is_integer()
            found[name] = int(value) if whole else value
    return Recipe(**found)
