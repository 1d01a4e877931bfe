"""The search tab without a browser: the saved search, what travels of a tree, branches, typed beginnings, what is refused."""

import base64
import json

import gradio as gr
import numpy as np
import pytest

from app import tree_packs
from app.config import AppConfig
from app.controls import Controls, model_picker, more, text_box
from app.engine import Engine
from app.searches import Searches, branch
from app.views.decoding import Parts, branched, searched
from app.widgets.beam_tree import BeamTree
from core import Decoding, Settings
from core.errors import InputError
from core.interventions import Edits
from core.models import Models
from core.runs import Run
from core.search_tree import tree_of
from tests import models


@pytest.fixture(scope="module")
def searches() -> Searches:
    return Searches(Engine(AppConfig().registry()))


@pytest.fixture(scope="module")
def parts(searches) -> Parts:
    with gr.Blocks():
        return Parts(searches, Controls(text_box(""), *model_picker(searches.engine.models, ""), **more()))


def values(parts: Parts, text: str = "A dog runs.", **changed) -> dict:
    """What the page sends at first, with some of it changed."""
    sent = {component: component.value for component in parts.inputs}
    named = {"early": parts.early, "beginning": parts.beginning, **parts.numbers}
    return sent | {parts.controls.text: text} | {named[name]: value for name, value in changed.items()}


def made(beams: int = 4, **edits) -> Run:
    loaded = models.prepare("t5", models.build("t5"), models.tokenizer())
    going = Run(Settings(text=models.TEXT, decoding=Decoding(max_new_tokens=8, beams=beams), edits=Edits(**edits)), loaded)
    list(going)
    return going


def test_the_saved_search_is_the_first_picture_and_small(searches, parts):
    pack = parts.tree.value
    assert pack["kind"] == "tree" and len(pack["ranking"]) == pack["beams"] == 4
    assert pack["best"] == pack["ranking"][0]["node"]
    assert len(json.dumps(pack)) < 40_000
    assert pack["ranking"][0]["text"] == searches.first.text


def test_a_pack_holds_the_whole_tree():
    going = made()
    trace, tree = going.trace(), going.trace().tree
    pack = tree_packs.whole(trace, going.loaded.tokenizer, None)
    assert len(pack["nodes"]) == len(tree.token) and pack["fates"] == tree.fate.tolist()
    for at, (parent, step, row, id, logprob, total, score, _) in enumerate(pack["nodes"]):
        assert (parent, step, row, id) == (tree.parent[at], tree.step[at], tree.row[at], tree.token[at])
        np.testing.assert_allclose((logprob, total, score), (tree.logprob[at], tree.total[at], tree.score[at]), atol=1e-6)
    for node in tree.ranking:  # the rows that the page reads of each node are those of its path
        rows = trace.path(node=node).mean((0, 1))
        for at, step in zip(tree.path(node), range(99)):
            sent = np.frombuffer(base64.b64decode(pack["steps"][step]["w"]), "<f2").reshape(-1, len(trace.source))
            np.testing.assert_allclose(sent[tree.fed(at)], rows[step], atol=5e-4)
    for one in pack["ranking"]:
        np.testing.assert_allclose(one["received"], trace.path(node=one["node"]).mean((0, 1)).sum(0), atol=1e-5)
        assert one["logprob"] == tree.total[one["node"]] and one["length"] == len(tree.path(one["node"]))


def test_what_is_streamed_joins_to_the_whole():
    going = made()
    whole = tree_packs.whole(going.trace(), going.loaded.tokenizer, (0, 1))
    nodes, steps = [], []
    for count in range(1, len(going.steps) + 1):
        tree = tree_of([step.ranked for step in going.steps[:count]], 4)
        pack = tree_packs.grown(going.steps[:count], tree, (0, 1), len(nodes), len(steps))
        nodes, steps = nodes + pack["nodes"], steps + pack["steps"]
        assert len(pack["fates"]) == len(nodes)
    assert nodes == whole["nodes"] and steps == whole["steps"] and pack["fates"] == whole["fates"]


def test_a_forced_beginning_leaves_no_repeated_rows_in_the_picture():
    free = made()
    ids = [int(free.trace().tree.token[node]) for node in free.trace().tree.path(free.trace().tree.ranking[-1])][:2]
    going = made(forced=tuple(ids))
    pack = tree_packs.whole(going.trace(), going.loaded.tokenizer, None)
    assert pack["forced"] == 2 and all(total > -1e6 for _, _, _, _, _, total, _, _ in pack["nodes"])
    assert all(parent < at for at, (parent, *_) in enumerate(pack["nodes"]))
    for at, (parent, step, *_) in enumerate(pack["nodes"]):
        assert (parent == -1) == (step == 0) and (parent == -1 or pack["nodes"][parent][1] == step - 1), at
    for one in pack["ranking"]:
        node, path = one["node"], []
        while node >= 0:
            path.append(pack["nodes"][node][3])
            node = pack["nodes"][node][0]
        assert path[::-1][:2] == ids


def test_a_search_and_its_branch(parts):
    *_, found = searched(parts, values(parts), "ann")
    assert found["kind"] == "tree" and found["forced"] == 0
    pruned = next(at for at, fate in enumerate(found["fates"]) if fate == 2 and found["nodes"][at][1] == 1)
    ids = [found["nodes"][found["nodes"][pruned][0]][3], found["nodes"][pruned][3]]
    *_, gone_on = branched(parts, values(parts), {"ids": ids}, "ann")
    assert gone_on["forced"] == 2 and gone_on["run"] != found["run"]
    *_, again = searched(parts, values(parts), "bob")
    assert again == found  # from what is kept


def test_a_typed_beginning_is_what_the_text_starts_with(parts):
    *_, found = searched(parts, values(parts, beginning="Eine Katze"), "ann")
    assert found["forced"] and all(one["text"].startswith("Eine Katze") for one in found["ranking"])


@pytest.mark.parametrize("changed, said", [
    ({"beams": 1}, "A single beam has no tree"), ({"beams": 99}, "beams is 99"),
    ({"beams": "x"}, "beams is x; it must be a number"),
    ({"length_penalty": float("nan")}, "length_penalty is nan"), ({"early": "soon"}, "early_stopping is 'soon'"),
    ({"beginning": 3}, "The beginning must be a text"), ({"beginning": "word " * 300}, "at most 128 can be written"),
    ({"min_new_tokens": -1}, "min_new_tokens is -1"), ({"text": ""}, "Type at least one word|is empty|no text"),
])
def test_what_cannot_be_used_is_a_sentence(parts, changed, said):
    text = changed.pop("text", "A dog runs.")
    with pytest.raises(InputError, match=said):
        list(searched(parts, values(parts, text, **changed), "ann"))


@pytest.mark.parametrize("ids", [None, "12", [1.5], [True], ["1"], [1] * 200, [-1], {"a": 1}, [2**40], [10**6]])
def test_a_hostile_branch_is_refused(parts, ids):
    with pytest.raises(InputError):
        list(branched(parts, values(parts), {"ids": ids}, "ann"))
    assert branch(Settings(), []).edits.forced == ()


def test_the_component_refuses_what_it_cannot_draw():
    with pytest.raises(ValueError, match="a beam tree shows a dict"):
        BeamTree({"kind": "else"})
    assert BeamTree().preprocess({"kind": "tree"}) is None


def test_an_unloaded_vocabulary_writes_what_the_tokenizer_writes(searches):
    registry = Models()
    bare, full = registry.vocabulary("pocket-t5")[0], registry.load("pocket-t5").tokenizer
    for text in ("Ein Mädchen, das wartet.", "a  b", "<extra_id_0> x"):
        ids = full(text)["input_ids"]
        assert bare.decode(ids) == full.decode(ids, skip_special_tokens=True, clean_up_tokenization_spaces=False)
