"""A session as one file: the same on another machine, and anything else refused with a sentence, with nothing half imported."""

import io
import json
import zipfile
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from safetensors.numpy import load, save

from core.comparison import compare
from core.errors import SessionError
from core.examples import saved
from core.records import pack, split
from core.sessions import Store
from core.sessions.exchange import LIST, MOST_FILE, from_file, to_file
from core.text import Token
from tests.replayed import ANN, BOB, Going

FIRST = "records/0000.safetensors"


@pytest.fixture(scope="module")
def store(tmp_path_factory) -> Store:
    return Store(tmp_path_factory.mktemp("here"))


@pytest.fixture(scope="module")
def file(store) -> bytes:
    """A session with a whole run, a stopped one, a comparison, an event and a score."""
    traces, session = saved(), store.create(ANN, "Lesson <1> & ツ")
    store.annotate(session.id, ANN, "two lines\nof a note")
    row = store.keep(session.id, traces[1])
    going = store.watch(Going(traces[0]), session.id)
    next(going), next(going), going.close()
    store.writer.flush()
    store.keep(session.id, compare(traces[1], traces[1]))
    store.event(session.id, "masks.edited", {"stack": "cross"}, row)
    store.score(session.id, "chrF", 61.5, "nrefs:1", row)
    return to_file(store, store.session(session.id, ANN))


@pytest.fixture
def there(tmp_path) -> Store:
    return Store(tmp_path / "there")


def test_a_session_is_the_same_on_another_machine(store, there, file):
    session = from_file(there, file, BOB)
    original = store.sessions(ANN)[0]
    assert (session.name, session.note, session.shared) == (original.name, original.note, False) and session.id != original.id
    ours, theirs = store.kept(original), there.kept(session)
    assert [(k.kind, k.id, k.digest, k.status, k.steps, k.made, k.output) for k in ours] == \
        [(k.kind, k.id, k.digest, k.status, k.steps, k.made, k.output) for k in theirs]
    assert [k.status for k in theirs] == ["done", "stopped", "done"]
    for one, other in zip(ours, theirs):
        assert store.load(original, one.row).id == there.load(session, other.row).id
    (event,), (score,) = there.events(session), there.scores(session)
    assert (event["kind"], event["data"], event["record"]) == ("masks.edited", {"stack": "cross"}, theirs[0].row)
    assert (score["metric"], score["value"], score["signature"], score["record"]) == ("chrF", 61.5, "nrefs:1", theirs[0].row)
    again = from_file(there, to_file(there, session), BOB)
    assert [(k.id, k.digest) for k in there.kept(again)] == [(k.id, k.digest) for k in theirs]


def test_no_place_and_no_owner_is_in_the_file(store, file):
    with zipfile.ZipFile(io.BytesIO(file)) as archive:
        text = b"".join(archive.read(name) for name in archive.namelist())
    for secret in (ANN, str(store.file.path.parent), store.sessions(ANN)[0].id):
        assert secret.encode() not in text


def repacked(file: bytes, change) -> bytes:
    """The file with `change(entries)` done to its entries, a dict of name -> bytes."""
    with zipfile.ZipFile(io.BytesIO(file)) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    change(entries)
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in entries.items():
            archive.writestr(name, data)
    return out.getvalue()


def told(change):
    """Change what session.json says."""
    def apply(entries):
        listed = json.loads(entries[LIST])
        entries[LIST] = json.dumps(change(listed) or listed).encode()
    return apply


def array(name: str, spoil):
    """Change one array of the first record."""
    def apply(entries):
        arrays = load(entries[FIRST])
        arrays[name] = spoil(arrays[name].copy())
        length = int.from_bytes(entries[FIRST][:8], "little")
        entries[FIRST] = save(arrays, json.loads(entries[FIRST][8 : 8 + length])["__metadata__"])
    return apply


def head(change):
    """Change the header of the first record, and let the list not name its digest."""
    def apply(entries):
        kind, now, arrays = split(entries[FIRST])
        change(now)
        entries[FIRST] = pack(kind, now, arrays)
        told(lambda t: t["records"][0].update(digest=None))(entries)
    return apply


def nan(values):
    values.flat[0] = np.nan
    return values


def negative_shape(entries):
    data = entries[FIRST]
    length = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + length])
    header["encoder_weights"]["shape"][0] = -1
    text = json.dumps(header).encode()
    entries[FIRST] = len(text).to_bytes(8, "little") + text + data[8 + length :]


HOSTILE = {
    "another format": told(lambda t: t.update(format="two-stacks-session-9")),
    "a list": told(lambda t: [1]),
    "no records": told(lambda t: t.pop("records") and None),
    "too many records": told(lambda t: t.update(records=[{}] * 5000)),
    "a record twice": told(lambda t: t["records"].append(t["records"][0])),
    "a record missing": lambda entries: entries.pop(FIRST),
    "no list": lambda entries: entries.pop(LIST),
    "a path upwards": lambda entries: entries.update({"../../evil": b"x"}),
    "an absolute path": lambda entries: entries.update({"/etc/passwd": b"x"}),
    "another name": lambda entries: entries.update({"records/x.py": b"x"}),
    "a path in the list": told(lambda t: t["records"][0].update(file="../../etc/passwd")),
    "an unknown kind": told(lambda t: t["records"][0].update(kind="os.system")),
    "another kind": told(lambda t: t["records"][0].update(kind="comparison")),
    "another id": told(lambda t: t["records"][0].update(id="0" * 64)),
    "another digest": told(lambda t: t["records"][0].update(digest="0" * 64)),
    "still running": told(lambda t: t["records"][0].update(status="running")),
    "a long name": told(lambda t: t.update(name="x" * 5000)),
    "a name that is no text": told(lambda t: t.update(name=["x"])),
    "an event beyond": told(lambda t: t["events"][0].update(record=99)),
    "an event before": told(lambda t: t["events"][0].update(record=-1)),
    "an event of another kind": told(lambda t: t["events"][0].update(kind="<script>")),
    "a large event": told(lambda t: t["events"][0].update(data={"x": "y" * 100_000})),
    "a score that is no number": told(lambda t: t["scores"][0].update(value=True)),
    "an infinite score": lambda entries: entries.update({LIST: entries[LIST].replace(b"61.5", b"Infinity")}),
    "no JSON": lambda entries: entries.update({LIST: b"{"}),
    "deep JSON": lambda entries: entries.update({LIST: b"[" * 200_000}),
    "NaN in the weights": array("steps.0.cross_weights", nan),
    "a weight of 7": array("encoder_weights", lambda values: values + 7),
    "another type": array("steps.0.cross_weights", lambda values: values.astype(np.float64)),
    "a shape too long": array("steps.0.cross_weights", lambda values: values[..., :-1].copy()),
    "a negative shape": negative_shape,
    "a setting out of range": head(lambda h: h.update(settings=json.dumps({"decoding": {"max_new_tokens": -5}}))),
    "a token that is none": head(lambda h: h["source"].append(["x", "y"])),
    "ten thousand steps": head(lambda h: h.update(steps=h["steps"] * 1000)),
    "1 GB after unpacking": lambda entries: entries.update({FIRST: bytes(2**30)}),
    "a huge list": lambda entries: entries.update({LIST: b'{"name": "' + b"x" * 10_000_000 + b'"}'}),
}


@pytest.mark.parametrize("what", HOSTILE)
def test_a_hostile_file_is_refused_with_a_reason_and_nothing_is_imported(there, file, what):
    spoilt = repacked(file, HOSTILE[what])
    with pytest.raises(SessionError) as refused:
        from_file(there, spoilt, BOB)
    said = str(refused.value)
    assert 20 < len(said) < 700 and str(there.file.path.parent) not in said and "Traceback" not in said
    assert [there.file.database[name].count for name in ("sessions", "records", "steps", "events", "scores")] == [0] * 5


@pytest.mark.parametrize("data", [b"", b"PK", b"x" * 1000, b"PK\x01\x02" * 10_000, bytes(MOST_FILE + 1), None, "PK"],
                         ids=lambda data: str(len(data)) if data else repr(data))
def test_what_is_no_session_file_is_refused(there, data):
    with pytest.raises(SessionError):
        from_file(there, data, BOB)
    assert there.sessions(BOB) == []


@given(st.data())
def test_a_file_with_any_bytes_changed_is_refused_or_still_the_same(tmp_path_factory, store, file, data):
    there = Store(tmp_path_factory.mktemp("there"))
    spoilt = bytearray(file)
    for _ in range(data.draw(st.integers(1, 4))):
        spoilt[data.draw(st.integers(0, len(file) - 1))] = data.draw(st.integers(0, 255))
    try:
        session = from_file(there, bytes(spoilt), BOB)
    except SessionError:
        assert there.sessions(BOB) == [] and there.file.database["records"].count == 0
        return
    original = store.sessions(ANN)[0]
    assert [k.digest for k in there.kept(session)] == [k.digest for k in store.kept(original)]


def test_a_script_in_a_token_is_text_like_any_other(there, store):
    """What draws tokens draws them as text (tests/browser); they are nothing that a file must not hold."""
    trace = saved()[1]
    evil = replace(trace, source=(Token("<img src=x onerror=alert(1)>", 5, 0, 1), *trace.source[1:]))
    session = store.create(BOB, "<script>alert(1)</script>")
    store.keep(session.id, evil)
    again = from_file(there, to_file(store, session), BOB)
    assert there.load(again, there.kept(again)[0].row) == evil and again.name == "<script>alert(1)</script>"


def test_an_import_into_a_full_store_makes_room_or_says_so(there, file, monkeypatch):
    monkeypatch.setattr("core.sessions.retention.TOTAL_BYTES", 1)
    first = from_file(there, file, BOB)
    second = from_file(there, file, BOB)
    assert [s.id for s in there.sessions(BOB)] == [second.id] != [first.id]
    with pytest.raises(SessionError, match="needs an owner"):
        from_file(there, file, "")
