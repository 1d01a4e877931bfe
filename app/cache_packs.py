"""Steps with and without caches as what the page draws, with what the formula says of their bytes."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from app.tree_packs import number_bytes
from core.budget import kv_bytes
from core.records import how_made

if TYPE_CHECKING:  # it needs torch, which the first picture must not wait for
    from core.cache_cost import Cost


def pack(going: Any, costs: Sequence["Cost"], asked: int, shape: tuple[int, int, int] | None) -> dict[str, Any]:
    """A step is [ms with, ms without, difference of logits, same token, bytes of the self cache, of the cross cache].

    shape: (layers, heads, d_kv) of the decoder; None where the checkpoint does not say, then there is no formula.
    """
    loaded, length = going.loaded, len(going.source)
    size = number_bytes(str(loaded.dtype).removeprefix("torch."))
    return {
        "kind": "costs", "asked": asked, "source": length, "input": going.settings.text[:80],
        "about": how_made(going.settings, loaded.device, loaded.dtype),
        "steps": [[round(1000 * each.seconds[0], 3), round(1000 * each.seconds[1], 3), each.difference, each.same,
                   each.self_bytes, each.cross_bytes] for each in costs],
        "shape": shape and [*shape, size],
        "formula": shape and [[kv_bytes(*shape, length=at, bytes_per=size), kv_bytes(*shape, length=length, bytes_per=size)]
                              for at in range(1, len(costs) + 1)],
    }
