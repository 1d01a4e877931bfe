"""run(settings): the steps of one run as they are made. record(settings): the whole trace."""

import platform
import time
from collections.abc import Hashable, Iterator
from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import torch
import transformers

from core.controls import Controls, check
from core.decode.choosing import search_for
from core.decode.driver import RECOMPUTED, Encoded, Forward, decode, encode
from core.decode.processors import Forced, Processor
from core.decode.search import Search
from core.errors import InputError
from core.inputs import read_source
from core.masks import dead_rows, looks_ahead
from core.models import Models, models
from core.models.families import processors_for, start_for
from core.models.loading import Loaded
from core.search_tree import Place, best_line
from core.settings import Settings
from core.shapes import EncoderWeights
from core.text import Token, next_token, piece, plain
from core.trace import Step, Trace, run_id


class Run(Iterator[Step]):
    """One run: the source is tokenised at once, the encoder runs at the first step, `trace()` is what has been made.

    Under the noise of the settings `corruption` is what was done to the text, and `source` what is left to read.
    Closing it (or dropping it) stops it: nothing runs ahead of the steps that are asked for.
    elsewhere: its forwards are made in another process, so that a step needs no turn of this one.
    """

    elsewhere = False

    def __init__(self, settings: Settings, loaded: Loaded):
        self.settings, self.loaded = settings, loaded
        read = read_source(loaded, settings)
        self.input, self.source, self.notes = read.input, read.tokens, list(read.notes)
        self.prefix_tokens, self.corruption = read.prefix_tokens, read.corruption
        if "encoder" not in loaded.sites.reached:
            self.notes.append(f"The encoder attention of {loaded.name} cannot be reached; cross-attention is shown.")
        loaded.sites.require("cross", loaded.name)
        self.controls = Controls(loaded.sites.of, settings.masks, settings.edits)
        check(self.controls, loaded.sites, loaded.name, len(self.source))
        self.notes += self._about_masks()
        self.limit = min(settings.decoding.max_new_tokens, loaded.max_target)
        self._forced = _forced(loaded, settings, self.limit)
        start = start_for(loaded)
        self.start = Token(piece(loaded.tokenizer, start), start)
        self.steps: list[Step] = []
        self.target: list[Token] = []
        self._ids: list[int] = []
        self._texts: list[str] = []
        self.line: list[Place] = []
        self._encoded: Encoded | None = None
        self._started = time.monotonic()
        self.device, self.dtype, self.threads = loaded.device, loaded.dtype, torch.get_num_threads()
        self._forwards = self._go()

    @property
    def id(self) -> str:
        """The id of the trace that this run will give."""
        return run_id(self.settings, self.loaded.fingerprint)

    @property
    def written(self) -> str:
        """The output text so far."""
        return self._texts[-1] if self._texts else ""

    @property
    def real(self) -> list[int] | None:
        """(source,): 0 at pad tokens that are hidden; None where there are none, or where the padding mask is off."""
        edits = self.settings.edits
        if not edits.pads or not edits.padding_mask:
            return None
        return [1] * (len(self.source) - edits.pads) + [0] * edits.pads

    @property
    def group(self) -> Hashable:
        """Searches may share a forward only where this is equal: the same weights, source, masks and edits."""
        return self.loaded.fingerprint, tuple(t.id for t in self.source), self.controls.key

    @property
    def encoder_weights(self) -> EncoderWeights:
        """(layers, heads, source, source); none before the first step, or where the encoder cannot be reached."""
        length = len(self.source)
        return self._encoded.weights if self._encoded else np.zeros((0, 0, length, length), np.float32)

    def __next__(self) -> Step:
        return self.took(next(self._forwards))

    def took(self, forward: Forward) -> Step:
        """The step that one decoder forward gave, which joins this run."""
        step = self._step(forward)
        self.steps.append(step)
        self._follow()
        return step

    def _follow(self) -> None:
        """Target, ids and texts of what is written so far: with several beams the best one may have changed."""
        self.line = best_line(self.steps, self.settings.decoding.beams)
        ids = [place.id for place in self.line]
        same = next((at for at, (old, new) in enumerate(zip(self._ids, ids)) if old != new), min(len(self._ids), len(ids)))
        self._ids = ids
        del self.target[same:], self._texts[same:]
        for at in range(same, len(ids)):
            token, text = next_token(self.loaded.tokenizer, ids[: at + 1], self.written)
            self.target.append(token)
            self._texts.append(text)

    def close(self) -> None:
        """Stop; the trace keeps the steps made so far."""
        self._forwards.close()

    def _go(self) -> Iterator[Forward]:
        self.read(self.encoded())
        yield from decode(self.loaded.model, self.loaded.sites, self._encoded, *self.search())

    def encoded(self) -> Encoded:
        """The encoder memory of the source, made now; runs with the same `group` may `read` the same."""
        return encode(self.loaded.model, self.loaded.sites, [t.id for t in self.source], self.controls, self.real)

    def read(self, encoded: Encoded) -> None:
        """What this run is to decode from; a source token whose numbers are not finite is named, and its weights are 0."""
        memory = encoded.output and encoded.output.last_hidden_state[0]  # None where the forwards are made elsewhere
        bad = [] if memory is None else torch.nonzero(~memory.isfinite().all(-1)).flatten().tolist()
        for at in bad:
            self.notes.append(f"The encoder's numbers at source token {at + 1} ({self.source[at].text}) are not finite; "
                              "what reads it is damaged.")
        self._encoded = replace(encoded, weights=np.nan_to_num(encoded.weights)) if bad else encoded

    @property
    def memory(self) -> Encoded | None:
        """The encoder memory that it reads; None before the first step."""
        return self._encoded

    def search(self) -> tuple[Search, list[Processor]]:
        """The search, not yet started, and what acts on its logits."""
        source = [t.id for t in self.source]
        search = search_for(self.settings.decoding, self.start.id, self.loaded.eos, self.limit)
        return search, [*processors_for(self.loaded, self.settings, self.limit, source), *self._forced]

    def _about_masks(self) -> list[str]:
        """Sentences on rows that see nothing, and on a decoder that sees the future."""
        notes, masks, length = [], self.settings.masks, len(self.source)
        for row, layers in dead_rows(masks.encoder, "encoder", self._layers("encoder"), length, length, 0, self.real).items():
            notes.append(f"Encoder row {row + 1} sees nothing{self._where('encoder', layers)}: its weights and output are 0.")
        if looks_ahead(masks.decoder):
            notes.append(RECOMPUTED.replace("was computed again", "is computed again at each step"))
        return notes

    def _blind(self, index: int) -> tuple[str, ...]:
        """The same for the row of one decoder step."""
        notes = []
        for stack, keys, real in (("decoder", index + 1, None), ("cross", len(self.source), self.real)):
            choice = self.settings.masks.of(stack)
            layers = dead_rows(choice, stack, self._layers(stack), 1, keys, index, real).get(index, [])
            if layers:
                notes.append(f"nothing visible in {stack} attention{self._where(stack, layers)}: weights and output 0")
        return tuple(notes)

    def _layers(self, stack: str) -> int:
        """Layers to look at: none where the model's own mask is in force."""
        return 0 if self.settings.masks.of(stack).own else self.loaded.sites.layers(stack)

    def _where(self, stack: str, layers: list[int]) -> str:
        if len(layers) == self.loaded.sites.layers(stack):
            return ""
        return " in layer " + ", ".join(str(layer + 1) for layer in layers)

    def _step(self, forward: Forward) -> Step:
        tokenizer, ranked, level = self.loaded.tokenizer, forward.ranked, forward.request.level
        return Step(
            index=len(self.steps), token=forward.request.ids, parent=forward.request.parents, logprob=forward.logprob,
            candidates=ranked.ids, candidate_logprobs=ranked.logprobs, entropy=forward.entropy,
            cross_weights=forward.cross_weights, decoder_weights=forward.decoder_weights,
            texts=tuple(piece(tokenizer, id) for id in forward.request.ids),
            candidate_texts=tuple(tuple(piece(tokenizer, id) for id in row) for row in ranked.ids),
            self_cache_bytes=forward.self_cache_bytes, cross_cache_bytes=forward.cross_cache_bytes,
            notes=(*forward.notes, *self._blind(len(self.steps))), ranked=level,
            ranked_texts=() if level is None else tuple(piece(tokenizer, id) for id in level.token),
        )

    def trace(self) -> Trace:
        """The trace of the steps made so far."""
        return Trace(
            settings=self.settings, fingerprint=self.loaded.fingerprint, input=self.input, source=self.source,
            prefix_tokens=self.prefix_tokens, start=self.start, target=tuple(self.target),
            text=plain(self.loaded.tokenizer, self._ids), encoder_weights=self.encoder_weights,
            steps=tuple(self.steps), notes=tuple(self.notes), made=self._made(),
        )

    def _made(self) -> dict:
        return {
            "device": str(self.device), "dtype": str(self.dtype).removeprefix("torch."),
            "torch": torch.__version__, "transformers": transformers.__version__, "python": platform.python_version(),
            "threads": self.threads, "seconds": round(time.monotonic() - self._started, 3),
            "at": datetime.now(UTC).isoformat(timespec="seconds"),
        }


def _forced(loaded: Loaded, settings: Settings, limit: int) -> list[Forced]:
    """One forced token after the other: the beginning that a branch shares with the run it leaves."""
    ids, head = settings.edits.forced, loaded.model.get_output_embeddings()
    if len(ids) > limit:
        raise InputError(f"{len(ids)} forced tokens are more than the {limit} that may be written.")
    if ids and max(ids) >= head.weight.shape[0]:
        raise InputError(f"The forced token {max(ids)} is not in the vocabulary of {head.weight.shape[0]:,} tokens.")
    return [Forced(id, at, "the beginning you chose") for at, id in enumerate(ids)]


def run(settings: Settings, registry: Models | None = None) -> Run:
    """Start a run: iterate it for the steps as they are made. Errors: InputError, ModelError, ControlError."""
    return Run(settings, (registry or models()).load(settings.model))


def record(settings: Settings, registry: Models | None = None) -> Trace:
    """Run to the end and return the trace."""
    going = run(settings, registry)
    for _ in going:
        pass
    return going.trace()
