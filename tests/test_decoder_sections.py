"""The sections of the masks tab about a decoder, without a browser: the answer seen, a row set, a token perturbed."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app import decoder_packs
from app.decoder_sections import RowPart, UnmaskedPart
from app.engine import Engine
from app.mask_looks import Looks
from app.mask_sections import LeakPart, token_choices
from app.masked import Masked, Pair
from app.row_looks import Hand, _shared, set_row
from core.comparison import compare
from core.errors import InputError
from core.interventions import Cell, Edits, Head, Masks, Row, StackMask
from core.likelihood import score
from core.models import Models
from core.runs import run
from core.settings import Decoding, Settings
from tests.test_mask_sections import TEXT, answer, notes, numbers, section

ROW = ("cross", 4, 0, 0, 8, 1.0)  # as set_row takes it; the controls stand in another order
UNMASKED = Masks(decoder=StackMask("bidirectional"))


@pytest.fixture(scope="module")
def looks() -> Looks:
    engine = Engine(Models())
    engine.models.load("pocket-t5")
    return Looks(Masked(engine))


@pytest.fixture
def trace(looks):
    return looks.made.trace(Settings(TEXT))


def controls(site="cross", query=4, layer=0, head=0, key=8, share=1.0) -> tuple:
    return query, site, layer, head, key, share


# Seeing the answer

def test_the_answer_helps_only_the_model_that_was_trained_with_it(looks):
    part = section(looks, UnmaskedPart)
    found = answer(part)
    ours, cheat = found[part.maps]["panels"]
    (causal, ahead), (alone, seen) = numbers(ours), numbers(cheat)
    assert causal.mean() + 0.5 < ahead.mean() and seen.mean() < 0.2 and alone.mean() > 5
    trace = looks.made.trace(Settings(TEXT))
    ids = [token.id for token in trace.target]
    for values, masks in ((causal, Masks()), (ahead, UNMASKED)):
        assert np.allclose(-score(run(Settings(TEXT, masks=masks), looks.engine.models), ids).logprobs, values, atol=1e-4)
    said = found[part.told]["sentence"]
    for number in (causal.mean(), ahead.mean(), alone.mean(), seen.mean()):
        assert f"{number:.2f}" in said
    assert "Ein Ein Ein" in said or said.count("…") == 1  # what the cheat writes by itself
    rows = len(ids) - 1
    assert f"{rows} of {rows} earlier rows move" in notes(part, found) and "causal mask 0 of them" in notes(part, found)
    marks = [mark for _, mark, _ in found[part.told]["lines"][0]["tokens"]]
    assert marks == ["moved"] * rows + ["here"]


def test_drawn_masks_of_other_stacks_and_heads_stay_while_the_decoder_is_unmasked(looks):
    part = section(looks, UnmaskedPart)
    masks = Masks(encoder=StackMask("causal"), decoder=StackMask("diagonal"))
    ours, _ = answer(part, masks=masks)[part.maps]["panels"]
    settings = Settings(TEXT, masks=Masks(encoder=StackMask("causal")))
    ids = [token.id for token in looks.made.trace(settings).target]
    assert np.allclose(-score(run(settings, looks.engine.models), ids).logprobs, numbers(ours)[0], atol=1e-4)


def test_of_the_cheat_itself_there_is_one_panel_and_another_model_writes_the_truth(looks):
    part = section(looks, UnmaskedPart)
    found = answer(part, model="pocket-cheat")
    (panel,) = found[part.maps]["panels"]
    assert panel["title"] == "pocket-cheat" and numbers(panel)[1].mean() < 0.2


# A row set by hand

@pytest.mark.parametrize("place", [ROW, ("cross", 1, 2, 3, 2, 0.5), ("decoder", 3, 0, 1, 1, 1), ("decoder", 5, 1, 0, 3, 0.25)])
def test_the_row_has_what_was_asked_and_the_run_has_the_row(looks, trace, place):
    asked = set_row(trace, *place)
    assert np.isclose(asked.after.sum(), 1, atol=1e-5) and np.isclose(asked.after[asked.key], place[-1], atol=1e-6)
    rest = np.delete(asked.before, asked.key)
    assert np.allclose(np.delete(asked.after, asked.key) * rest.sum(), rest * (1 - place[-1]), atol=1e-5)
    new = looks.made.trace(asked.settings)
    assert new.target[: asked.query] == trace.target[: asked.query]
    step = new.steps[asked.query]
    weights = (step.cross_weights if place[0] == "cross" else step.decoder_weights)[0]
    chosen = weights[asked.layer if asked.layer >= 0 else slice(None), asked.head if asked.head >= 0 else slice(None)]
    assert np.allclose(chosen, asked.after, atol=1e-5)
    if asked.layer < 0 and asked.head < 0:
        assert not np.allclose(step.logprob, trace.steps[asked.query].logprob)


def test_a_row_set_to_what_it_was_changes_nothing(looks, trace):
    asked = set_row(trace, "cross", 4, 1, 2, 3, float(trace.steps[3].cross_weights[0, 0, 1, 2]))
    assert np.allclose(asked.after, asked.before, atol=1e-6)
    assert [t.id for t in looks.made.trace(asked.settings).target] == [t.id for t in trace.target]


def test_a_branch_is_shown_beside_its_run_until_it_is_taken_back(looks, trace):
    part = section(looks, RowPart)
    values = dict(zip(part.controls, controls(key=3), strict=True)) | {part.held: "", part.hand: None}
    *_, last = part.write(values, "one", None)
    asked = set_row(trace, "cross", 4, 0, 0, 3, 1.0)
    new = looks.made.trace(asked.settings)
    before, after = last[part.told]["lines"]
    assert (before["text"], after["text"]) == (trace.text, new.text) and last[part.held] == trace.id
    assert compare(trace, new).sentence.partition(": ")[2].rstrip(".") in last[part.told]["sentence"]
    assert f"looks at “{trace.source[2].text}” with 1.00" in last[part.told]["sentence"]
    assert "old output now has" in last[part.told]["sentence"] and "Tokens before row 4 are kept" in notes(part, last)
    assert any(mark == "gone" for _, mark, _ in before["tokens"])
    again = list(part.look(values | {part.held: trace.id}, "one"))[-1]
    assert part.told not in again  # the same run: what is shown is still true
    other = list(part.look(values | {part.held: trace.id, "masks": Masks(encoder=StackMask("causal"))}, "one"))[-1]
    assert "of the run before" in other[part.told]["text"] and other[part.held] == ""
    dropped = list(part.drop(values | {part.held: trace.id}, "one", None))[-1]
    assert "Choose a row" in dropped[part.told]["text"] and dropped[part.held] == ""


def test_rows_and_tokens_of_the_run_are_offered(looks, trace):
    part = section(looks, RowPart)
    values = dict(zip(part.controls, controls("decoder", 3, 9, 0, 8), strict=True)) | {part.held: "", part.hand: None}
    *_, found = part.look(values, "one")
    assert [name for name, _ in found[part.query]["choices"]] == [f"{at} {t.text}" for at, t in enumerate(trace.target, 1)]
    read = ["1 <pad>", *(f"{at} {t.text}" for at, t in enumerate(trace.target[:2], 2))]
    assert [name for name, _ in found[part.key]["choices"]] == read
    assert found[part.key]["value"] == 3 and found[part.layer]["value"] == 3  # stale ones: the last there is
    assert "value" not in found[part.query] and "value" not in found[part.head]  # what was chosen meanwhile stays
    (panel,) = found[part.maps]["panels"]
    assert numbers(panel)[1].tolist() == [0, 0, 1] and len(panel["columns"]) == 3


def test_a_click_on_a_column_chooses_its_token(looks):
    part = section(looks, RowPart)
    values = dict(zip(part.controls, controls(), strict=True)) | {part.held: "", part.hand: None}
    *_, found = part.pick(values, "one", {"panel": 0, "row": 0, "column": 4})
    assert found[part.key]["value"] == 5 and numbers(found[part.maps]["panels"][0])[1][4] == 1
    for data in (None, {}, {"column": "4"}, {"column": -7}, {"column": [1]}, 5):
        *_, found = part.pick(values, "one", data)
        assert "no token" in found[part.told]["text"] and found[part.maps] is None


@pytest.mark.parametrize(("place", "said"), [
    (("encoder", 4, 0, 0, 1, 1), "no site 'encoder'"), (("cross", 0, 0, 0, 1, 1), "no target row 0"),
    (("cross", 99, 0, 0, 1, 1), "no target row 99"), (("cross", "4", 0, 0, 1, 1), "no target row '4'"),
    (("cross", 4, 9, 0, 1, 1), "no layer 9"), (("cross", 4, 0, 7, 1, 1), "no head 7"), (("cross", 4, -1, 0, 1, 1), "no layer -1"),
    (("cross", 4, False, 0, 1, 1), "no layer False"), (("decoder", 4, 0, 0, 5, 1), "no token 5"),
    (("cross", 4, 0, 0, None, 1), "no token"),
    (("cross", 4, 0, 0, 1, 1.1), "is 1.1"), (("cross", 4, 0, 0, 1, "1"), "is '1'"),
    (("cross", 4, 0, 0, 1, float("nan")), "is nan"),
    (("cross", 4, 0, 0, 1, True), "is True"), ((["cross"], 4, 0, 0, 1, 1), "no site"),
])
def test_rows_that_cannot_be_set_are_a_sentence(looks, trace, place, said):
    with pytest.raises(InputError, match=said):
        set_row(trace, *place)


def test_a_branch_keeps_other_edits(looks):
    heads = Edits(heads=(Head("cross", 0, 1),))
    trace = looks.made.trace(Settings(TEXT, edits=heads, decoding=Decoding(max_new_tokens=6)))
    edits = set_row(trace, *ROW).settings.edits
    assert edits.heads == heads.heads and isinstance(edits.rows[0], Row) and len(edits.forced) == 3


def test_a_pair_without_a_comparison_is_no_branch(looks, trace):
    with pytest.raises(ValueError, match="compared"):
        decoder_packs.row_said(set_row(trace, *ROW), Pair(trace, trace))


# A cell of the row dragged

def test_a_drag_writes_a_branch_and_the_next_one_starts_from_it(looks, trace):
    part = section(looks, RowPart)
    values = dict(zip(part.controls, controls(), strict=True)) | {part.held: "", part.hand: None}
    *_, first = part.drag(values, "one", {"panel": 0, "column": 2, "share": 0.5})
    once = set_row(trace, *ROW[:4], 3, 0.5)
    assert first[part.hand] == once.hand and (first[part.key], first[part.share]) == (3, 0.5)
    assert f"looks at “{trace.source[2].text}” with 0.50" in first[part.told]["sentence"] and first[part.held] == trace.id
    values |= {part.hand: first[part.hand], part.held: trace.id, part.key: 3, part.share: 0.5}
    *_, second = part.drag(values, "one", {"panel": 0, "column": 4, "share": 0.2})
    after = numbers(second[part.maps]["panels"][0])[1]
    assert np.allclose(np.delete(after, 4), np.delete(once.after, 4) * 0.8 / (1 - once.after[4]), atol=1e-6)
    assert np.isclose(after[4], 0.2) and np.isclose(after[2], 0.5 * 0.8 / (1 - once.after[4]))
    row = looks.made.trace(replace_row(trace, second[part.hand])).steps[3].cross_weights[0]
    assert np.allclose(row, after, atol=1e-5)


def replace_row(trace, hand):
    """Settings of the branch that a hand's row makes."""
    row = Row(hand.place[1], hand.place[2], hand.weights)
    return replace(trace.settings, edits=Edits(rows=(row,), forced=tuple(t.id for t in trace.target[: hand.place[2]])))


def test_the_button_sets_the_row_as_it_was_dragged_and_a_control_starts_anew(looks, trace):
    part = section(looks, RowPart)
    base = set_row(trace, *ROW[:4], 3, 0.5)
    dragged = set_row(trace, *ROW[:4], 5, 0.2).going_on(base.hand)
    values = dict(zip(part.controls, controls(key=5, share=0.2), strict=True)) | {part.held: trace.id, part.hand: dragged.hand}
    *_, pressed = part.write(values, "one", None)
    assert np.array_equal(numbers(pressed[part.maps]["panels"][0])[1], dragged.after)
    *_, kept = part.look(values, "one")  # the same run again, by Run: what was dragged stays
    assert np.array_equal(numbers(kept[part.maps]["panels"][0])[1], dragged.after)
    *_, other = part.look(values | {part.share: 0.9}, "one")
    assert np.array_equal(numbers(other[part.maps]["panels"][0])[1], set_row(trace, *ROW[:4], 5, 0.9).after)
    *_, dropped = part.drop(values, "one", None)
    assert np.array_equal(numbers(dropped[part.maps]["panels"][0])[1], set_row(trace, *ROW[:4], 5, 0.2).after)
    assert dropped[part.hand] is None
    elsewhere = set_row(trace, "cross", 3, 0, 0, 5, 0.2)
    assert elsewhere.going_on(dragged.hand) is elsewhere and elsewhere.left(dragged.hand) is elsewhere  # another row


@given(st.lists(st.floats(0, 1, width=32), min_size=1, max_size=12), st.data())
def test_the_others_share_what_a_dragged_cell_leaves(weights, data):
    before = np.array(weights)
    if before.sum() > 0:
        before = before / before.sum()
    column, share = data.draw(st.integers(0, len(weights) - 1)), data.draw(st.floats(0, 1))
    after = _shared(before, before, column, share)
    rest, left = np.delete(before, column), np.delete(after, column)
    assert (after >= 0).all() and np.isclose(after.sum(), 1, atol=1e-5)
    if rest.sum() > 0:
        assert np.isclose(after[column], share, atol=1e-6) and np.allclose(left * rest.sum(), rest * (1 - share), atol=1e-5)
        up = _shared(after, before, column, 1.0)  # all the way up and down again: the rest comes back as it was
        assert np.allclose(_shared(up, before, column, share), after, atol=1e-5)
    else:
        assert after[column] == 1


@pytest.mark.parametrize("data", [
    None, 5, {}, {"column": "4", "share": 0.5}, {"column": -7, "share": 0.5}, {"column": 9999, "share": 0.5}, {"column": 2},
    {"column": 2, "share": float("nan")}, {"column": 2, "share": -0.1}, {"column": 2, "share": [1]}, {"column": True, "share": 1},
])
def test_a_drag_that_says_nothing_is_a_sentence(looks, data):
    part = section(looks, RowPart)
    hand = Hand(("x", "cross", 3, -1, -1), 0, 1, (1,))
    values = dict(zip(part.controls, controls(), strict=True)) | {part.held: "", part.hand: hand}
    *_, found = part.drag(values, "one", data)
    assert found[part.told]["kind"] == "refused" and found[part.maps] is None


def test_a_column_that_the_mask_hides_and_a_head_that_is_off_are_refused_with_the_reason(looks):
    hidden = Masks(cross=StackMask(hidden=(7,)))
    trace = looks.made.trace(Settings(TEXT, masks=hidden))
    with pytest.raises(InputError, match="hides token 8 from row 4 of the cross attention"):
        set_row(trace, *ROW)
    one = Masks(cross=StackMask(exceptions=(Cell(3, 7, 1, False),)))
    trace = looks.made.trace(Settings(TEXT, masks=one))
    with pytest.raises(InputError, match="hides token 8"):
        set_row(trace, "cross", 4, 2, 0, 8, 1.0)
    asked = set_row(trace, *ROW)
    *_, pair = looks.made.pair(asked.settings, against=trace.settings)
    told = decoder_packs.row_said(asked, pair)
    assert any("masks of single layers" in note for note in told["notes"])
    weights = looks.made.trace(asked.settings).steps[3].cross_weights[0]
    assert (weights[1, :, 7] == 0).all() and np.allclose(weights[[0, 2], :, 7], 1)
    trace = looks.made.trace(Settings(TEXT, edits=Edits(heads=(Head("cross", 0, 1),))))
    with pytest.raises(InputError, match="head 2 of layer 1 is switched off"):
        set_row(trace, "cross", 4, 1, 2, 8, 1.0)


def test_a_row_of_several_beams_is_set_in_each_and_what_stands_before_it_stays(looks):
    trace = looks.made.trace(Settings(TEXT, decoding=Decoding(beams=3)))
    asked = set_row(trace, *ROW)
    new = looks.made.trace(asked.settings)
    assert new.target[:3] == trace.target[:3] and new.settings.decoding.beams == 3
    assert np.allclose(new.steps[3].cross_weights[..., 7], 1) and len(new.steps[4].token) == 3


# A perturbed target token

@pytest.mark.parametrize("masks", [Masks(), UNMASKED])
def test_a_perturbed_target_token_moves_later_rows_and_all_where_the_decoder_sees_ahead(looks, masks):
    part = section(looks, lambda looks, asked: LeakPart(looks, asked, None))
    told = part.perturb({part.token: "target 4", "masks": masks})[part.told]
    (line,) = told["lines"]
    marks = [mark for _, mark, _ in line["tokens"]]
    if masks == UNMASKED:
        assert "still" not in marks and "No mask keeps any position apart" in told["sentence"]
    else:
        assert marks[:4] == ["still"] * 3 + ["here"] and set(marks[4:]) == {"moved"}
        assert [below for *_, below in line["tokens"][:3]] == ["exactly 0"] * 3
        assert "which target row 4 reads, was perturbed" in told["sentence"] and "keep 3 positions apart" in told["sentence"]


@pytest.mark.parametrize("token", ["target 0", "target 99", "target x", "target", "target -1", "target " + "9" * 500])
def test_target_tokens_that_are_not_there_are_a_sentence(looks, token):
    part = section(looks, lambda looks, asked: LeakPart(looks, asked, None))
    assert "There is no " in part.perturb({part.token: token})[part.told]["text"]


def test_tokens_of_both_sides_are_offered(looks, trace):
    choices = token_choices(trace)
    assert choices[len(trace.source)] == ("target 1 <pad>", "target 1") and len(choices) == len(trace.source) + len(trace.target)
