"""The search tab without a browser: the saved search, what travels of a tree, branches, settings compared, what is refused."""

import base64
import json

import gradio as gr
import numpy as np
import pytest

from app import tree_packs
from app.config import AppConfig
from app.controls import Controls, model_picker, more, text_box
from app.engine import Engine
from app.reranked import forced, reranked, winner
from app.searches import Searches, branch
from app.trials import FIRST, Trials, betas_of, settings_of
from app.views.decoding import Parts, branched, chosen, compared, searched
from app.widgets.beam_tree import BeamTree
from core import Decoding, Settings, record
from core.budget import cache_shape
from core.errors import InputError
from core.interventions import Edits
from core.metrics import scores
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
        controls = Controls(text_box(""), *model_picker(searches.engine.models, ""), **more())
        return Parts(searches, Trials(searches.engine), controls)


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
    pack = json.loads(parts.tree.value)
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
    with pytest.raises(ValueError, match="BeamTree shows a dict"):
        BeamTree({"kind": "else"})
    assert BeamTree().preprocess({"kind": "tree"}) is None


def test_an_unloaded_vocabulary_writes_what_the_tokenizer_writes(searches):
    registry = Models()
    bare, full = registry.vocabulary("pocket-t5")[0], registry.load("pocket-t5").tokenizer
    for text in ("Ein Mädchen, das wartet.", "a  b", "<extra_id_0> x"):
        ids = full(text)["input_ids"]
        assert bare.decode(ids) == full.decode(ids, skip_special_tokens=True, clean_up_tokenization_spaces=False)


@pytest.mark.parametrize("model", ["pocket-t5", "pocket-bart"])
def test_bytes_of_both_caches_are_those_of_the_formula(searches, parts, model):
    sent = values(parts) | {parts.controls.model: model}
    *_, found = searched(parts, sent, "ann")
    caches = found["caches"]
    assert caches["shape"] == [3, 6, 32, 4] and caches["rows"] == [4] * len(found["steps"])
    for at, (own, cross) in enumerate(caches["measured"]):
        assert own == caches["formula"]["self"][at] == 2 * 3 * 6 * 32 * (at + 1) * 4 * 4
        assert cross == caches["formula"]["cross"] == 2 * 3 * 6 * 32 * len(found["source"]) * 4


@pytest.mark.parametrize("config, shape", [
    ({"num_decoder_layers": 6, "num_heads": 8, "d_kv": 64}, (6, 8, 64)),
    ({"decoder_layers": 12, "decoder_attention_heads": 16, "d_model": 1024}, (12, 16, 64)),
    ({}, None), ({"num_decoder_layers": "6", "num_heads": 8, "d_kv": 64}, None),
])
def test_a_config_says_the_shape_of_a_cache(config, shape):
    assert cache_shape(config) == shape


# Settings compared

@pytest.fixture(scope="module")
def trials(searches) -> Trials:
    return Trials(searches.engine)


def asked(parts: Parts, *rows: dict, reference: str = "", text: str = "A dog runs.") -> dict:
    return values(parts, text) | {parts.reference: reference, "data": {"rows": list(rows)}}


def table(trials: Trials, parts: Parts, sent: dict) -> dict:
    *_, found = compared(trials, parts, sent, sent["data"], "ann")
    return found


def test_eight_settings_give_a_row_each_with_every_number(trials, parts):
    sent = asked(parts, *FIRST, {"beams": 4, "no_repeat_ngram_size": 1}, reference="Ein Hund rennt.")
    found = table(trials, parts, sent)
    assert found["kind"] == "compared" and len(found["rows"]) == 8
    assert found["names"] == ["BLEU", "chrF2", "TER", "ROUGE-1", "ROUGE-2", "ROUGE-L", "ROUGE-Lsum", "repetition"]
    assert all(found["signatures"]) and len(found["signatures"]) == len(found["units"]) == 8
    for row, settings in zip(found["rows"], settings_of(parts.controls.settings(sent), sent["data"])):
        trace = record(settings)
        assert (row["text"], row["length"], row["run"]) == (trace.text, len(trace.target), trace.id)
        logprob = sum(place.logprob for place in trace.line())
        alpha = settings.decoding.length_penalty
        assert row["logprob"] == pytest.approx(logprob, abs=1e-3)
        assert row["score"] == pytest.approx(logprob / row["length"] ** alpha, abs=1e-3)
        assert row["gnmt"] == pytest.approx(logprob / ((5 + row["length"]) / 6) ** 0.6, abs=1e-3)
        assert row["scores"] == [round(one.value, 4) for one in scores([trace.text], ["Ein Hund rennt."], names=found["names"])]
        received = trace.coverage()
        assert row["gaps"] == [token.text for token, share in zip(trace.source, received) if share < found["gap"]]
        assert len(row["repeats"]) == 4 and 0 < row["seconds"] <= found["seconds"]


def test_the_first_picture_is_two_recorded_rows_which_can_be_looked_into(trials, parts):
    pack = json.loads(parts.table.value)
    assert pack["kind"] == "first" and pack["rows"] == list(FIRST)
    assert [row["how"] for row in pack["found"]["rows"]] == ["greedy", "4 beams, α 1, early stopping false"]
    told, maps = trials.two({"old": pack["found"]["rows"][0]["run"], "new": pack["found"]["rows"][1]["run"]})
    assert told["sentence"] and maps["panels"]
    assert len(parts.table.value) < 5000 and pack["found"]["seconds"] is None, "no batch was timed"


def test_beta_ranks_the_hypotheses_anew_and_the_winner_is_a_run_of_its_own(trials, parts):
    text = "A man with a red hat and two small dogs walks slowly along the river in the evening."
    rows = [{"beams": 6, "length_penalty": 0.2}, {"beams": 6, "length_penalty": 0.2, "beta": 10.0}, {"beams": 6, "beta": 0.0}]
    found = table(trials, parts, asked(parts, *rows, text=text))
    trace = record(settings_of(parts.controls.settings(asked(parts, text=text)), {"rows": rows[:1]})[0])
    head = trials.engine.models.alignment_head("pocket-t5")
    scored = {}
    for node in trace.tree.ranking:  # the formula by hand: log P / ((5 + m) / 6)^α + β Σ log min(received, 1)
        length, path = int(trace.tree.step[node]) + 1, trace.path(node=node)
        weights = path[head] if head else path.mean((0, 1))
        coverage = np.log(np.clip(weights.sum(0), 1e-12, 1)).sum()
        scored[int(node)] = trace.tree.total[node] / ((5 + length) / 6) ** 0.2 + 10 * coverage
    best = max(scored, key=scored.get)
    assert best == winner(trace, head, 10.0) and best != int(trace.tree.best), "the winner flips"
    plain, ranked, same = found["rows"]
    assert "ranked by GNMT with β 10" in ranked["how"] and "GNMT" not in same["how"]
    assert ranked["text"] != plain["text"] and ranked["run"] != plain["run"]
    run = trials.engine.recent.get(ranked["run"])
    ids = [token.id for token in run.target]
    assert ids == trace.tree.token[trace.tree.path(best)].tolist() == list(forced(trace, best).edits.forced)
    assert ranked["logprob"] == pytest.approx(float(trace.tree.total[best]), abs=1e-3)
    np.testing.assert_allclose(run.path(), trace.path(node=best), atol=1e-4)
    assert reranked(trials.engine, trace, 0.0) is None


@pytest.mark.parametrize("row, said", [
    ({"beams": 2, "beta": -1}, "β of row 1 is -1; it must be a number from 0 to 10"), ({"beams": 2, "beta": True}, "β of row 1"),
    ({"beams": 2, "beta": "1"}, "β of row 1"), ({"beams": 2, "beta": float("nan")}, "β of row 1"), ({"beta": 1}, "no hypotheses"),
])
def test_a_strange_beta_is_refused(row, said):
    with pytest.raises(InputError, match=said):
        betas_of({"rows": [row]})


def test_without_a_reference_only_repetition_is_there(trials, parts):
    found = table(trials, parts, asked(parts, {"beams": 2}))
    assert found["names"] == ["repetition"] and found["texts"] == 1


def test_any_two_rows_are_shown_as_two_heatmaps(trials, parts):
    found = table(trials, parts, asked(parts, {}, {"do_sample": True, "top_k": 0, "seed": 1, "temperature": 2.0}))
    told, maps = trials.two({"old": found["rows"][0]["run"], "new": found["rows"][1]["run"]})
    assert told["sentence"].startswith("greedy → sampled, seed 1") and [line["name"] for line in told["lines"]] == ["a", "b"]
    assert [panel["title"] for panel in maps["panels"]][:2] == ["A", "B"]
    told, maps = trials.two({"old": found["rows"][0]["run"], "new": found["rows"][0]["run"]})
    assert told["sentence"] == "greedy" and len(maps["panels"]) == 1
    for data in (None, {}, {"old": 1, "new": 2}, {"old": "x", "new": "y"}):
        shown = chosen(parts, trials, data)
        assert shown[parts.told]["kind"] == "refused" and shown[parts.maps] is None


@pytest.mark.parametrize("rows, said", [
    ([], r"choose 1 to 8 rows"), ([{}] * 9, "choose 1 to 8 rows"), ([3], "Row 1 is 3; it may name beams"),
    ([{}, {"max_new_tokens": 5}], "Row 2 is"), ([{"beams": 9}], "beams is 9"), ([{"beams": True}], "beams must be int, not bool"),
    ([{"beams": 2, "do_sample": True}], "Sampling writes one text"),
    ([{"temperature": "1"}], "temperature must be float, not str"),
    ([{"length_penalty": 1e30}], "length_penalty is 1e"), ("x", "choose 1 to 8 rows"),
])
def test_what_cannot_be_compared_is_a_sentence(trials, parts, rows, said):
    sent = asked(parts) | {"data": {"rows": rows}}
    with pytest.raises(InputError, match=said):
        table(trials, parts, sent)


def test_a_strange_reference_is_refused(trials, parts):
    with pytest.raises(InputError, match="The reference must be a text"):
        table(trials, parts, asked(parts, {}) | {parts.reference: 3})
