"""The closed section of the scores tab in which the model itself writes the outputs of a corpus; and its events."""

from collections.abc import Callable, Iterator
from typing import Any

import gradio as gr

from app.answers import quick, slow, spoken
from app.controls import Controls
from app.corpora import Corpora, corpus_of, named, settings_of
from app.engine import Engine
from app.widgets.corpus_table import CorpusTable
from app.words import said
from core.errors import InputError
from core.examples import OWN
from core.metrics.corpus import KINDS, Corpus

QUIET = dict(api_visibility="private", show_progress="hidden")
QUICK = QUIET | dict(queue=False, trigger_mode="multiple")
# Its own line: a corpus takes minutes and must not take one of the places of short runs. It shares the model step by step.
LONG = QUIET | dict(concurrency_id="corpus", concurrency_limit=4, trigger_mode="once")


class CorpusPart:
    """Sources and references, one to three settings, and the table of what came of them."""

    def __init__(self):
        with gr.Accordion(said("page.scores.corpus"), open=False, elem_id="ts-corpus", elem_classes="ts-section"):
            gr.Markdown(said("page.scores.corpus.about"), elem_classes="ts-masks-head")
            with gr.Row(elem_id="ts-corpus-boxes"):
                self.sources, self.references = (
                    gr.Textbox("", lines=4, max_lines=10, label=said(f"page.scores.corpus.{name}"), min_width=280,
                               info=said(f"page.scores.corpus.{name}.info"), elem_id=f"ts-corpus-{name}")
                    for name in ("sources", "references"))
            self.chosen = gr.Dropdown(named(), value=["greedy", "beams-4"], multiselect=True, max_choices=3,
                                      label=said("page.scores.corpus.settings"), info=said("page.scores.corpus.settings.info"),
                                      elem_id="ts-corpus-settings")
            with gr.Row(elem_id="ts-corpus-row"):
                self.file = gr.UploadButton(said("page.scores.upload"), file_types=[f".{kind}" for kind in KINDS], size="sm",
                                            min_width=160, elem_id="ts-corpus-file")
                self.own = gr.Button(said("page.scores.corpus.own"), size="sm", min_width=160, elem_id="ts-corpus-own")
                self.go = gr.Button(said("page.scores.corpus.go"), variant="primary", size="sm", min_width=160,
                                    elem_id="ts-corpus-go")
                self.stop = gr.Button(said("page.stop"), size="sm", min_width=80, elem_id="ts-corpus-stop")
            self.table = CorpusTable(elem_id="ts-corpus-table", elem_classes="ts-bare")
        self.inputs = {self.sources, self.references, self.chosen}

    def corpus(self, values: dict) -> Corpus:
        """What is typed; InputError says what cannot be used."""
        return corpus_of(values[self.sources], values[self.references])


def events(part: CorpusPart, engine: Engine, controls: Controls, scoring: set, chosen: Callable[[dict], tuple[list[str], str]],
           uploaded: Callable[[object], Corpus]) -> None:
    """scoring: components that say which scores; chosen: (names of scores, tokeniser) from values; uploaded: reads a file."""
    corpora = Corpora(engine)

    @spoken
    def translate(values: dict, request: gr.Request) -> Iterator[dict]:
        yield from slow(lambda: translated(corpora, part, controls, values, chosen, str(request.session_hash)))

    def halt(request: gr.Request) -> None:
        corpora.stop(str(request.session_hash))

    def upload(values: dict) -> dict:
        found = quick(lambda: {"kind": "read", "corpus": uploaded(values[part.file])})
        if found["kind"] == "refused":
            return {part.table: found}
        corpus = found["corpus"]
        return {part.sources: text_of([corpus.sources]), part.references: text_of(corpus.references)}

    def own(values: dict) -> dict:
        return own_texts(part, engine, controls, values)

    boxes = [part.sources, part.references]
    part.go.click(translate, controls.inputs() | part.inputs | scoring, part.table, **LONG)
    part.stop.click(halt, **QUICK)
    part.file.upload(upload, {part.file}, [*boxes, part.table], **QUICK)
    part.own.click(own, {controls.model, controls.task}, boxes, **QUICK)


def translated(
    corpora: Corpora, part: CorpusPart, controls: Controls, values: dict, chosen: Callable, visitor: str,
) -> Iterator[dict]:
    """Messages of one corpus; settings are those of the page with the chosen searches."""
    corpus = part.corpus(values)
    if not corpus.sources:
        raise InputError("There is no source to read; type or upload at least one line.")
    names, tokenizer = chosen(values)
    plain = controls.settings(values | {controls.text: ""})
    yield from corpora.messages(settings_of(plain, values[part.chosen]), corpus, names, tokenizer, visitor)


def own_texts(part: CorpusPart, engine: Engine, controls: Controls, values: dict) -> dict:
    """Our own sentences with references in the language that the task writes, where it is one of ours."""
    tasks = engine.models.tasks(str(values[controls.model])) or [""]
    language = str(values[controls.task] or tasks[0]).rpartition("-")[2]
    references = [row[language] for row in OWN] if language in OWN[0] else []
    return {part.sources: "\n".join(row["en"] for row in OWN), part.references: "\n".join(references)}


def text_of(sides: Any) -> str:
    """Texts for a box: a line each, several references with tabs between. Line ends inside a text become spaces."""
    return "\n".join("\t".join(" ".join(text.split()) for text in row if text is not None) for row in zip(*sides))
