"""Several people's runs in one forward: those of one model under equal controls, whatever their sources and searches are."""

from collections.abc import Callable, Hashable, Iterator, Sequence

from core.decode.driver import Forward, decode, together
from core.runs import Run


def crowd(going: Run) -> Hashable:
    """Runs may share a forward where this is equal: weights, masks and edits.

    Where something is changed inside attention their sources must be of one length, too: a mask may count columns.
    """
    length = None if going.controls.idle else len(going.source)
    return going.loaded.fingerprint, going.controls.key, length


def crowds(runs: Sequence[Run]) -> list[list[int]]:
    """Places of the runs that share a forward, in the order of their first."""
    found: dict[Hashable, list[int]] = {}
    for place, going in enumerate(runs):
        found.setdefault(crowd(going), []).append(place)
    return list(found.values())


def encode_all(runs: Sequence[Run]) -> Iterator[None]:
    """Give each run its encoder memory, an encoder forward a `next`; runs of one source read one memory."""
    made = {}
    for going in runs:
        if going.group not in made:
            made[going.group] = going.encoded()
            yield
        going.read(made[going.group])


def forwards(runs: Sequence[Run], wanted: Callable[[int], bool] = lambda place: True) -> Iterator[dict[int, Forward]]:
    """The decoder forwards of one crowd, encoded already, by place; one that is not `wanted` any more leaves at its next step.

    A run alone has the bits it would have had anywhere; runs of one source those of core.batches; with several sources tokens
    are equal and scores within 1e-4.
    """
    first, searches = runs[0], [going.search() for going in runs]
    model, sites, memories = first.loaded.model, first.loaded.sites, [going.memory for going in runs]
    if len(runs) == 1:
        for forward in decode(model, sites, memories[0], *searches[0]):
            yield {0: forward}
            if not wanted(0):
                return
        return
    one = all(memory is memories[0] for memory in memories)
    yield from together(model, sites, memories[0] if one else memories, searches, wanted)
