"""Decoding: searches as coroutines (one file each) and the driver that runs the model for them."""

from core.decode.greedy import greedy

SEARCHES = {"greedy": greedy}
