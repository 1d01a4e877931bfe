"""The public endpoints, one for each thing the playground can do: for gradio_client, for HTTP, and as tools of MCP clients.

What comes in and goes out is plain JSON, checked and limited here; no visitor's session is touched and nothing is kept. They
share the model's turn with the page, a step at a time. Their docstrings are what clients are told of them.
"""

import json
import secrets
from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from typing import Any

import gradio as gr

from app.answers import sentence
from app.corruptions import Corruptions
from app.endpoint_packs import corruption_of, report_of, search_of, trace_of
from app.endpoint_values import document, list_of, plain_settings, settings_of, texts_of
from app.engine import Engine
from app.turns import RUNS
from core.errors import InputError
from core.metrics import METRICS, bleu
from core.metrics.corpus import MAX_REFERENCES, Corpus
from core.metrics.report import report
from core.models import DEFAULT
from core.noise import NOISES, corrupt
from core.noising import NoiseSettings
from core.settings import Decoding, Settings
from core.text import usable
from core.trace import Trace

SECONDS = 60.0  # that one run may take; what is written until then is the answer
MOST_TEXTS = 200  # that are scored at once
MOST_LISTED = 200  # runs of a session
UNFORESEEN = "This failed for a reason we did not foresee; the host's log has it."
MODEL = dict(concurrency_id="model", concurrency_limit=RUNS)
SCORES = dict(concurrency_id="scores", concurrency_limit=2)
NAMES = ("trace", "corrupt", "search", "score", "session")


class Endpoints:
    """What the endpoints do. Shared by all; holds nobody's state. Errors are TwoStacksError."""

    def __init__(self, engine: Engine):
        self.engine, self.corruptions = engine, Corruptions(engine)

    def trace(self, text: Any, model: Any, task: Any, settings: Any, weights: Any) -> dict[str, Any]:
        asked = settings_of(settings, text=text, model=model, task=task)
        trace, complete = self._made(asked)
        return trace_of(trace, weights, complete)

    def search(self, text: Any, beams: Any, length_penalty: Any, model: Any, task: Any) -> dict[str, Any]:
        if beams == 1:
            raise InputError("A search has at least 2 beams; one beam is what trace does.")
        asked = replace(settings_of(None, text=text, model=model, task=task),
                        decoding=Decoding(beams=beams, length_penalty=length_penalty))
        trace, complete = self._made(asked)
        if not complete:
            raise InputError(f"This search took more than {SECONDS:g} s. Shorten the text.")
        return search_of(trace, self.engine.models.load(asked.model).tokenizer)

    def corrupt(self, text: Any, noise: Any, seed: Any, model: Any, settings: Any) -> dict[str, Any]:
        if not isinstance(noise, str) or noise not in NOISES:
            raise InputError(f"There is no noise {noise!r:.40}; pick one of: {', '.join(NOISES)}.")
        usual = json.loads(NOISES[noise].usual().to_json())
        chosen = document(NoiseSettings, usual | plain_settings(settings) | {"name": noise, "seed": seed})
        asked = replace(settings_of(None, text=text, model=model), noise=chosen)
        usable(asked.text)
        return corruption_of(corrupt(self.corruptions.units(asked), asked.noise))

    def score(self, outputs: Any, references: Any, metrics: Any, tokenizer: Any) -> dict[str, Any]:
        texts = texts_of("outputs", outputs, MOST_TEXTS)
        rows = [texts_of("references", row, MAX_REFERENCES) for row in list_of("references", references or [], MOST_TEXTS)]
        if rows and len(rows) != len(texts):
            raise InputError(f"There are {len(texts)} outputs and {len(rows)} lists of references; each output needs its own.")
        most = max(map(len, rows), default=0)
        sides = tuple(tuple(row[k] if k < len(row) else None for row in rows) for k in range(most))
        names = texts_of("metrics", metrics or list(METRICS), len(METRICS))
        if unknown := [name for name in names if name not in METRICS]:
            raise InputError(f"There is no score {unknown[0]!r:.40}; there are {', '.join(METRICS)}.")
        if tokenizer not in ("", None, *bleu.TOKENIZERS):
            raise InputError(f"There is no tokeniser {tokenizer!r:.40}; there are {', '.join(bleu.TOKENIZERS)}.")
        *_, found = report(Corpus((), tuple(texts), sides), names, tokenizer or "", samples=0)
        return report_of(found)

    def session(self, id: Any, row: Any, weights: Any) -> dict[str, Any]:
        store = self.engine.keeper.store
        store.writer.flush()
        session = store.session(id)  # of nobody: only what its owner shared
        if row:
            record = store.load(session, row)
            if record.kind == "trace":
                return {"kind": "trace"} | trace_of(record, weights)
            if record.kind == "corruption":
                return {"kind": "corruption"} | corruption_of(record)
            raise InputError(f"Run {row} of this session is a {record.kind}; only traces and corruptions are sent here.")
        entries = store.kept(session)
        return {
            "id": session.id, "name": session.name, "note": session.note, "made": session.made, "total": len(entries),
            "runs": [{"row": one.row, "kind": one.kind, "status": one.status, "model": one.model, "input": one.input,
                      "output": one.output, "settings": one.settings, "made": one.made, "steps": one.steps, "note": one.note}
                     for one in entries[:MOST_LISTED]],
        }

    def _made(self, settings: Settings) -> tuple[Trace, bool]:
        """The run of these settings, kept or made now, and whether it came to its end."""
        engine, name = self.engine, f"endpoint {secrets.token_hex(6)}"  # calls of one client do not replace each other
        usable(settings.text)
        ticket = engine.latest.begin(name)
        try:
            going = engine.start(settings)
            if kept := engine.recent.get(going.id):
                return kept, True
            try:
                steps = engine.steps(going, name, ticket)
                for _ in steps:
                    if steps.seconds > SECONDS:
                        break
                if steps.ended:
                    trace = going.trace()
                    engine.recent.add(trace)
                    return trace, True
            finally:
                going.close()
            if not going.steps:
                raise InputError("This host is being restarted; ask again in a minute.")
            return going.trace(), False
        finally:
            engine.latest.stop(name)


def build(engine: Engine) -> None:
    """The endpoints of the page that is being built."""
    does = Endpoints(engine)

    def trace(text: str, model: str = DEFAULT, task: str = "", settings: dict[str, Any] | None = None,
              weights: str = "none") -> dict[str, Any]:
        """Run an encoder-decoder model on a text and return what it wrote, token by token, with log-probabilities and
        attention.

        Args:
            text: The source text, at most 4,000 characters.
            model: A model of this host, such as pocket-t5.
            task: A task of the model, such as en-de; empty is its first one.
            settings: Other settings as the page's sessions write them, such as {"decoding": {"beams": 4}}.
            weights: Cross-attention to send: none, mean (over layers and heads) or all.

        Returns:
            The text, its tokens with log P in nats and the best candidates of each step, and how it was made.
        """
        return does.trace(text, model, task, settings, weights)

    def search(text: str, beams: int = 4, length_penalty: float = 1.0, model: str = DEFAULT, task: str = "") -> dict[str, Any]:
        """Run a beam search and return its ranked hypotheses and every candidate, with the reason why it was pruned.

        Args:
            text: The source text, at most 4,000 characters.
            beams: How many hypotheses go on at each step, 2 to 8.
            length_penalty: A hypothesis of m tokens scores log P / m^length_penalty, -5 to 5.
            model: A model of this host, such as pocket-t5.
            task: A task of the model, such as en-de; empty is its first one.

        Returns:
            hypotheses, best first; nodes: every candidate that was ranked, with its parent and its fate.
        """
        return does.search(text, beams, length_penalty, model, task)

    def corrupt(text: str, noise: str = "spans", seed: int = 0, model: str = DEFAULT,
                settings: dict[str, Any] | None = None) -> dict[str, Any]:
        """Put a text under a denoising objective of T5, BART, BERT, RoBERTa or ELECTRA: what the encoder reads, and what the
        decoder is to write.

        Args:
            text: The text, at most 4,000 characters.
            noise: The noise, such as spans (T5), text_infilling (BART) or bert.
            seed: The same seed hides the same places.
            model: The model whose tokenizer cuts the text.
            settings: Other settings of the noise, such as {"rate": 0.3, "mean_span": 2}.

        Returns:
            source, input and target tokens, where each came from, and the achieved rate.
        """
        return does.corrupt(text, noise, seed, model, settings)

    def score(outputs: list[str], references: list[list[str]] | None = None, metrics: list[str] | None = None,
              tokenizer: str = "") -> dict[str, Any]:
        """Score texts against references by BLEU, chrF, TER, ROUGE and repetition, each with its signature.

        Args:
            outputs: The texts to score, at most 200.
            references: For each output a list of its references; without them only repetition is scored.
            metrics: Names of scores; all of them where none is given.
            tokenizer: BLEU's tokeniser; empty is the usual one of the texts' script.

        Returns:
            scores: of all texts together; texts: of each by itself.
        """
        return does.score(outputs, references, metrics, tokenizer)

    def session(id: str, row: int = 0, weights: str = "none") -> dict[str, Any]:
        """Read a session that its owner shared: its list of runs, or one of them in whole. No model is asked.

        Args:
            id: What stands behind ?session= in a shared link.
            row: The row of one run, from the list; 0 is the list.
            weights: Cross-attention to send of that run: none, mean or all.

        Returns:
            The list of runs, or the run as trace and corrupt return it.
        """
        return does.session(id, row, weights)

    for function, turn in ((trace, MODEL), (corrupt, MODEL), (search, MODEL), (score, SCORES), (session, MODEL)):
        gr.api(said(function), api_name=function.__name__, **turn)


def said(function: Callable) -> Callable:
    """The function, whose errors reach a client as one sentence and the host's log in full."""

    @wraps(function)
    def answered(*args: Any, **more: Any) -> Any:
        try:
            return function(*args, **more)
        except Exception as error:
            raise gr.Error(sentence(error, UNFORESEEN), print_exception=False) from None

    return answered
