"""Quick looks of the training tab: a pair under teacher forcing, one wrong token, the learning bridge, budgets, kinds."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from app import training_packs
from app.masked import Masked, plain
from core.errors import InputError
from core.examples import EXAMPLES, OWN
from core.fields import shown
from core.models import DEFAULT
from core.settings import MAX_CHARACTERS, Settings
from core.text import usable

MOST_TARGET = 96  # tokens of a target
DRESSED = (DEFAULT, "pocket-bart")  # one of each family, for the comparison of what they wear


@dataclass(frozen=True)
class Pair:
    """A source and a target as one model reads them. own: the target is what the model writes itself."""

    loaded: Any
    settings: Settings
    source: list[int]
    pieces: list[str]
    labels: list[int]
    text: str
    cut: int
    own: bool


class Taught:
    """Shared by all visitors; holds no visitor's state. Errors are TwoStacksError."""

    def __init__(self, made: Masked):
        self.made, self.engine = made, made.engine

    def answer(self, what: str, settings: Settings, data: Mapping[str, Any]) -> dict[str, Any]:
        """The message for one question of a section."""
        known = {"teach": self.teach, "wrong": self.wrong, "bridge": self.bridge, "budget": self.budget, "kind": self.kind,
                 "dressed": self.dressed}
        if what not in known:
            raise InputError(f"There is no question {shown(what)} here.")
        return known[what](plain(settings), data)

    def pair(self, settings: Settings, data: Mapping[str, Any]) -> Pair:
        """The source of the settings and the target of `data`, a text; an empty one is what the model writes.

        suggest: a translation by hand where we have one of this source.
        """
        from core.runs import run
        from core.train.teaching import label_tokens

        target = reference(settings) if data.get("suggest") is True else data.get("target", "")
        if not isinstance(target, str) or len(target) > MAX_CHARACTERS:
            raise InputError(f"The target must be a text of at most {MAX_CHARACTERS:,} characters.")
        going = run(settings, self.engine.models)
        own, cut = not target.strip(), 0
        if own:
            trace = self.made.trace(settings)
            labels, text = [token.id for token in trace.target], trace.text
            if not labels:
                raise InputError("The model writes nothing here. Type a target.")
        else:
            text = usable(target)
            tokens, cut = label_tokens(going.loaded, text, MOST_TARGET, settings.target_language)
            labels = [token.id for token in tokens]
        return Pair(going.loaded, settings, [t.id for t in going.source], [t.text for t in going.source], labels, text, cut, own)

    def teach(self, settings: Settings, data: Mapping[str, Any]) -> dict[str, Any]:
        """Position by position, and beside it what the model writes by itself."""
        from core.train.teaching import divergence, teach

        pair = self.pair(settings, data)
        with self.engine.turn:
            found = teach(pair.loaded, pair.source, pair.labels)
        trace = self.made.trace(settings)
        at = divergence(pair.labels, [token.id for token in trace.target])
        return training_packs.taught(pair.loaded, settings, found, pair.pieces, pair.text, pair.cut) | {
            "own": pair.own, "free": training_packs.free(trace, at)}

    def wrong(self, settings: Settings, data: Mapping[str, Any]) -> dict[str, Any]:
        """The same with one wrong token read at `at`, and how the model goes on by itself after it."""
        from core.train.teaching import teach

        pair, at, id = self.pair(settings, data), data.get("at"), data.get("id")
        if type(at) is not int or type(id) is not int:
            raise InputError(f"A wrong token is an id at a position, not {shown(id)} at {shown(at)}.")
        with self.engine.turn:
            found = teach(pair.loaded, pair.source, pair.labels, {at: id})
        beginning = (*pair.labels[: at - 1], id)
        trace = self.made.trace(replace(settings, edits=replace(settings.edits, forced=beginning)))
        return training_packs.wrong(pair.loaded, found, at, id, trace)

    def bridge(self, settings: Settings, data: Mapping[str, Any]) -> dict[str, Any]:
        """∂L/∂H_enc by path and layer; `cut`: with no cross-attention."""
        from core.train.bridge import bridge

        pair, cut = self.pair(settings, data), data.get("cut") is True
        with self.engine.turn:
            found = bridge(pair.loaded, pair.source, pair.labels, cut)
        return training_packs.bridged(pair.loaded, settings, found, pair.pieces, cut) | {"target": pair.text, "own": pair.own}

    def budget(self, settings: Settings, data: Mapping[str, Any]) -> dict[str, Any]:
        """Parameters of the chosen model by block, and of released ones."""
        return training_packs.budget(self.engine.models.load(settings.model))

    def kind(self, settings: Settings, data: Mapping[str, Any]) -> dict[str, Any]:
        """A row of the families' table, run on the text."""
        from core.kinds import ONE_STACK, one_stack, two_stacks

        name = data.get("name")
        if name in ONE_STACK:
            pair = self.pair(settings, data)
            with self.engine.turn:
                return training_packs.kind(one_stack(name, usable(settings.text).split()[:12], pair.text.split()[:12])) | {
                    "target": pair.text, "own": pair.own}
        if name != "encoder-decoder":
            raise InputError(f"There is no kind {shown(name)}.")
        pair = self.pair(settings, data)
        fed = training_packs.texts(pair.loaded, pair.labels[:-1])
        with self.engine.turn:
            found = two_stacks(pair.loaded, pair.source[:64], pair.labels[:64], (pair.pieces[:64], ["→", *fed][:64]))
        return training_packs.kind(found) | {"model": pair.loaded.name, "target": pair.text, "own": pair.own}

    def dressed(self, settings: Settings, data: Mapping[str, Any]) -> dict[str, Any]:
        """T5 beside BART, and the chosen model where it is neither, measured on the text."""
        from core.dressings import dressing

        found = []
        for name in dict.fromkeys((*DRESSED, settings.model)):
            loaded = self.engine.models.load(name)
            with loaded.lock:
                ids = loaded.tokenizer(usable(settings.text))["input_ids"][:128]
            with self.engine.turn:
                found.append(dressing(loaded, ids))
        return training_packs.dressed(found)


def reference(settings: Settings) -> str:
    """A translation by hand of one of our own sentences; "" for any other text."""
    language = settings.task[-2:] if settings.task else "de"
    known = {one.text: one.reference for one in EXAMPLES if language == "de" and not one.task}
    known |= {row["en"]: row.get(language, "") for row in OWN}
    return known.get(settings.text.strip(), "")
