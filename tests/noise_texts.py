"""Made-up texts and settings for the tests of noise: no tokenizer, no model."""

import numpy as np
from hypothesis import strategies as st

from core.noise.tokens import Units
from core.noising import BART_STEPS, MODES, NOISE_NAMES, NoiseSettings
from core.text import Token

ROWS, FIRST, MASK, EOS, STOP = 1000, 999, 899, 1, 13  # sentinels are 999 down to 900
SENTINELS = tuple(range(FIRST, FIRST - 100, -1))
NAMES = st.sampled_from(NOISE_NAMES)
RATES = st.sampled_from([0.0, 0.01, 0.15, 0.3, 0.5, 0.55, 0.99, 1.0]) | st.floats(0, 1).map(lambda x: round(x, 3))


def made_up(length: int, seed: int = 0, sentinels: int = 100) -> Units:
    """`length` random tokens of two characters each: words of one to three pieces, a full stop now and then; then eos."""
    rng = np.random.default_rng(seed)
    ids = np.where(rng.random(length) < 0.1, STOP, rng.integers(20, 800, length)).tolist()
    tokens = [Token(str(id), id, 2 * k, 2 * k + 2) for k, id in enumerate(ids)] + [Token("</s>", EOS)]
    starts = [k == 0 or bool(flag) for k, flag in enumerate(rng.random(length) < 0.6)]
    return Units("ab" * length, tuple(tokens), 0, 1, tuple(starts), tuple(id == STOP for id in ids), SENTINELS[:sentinels],
                 MASK, ROWS, frozenset([0, 1, 2, MASK, *SENTINELS]))


def ids(tokens) -> list[int]:
    return [token.id for token in tokens]


@st.composite
def settings(draw, name=NAMES):
    hide = draw(st.lists(st.integers(0, 410), max_size=5))
    show = [k for k in draw(st.lists(st.integers(0, 410), max_size=5)) if k not in hide]
    return NoiseSettings(
        name=draw(name), mode=draw(st.sampled_from(MODES)), rate=draw(RATES), mean_span=draw(st.floats(1, 10)),
        poisson=draw(st.sampled_from([0.0, 0.1, 1.0, 3.0, 16.0])), seed=draw(st.integers(0, 2**32 - 1)),
        epoch=draw(st.integers(0, 5)), whole_words=draw(st.booleans()), each_piece=draw(st.booleans()),
        random_share=draw(st.sampled_from([0.0, 0.1, 0.5])), keep_share=draw(st.sampled_from([0.0, 0.1, 0.5])),
        roll=draw(st.booleans()), combined=tuple(draw(st.sets(st.sampled_from(BART_STEPS)))), permute_rate=draw(RATES),
        rotate_rate=draw(RATES), insert_rate=draw(RATES), hide=tuple(hide), show=tuple(show),
    )
