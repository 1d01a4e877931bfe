"""A language as a table, in place of a model: searches over it can be followed by hand."""

from collections.abc import Callable, Iterator, Sequence

import torch

from core.decode.processors import Processor
from core.decode.ranking import rank, ranked, to_host
from core.decode.search import Request, Search

# ids written so far (start first) -> probability of each next token, (vocab,)
Table = Callable[[tuple[int, ...]], Sequence[float]]


def driven(search: Search, table: Table, processors: Sequence[Processor] = ()) -> Iterator[Request]:
    """What the search answers, step by step, as the driver would drive it over a model that says what `table` says."""
    request = next(search)
    history = request.ids.reshape(len(request.ids), -1).tolist()
    while not request.finished:
        logits = torch.tensor([table(tuple(ids)) for ids in history], dtype=torch.float32).log()
        parts, _ = rank(request, logits, processors, history, len(history[0]) - 1)
        (found,) = to_host([parts])
        request = search.send(ranked(found, request, processors))
        yield request
        history = [[*history[row], id] for row, id in zip(request.parents.tolist(), request.ids.tolist(), strict=True)]
