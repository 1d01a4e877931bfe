"""Which search a person's settings ask for."""

from core.decode.greedy import greedy
from core.decode.sampling import sampling
from core.decode.search import Search
from core.decode.warpers import MinP, Temperature, TopK, TopP, Typical, Warper
from core.settings import Decoding


def search_for(decoding: Decoding, start: int, eos: frozenset[int], limit: int) -> Search:
    """The search, not yet started; `limit`: the most tokens it may write."""
    if decoding.do_sample and decoding.temperature > 0:
        return sampling(start, eos, limit, warpers_for(decoding), decoding.seed)
    return greedy(start, eos, limit)


def warpers_for(decoding: Decoding) -> list[Warper]:
    """What acts on the logits before a draw, in transformers' order; what is off is left out."""
    out: list[Warper] = []
    if decoding.temperature not in (0.0, 1.0):
        out.append(Temperature(decoding.temperature))
    if decoding.top_k:
        out.append(TopK(decoding.top_k))
    if decoding.top_p < 1:
        out.append(TopP(decoding.top_p))
    if decoding.min_p:
        out.append(MinP(decoding.min_p))
    if decoding.typical_p < 1:
        out.append(Typical(decoding.typical_p))
    return out
