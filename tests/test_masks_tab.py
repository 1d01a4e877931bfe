"""The masks tab without a browser: what an edit gives, bad input, order of answers, two people, stops, sizes."""

import json
import threading
from types import SimpleNamespace

import numpy as np
import pytest

from app import mask_packs
from app.engine import Engine
from app.masked import Drawn, Masked, Pair, plain
from app.views import masks as tab
from core import record
from core.comparison import compare
from core.errors import InputError
from core.fields import differences
from core.interventions import Cell, Masks, StackMask
from core.models import Models
from core.settings import Decoding, Settings

TEXT = "A man rides a brown horse near the old fence."
CAUSAL = Masks(encoder=StackMask("causal"))
DIAGONAL = Masks(encoder=StackMask("diagonal"))
BLIND = Masks(cross=StackMask(exceptions=tuple(Cell(2, column) for column in range(40))))


@pytest.fixture(scope="module")
def made() -> Masked:
    engine = Engine(Models())
    engine.models.load("pocket-t5")
    return Masked(engine)


class Controls:
    """Stands in for the page's controls: any value but a text is a bad one."""

    def settings(self, values):
        return Settings(values["text"], values.get("model", "pocket-t5"), decoding=Decoding(values.get("longest", 128)))


@pytest.fixture
def parts():
    made = SimpleNamespace(controls=Controls(), drawn="drawn", told="told", grid="grid", maps="maps")
    made.settings = lambda values: tab.Parts.settings(made, values)
    made.leak = SimpleNamespace(token="token", offer=lambda trace, chosen: {})
    made.heads = SimpleNamespace(emptied=lambda trace, edits: {})
    return made


def edit(made, parts, masks, visitor="one", **values) -> list[dict]:
    sent = {"text": TEXT, "drawn": Drawn(), "token": 1} | values
    data = masks if not isinstance(masks, Masks) else {"masks": differences(masks)}
    answers = list(tab.edited(made, parts, sent, data, visitor))
    return [one for one in answers if one.get("told", {}).get("kind") != "progress"]  # a busy machine says how far it is


def test_an_edit_keeps_the_masks_and_shows_both_runs(made, parts):
    drawn = Drawn()
    pictures, scored = edit(made, parts, CAUSAL, drawn=drawn)
    assert drawn == Drawn(CAUSAL, turns={"masks": 0})
    old, new = (record(Settings(TEXT, masks=masks), made.engine.models) for masks in (Masks(), CAUSAL))
    assert set(pictures) == {"grid", "told", "maps"} and set(scored) == {"told"}
    assert pictures["told"]["sentence"] == compare(old, new).sentence
    assert scored["told"]["sentence"].startswith("Encoder causal instead of bidirectional: ")
    assert "the old output now has −" in scored["told"]["sentence"]
    before, after = scored["told"]["lines"]
    assert [t[0] for t in before["tokens"]] == [t.text for t in old.target] and after["text"] == new.text
    assert {mark for _, mark, _ in before["tokens"]} == {"", "gone"}
    assert pictures["grid"]["labels"]["writes"] == [t.text for t in new.target]
    assert pictures["grid"]["labels"]["target"][0] == [new.start.text, True]
    json.dumps([pictures[name] for name in ("grid", "told", "maps")], allow_nan=False)


def test_an_older_edit_that_comes_late_sets_nothing_back_and_shows_the_newest(made, parts):
    drawn, sent = Drawn(), [{"masks": differences(masks), "turn": turn} for turn, masks in ((1, CAUSAL), (2, DIAGONAL))]
    older = tab.edited(made, parts, {"text": TEXT, "drawn": drawn, "token": 1}, sent[0], "one")
    newest = edit(made, parts, sent[1], drawn=drawn)
    assert drawn.masks == DIAGONAL and newest[-1]["told"]["sentence"].startswith("Encoder diagonal")
    late = [one for one in older if one["told"].get("kind") != "progress"]  # it only begins now
    assert drawn.masks == DIAGONAL and late[-1]["told"]["sentence"].startswith("Encoder diagonal")
    for strange in (None, "7", 1.5, True, [], -1):  # what a browser of ours never sends
        drawn.take("masks", CAUSAL if strange == -1 else DIAGONAL, strange)
        assert drawn.masks == DIAGONAL and drawn.turns == {"masks": 2}


def test_a_run_that_was_overtaken_while_it_was_compared_shows_nothing(made, parts, monkeypatch):
    """The newer one's answer is there by then, and would be painted over."""
    real = compare

    def overtaken(old, new, *now):
        made.engine.latest.begin("one")
        return real(old, new, *now)

    monkeypatch.setattr("app.masked.compare", overtaken)
    assert edit(made, parts, CAUSAL, text="Three cats sit beside the old green door.") == []


def test_heatmaps_are_the_mean_of_the_runs_and_their_difference(made, parts):
    *_, found = made.pair(Settings(TEXT, masks=CAUSAL))
    before, after, difference = mask_packs.heatmaps(found)["panels"]
    values = [numbers(panel) for panel in (before, after, difference)]
    assert np.allclose(values[0], found.old.path().mean((0, 1))) and np.allclose(values[1], found.new.path().mean((0, 1)))
    same = [row for row, name in enumerate(difference["rows"]) if "→" not in name]
    at = int(difference["rows"][same[0]].split()[0]) - 1
    assert np.allclose(values[2][same[0]], values[1][at] - values[0][at])  # the same token, before anything has moved


def numbers(panel) -> np.ndarray:
    import base64

    raw = np.frombuffer(base64.b64decode(panel["values"]), "<f4")
    return raw.reshape(len(panel["rows"]), len(panel["columns"]))


def test_the_plain_run_is_made_once_and_a_known_mask_not_again(made, parts):
    forwards = []
    hook = made.engine.models.load("pocket-t5").model.decoder.register_forward_hook(lambda *a: forwards.append(1))
    try:
        text = "Two cats sleep on a red sofa."
        edit(made, parts, CAUSAL, text=text)
        first = len(forwards)
        forwards.clear()
        edit(made, parts, CAUSAL, text=text)
        assert first > 10 and len(forwards) == 1  # log P of the old output, in one forward
        forwards.clear()
        edit(made, parts, Masks(), text=text)
        assert forwards == []
    finally:
        hook.remove()


def test_nothing_drawn_says_what_to_do(made, parts):
    (shown,) = edit(made, parts, Masks())
    assert "Nothing is masked yet" in shown["told"]["sentence"] and len(shown["maps"]["panels"]) == 1


def test_a_row_that_sees_nothing_is_said_and_has_numbers(made, parts):
    *_, pictures, scored = edit(made, parts, BLIND)
    assert any("Nothing visible in target row 3" in note for note in scored["told"]["notes"])
    after = pictures["maps"]["panels"][1]
    assert after["dead"] == [2] and np.isfinite(numbers(after)).all() and not numbers(after)[2].any()
    json.dumps(scored["told"], allow_nan=False)


def test_a_decoder_that_looks_ahead_is_scored_step_by_step_and_says_so(made, parts):
    *_, scored = edit(made, parts, Masks(decoder=StackMask("bidirectional")))
    assert any("computed again" in note for note in scored["told"]["notes"])
    assert float(scored["told"]["sentence"].split("now has −")[1].rstrip(".")) < 15  # in one forward it is above 30


@pytest.mark.parametrize(("data", "said"), [
    (None, "masks must be an object"), ([], "masks must be an object"), ({}, "masks must be an object"),
    ({"masks": 5}, "masks must be an object"), ({"masks": {"encoder": "x"}}, "masks.encoder must be an object"),
    ({"masks": {"encoder": {"preset": "all"}}}, "preset is 'all'"), ({"masks": {"encoder": {"size": 9e9}}}, "size must be int"),
    ({"masks": {"cross": {"hidden": [1] * 5000}}}, "at most 1,024"), ({"masks": {"cross": {"hidden": [-1]}}}, "must be between"),
    ({"masks": {"decoder": {"exceptions": [{}] * 5000}}}, "at most 4,096"),
    ({"masks": {"decoder": {"exceptions": [{"layer": 7}]}}}, "names layer 7"),
])
def test_masks_that_cannot_be_are_a_sentence(made, parts, data, said):
    *_, answer = edit(made, parts, data)
    assert set(answer) == {"told"} and answer["told"]["kind"] == "refused" and said in answer["told"]["text"]


@pytest.mark.parametrize(("values", "said"), [
    ({"text": " "}, "empty"), ({"text": "x" * 5000}, "at most 4,000"), ({"text": 7}, "must be str"),
    ({"text": TEXT, "model": "../x"}, "There is no model"), ({"text": TEXT, "longest": 10**9}, "max_new_tokens is"),
])
def test_settings_that_cannot_be_are_a_sentence_and_the_masks_stay(made, parts, values, said):
    drawn = Drawn()
    (answer,) = edit(made, parts, CAUSAL, drawn=drawn, **values)
    assert drawn.masks == CAUSAL and said in answer["told"]["text"]


def test_a_failure_is_logged_and_not_shown(made, parts, monkeypatch, caplog):
    monkeypatch.setattr("app.masked.compare", lambda *a: 1 / 0)
    *_, answer = edit(made, parts, CAUSAL)
    assert "did not foresee" in answer["told"]["text"] and "division" in caplog.text


def test_a_newer_edit_of_the_same_person_ends_the_older(made):
    text = "Three people are walking slowly through a park."
    older = made.pair(Settings(text, masks=CAUSAL), "one")
    assert isinstance(next(one for one in older if isinstance(one, Pair)).new.text, str)
    made.engine.latest.begin("one")
    assert list(older) == []


def test_stop_ends_it_and_says_so(made, monkeypatch):
    monkeypatch.setattr("app.masked.PATIENCE", -1)
    monkeypatch.setattr("app.masked.INTERVAL", -1)
    going = made.pair(Settings("A small child throws a ball to a black dog.", masks=CAUSAL), "two")
    assert next(going)["kind"] == "progress"
    made.engine.latest.stop("two")
    assert ["Stopped" in message["text"] for message in going] == [True]


def test_two_people_with_two_masks_never_mix(made):
    asked = [Masks(encoder=StackMask("causal")), Masks(cross=StackMask(hidden=(2, 3))), Masks(decoder=StackMask("diagonal"))]
    texts = ["A dog runs.", "Two men sit.", "A girl is waiting for the bus."]
    want = {(t, m): record(Settings(t, masks=m), made.engine.models).digest for t in texts for m in asked}
    wrong = []

    def person(number: int) -> None:
        fresh = Masked(Engine(made.engine.models))
        fresh.engine.turn = made.engine.turn
        for text in texts:
            masks = asked[number % 3]
            found = [one for one in fresh.pair(Settings(text, masks=masks), str(number)) if isinstance(one, Pair)][-1]
            if found.new.digest != want[text, masks] or found.old.settings.masks != Masks():
                wrong.append((number, text))

    threads = [threading.Thread(target=person, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_a_tab_that_opens_shows_what_is_there_and_runs_nothing(made, parts):
    sent = {"text": "A text that nobody has run so far.", "drawn": Drawn(CAUSAL), "token": 1}
    (answer,) = tab.followed(made, parts, sent, "three")
    assert answer["told"]["kind"] == "progress" and "press Run both" in answer["told"]["text"]
    record_plain = next(iter(made.engine.saved.values())).settings.text
    answers = list(tab.followed(made, parts, sent | {"text": record_plain}, "three"))
    assert answers[-1]["told"]["kind"] == "found"
    (answer,) = tab.followed(made, parts, sent | {"text": 7}, "three")
    assert answer["told"]["kind"] == "refused"


def test_long_texts_are_cut_with_a_note(made, parts):
    pictures, scored = edit(made, parts, CAUSAL, text="the old man and the sea " * 60, longest=4)
    assert len(pictures["grid"]["labels"]["source"]) == mask_packs.MOST_DRAWN
    assert any("can be drawn on" in note for note in scored["told"]["notes"])
    assert all(len(panel["columns"]) <= mask_packs.MOST_SHOWN for panel in pictures["maps"]["panels"])
    assert len(json.dumps(pictures["maps"])) < 200_000


def test_the_first_picture_needs_no_model():
    made = Masked(Engine(Models()))
    first = next(iter(made.engine.saved.values()))
    assert made.kept(plain(first.settings)) is first and not made.engine.models.is_loaded("pocket-t5")
    assert mask_packs.grid(first)["layers"] == {"encoder": 3, "decoder": 3, "cross": 3}


def test_masks_of_nothing_are_refused():
    with pytest.raises(InputError):
        tab.masks_of({"masks": None})
    assert tab.masks_of({"masks": {"encoder": {"preset": "causal"}, "strange": 1}}) == CAUSAL
