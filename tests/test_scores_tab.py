"""The scores tab without a browser: what is typed, uploaded and picked, refusals, tests of two systems, first picture."""

import json

import pytest

from app.config import AppConfig
from app.page import build
from app.score_packs import MOST, matched
from app.views.scores import FIRST, chosen, corpus_of, in_full, one_of, text_of, tokenizer_of, typed, uploaded
from app.widgets.ngrams import Ngrams
from app.widgets.scoreboard import ScoreBoard
from core.errors import InputError
from core.examples import SCORED
from core.metrics import METRICS, scores

OUTPUTS, REFERENCES = "the cat sat on the mat\na dog\n", "the cat is on the mat\ta cat sat\na dog runs"


def report_of(pack: dict) -> dict:
    assert pack["kind"] == "scored"
    return json.loads(pack["json"])


def test_lines_become_flat_lists():
    corpus = corpus_of(OUTPUTS, REFERENCES)
    assert corpus.outputs == ("the cat sat on the mat", "a dog")
    assert corpus.references == (("the cat is on the mat", "a dog runs"), ("a cat sat", None))
    assert corpus_of("a\n\nb", "").references == ()
    assert text_of(corpus.references) + "\n" == REFERENCES + "\n" and text_of([corpus.outputs]) + "\n" == OUTPUTS
    assert text_of([["two\nlines"]]) == "two lines"


@pytest.mark.parametrize("outputs, references, said", [
    ("a\nb", "a", "2 outputs and 1 lines of references"), (None, "", "outputs is a NoneType"), ("a", 3, "references is a int"),
    ("a", "\t".join("b" * 9), "9 references; at most 8"), ("a\0", "b", "U\\+0000"), ("\ud800", "b", "U\\+D800"),
])
def test_what_is_typed_is_checked(outputs, references, said):
    with pytest.raises(InputError, match=said):
        corpus_of(outputs, references)


def test_few_texts_are_scored_at_once_and_many_wait():
    corpus = corpus_of(OUTPUTS, REFERENCES)
    found = report_of(typed(corpus, FIRST, ""))
    expected = {score.name: score for score in scores(corpus.outputs, *corpus.references, names=FIRST)}
    ours = {score["name"]: score["value"] for score in found["scores"]}
    assert ours == pytest.approx({name: score.value for name, score in expected.items()})
    assert found["intervals"] == [] and len(found["rows"]) == 2
    assert typed(corpus_of("a\n" * 31, ""), FIRST, "") == {"kind": "waiting", "texts": 31}
    assert typed(corpus_of("a " * 900 + "\n" + "a " * 900 + "\n" + "a " * 900, ""), FIRST, "")["kind"] == "waiting"
    with pytest.raises(InputError, match="nothing to score"):
        typed(corpus_of("", ""), FIRST, "")


def test_the_button_gives_intervals_and_tests():
    corpus = corpus_of(OUTPUTS, "the cat is on the mat\na dog runs")
    *_, pack = in_full(corpus, "the cat is on the mat\na dog", ["BLEU", "chrF2", "TER"], "")
    assert [each["metric"] for each in report_of(pack)["intervals"]] == ["BLEU", "chrF2"]
    assert [one["metric"] + one["system"] for one in pack["tests"]] == ["BLEUA", "BLEUB", "chrF2A", "chrF2B"]
    assert pack["tests"][0]["verdict"] == "baseline" and 0 < pack["tests"][1]["p"] <= 1
    *_, same = in_full(corpus, OUTPUTS, ["BLEU"], "")
    assert same["tests"][1]["verdict"] == "identical" and same["tests"][1]["p"] == 1
    *_, alone = in_full(corpus, "", ["BLEU"], "")
    assert alone["tests"] == []
    with pytest.raises(InputError, match="1 outputs for 2 references"):
        list(in_full(corpus, "one line", ["BLEU"], ""))


def test_a_long_corpus_tells_how_far_it_is(monkeypatch):
    monkeypatch.setattr("core.metrics.report.SLICE", -1)
    *shares, pack = in_full(corpus_of("a\nb\nc\nd", "a\nb\nc\nd"), "", ["chrF2"], "")
    assert shares == [{"kind": "progress", "share": k / 4} for k in (1, 2, 3, 4)] and pack["kind"] == "scored"


def test_one_text_with_its_matches():
    corpus = corpus_of(OUTPUTS, REFERENCES)
    pack = one_of(corpus, 1, "")
    assert (pack["line"], pack["references"], pack["tokenizer"]) == (1, ["the cat is on the mat", "a cat sat"], "13a")
    first = {gram: rest for gram, *rest in pack["orders"][0]["grams"]}
    assert first["the"] == [2, ((0, 3), (15, 18)), (((0, 3), (14, 17)), ())]
    assert (pack["orders"][0]["counted"], pack["orders"][0]["total"]) == (6, 6)
    assert one_of(corpus, 99, "")["line"] == 2  # there were more texts before
    assert one_of(corpus_of("a", ""), 1, "")["bleu"] is None
    assert matched(1, " ".join(map(str, range(300))), [], "13a")["orders"][0]["left_out"] == 300 - MOST


@pytest.mark.parametrize("line", [0, -1, None, "1", True, 1.5, {}, 10**400])
def test_a_strange_line_is_refused_or_the_last(line):
    try:
        assert one_of(corpus_of("a\nb", ""), line, "")["line"] == 2
    except InputError as error:
        assert "cannot be picked" in str(error)


@pytest.mark.parametrize("names", [None, [], "BLEU", ["METEOR"], [["BLEU"]], [3], {}])
def test_strange_choices_are_refused(names):
    with pytest.raises(InputError, match="No score is chosen; there are BLEU"):
        chosen(names)
    assert chosen(list(METRICS)) == list(METRICS)
    assert (tokenizer_of(None), tokenizer_of("zh")) == ("", "zh")
    for name in ("x", 3, ["zh"], {}):
        with pytest.raises(InputError, match="no tokeniser"):
            tokenizer_of(name)


def test_uploads(tmp_path):
    def file(name: str, data: bytes):
        (tmp_path / name).write_bytes(data)
        return str(tmp_path / name)

    assert uploaded(file("a.TXT", b"a\nb")).outputs == ("a", "b")
    assert uploaded(file("a.tsv", b"a\tx\ty\n")).references == (("x",), ("y",))
    assert uploaded(file("a.csv", "source,hyp,ref\ns,ä,x\n".encode())).outputs == ("ä",)
    for name, data, said in (
        ("a.csv", b"source,reference\na,b\n", "no column output"), ("a.doc", b"a", "no kind of file 'doc'"),
        ("a.txt", b"\xff", "not UTF-8"), ("b.txt", b"x" * 1_000_001, "at most 1,000,000"),
        ("a.jsonl", b"{", "Line 1 is not JSON"),
    ):
        with pytest.raises(InputError, match=said):
            uploaded(file(name, data))


def test_the_first_picture_is_scored_by_the_same_code():
    page = build(AppConfig())
    board = next(block for block in page.blocks.values() if isinstance(block, ScoreBoard))
    ngrams = next(block for block in page.blocks.values() if isinstance(block, Ngrams))
    found = report_of(json.loads(board.value))
    assert [score["name"] for score in found["scores"]] == FIRST and len(found["rows"]) == len(SCORED)
    first = json.loads(ngrams.value)
    assert first["line"] == 1 and first["output"] == SCORED[0]["output"]


@pytest.mark.parametrize("component", [ScoreBoard, Ngrams])
def test_only_packs_are_shown_and_nothing_comes_back(component):
    made = component()
    assert made.postprocess({"kind": "refused", "text": "x"}) and made.postprocess(None) is None
    assert made.preprocess({"kind": "scored"}) is None
    for strange in ("text", {"kind": "other"}, 3):
        with pytest.raises(ValueError, match="whose kind is one of"):
            made.postprocess(strange)
