"""Encoder memories of several sources in one batch: searches of several people, one decoder forward a step for all.

Each source is encoded by itself, so nothing of one reaches another; only then are the states put side by side, padded with 0 on
the right, and cross-attention hides the padding. That asks for controls whose cross mask does not depend on the length, or for
sources of one length: core/engines/crowds.py puts no others together.
"""

import copy
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from transformers import EncoderDecoderCache


class Sources:
    """encodeds: (1, source, width) states of each search, in the order of the searches; rows: how many each begins with."""

    def __init__(self, encodeds: Sequence[Any], rows: Sequence[int]):
        self.encoded = encodeds[0]  # its controls are everybody's
        states = [each.output.last_hidden_state for each in encodeds]
        self.lengths = [state.shape[1] for state in states]
        self.owner = np.repeat(np.arange(len(states)), rows)  # (batch,): the search of each row
        self.width = max(self.lengths)
        self.states = torch.cat([torch.nn.functional.pad(state, (0, 0, 0, self.width - state.shape[1])) for state in states])
        real = self.states.new_zeros(len(states), self.width, dtype=torch.long)
        for at, each in enumerate(encodeds):
            real[at, : self.lengths[at]] = 1 if each.real is None else each.real[0]
        self.real = None if bool(real.all()) else real
        self.output = copy.copy(self.encoded.output)

    def inputs(self, rows: int) -> dict[str, Any]:
        """What the model is given beside the tokens of `rows` rows."""
        output, owner = copy.copy(self.output), torch.from_numpy(self.owner).to(self.states.device)
        output.last_hidden_state = self.states[owner]
        return {"encoder_outputs": output} | ({} if self.real is None else {"attention_mask": self.real[owner]})

    def length(self, place: int) -> int:
        """Source tokens of one search: the columns of its weights that are no padding."""
        return self.lengths[place]

    def cross_bytes(self, place: int, counted: int) -> int:
        """Bytes of the cross cache that one search would have alone, of those `counted` for all padded rows."""
        return counted // len(self.owner) * self.lengths[place] // self.width

    def share(self, cache: EncoderDecoderCache, rows: int) -> None:
        """Each row keeps the keys and values of its own source."""

    def follow(self, cache: EncoderDecoderCache, parents: np.ndarray) -> None:
        """Keys and values for the rows that `parents` continue; they are moved only where a search has left."""
        owner = self.owner[parents]
        if not np.array_equal(owner, self.owner):
            cache.cross_attention_cache.reorder_cache(torch.from_numpy(parents.astype(np.int64)))
            self.owner = owner
