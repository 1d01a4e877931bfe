"""Paired tests: identical systems say so, few segments are warned of, wrong input is refused."""

import json
from dataclasses import replace

import pytest

from core.errors import InputError
from core.metrics.significance import paired
from tests.golden import DATA

SET = json.loads((DATA / "significance.json").read_text("utf-8"))
SYSTEMS, REFERENCES = {"old": SET["baseline"], "new": SET["system"]}, SET["references"]


@pytest.mark.parametrize("method", ["bs", "ar"])
def test_identical_systems_are_identical_and_not_significant(method):
    found = paired({"old": SET["baseline"], "same": SET["baseline"]}, REFERENCES, method=method, samples=100)
    for each in found[1::2]:
        assert (each.verdict, each.p) == ("identical", 1)
        assert each.reported == pytest.approx(1 / 101)  # what sacrebleu would have said
    assert found[0].verdict == "baseline" and found[0].p is None


def test_a_difference_and_its_interval():
    _, new = paired(SYSTEMS, REFERENCES, metrics=["BLEU"])
    assert new.p == pytest.approx(0.0669, abs=1e-4) and new.verdict == "p = 0.0669"
    assert new.half == pytest.approx(19.18, abs=0.01)
    assert replace(new, p=0.01).verdict == "p = 0.0100, different"


def test_few_segments_are_warned_of():
    assert paired(SYSTEMS, REFERENCES, samples=10)[0].warning == "Only 8 segments: under 100 a test says little."
    many = {name: texts * 13 for name, texts in SYSTEMS.items()}
    assert paired(many, REFERENCES * 13, samples=10)[0].warning == ""


def test_one_system_alone_has_intervals():
    (bleu, chrf, ter) = paired({"new": SET["system"]}, REFERENCES, metrics=["BLEU", "chrF2", "TER"], samples=50)
    assert (bleu.metric, chrf.metric, ter.metric) == ("BLEU", "chrF2", "TER")
    assert all(each.half > 0 and each.p is None for each in (bleu, chrf, ter))


@pytest.mark.parametrize("change, said", [
    ({"metrics": ["ROUGE-L"]}, "no test for 'ROUGE-L'; there is one for BLEU"), ({"method": "t"}, "no test 't'"),
    ({"samples": -1}, "-1 samples cannot be drawn"), ({"samples": True}, "True samples"),
    ({"samples": 10**9}, "1000000000 samples"),
    ({"tokenizer": "x"}, "no tokeniser 'x'"),
])
def test_wrong_input_is_named(change, said):
    with pytest.raises(InputError, match=said):
        paired(SYSTEMS, REFERENCES, **change)
    with pytest.raises(InputError, match="8 outputs for 7 references"):
        paired(SYSTEMS, REFERENCES[:-1])
    with pytest.raises(InputError, match="no system"):
        paired({}, REFERENCES)
