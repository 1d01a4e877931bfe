"""Decoding: searches as coroutines (one file each) and the driver that runs the model for them."""
