"""Runs on the replicas of a real cluster: as here, streamed, batched, stopped, and what a person gets when a replica dies."""

import os
import signal
import threading
import time
from dataclasses import replace

import numpy as np
import pytest

from app.engine import Engine
from app.keeper import Keeper
from core.batches import side_by_side
from core.errors import EngineError, InputError
from core.interventions import Edits, Head, Masks, StackMask
from core.noise import NOISES
from core.runs import record, run
from core.settings import Decoding, Settings
from core.trace import Trace
from tests.ray.conftest import until

PLAIN = Settings(text="A man plays the guitar on the beach.")
LONG = replace(PLAIN, text=" ".join(["Two dogs run over a green field near the old house by the water."] * 12),
               decoding=Decoding(beams=8, max_new_tokens=128, min_new_tokens=120))
WAYS = {
    "greedy": PLAIN,
    "beams": replace(PLAIN, decoding=Decoding(beams=4, length_penalty=0.6)),
    "sampled": replace(PLAIN, decoding=Decoding(do_sample=True, seed=3, top_p=0.8)),
    "masked": replace(PLAIN, masks=Masks(cross=StackMask("window", size=2)), edits=Edits(heads=(Head("cross", 0, 1),), pads=2)),
    "ahead": replace(PLAIN, masks=Masks(decoder=StackMask("bidirectional"))),
    "noisy": replace(PLAIN, model="pocket-bart", noise=NOISES["text_infilling"].usual(seed=2)),
    "task": replace(PLAIN, task="en-fr"),
}


def close_to(one: Trace, other: Trace) -> None:
    """Equal tokens, scores within 1e-4."""
    assert [t.id for t in one.target] == [t.id for t in other.target] and one.id == other.id
    np.testing.assert_allclose([p.logprob for p in one.line()], [p.logprob for p in other.line()], atol=1e-4)


@pytest.mark.parametrize("way", WAYS)
def test_a_run_on_a_replica_is_to_the_bit_the_run_made_here(cluster, way):
    going = cluster.run(WAYS[way])
    assert going.elsewhere and len(list(going)) > 2
    assert going.trace() == record(WAYS[way], cluster.models)  # id and digest: every array
    assert going.trace().made["threads"] == 1


def test_a_comparison_is_to_the_bit_the_one_made_here(cluster):
    asked = [replace(PLAIN, decoding=Decoding(beams=beams)) for beams in (1, 2, 4)] + [WAYS["sampled"]]
    group, here = cluster.compare(asked), [run(one, cluster.models) for one in asked]
    steps, same = list(group), list(side_by_side(here))
    assert [sorted(found) for found in steps] == [sorted(found) for found in same] and group.elsewhere
    assert [going.trace() for going in group.runs] == [going.trace() for going in here]


def test_what_the_settings_ask_for_is_refused_here_as_ever(cluster):
    with pytest.raises(InputError, match="at least one word"):
        cluster.run(replace(PLAIN, text="<extra_id_0>"))
    with pytest.raises(InputError, match="9 settings cannot be compared"):
        cluster.compare([PLAIN] * 9)


def test_steps_come_one_by_one(cluster):
    going, began = cluster.run(LONG), time.monotonic()
    next(going)
    first = time.monotonic() - began
    rest = list(going)
    assert len(rest) > 20 and first < 0.5 * (time.monotonic() - began)


def test_a_stop_reaches_the_replica_within_a_step(cluster, facts):
    list(cluster.run(LONG))  # how long it would be
    whole = facts()["forwards"]
    list(cluster.run(LONG))
    whole = facts()["forwards"] - whole
    before, going = facts()["forwards"], cluster.run(LONG)
    for _ in range(3):
        next(going)
    going.close()
    time.sleep(0.05)  # the word is on its way while a forward goes on
    stopped = facts()["forwards"]
    time.sleep(1)
    assert facts()["forwards"] - stopped <= 1 and stopped - before < whole / 2 and len(going.steps) == 3


def test_two_people_who_come_together_share_their_forwards(cluster, facts):
    asked = [replace(PLAIN, text=f"A {colour} dog runs on the beach{more}.", decoding=Decoding(beams=beams))
             for colour, more, beams in (("black", "", 4), ("white", " with two men and a child", 2))]
    alone = [record(one, cluster.models) for one in asked]

    def shared() -> bool:
        before = facts()
        runs, gate = [cluster.run(one) for one in asked], threading.Barrier(2)
        threads = [threading.Thread(target=lambda going=going: (gate.wait(), list(going))) for going in runs]
        [thread.start() for thread in threads]
        [thread.join() for thread in threads]
        for going, trace in zip(runs, alone):
            close_to(going.trace(), trace)
        after = facts()
        new = after["batches"][len(before["batches"]) - len(after["batches"]):] if after["batches"] else []
        return before["process"] == after["process"] and 2 in new and (
            after["forwards"] - before["forwards"] == max(len(trace.steps) for trace in alone))

    assert until(shared)  # a busy machine may part them


def test_a_replica_that_dies_leaves_its_steps_and_a_sentence(cluster, facts, tmp_path):
    engine = Engine(cluster.models, Keeper(tmp_path))
    engine._maker = cluster
    key = engine.keeper.arrive("ann", "")
    messages, got = engine.messages(LONG, "ann"), []
    with pytest.raises(EngineError, match="The machine that made this run is gone. Press Run again"):
        for message in messages:
            got.append(message)
            if message["kind"] == "rows" and len(got) < 4:
                os.kill(facts()["process"], signal.SIGKILL)
    kept = got[-1]
    assert kept["kind"] == "trace" and "which are kept. The machine that made this run is gone." in " ".join(kept["notes"])
    store = engine.keeper.store
    store.writer.flush()
    session = store.sessions(engine.keeper.owner("ann"))[0] if key else None
    (entry,) = store.kept(session)
    assert entry.status == "cut" and entry.steps > 2

    def answers() -> bool:
        try:
            going = cluster.run(PLAIN)
            list(going)
        except EngineError:
            return False
        return going.trace() == record(PLAIN, cluster.models)

    assert until(answers, 90)  # Ray starts another replica
