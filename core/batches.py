"""Several runs side by side: those of one group in one batch over one encoding, a decoder forward a step for all of them."""

from collections.abc import Hashable, Iterator, Sequence

from core.decode.driver import together
from core.errors import InputError
from core.runs import Run
from core.trace import Step

MOST_RUNS = 8
MAX_BYTES = 256 * 2**20  # cross-attention weights of all rows and steps, float32


def groups(runs: Sequence[Run]) -> list[list[int]]:
    """Places of the runs that may share a forward, in the order of their first: equal weights, source, masks and edits."""
    found: dict[Hashable, list[int]] = {}
    for place, going in enumerate(runs):
        found.setdefault(going.group, []).append(place)
    return list(found.values())


def side_by_side(runs: Sequence[Run]) -> Iterator[dict[int, Step]]:
    """The steps of all runs as they are made, by place: group after group, each encoded once. A run that has ended leaves.

    A run that is a step here must not be iterated by itself. InputError for too many, or where they would not fit.
    """
    check_size(runs)
    for places in groups(runs):
        first, searches = runs[places[0]], [runs[place].search() for place in places]
        encoded = first.encoded()
        for place in places:
            runs[place].read(encoded)
        for forwards in together(first.loaded.model, first.loaded.sites, encoded, searches):
            yield {places[at]: runs[places[at]].took(forward) for at, forward in forwards.items()}


def check_size(runs: Sequence[Run]) -> None:
    """InputError for too many runs, or where they would not fit."""
    if not 1 <= len(runs) <= MOST_RUNS:
        raise InputError(f"{len(runs)} settings cannot be compared; choose 1 to {MOST_RUNS}.")
    size = sum(_bytes(going) for going in runs)
    if size > MAX_BYTES:
        raise InputError(f"These settings would hold {size / 1e6:,.0f} MB of attention; at most {MAX_BYTES / 1e6:,.0f} MB fit. "
                         "Take fewer beams or settings, a shorter text, or a lower limit of output tokens.")


def _bytes(going: Run) -> int:
    sites = going.loaded.sites
    heads = sites.layers("cross") * sites.heads.get("cross", 0)
    return 4 * going.settings.decoding.beams * going.limit * heads * len(going.source)
