"""The scores tab: outputs against references, each number with how it was made; n-grams in both texts; tests of two systems.

Few texts are scored as they are typed, without the queue; many wait for the button. Only the closed section, in which the
model writes the outputs of a corpus itself, asks one.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import gradio as gr

from app.answers import quick, slow, spoken
from app.controls import Controls
from app.corpus_section import CorpusPart, events, text_of
from app.engine import Engine
from app.score_packs import matched, scored
from app.tab import Tab
from app.widgets.ngrams import Ngrams
from app.widgets.scoreboard import ScoreBoard
from app.words import said
from core.errors import InputError
from core.examples import SCORED
from core.metrics import METRICS, bleu
from core.metrics.corpus import KINDS, MAX_BYTES, Corpus, decoded, lines, read
from core.metrics.corpus import typed as beside
from core.metrics.report import INTERVALS, report
from core.metrics.significance import paired

TITLE = "page.scores"
FIRST = ["BLEU", "chrF2", "TER", "ROUGE-L", "repetition"]  # ticked at first
FEW_LINES, FEW_CHARACTERS = 30, 5000  # as many are scored while one types
SHORT = 1.0  # seconds for the slow scores while one types
QUICK = dict(queue=False, api_visibility="private", show_progress="hidden", trigger_mode="always_last")
TOLD = QUICK | dict(trigger_mode="multiple")  # events with data: Gradio 6 repeats a deferred one with the data of the one before
LONG = dict(concurrency_id="scores", concurrency_limit=2, api_visibility="private", show_progress="hidden", trigger_mode="once")


class Parts:
    """The components of the tab."""

    def __init__(self):
        gr.Markdown(said("page.scores.about"), elem_id="ts-scores-about")
        with gr.Row(elem_id="ts-scores-boxes"):
            self.outputs, self.references, self.other = (
                gr.Textbox(value, lines=4, max_lines=10, label=said(f"page.scores.{name}"), info=said(f"page.scores.{name}.info"),
                           elem_id=f"ts-scores-{name}", min_width=260)
                for name, value in (
                    ("outputs", "\n".join(row["output"] for row in SCORED)),
                    ("references", "\n".join(row["reference"] for row in SCORED)), ("other", ""),
                ))
        self.names = gr.CheckboxGroup(list(METRICS), value=FIRST, label=said("page.scores.names"), elem_id="ts-scores-names")
        with gr.Row(elem_id="ts-scores-row"):
            self.tokenizer = gr.Dropdown([(said("page.scores.auto"), ""), *((name, name) for name in bleu.TOKENIZERS)], value="",
                                         label=said("page.scores.tokenizer"), min_width=220, elem_id="ts-scores-tokenizer")
            self.file = gr.UploadButton(said("page.scores.upload"), file_types=[f".{kind}" for kind in KINDS], size="sm",
                                        min_width=160, elem_id="ts-scores-file")
            self.go = gr.Button(said("page.scores.go"), variant="primary", size="sm", min_width=160, elem_id="ts-scores-go")
        self.line = gr.State(1)
        first = corpus_of(self.outputs.value, self.references.value)
        self.board = ScoreBoard(typed(first, FIRST, ""), elem_id="ts-scores-board", elem_classes="ts-bare")
        self.ngrams = Ngrams(one_of(first, 1, ""), elem_id="ts-scores-ngrams", elem_classes="ts-bare")
        self.corpus_part = CorpusPart()
        self.inputs = {self.outputs, self.references, self.other, self.names, self.tokenizer, self.line}

    def corpus(self, values: dict) -> Corpus:
        """What is typed; InputError says what cannot be used."""
        return corpus_of(values[self.outputs], values[self.references])


def build(engine: Engine, controls: Controls) -> Tab:
    """The components of the tab and their events; it has the event by which a text is opened elsewhere."""
    parts = Parts()

    def live(values: dict) -> dict:
        return {
            parts.board: quick(lambda: typed(parts.corpus(values), values[parts.names], values[parts.tokenizer])),
            parts.ngrams: quick(lambda: one_of(parts.corpus(values), values[parts.line], values[parts.tokenizer])),
        }

    def pick(values: dict, event: gr.EventData) -> dict:
        data = getattr(event, "_data", None)
        line = data.get("line") if isinstance(data, dict) else None
        found = quick(lambda: one_of(parts.corpus(values), line, values[parts.tokenizer]))
        return {parts.ngrams: found} | ({parts.line: line} if found["kind"] == "matched" else {})

    def upload(values: dict) -> dict:
        found = quick(lambda: {"kind": "read", "corpus": uploaded(values[parts.file])})
        if found["kind"] == "refused":
            return {parts.board: found}
        return {parts.outputs: text_of([found["corpus"].outputs]), parts.references: text_of(found["corpus"].references)}

    @spoken
    def everything(values: dict) -> Iterator[dict]:
        yield from slow(lambda: in_full(parts.corpus(values), values[parts.other], values[parts.names], values[parts.tokenizer]))

    shown = [parts.board, parts.ngrams]
    moves = [parts.outputs.change, parts.references.change, parts.names.input, parts.tokenizer.input]
    gr.on(moves, live, parts.inputs, shown, **QUICK)
    parts.board.pick(pick, parts.inputs, [parts.ngrams, parts.line], **TOLD)  # an event of our own script
    parts.file.upload(upload, {parts.file}, [parts.outputs, parts.references, parts.board], **TOLD)
    parts.go.click(everything, parts.inputs, parts.board, **LONG)
    events(parts.corpus_part, engine, controls, {parts.names, parts.tokenizer},
           lambda values: (chosen(values[parts.names]), tokenizer_of(values[parts.tokenizer])),
           lambda path: uploaded(path, ("source", "reference")))
    return Tab(text=parts.corpus_part.table.open)


def corpus_of(outputs: object, references: object) -> Corpus:
    """Typed lines; several references of a text stand in one line with tabs between. InputError says what cannot be used."""
    return Corpus((), *beside(outputs, references, "output"))


def typed(corpus: Corpus, names: Any, tokenizer: Any) -> dict:
    """The report of few texts at once; of many, that the button is needed. InputError for unusable input."""
    size = sum(len(text or "") for side in (corpus.outputs, *corpus.references) for text in side)
    if len(corpus) > FEW_LINES or size > FEW_CHARACTERS:
        return {"kind": "waiting", "texts": len(corpus)}
    *_, found = report(corpus, chosen(names), tokenizer_of(tokenizer), patience=SHORT, samples=0)
    return scored(found)


def in_full(corpus: Corpus, other: Any, names: Any, tokenizer: Any) -> Iterator[dict]:
    """How far it is; the report with intervals; and with another system's outputs the tests against it."""
    rivals = lines(other, "other system's outputs")
    for found in report(corpus, chosen(names), tokenizer_of(tokenizer)):
        if isinstance(found, float):
            yield {"kind": "progress", "share": found}
    tests = []
    if rivals and corpus.references:
        metrics = [score.name for score in found.scores if score.name in INTERVALS] or list(INTERVALS)
        tests = paired({"A": corpus.outputs, "B": rivals}, *corpus.references, metrics=metrics, tokenizer=tokenizer_of(tokenizer))
    yield scored(found, tests)


def one_of(corpus: Corpus, line: Any, tokenizer: Any) -> dict:
    """The matches of text `line`, from 1; of the last one where there are fewer. InputError for unusable input."""
    if isinstance(line, bool) or not isinstance(line, int) or line < 1:
        raise InputError(f"Text {str(line)[:40]} cannot be picked; pick one of the table.")
    if not corpus.outputs:
        raise InputError("There is nothing to score; at least one output is needed.")
    at = min(line, len(corpus.outputs)) - 1
    words = bleu.chosen(tokenizer_of(tokenizer), *(corpus.references or [corpus.outputs]))
    return matched(at + 1, corpus.outputs[at], [side[at] for side in corpus.references if side[at] is not None], words)


def chosen(names: Any) -> list[str]:
    """Names of scores; InputError for anything else."""
    if not isinstance(names, list) or not names or any(not isinstance(name, str) or name not in METRICS for name in names):
        raise InputError(f"No score is chosen; there are {', '.join(METRICS)}.")
    return names


def tokenizer_of(name: Any) -> str:
    """A tokeniser's name, "" for the script's own; InputError for anything else."""
    if name not in ("", None, *bleu.TOKENIZERS):
        raise InputError(f"There is no tokeniser {str(name)[:40]!r}; there are {', '.join(bleu.TOKENIZERS)}.")
    return name or ""


def uploaded(path: object, order: Sequence[str] = ("output", "reference")) -> Corpus:
    """The texts of an uploaded file, which Gradio has put into its own folder; InputError says what cannot be read.

    order: of columns without names; the first one must be there.
    """
    if not isinstance(path, str | Path):
        raise InputError("No file came; choose one.")
    file = Path(path)
    try:
        with file.open("rb") as data:
            text = decoded(data.read(MAX_BYTES + 1))
    except OSError:
        raise InputError("The file is no longer here; choose it once more.") from None
    found = read(text, file.suffix.lower().lstrip("."), order)
    if not (found.outputs if order[0] == "output" else found.sources):
        raise InputError(f"The file has no column {order[0]}; name its columns {order[0]} and reference.")
    return found
