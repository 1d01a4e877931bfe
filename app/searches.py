"""Beam searches for the search tab, made a step at a time or kept; what a branch starts from. No visitor's state is held."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from app import tree_packs
from app.engine import Engine
from app.sentences import translated
from app.steps import INTERVAL, PATIENCE, Steps
from app.words import worded
from core.errors import EngineError, InputError, ModelError
from core.examples import saved_search
from core.fields import shown
from core.records import how_made
from core.search_tree import tree_of
from core.settings import MAX_CHARACTERS, MAX_TOKENS, Settings
from core.text import plain, tokenize, usable
from core.trace import Trace, run_id


class Searches:
    """Shared by all visitors. Errors are TwoStacksError."""

    def __init__(self, engine: Engine):
        self.engine, self.first = engine, saved_search()

    def messages(self, settings: Settings, visitor: str = "") -> Iterator[dict[str, Any]]:
        """Messages for the tree while the search runs. The visitor's next run, or Stop, ends it at the next step."""
        engine = self.engine
        ticket = engine.latest.begin(visitor)
        if trace := self.kept(settings):
            yield self.drawn(trace)
            engine.keeper.keep(visitor, lambda: trace)
            return
        yield from engine.arriving(settings.model)
        going = engine.keeper.watch(visitor, engine.start(settings))
        try:
            yield from self._streamed(going, engine.steps(going, visitor, ticket, INTERVAL, PATIENCE))
            if engine.latest.stopped(visitor) and going.steps:
                yield self.drawn(going.trace(), worded("told.stopped.steps", n=len(going.steps)))
        except EngineError as error:
            if going.steps:
                why = worded("told.cut.steps", n=len(going.steps), why=translated(str(error)))
                yield self.drawn(going.trace(), why)
            raise
        finally:
            going.close()

    def _streamed(self, going: Any, steps: Steps) -> Iterator[dict[str, Any]]:
        """What has come since the last message; at the end the whole tree."""
        head = self._head(going.settings.model)
        nodes = told = 0
        for _ in steps:
            if not steps.due():
                continue
            tree = tree_of([one.ranked for one in going.steps], going.settings.decoding.beams)
            about = how_made(going.settings, going.device, going.dtype)
            begun = {} if told else tree_packs.start(going, about, head)
            yield begun | {"run": going.id} | tree_packs.grown(going.steps, tree, head, nodes, told)
            nodes, told = len(tree.real), len(going.steps)
        if steps.ended:
            trace = going.trace()
            self.engine.recent.add(trace)
            yield self.drawn(trace)

    def kept(self, settings: Settings) -> Trace | None:
        """The search of these settings if it is there already."""
        if self.first and self.first.settings == settings:
            return self.first
        loaded = self.engine.models.loaded(settings.model)
        return self.engine.recent.get(run_id(settings, loaded.fingerprint)) if loaded else None

    def drawn(self, trace: Trace, *notes: str) -> dict[str, Any]:
        """A trace for the tree component."""
        return tree_packs.whole(trace, self._tokenizer(trace.settings.model), self._head(trace.settings.model), *notes,
                                shape=self.engine.models.cache_shape(trace.settings.model))

    def _head(self, model: str) -> tree_packs.Head:
        return self.engine.models.alignment_head(model)

    def _tokenizer(self, model: str) -> Any:
        """None for a model that this host does not have: what was searched elsewhere is drawn all the same."""
        if loaded := self.engine.models.loaded(model):
            return loaded.tokenizer
        with suppress(ModelError):
            return self.engine.models.vocabulary(model)[0]

    def text_of(self, model: str, ids: Sequence[int]) -> str:
        """A forced beginning as it may have been typed; "" where its vocabulary is not here."""
        tokenizer = self._tokenizer(model) if ids else None
        return plain(tokenizer, ids) if tokenizer else ""

    def beginning(self, model: str, text: object) -> tuple[int, ...]:
        """The ids of a typed beginning, without what the tokenizer puts around a whole text; () for none."""
        if not isinstance(text, str) or len(text) > MAX_CHARACTERS:
            raise InputError(f"The beginning must be a text of at most {MAX_CHARACTERS:,} characters.")
        if not text.strip():
            return ()
        self.engine.models.check(model)
        tokenizer = self._tokenizer(model) if self.engine.models.loaded(model) else self.engine.models.load(model).tokenizer
        tokens, cut = tokenize(tokenizer, usable(text), MAX_TOKENS)
        if cut:
            raise InputError(f"The beginning has {len(tokens) + cut} tokens; at most {MAX_TOKENS} can be written.")
        special = set(tokenizer.all_special_ids)
        return tuple(token.id for token in tokens if token.id not in special)


def branch(settings: Settings, ids: object) -> Settings:
    """The same with a forced beginning, as the browser or `beginning` gives it; types and count are checked here and in Edits."""
    if not isinstance(ids, Sequence) or isinstance(ids, str) or len(ids) > MAX_TOKENS or any(type(id) is not int for id in ids):
        raise InputError(f"A beginning is a list of at most {MAX_TOKENS} token ids, not {shown(ids)}.")
    return replace(settings, edits=replace(settings.edits, forced=tuple(ids)))
