"""The self cache of a search: keys and values of the target so far, with room for more.

transformers' own layer copies all it holds at every step, and once more when beams change places. This one writes the new
row into room kept free, and moves only the beams that follow another one; what attention reads is the same numbers.
"""

import torch
from transformers import DynamicCache, EncoderDecoderCache
from transformers.cache_utils import DynamicLayer

ROOM = 32  # target positions at first; doubled when full


class GrowingLayer(DynamicLayer):
    """One layer; keys, values: (beams, heads, target, d_kv), the filled part of `rooms`."""

    rooms: tuple[torch.Tensor, ...] = ()

    def update(self, key_states: torch.Tensor, value_states: torch.Tensor, *args, **kwargs) -> tuple[torch.Tensor, torch.Tensor]:
        """Write what is new behind what is there; both as a whole."""
        if not self.is_initialized:
            self.lazy_initialization(key_states, value_states)
        held = self.get_seq_length()
        end = held + key_states.shape[-2]
        if not self.rooms or self.rooms[0].shape[-2] < end:
            self._hold(held, end, (key_states, value_states))
        for room, states in zip(self.rooms, (key_states, value_states), strict=True):
            room[..., held:end, :] = states
        self.keys, self.values = (room[..., :end, :] for room in self.rooms)
        return self.keys, self.values

    def _hold(self, held: int, end: int, like: tuple[torch.Tensor, ...]) -> None:
        """Larger rooms for `end` positions, and what was held in them."""
        rooms = tuple(t.new_empty(*t.shape[:-2], max(ROOM, 2 * end), t.shape[-1]) for t in like)
        if held:
            for room, old in zip(rooms, (self.keys, self.values), strict=True):
                room[..., :held, :] = old
        self.rooms = rooms

    @torch.inference_mode()
    def reorder_cache(self, beam_idx: torch.Tensor) -> None:
        """Row i becomes row beam_idx[i]; where there are as many rows as before, only those that change are copied."""
        held = self.get_seq_length()
        if not held:
            return
        index = beam_idx.to(self.keys.device)
        if len(index) == len(self.keys):
            changed = (index != torch.arange(len(index), device=index.device)).nonzero()[:, 0]
            for states in (self.keys, self.values):
                states[changed] = states[index[changed]]
            return
        self.rooms = tuple(room.index_select(0, index) for room in self.rooms)
        self.keys, self.values = (room[..., :held, :] for room in self.rooms)


class GrowingCache(DynamicCache):
    """A `DynamicCache` whose layers, made as they are met, are `GrowingLayer`s."""

    def __init__(self):
        super().__init__()
        self.layer_class_to_replicate = GrowingLayer


def empty() -> EncoderDecoderCache:
    """Caches of a search that has not begun: a self cache that grows, and a cross cache that is filled once."""
    return EncoderDecoderCache(GrowingCache(), DynamicCache())
