"""The axis alphabet. One name per axis, in comments, docstrings, aliases and pictures alike.

batch       independent sources decoded together
beams       hypotheses alive at one step (greedy: 1)
candidates  the best next tokens that are kept for show (10)
source  n   source tokens, task prefix and end token included
target  m   tokens written by the decoder, the start token excluded
layers      layers of one stack, first to last
heads       attention heads of one layer
width   d   size of a hidden state
vocab   V   vocabulary ids

Where a tensor was taken is part of its name: `scores` (before softmax), `weights` (after), `logits`, `logprobs`.
"""

import numpy as np
from numpy.typing import NDArray

Ids = NDArray[np.int32]
Floats = NDArray[np.float32]

CrossWeights = Floats  # (beams, layers, heads, source)
DecoderWeights = Floats  # (beams, layers, heads, index + 1): keys are the start token and the tokens written so far
EncoderWeights = Floats  # (layers, heads, source, source): query, key
PathWeights = Floats  # (layers, heads, target, source)
