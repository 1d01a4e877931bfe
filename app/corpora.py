"""A corpus under one to three settings for the page: a decoder step in each turn, so that no run beside it waits long."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from app import corpus_packs
from app.engine import Engine
from core.errors import EngineError, InputError
from core.fields import shown
from core.metrics.corpus import Corpus, typed
from core.settings import Decoding, Settings

INTERVAL = 0.5  # seconds between two messages
# What can be chosen, as fields of Decoding; all else is as the page's controls say
PRESETS: dict[str, Mapping[str, Any]] = {
    "greedy": {},
    "greedy-ban": {"no_repeat_ngram_size": 3},
    "beams-2": {"beams": 2},
    "beams-4": {"beams": 4},
    "beams-8": {"beams": 8},
    "beams-4-short": {"beams": 4, "length_penalty": 0.0},
    "beams-4-long": {"beams": 4, "length_penalty": 2.0},
    "beams-4-never": {"beams": 4, "early_stopping": "never"},
    "sampled": {"do_sample": True, "top_k": 0, "seed": 1},
    "sampled-cool": {"do_sample": True, "top_k": 0, "temperature": 0.7, "seed": 1},
    "sampled-top-p": {"do_sample": True, "top_k": 0, "top_p": 0.8, "seed": 1},
}


def named() -> list[tuple[str, str]]:
    """(what a preset does, its name) for a list of choices."""
    ban = "no {0}-gram twice"
    said = {name: Decoding(**fields) for name, fields in PRESETS.items()}
    return [(one.how + (", " + ban.format(one.no_repeat_ngram_size) if one.no_repeat_ngram_size else ""), name)
            for name, one in said.items()]


def settings_of(plain: Settings, names: object) -> list[Settings]:
    """Settings for each chosen preset, in the order of the choice; InputError for anything else."""
    if not isinstance(names, list) or not 1 <= len(names) <= 3 or any(name not in PRESETS for name in map(str, names)):
        raise InputError(f"The settings to compare are {shown(names)}; choose one to three of the list.")
    return [replace(plain, text="", decoding=replace(plain.decoding, **PRESETS[name])) for name in names]


def corpus_of(sources: object, references: object) -> Corpus:
    """Typed lines; several references of a text stand in one line with tabs between. InputError says what cannot be used."""
    ours, theirs = typed(sources, references, "source")
    return Corpus(ours, (), theirs)


class Corpora:
    """Shared by all visitors. Errors are TwoStacksError."""

    def __init__(self, engine: Engine):
        self.engine = engine

    @staticmethod
    def ticket_of(visitor: str) -> str:
        """Its name among what is wanted: neither a run of this visitor beside it ends it, nor Stop of the page."""
        return f"{visitor} corpus"

    def stop(self, visitor: str) -> None:
        """The corpus of this visitor ends at its next step; what is there is scored."""
        self.engine.latest.stop(self.ticket_of(visitor))

    def messages(
        self, settings: Sequence[Settings], corpus: Corpus, names: Sequence[str], tokenizer: str, visitor: str = "",
    ) -> Iterator[dict[str, Any]]:
        """How far it is with the texts that are new, then the whole as a table; a session keeps it."""
        engine = self.engine
        yield from engine.arriving(settings[0].model)
        going, name = engine.maker.translate(settings, corpus), self.ticket_of(visitor)
        ticket, count = engine.latest.begin(name), len(corpus.sources)
        steps, sent, more = engine.steps(going, name, ticket, INTERVAL), 0, []
        try:
            yield self._told(going, corpus, 0, count, None)
            for _ in steps:
                done = len(going.lines)
                if done > sent and steps.due():
                    yield self._told(going, corpus, sent, count, steps.seconds / done * (count - done))
                    sent = done
            if len(going.lines) < count:
                more = [f"Stopped after {len(going.lines)} of {count} texts; these are scored."]
        except EngineError as error:
            if not going.lines:
                raise
            more = [f"Cut after {len(going.lines)} of {count} texts; these are scored. {error}"]
        finally:
            going.close()
        for found in going.result(names, tokenizer, more):
            if isinstance(found, float):
                yield {"kind": "progress", "scored": found}
        engine.keeper.keep(visitor, lambda: found)
        yield corpus_packs.pack(found)

    @staticmethod
    def _told(going: Any, corpus: Corpus, sent: int, count: int, left: float | None) -> dict[str, Any]:
        """Progress: texts done, seconds left, and the texts that are new since `sent`."""
        new = going.lines[sent:]
        done = len(going.lines)
        outputs = [[line[at].text for line in new] for at in range(len(going.settings))]
        references = [side[sent:done] for side in corpus.references]
        return {"kind": "progress", "done": done, "of": count, "left": None if left is None else round(left, 1),
                "rows": corpus_packs.rows(corpus.sources[sent:done], references, outputs, sent + 1)}
