"""Closer looks at a run under masks: inside one head, where a perturbed token arrives, what each head is worth."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from app.masked import Masked
from core.errors import InputError
from core.fields import shown
from core.interventions import STACKS, Edits, Head
from core.settings import Settings

MOST_BYTES = 10**9  # log-probabilities that are held at once, such as those of one layer's heads
TARGET = "target "  # before the number of a token that the decoder reads


class Looks:
    """Shared by all visitors. Each look is at the run of the settings, which is kept from the pictures or made now."""

    def __init__(self, made: Masked):
        self.made = made
        self.engine = made.engine

    def ready(self, settings: Settings) -> tuple[Any, list[int]]:
        """A run that has made no step, and the ids of what it writes."""
        from core.runs import run

        trace = self.made.trace(settings)
        if not trace.target:
            raise InputError("The model writes nothing here, so there is nothing to look at.")
        return run(settings, self.engine.models), [token.id for token in trace.target]

    def probe(self, settings: Settings, stack: object, layer: object, head: object, visitor: str = "") -> Any:
        """A Probe of one head, kept with the visitor's session; layer and head count from 1, as the page does."""
        from core.probes import probe

        if stack not in STACKS:
            raise InputError(f"There is no site {shown(stack)}; it must be one of: {', '.join(STACKS)}.")
        going, ids = self.ready(settings)
        sites = going.loaded.sites
        sites.require(stack, going.loaded.name)
        at = [within(name, value, most, f"{going.loaded.name} in its {stack} attention") for name, value, most in (
            ("layer", layer, sites.layers(stack)), ("head", head, sites.heads[stack]))]
        with self.engine.turn:
            found = probe(going, stack, *at, target=ids)
        self.engine.keeper.keep(visitor, lambda: found)
        return found

    def leak(self, settings: Settings, token: object) -> tuple[Any, Any, list[str], list[str]]:
        """A Leak of one token, its run, and what each target row reads and writes.

        token: a position in the source, counting from 1; or "target 3", what the third target row reads.
        """
        from core.leaks import leak

        going, ids = self.ready(settings)
        trace = self.made.trace(settings)
        side, at = "source", token
        if isinstance(token, str) and token.startswith(TARGET) and token[len(TARGET) :].isdecimal():
            side, at = "target", int(token[len(TARGET) :][:9])
        most = len(going.source if side == "source" else ids)
        position = within(f"{side} token", at, most, "this text" if side == "source" else "what the decoder reads")
        with self.engine.turn:
            found = leak(going, side, position, ids, capturing=False)
        return found, going, [one.text for one in (trace.start, *trace.target[:-1])], [one.text for one in trace.target]

    def heads(self, settings: Settings, visitor: str) -> Iterator[list[Any]]:
        """The layers measured so far, now and then; ended by the visitor's next run, or Stop."""
        from core.importance import head_importance

        ticket = self.engine.latest.begin(visitor)
        going, ids = self.ready(settings)
        fits(going, len(ids), max(going.loaded.sites.heads.values()), "heads of a layer")
        layers, measured = self.engine.steps(head_importance(going, ids), visitor, ticket), []
        for layer in layers:
            measured.append(layer)
            if layer.done < layer.total and layers.due():
                yield list(measured)
        if layers.ended:
            yield measured


def fits(going: Any, targets: int, copies: int, what: str) -> None:
    """Refuse what would hold `copies` of log-probabilities (target, vocab), two at a time, where that is too much."""
    vocabulary = going.loaded.model.get_output_embeddings().weight.shape[0]
    if 8 * copies * targets * vocabulary > MOST_BYTES:
        raise InputError(f"{copies} {what} at once over {targets} output tokens and {vocabulary:,} entries of the "
                         f"vocabulary take too much memory. Choose a shorter text or a smaller longest output.")


def within(name: str, value: object, most: int, where: str) -> int:
    """A number that counts from 1, as one that counts from 0."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if type(value) is not int or not 1 <= value <= most:
        raise InputError(f"There is no {name} {shown(value)}; {where} has {name}s 1 to {most}.")
    return value - 1


def edits_of(data: object, edits: Edits, stacks: list[str]) -> Edits:
    """`edits` with the heads of one stack switched off that the map's check boxes tell; its panels stand for `stacks`."""
    panel, checked = (data.get("panel"), data.get("checked")) if isinstance(data, dict) else (None, None)
    if type(panel) is not int or not 0 <= panel < len(stacks) or not isinstance(checked, list) or len(checked) > 1024:
        raise InputError("These are no heads of this model.")
    if not all(isinstance(place, list) and len(place) == 2 for place in checked):
        raise InputError("A head must be a layer and a number.")
    others = [head for head in edits.heads if head.stack != stacks[panel]]
    return Edits(heads=(*others, *(Head(stacks[panel], *place) for place in checked)))


def sizes(trace: Any, loaded: Any = None) -> dict[str, tuple[int, int]]:
    """Stack -> (layers, heads) that can be switched off; of a saved trace, those that it has weights of."""
    if loaded is not None:
        return {stack: (loaded.sites.layers(stack), loaded.sites.heads[stack]) for stack in loaded.sites.reached}
    decoder = trace.steps[0].decoder_weights.shape[1:3] if trace.steps else (0, 0)
    found = {"encoder": trace.encoder_weights.shape[:2], "decoder": decoder, "cross": trace.path().shape[:2]}
    return {stack: size for stack, size in found.items() if all(size)}


def maps(size: dict[str, tuple[int, int]], measured: list[Any]) -> dict[str, np.ndarray]:
    """Stack -> change of log P (layers, heads), NaN where it has not been measured."""
    out = {stack: np.full(shape, np.nan, np.float32) for stack, shape in size.items()}
    for one in measured:
        out[one.stack][one.layer] = one.change
    return out
