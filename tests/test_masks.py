"""Boolean masks and the settings that name them: rules, equalities, formulas, canonical JSON, hostile values."""

import json
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core import masks
from core.errors import InputError
from core.interventions import MAX_EXCEPTIONS, PRESETS, STACKS, Cell, Edits, Head, Masks, Row, StackMask, wording
from core.mask_formulas import cases
from core.settings import Settings

SIZES = st.integers(1, 9)
CELLS = st.builds(Cell, query=st.integers(0, 9), key=st.integers(0, 9), layer=st.integers(-1, 3), allowed=st.booleans())
CHOICES = st.builds(
    StackMask, preset=st.sampled_from(PRESETS), size=st.integers(0, 9), hidden=st.lists(st.integers(0, 12), max_size=3),
    exceptions=st.lists(CELLS, max_size=6),
)


def by_hand(choice: StackMask, stack: str, layer: int, i: int, j: int) -> bool:
    """The rule of one cell, written out: the most special word wins."""
    for cells in (layer, -1):
        for cell in choice.exceptions:
            if (cell.query, cell.key, cell.layer) == (i, j, cells):
                return cell.allowed
    if j in choice.hidden:
        return False
    p = choice.size
    decoder = stack == "decoder"
    return {
        "": j <= i or not decoder, "bidirectional": True, "padding": True, "causal": j <= i, "prefix": j <= i or j < p,
        "window": abs(i - j) <= p and (j <= i or not decoder), "diagonal": i == j,
    }[choice.preset]


@given(CHOICES, st.sampled_from(STACKS), st.integers(0, 3), SIZES, SIZES)
def test_every_cell_follows_the_rule(choice, stack, layer, queries, keys):
    mask = masks.effective(choice, stack, layer, queries, keys)
    wanted = [[by_hand(choice, stack, layer, i, j) for j in range(keys)] for i in range(queries)]
    assert mask.tolist() == wanted


@given(CHOICES, st.sampled_from(STACKS), SIZES, st.integers(0, 6))
def test_rows_of_a_cached_step_are_the_last_rows_of_the_whole(choice, stack, rows, offset):
    keys = rows + offset
    whole = masks.effective(choice, stack, 1, keys, keys)
    assert (masks.effective(choice, stack, 1, rows, keys, offset) == whole[offset:]).all()


@given(CHOICES, SIZES, SIZES, st.data())
def test_padding_stays_hidden_whatever_is_drawn(choice, queries, keys, data):
    real = data.draw(st.lists(st.integers(0, 1), min_size=keys, max_size=keys))
    mask = masks.effective(choice, "encoder", 0, queries, keys, real=real)
    assert not mask[:, np.array(real) == 0].any()
    free = masks.effective(choice, "encoder", 0, queries, keys)
    assert (mask == masks.both(free, masks.padding([real])[0])).all()


@given(SIZES, st.integers(0, 12))
def test_equalities(n, p):
    assert (masks.prefix(n, n, 0) == masks.causal(n, n)).all() and (masks.prefix(n, n, 1) == masks.causal(n, n)).all()
    assert masks.prefix(n, n, n).all() and masks.window(n, n, n).all()
    assert (masks.window(n, n, 0) == np.eye(n, dtype=bool)).all()
    assert (masks.hide(n, n, [p]).all(0) == (np.arange(n) != p)).all()
    assert masks.dead(masks.both(masks.diagonal(n, n), masks.hide(n, n, [p]))).tolist() == [i == p for i in range(n)]
    assert (np.exp(masks.additive(masks.prefix(n, n, p))) == masks.prefix(n, n, p)).all()


@given(st.integers(1, 5), st.integers(1, 6), st.data())
def test_softmax_is_a_distribution_or_nothing(queries, keys, data):
    mask = np.array(data.draw(st.lists(st.booleans(), min_size=queries * keys, max_size=queries * keys))).reshape(queries, keys)
    scores = np.random.default_rng(data.draw(st.integers(0, 99))).normal(0, 100, (queries, keys))
    weights = masks.softmax(scores, mask)
    assert (weights[~mask] == 0).all() and np.isfinite(weights).all()
    assert np.allclose(weights.sum(-1), ~masks.dead(mask))


def test_what_reaches_what_over_layers():
    layers = [masks.window(6, 6, 1)] * 2
    assert (masks.reach(layers) == masks.window(6, 6, 2)).all()
    assert (masks.reach([masks.causal(5, 5)] * 3) == masks.causal(5, 5)).all()
    hidden = [masks.hide(5, 5, [2])] * 3
    assert masks.reach(hidden)[:, 2].tolist() == [False, False, True, False, False]  # its own row, by the residual


@given(CHOICES)
def test_looking_ahead_is_seen_before_it_happens(choice):
    ahead = any(masks.effective(choice, "decoder", layer, 9, 9)[i, j] for layer in range(4) for i in range(9)
                for j in range(i + 1, 9))
    assert masks.looks_ahead(choice) or not ahead
    plain = StackMask(choice.preset, choice.size)
    assert masks.looks_ahead(plain) == bool(np.triu(masks.effective(plain, "decoder", 0, 12, 12), 1).any())


def test_dead_rows_are_named_by_layer():
    choice = StackMask("diagonal", exceptions=(Cell(2, 2, 1), Cell(4, 4)))
    assert masks.dead_rows(choice, "encoder", 3, 6, 6) == {2: [1], 4: [0, 1, 2]}
    assert masks.dead_rows(choice, "decoder", 3, 1, 3, 2) == {2: [1]}


# Formulas

SHEET = {  # as on sheet 000, but for the label
    ("causal", "encoder"): r"\begin{cases}0,& j\le i\\ -\infty,& j\gt i\end{cases}",
    ("", "decoder"): r"\begin{cases}0,& j\le i\\ -\infty,& j\gt i\end{cases}",
    ("bidirectional", "encoder"): "=0",
    ("prefix", "decoder"): r"\begin{cases}0,& j\le 3\ (\text{bidirectional prefix})\\ 0,& 3\lt j\le i\ (\text{causal suffix, "
                           r"past})\\ -\infty,& j\gt i,\ j\gt 3\ (\text{future suffix})\end{cases}",
}


@pytest.mark.parametrize(("preset", "stack"), SHEET)
def test_cases_are_those_of_the_sheet(preset, stack):
    assert cases(StackMask(preset, 3), stack).endswith(SHEET[preset, stack])


def test_cases_name_padding_hidden_tokens_and_cells_before_the_rule():
    text = cases(StackMask("bidirectional", hidden=(3,), exceptions=(Cell(1, 2, 0, True), Cell(0, 0))), "cross", padded=True)
    assert text == (
        r"M^{\text{cross, bidirectional}}_{ij}=\begin{cases}-\infty,& j\ \text{is padding}\\ 0,& (i,j)\in\{(2,3)\}"
        r"\ \text{in layer 1}\\ -\infty,& (i,j)\in\{(1,1)\}\\ -\infty,& j\in\{4\}\ (\text{hidden})\\ "
        r"0,& \text{otherwise}\end{cases}"
    )


@given(CHOICES, st.sampled_from(STACKS), st.booleans())
def test_cases_are_whole_for_every_mask(choice, stack, padded):
    text = cases(choice, stack, padded)
    assert text.count("{") == text.count("}") and len(text) < 2000
    assert ("begin{cases}" in text) or text.endswith("=0")


def test_wording():
    assert wording(StackMask(), "decoder") == "causal" and wording(StackMask(), "cross") == "padding only"
    assert wording(StackMask("prefix", 3, (1,), (Cell(1, 1),)), "encoder") == "prefix 3, hidden 2, 1 cell changed"


# Settings

EDITS = st.builds(
    Edits, pads=st.integers(0, 64), padding_mask=st.booleans(), forced=st.lists(st.integers(0, 99), max_size=3),
    heads=st.lists(st.builds(Head, stack=st.sampled_from(STACKS), layer=st.integers(0, 3), head=st.integers(0, 3)), max_size=3),
    rows=st.lists(st.builds(Row, weights=st.lists(st.floats(0.5, 9), min_size=1, max_size=4)), max_size=2),
)


@given(st.builds(Masks, encoder=CHOICES, decoder=CHOICES, cross=CHOICES), EDITS)
def test_masks_and_edits_come_back_from_their_json(chosen, edits):
    settings = Settings(text="a", masks=chosen, edits=edits)
    again, unknown = Settings.from_json(settings.to_json())
    assert again == settings and unknown == [] and hash(again) == hash(settings)
    assert again.to_json() == settings.to_json()


def test_defaults_leave_no_trace_in_the_json():
    assert json.loads(Settings(text="a", masks=Masks(), edits=Edits()).to_json()) == {"schema": 1, "text": "a"}
    some = Settings(text="a", masks=Masks(encoder=StackMask(exceptions=(Cell(2, 3),))), edits=Edits(pads=2))
    assert json.loads(some.to_json())["masks"] == {"encoder": {"exceptions": [{"query": 2, "key": 3}]}}
    assert json.loads(some.to_json())["edits"] == {"pads": 2}


def test_equal_masks_are_equal_settings():
    assert StackMask("causal", 7) == StackMask("causal")
    assert StackMask(hidden=[3, 1, 3]) == StackMask(hidden=(1, 3))
    cells = (Cell(1, 1), Cell(0, 1), Cell(1, 1, allowed=True))
    assert StackMask(exceptions=cells) == StackMask(exceptions=(Cell(0, 1), Cell(1, 1, allowed=True)))
    assert Edits(heads=(Head("cross", 1, 1), Head())) == Edits(heads=(Head(), Head("cross", 1, 1)))


BAD = [
    ({"masks": 3}, "masks"), ({"masks": {"encoder": []}}, "masks.encoder"), ({"masks": {"encoder": {"preset": "x"}}}, "'x'"),
    ({"masks": {"cross": {"preset": 3}}}, "preset"), ({"masks": {"cross": {"preset": "prefix", "size": 1025}}}, "1025"),
    ({"masks": {"cross": {"hidden": 3}}}, "hidden"), ({"masks": {"cross": {"hidden": [-1]}}}, "hidden"),
    ({"masks": {"cross": {"hidden": [True]}}}, "hidden"), ({"masks": {"cross": {"hidden": [[1]]}}}, "hidden"),
    ({"masks": {"cross": {"hidden": {"a": 1}}}}, "hidden"), ({"masks": {"cross": {"exceptions": {}}}}, "exceptions"),
    ({"masks": {"cross": {"exceptions": [3]}}}, "exceptions.0"), ({"masks": {"cross": {"exceptions": "abc"}}}, "exceptions"),
    ({"masks": {"cross": {"exceptions": [{"query": 9999}]}}}, "9999"),
    ({"masks": {"cross": {"exceptions": [{"layer": -2}]}}}, "layer"),
    ({"masks": {"cross": {"exceptions": [{"allowed": 1}]}}}, "allowed"),
    ({"masks": {"cross": {"exceptions": [{}] * (MAX_EXCEPTIONS + 1)}}}, "4,096"),
    ({"masks": {"cross": {"hidden": list(range(1000)) * 2}}}, "1,024"),
    ({"edits": {"pads": 65}}, "65"), ({"edits": {"pads": True}}, "pads"), ({"edits": {"padding_mask": 0}}, "padding_mask"),
    ({"edits": {"forced": [-1]}}, "forced"), ({"edits": {"forced": [2**40]}}, "forced"), ({"edits": {"forced": None}}, "forced"),
    ({"edits": {"heads": [{"stack": "both"}]}}, "both"), ({"edits": {"heads": [{"layer": 10**400}]}}, "layer"),
    ({"edits": {"heads": [None]}}, "heads.0"), ({"edits": {"rows": [{}]}}, "all 0"),
    ({"edits": {"rows": [{"weights": [0, 0.0]}]}}, "all 0"), ({"edits": {"rows": [{"weights": [float("nan")]}]}}, "nan"),
    ({"edits": {"rows": [{"weights": [-1]}]}}, "-1"), ({"edits": {"rows": [{"weights": ["1"]}]}}, "weights"),
    ({"edits": {"rows": [{"weights": [1], "stack": []}]}}, "stack"), ({"edits": {"rows": [{"weights": [1e300]}]}}, "1e\\+300"),
]


@pytest.mark.parametrize(("data", "said"), BAD)
def test_bad_masks_are_named(data, said):
    with pytest.raises(InputError, match=said) as error:
        Settings.from_json(json.dumps({"text": "a"} | data))
    assert len(str(error.value)) < 250


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
                    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(
                        ["encoder", "cross", "preset", "hidden", "exceptions", "query", "heads", "rows", "weights"]), inner)))
def test_anything_else_is_settings_or_an_input_error(value):
    for key in ("masks", "edits"):
        try:
            settings, _ = Settings.from_json(json.dumps({key: value}))
        except InputError:
            continue
        assert Settings.from_json(settings.to_json())[0] == settings


def test_unknown_keys_deep_inside_are_reported_and_dropped():
    settings, unknown = Settings.from_json('{"masks": {"encoder": {"exceptions": [{"query": 1, "x": 2}]}, "other": {}}}')
    assert sorted(unknown) == ["masks.encoder.exceptions.0.x", "masks.other"]
    assert settings.masks.encoder.exceptions == (Cell(1),)


def test_the_largest_drawing_is_read_and_applied_fast_enough():
    cells = tuple(Cell(i, j, allowed=(i + j) % 2 == 0) for i in range(64) for j in range(64))
    started = time.perf_counter()
    again, _ = Settings.from_json(Settings(text="a", masks=Masks(encoder=StackMask(exceptions=cells))).to_json())
    mask = masks.effective(again.masks.encoder, "encoder", 0, 64, 64)
    assert (mask == (np.add.outer(np.arange(64), np.arange(64)) % 2 == 0)).all()
    assert time.perf_counter() - started < 3
