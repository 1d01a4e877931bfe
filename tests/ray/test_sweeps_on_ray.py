"""Sweeps on the workers of a real cluster: as here to the bit; a killed worker loses nothing and repeats at most its chunk."""

import os
import signal
import threading
from dataclasses import replace

from core.engines.local import Local
from core.metrics.corpus import Corpus
from core.settings import Decoding, Settings
from core.sweeps.plan import Chunk, plan
from core.sweeps.resume import ResumeFile
from tests.ray.conftest import until
from tests.ray.witness import Witnessed, begun

SOURCES = tuple(f"{who} {does} {where}." for who in ("A dog", "Two men", "The child") for does in ("runs", "plays", "sleeps")
                for where in ("on the beach", "in the park"))
WAYS = [Settings(), Settings(decoding=Decoding(beams=4)), Settings(model="pocket-bart")]


def told(made) -> dict[int, str]:
    """number -> all that came out."""
    return {one.number: replace(one, made={}).to_json() for one in made if one is not None}


def chunks(size: int) -> list[Chunk]:
    return plan([[one] for one in WAYS], {"one": SOURCES, "two": SOURCES[:5]}, size)


def test_a_sweep_is_to_the_bit_the_one_made_here(cluster):
    asked = chunks(4)
    made = list(cluster.sweep(asked))
    assert told(made) == told(Local(cluster.models).sweep(asked)) and len(told(made)) == len(asked) == 21
    assert {one.made["threads"] for one in made if one} == {1}
    assert len({one.made["process"] for one in made if one}) > 1  # more than one worker had a share


def test_a_corpus_of_the_page_is_the_one_made_here(cluster):
    corpus = Corpus(SOURCES[:7], (), (SOURCES[:7],))
    there, here = (engine.translate(WAYS[:2], corpus) for engine in (cluster, Local(cluster.models)))
    assert there.elsewhere and not here.elsewhere
    for going in (there, here):
        for _ in going:
            pass
    assert there.lines == here.lines
    (*_, one), (*_, other) = (going.result(["BLEU"], "") for going in (there, here))
    assert one.id == other.id and one.made["device"] == "cpu"


def test_a_killed_worker_loses_nothing_and_repeats_at_most_its_chunk(cluster, tmp_path):
    asked = [Witnessed(one.number, one.settings, one.corpus, one.first, one.sources, str(tmp_path), 0.3) for one in chunks(6)]
    kept, killed = ResumeFile(tmp_path / "resume.jsonl", asked, cluster.models), []

    def kill() -> None:
        until(lambda: len(begun(tmp_path)) > 6)
        killed.append(begun(tmp_path)[-1][1])
        os.kill(killed[0], signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    for made in cluster.sweep(asked):
        if made is not None:
            kept.add(made)
    killer.join()
    times = [number for number, _ in begun(tmp_path)]
    assert killed and not kept.left and len(times) <= len(asked) + 1 and set(times) == {one.number for one in asked}
    assert len(times) == len(asked) + 1  # it was killed in the middle of one
    assert told(kept.made.values()) == told(Local(cluster.models).sweep(chunks(6)))


def test_a_sweep_that_was_left_goes_on_from_its_file(cluster, tmp_path):
    asked = [Witnessed(one.number, one.settings, one.corpus, one.first, one.sources, str(tmp_path), 0.1) for one in chunks(3)]
    path, going = tmp_path / "resume.jsonl", cluster.sweep(asked)
    kept = ResumeFile(path, asked, cluster.models)
    while len(kept.made) < 4:
        if made := next(going):
            kept.add(made)
    going.close()
    path.write_bytes(path.read_bytes() + b'{"number": 5, "li')  # the machine went down in the middle of a line
    again, before = ResumeFile(path, asked, cluster.models), set(kept.made)
    assert set(again.made) == before
    started = len(begun(tmp_path))
    for made in cluster.sweep(again.left):
        if made is not None:
            again.add(made)
    assert not {number for number, _ in begun(tmp_path)[started:]} & before  # what was kept is not made again
    assert told(ResumeFile(path, asked, cluster.models).made.values()) == told(Local(cluster.models).sweep(chunks(3)))
