"""Pasted or uploaded text as lists of sources, outputs and references: txt, tsv, csv, jsonl; errors name the line."""

import csv
import io
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from core.errors import InputError

KINDS = ("txt", "tsv", "csv", "jsonl")
MAX_LINES, MAX_LINE, MAX_BYTES, MAX_REFERENCES = 2000, 2000, 1_000_000, 8
# What a column may be called, in a first line or as a JSON key; a number after "reference" or "ref" tells several apart.
NAMES = {
    "source": "source", "src": "source", "input": "source",
    "output": "output", "hypothesis": "output", "hyp": "output", "system": "output",
    "reference": "reference", "ref": "reference", "references": "reference", "target": "reference",
}


@dataclass(frozen=True)
class Corpus:
    """Flat lists of one length, or empty where there are none. references: a list for each reference of a text."""

    sources: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()
    references: tuple[tuple[str | None, ...], ...] = ()

    def __len__(self) -> int:
        return max(map(len, (self.sources, self.outputs, *self.references)), default=0)


def decoded(data: bytes) -> str:
    """The text of an uploaded file, UTF-8 with or without a byte-order mark."""
    if len(data) > MAX_BYTES:
        raise InputError(f"The file has {len(data):,} bytes; at most {MAX_BYTES:,} are read.")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InputError(f"Line {line} of the file is not UTF-8 text (byte {error.start}); save it as UTF-8.") from None


def lines(text: object, name: str = "text") -> list[str]:
    """Lines of typed text, checked; a line end at the very end is no further line, an empty line is an empty text."""
    if not isinstance(text, str):
        raise InputError(f"The {name} is a {type(text).__name__}; it must be a text.")
    if len(text) > MAX_BYTES:
        raise InputError(f"The {name} has {len(text):,} characters; at most {MAX_BYTES:,} are read.")
    # Only these end a line: str.splitlines would also cut at characters that stand inside sentences of some scripts.
    found = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    if found[-1] == "":
        found.pop()
    if len(found) > MAX_LINES:
        raise InputError(f"The {name} has {len(found):,} lines; at most {MAX_LINES:,} are read.")
    for number, line in enumerate(found, 1):
        _fits(line, number)
    return found


def typed(texts: object, references: object, name: str) -> tuple[tuple[str, ...], tuple[tuple[str | None, ...], ...]]:
    """(texts, a list for each reference of a text) from typed lines; references of one text stand in a line with tabs between.

    name: what one of the texts is called. InputError says what cannot be used.
    """
    ours, theirs = lines(texts, f"{name}s"), [line.split("\t") for line in lines(references, "references")]
    if theirs and len(theirs) != len(ours):
        raise InputError(f"There are {len(ours)} {name}s and {len(theirs)} lines of references; each {name} needs its own line, "
                         "or give none.")
    most = max(map(len, theirs), default=0)
    if most > MAX_REFERENCES:
        raise InputError(f"One line has {most} references; at most {MAX_REFERENCES} are read.")
    return tuple(ours), tuple(tuple(row[k] if k < len(row) else None for row in theirs) for k in range(most))


def read(text: object, kind: str, order: Sequence[str] = ("source", "reference")) -> Corpus:
    """A corpus from text of a kind of KINDS.

    txt: the first of `order` only, a text a line. tsv, csv: columns by the names of the first line, or without such a
    line in `order`, further ones being further references. jsonl: an object a line; several references as a list.
    InputError says which line cannot be read and why.
    """
    if kind not in KINDS:
        raise InputError(f"There is no kind of file {str(kind)[:20]!r}; there are {', '.join(KINDS)}.")
    if kind == "txt":
        rows = [(number, [(order[0], line)]) for number, line in enumerate(lines(text), 1)]
    elif kind == "jsonl":
        rows = [(number, _object(line, number)) for number, line in enumerate(lines(text), 1) if line.strip()]
    else:
        rows = list(_table(text, kind, order))
    if not rows:
        raise InputError("There is no line to read; at least one is needed.")
    return _corpus(rows)


def _fits(text: str, number: int) -> None:
    if len(text) > MAX_LINE:
        raise InputError(f"Line {number} has {len(text):,} characters; a text has at most {MAX_LINE:,}.")
    if bad := next((c for c in text if c == "\0" or "\ud800" <= c <= "\udfff"), None):
        raise InputError(f"Line {number} holds U+{ord(bad):04X}, which is no text; take it out.")


def _object(line: str, number: int) -> list[tuple[str, str | None]]:
    """(column, text) pairs of one line of JSON."""
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise InputError(f"Line {number} is not JSON: {str(error)[:80]}.") from None
    if not isinstance(row, dict):
        raise InputError(f"Line {number} is a JSON {type(row).__name__}; an object with keys such as source is needed.")
    found: list[tuple[str, str | None]] = []
    for key, value in row.items():
        if name := _column(key):
            found += [(name, each) for each in (value if name == "reference" and isinstance(value, list) else [value])]
    if not found:
        raise InputError(f"Line {number} has none of the keys source, output, reference.")
    for name, value in found:
        if not isinstance(value, str) and (value is not None or name != "reference"):
            raise InputError(f"The {name} in line {number} is a {type(value).__name__}; it must be a text.")
        _fits(value or "", number)
    return found


def _table(text: object, kind: str, order: Sequence[str]) -> Iterator[tuple[int, list[tuple[str, str | None]]]]:
    """(line, pairs) of each row. A field of a csv may go over several lines when it is quoted."""
    raw = lines(text) if kind == "tsv" else _raw(text)
    quoting = csv.QUOTE_NONE if kind == "tsv" else csv.QUOTE_MINIMAL
    reader = csv.reader(raw, delimiter="\t" if kind == "tsv" else ",", quoting=quoting, strict=kind == "csv")
    columns: list[str] = []
    count = 0
    while True:
        try:
            row = next(reader, None)
        except csv.Error as error:
            raise InputError(f"Line {reader.line_num} of the {kind} cannot be read: {str(error)[:80]}.") from None
        if row is None:
            return
        number = reader.line_num
        if not row:
            continue
        if not columns:
            named = [_column(field) for field in row]
            columns = named if all(named) else [*order, *["reference"] * len(row)][: len(row)]
            if all(named):
                continue
        if len(row) != len(columns):
            raise InputError(f"Line {number} of the {kind} has {len(row)} fields; the first line has {len(columns)}.")
        count += 1
        if count > MAX_LINES:
            raise InputError(f"The {kind} has more than {MAX_LINES:,} rows; at most {MAX_LINES:,} are read.")
        for field in row:
            _fits(field, number)
        yield number, list(zip(columns, row))


def _raw(text: object) -> io.StringIO:
    if not isinstance(text, str):
        raise InputError(f"The text is a {type(text).__name__}; it must be a text.")
    if len(text) > MAX_BYTES:
        raise InputError(f"The text has {len(text):,} characters; at most {MAX_BYTES:,} are read.")
    return io.StringIO(text, newline="")


def _column(key: str) -> str:
    """What a column's name stands for, or ""."""
    key = key.strip().lower()
    name = NAMES.get(key) or NAMES.get(key.rstrip("0123456789").rstrip("_ -"), "")
    return name if name == "reference" or key in NAMES else ""


def _corpus(rows: list[tuple[int, list[tuple[str, str | None]]]]) -> Corpus:
    """The lists; every row must hold the same columns, only later references may be missing."""
    first = rows[0][1]
    single: dict[str, list[str]] = {name: [] for name, _ in first if name != "reference"}
    references: list[list[str | None]] = []
    for number, pairs in rows:
        given = [value for name, value in pairs if name == "reference"]
        others = [(name, value) for name, value in pairs if name != "reference"]
        if len(others) > len(dict(others)):
            raise InputError(f"Line {number} has two columns that mean the same, {_said(others)}; one is allowed.")
        if {name for name, _ in pairs} != {name for name, _ in first}:
            raise InputError(f"Line {number} has {_said(pairs)}; the first has {_said(first)}.")
        if len(given) > MAX_REFERENCES:
            raise InputError(f"Line {number} has {len(given)} references; at most {MAX_REFERENCES} are read.")
        for name, value in others:
            single[name].append(value or "")
        done = len(next(iter(single.values()))) - 1 if single else max(map(len, references), default=0)
        references += [[None] * done for _ in range(len(given) - len(references))]
        for place, side in enumerate(references):
            side.append(given[place] if place < len(given) else None)
    return Corpus(tuple(single.get("source", ())), tuple(single.get("output", ())), tuple(map(tuple, references)))


def _said(pairs: list[tuple[str, str | None]]) -> str:
    return ", ".join(dict.fromkeys(name for name, _ in pairs)) or "nothing"
