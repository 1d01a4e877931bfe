"""Pasted and uploaded corpora: what is read, what is refused and by which sentence; reports of their scores."""

import csv
import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import InputError
from core.metrics import METRICS, scores
from core.metrics.corpus import KINDS, MAX_BYTES, MAX_LINE, MAX_LINES, Corpus, decoded, lines, read
from core.metrics.report import Report, report

HARMLESS = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=30)


# Reading

@pytest.mark.parametrize("kind, text, wanted", [
    ("txt", "a\nb\n", Corpus(("a", "b"))), ("txt", "a\r\n\r\nb", Corpus(("a", "", "b"))),
    ("txt", "a\u2028b", Corpus(("a\u2028b",))),
    ("tsv", "a\tx\nb\ty\n", Corpus(("a", "b"), (), (("x", "y"),))),
    ("tsv", 'say "hi\tx\tz', Corpus(('say "hi',), (), (("x",), ("z",)))),
    ("tsv", "ref\tsource\nx\ta\n", Corpus(("a",), (), (("x",),))),
    ("csv", 'source,reference\n"a, b",x\n', Corpus(("a, b",), (), (("x",),))),
    ("csv", 'Hypothesis,Ref 1,ref_2\n"two\nlines",x,y\n', Corpus((), ("two\nlines",), (("x",), ("y",)))),
    ("csv", '"he said ""no""",x', Corpus(('he said "no"',), (), (("x",),))),
    ("jsonl", '{"source": "a", "reference": "x"}\n\n{"source": "b", "reference": "y"}', Corpus(("a", "b"), (), (("x", "y"),))),
    ("jsonl", '{"output": "a", "references": ["x", "y"], "id": 3}\n{"output": "b", "references": ["z"]}',
     Corpus((), ("a", "b"), (("x", "z"), ("y", None)))),
    ("jsonl", '{"hyp": "a", "ref": "x"}\n{"hyp": "b", "references": ["y", "z"]}',
     Corpus((), ("a", "b"), (("x", "y"), (None, "z")))),
])
def test_read(kind, text, wanted):
    assert read(text, kind) == wanted and len(read(text, kind)) == len(wanted.sources or wanted.outputs)


def test_the_order_of_unnamed_columns_is_the_callers():
    assert read("a\tx\tb", "tsv", ("source", "output", "reference")) == Corpus(("a",), ("x",), (("b",),))
    assert read("a\nb", "txt", ("output",)).outputs == ("a", "b")


@pytest.mark.parametrize("kind, text, said", [
    ("txt", "", "no line to read"), ("csv", "source,reference\n", "no line to read"),
    ("doc", "a", "no kind of file 'doc'; there are txt"),
    ("txt", None, "a NoneType; it must be a text"), ("csv", 3, "a int; it must be a text"),
    ("txt", "a\n" * (MAX_LINES + 1), "2,001 lines; at most 2,000"), ("csv", "a,b\n" * (MAX_LINES + 1), "more than 2,000 rows"),
    ("txt", "a\n" + "b" * (MAX_LINE + 1), "Line 2 has 2,001 characters; a text has at most 2,000"),
    ("csv", "x" * (MAX_BYTES + 1), "at most 1,000,000"), ("txt", "x" * (MAX_BYTES + 1), "at most 1,000,000"),
    ("txt", "a\nb\0", "Line 2 holds U\\+0000"), ("jsonl", '{"source": "\\ud800"}', "Line 1 holds U\\+D800"),
    ("tsv", "a\tb\nc", "Line 2 of the tsv has 1 fields; the first line has 2"),
    ("csv", 'a,b\n"c', "Line 2 of the csv cannot be read"),
    ("csv", 'a,b\n"c"d,e', "Line 2 of the csv cannot be read"), ("csv", "a,b\nc,d\n\ne\n", "Line 4 of the csv has 1 fields"),
    ("jsonl", '{"source": "a"}\n{', "Line 2 is not JSON"), ("jsonl", "[1]", "Line 1 is a JSON list"),
    ("jsonl", "[" * 100_000, "Line 1 has"), ("jsonl", "[" * 1500, "Line 1 is not JSON"),
    ("jsonl", '{"text": "a"}', "Line 1 has none of the keys"),
    ("jsonl", '{"source": 3}', "The source in line 1 is a int"),
    ("jsonl", '{"source": null}', "The source in line 1 is a NoneType"),
    ("jsonl", '{"source": "a", "src": "b"}\n{"source": "a"}', "Line 1 has two columns that mean the same, source"),
    ("jsonl", '{"source": "a"}\n{"reference": "a"}', "Line 2 has reference; the first has source"),
    ("jsonl", json.dumps({"ref": ["a"] * 9}), "Line 1 has 9 references; at most 8"),
])
def test_what_cannot_be_read_is_named_by_its_line(kind, text, said):
    with pytest.raises(InputError, match=said):
        read(text, kind)


def test_uploaded_bytes():
    assert decoded("\ufeffä".encode()) == "ä"
    with pytest.raises(InputError, match=r"Line 2 of the file is not UTF-8 text \(byte 3\)"):
        decoded(b"ab\n\xff")
    with pytest.raises(InputError, match="1,000,001 bytes; at most"):
        decoded(b"x" * (MAX_BYTES + 1))


@given(text=st.text(max_size=200), kind=st.sampled_from(KINDS))
def test_any_text_is_read_or_refused(text, kind):
    try:
        found = read(text, kind)
    except InputError as error:
        assert str(error).endswith(".")
    else:
        assert all(len(side) == len(found) for side in (found.sources, *found.references) if side)


@given(rows=st.lists(st.tuples(HARMLESS, HARMLESS), min_size=1, max_size=5))
def test_written_and_read_again(rows):
    wanted = Corpus(tuple(a for a, _ in rows), (), (tuple(b for _, b in rows),))
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerows([("source", "reference"), *rows])
    assert read(text.getvalue(), "csv") == wanted
    assert read("\n".join(json.dumps({"source": a, "reference": b}) for a, b in rows), "jsonl") == wanted
    assert lines("\n".join(a for a, _ in rows) + "\n") == [a for a, _ in rows]


# Reports

OUTPUTS, REFERENCES = ("the cat sat on the mat", "a dog", ""), ("the cat is on the mat", "a dog runs", "x")


def last(*arguments, **options) -> Report:
    *_, found = report(*arguments, **options)
    return found


def test_a_report_has_the_scores_of_the_corpus_and_of_each_text():
    found = last(Corpus((), OUTPUTS, (REFERENCES,)), samples=20)
    assert [(score.name, score.signature) for score in found.scores] == [
        (score.name, score.signature) for score in scores(OUTPUTS, REFERENCES)]
    for ours, theirs in zip(found.scores, scores(OUTPUTS, REFERENCES)):
        assert ours.value == pytest.approx(theirs.value) and ours.notes == theirs.notes
    assert [row.line for row in found.rows] == [1, 2, 3]
    for row, output, reference in zip(found.rows, OUTPUTS, REFERENCES):
        assert row.values == {score.name: score.value for score in scores([output], [reference])}
    assert [each.metric for each in found.intervals] == ["BLEU", "chrF2"] and found.intervals[0].warning
    assert found.left_out == ()


def test_texts_with_fewer_references():
    found = last(Corpus((), OUTPUTS, (REFERENCES, ("the cat sat", None, None))), samples=0)
    expected = scores(OUTPUTS, REFERENCES, ("the cat sat", None, None))
    assert {score.name: round(score.value, 9) for score in found.scores} == {s.name: round(s.value, 9) for s in expected}
    assert {score.name for score in found.scores if "nrefs:var" in score.signature} >= {"BLEU", "chrF2", "TER"}


def test_without_references_only_repetition():
    found = last(Corpus((), ("a b a b",)))
    assert [score.name for score in found.scores] == ["repetition"] and found.intervals == ()


def test_slow_scores_are_left_out_when_time_is_up():
    found = last(Corpus((), OUTPUTS, (REFERENCES,)), patience=-1, samples=0)
    assert not {score.name for score in found.scores} & {"TER", "ROUGE-L", "ROUGE-Lsum"}
    assert len(found.left_out) == 3 and "0 of 3 have it" in found.left_out[0]
    assert found.rows[0].values["TER"] is None and found.rows[0].values["ROUGE-1"] is not None


@pytest.mark.parametrize("text, words", [("a b " * 51, 102), ("猫" * 101, 101)])
def test_ter_of_a_very_long_text_is_not_begun(text, words):
    found = last(Corpus((), ("a", text), (("a", "b" if words > 101 else "猫猫"),)), samples=0)
    assert "TER" not in found.rows[0].values and f"text 2 has {words} words" in found.left_out[0]
    assert "TER" in last(Corpus((), ("a b " * 50,), (("a",),)), samples=0).rows[0].values


def test_exports():
    corpus = Corpus(("=1+1", "b", "c"), OUTPUTS, (REFERENCES,))
    found = last(corpus, ["BLEU", "chrF2"], samples=10)
    table = list(csv.reader(io.StringIO(found.to_csv())))
    assert table[0] == ["line", "source", "output", "reference1", "BLEU", "chrF2"] and len(table) == 4
    assert table[1][:2] == ["1", "'=1+1"]  # no formula for a spreadsheet
    kept = json.loads(found.to_json())
    assert kept["scores"][0]["signature"].startswith("nrefs:1") and kept["rows"][1]["output"] == "a dog"
    assert set(METRICS) > set(kept["rows"][0]["values"])
