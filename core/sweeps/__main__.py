"""python -m core.sweeps FILE ... --resume out.jsonl: models x settings x test sets, on this machine or, with ENGINE=ray, on a
cluster. Begun again with the same arguments it goes on where it was; at the end it prints and writes a table of scores.

A test set is a txt, tsv, csv or jsonl file as the scores tab reads it. --settings takes settings as JSON, several times:
--settings '{"decoding": {"beams": 4}}'.
"""

import argparse
import csv
import json
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from core.engines import Engine, engine_of
from core.engines.options import options
from core.errors import InputError, TwoStacksError
from core.metrics.corpus import Corpus, decoded, read
from core.metrics.report import report
from core.models import DEFAULT, models
from core.settings import Settings
from core.sweeps.plan import SIZE, Chunk, plan
from core.sweeps.resume import ResumeFile

COLUMNS = ("test set", "model", "settings", "score", "value", "unit", "signature", "texts", "log P", "weights", "device")
EVERY = 2.0  # seconds between two lines of progress


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m core.sweeps", description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE", help="test sets")
    parser.add_argument("--model", action="append", help=f"a model, several times (default: {DEFAULT})")
    parser.add_argument("--settings", action="append", help="settings as JSON, several times (default: the usual ones)")
    parser.add_argument("--chunk", type=int, default=SIZE, help=f"texts of a chunk (default: {SIZE})")
    parser.add_argument("--resume", type=Path, required=True, help="where finished chunks are kept, a line each")
    args = parser.parse_args(arguments)
    try:
        corpora = {path.name: _corpus(path) for path in args.files}
        if len(corpora) < len(args.files):
            raise InputError("Two test sets have one name; rename one, as the table tells them apart by it.")
        if args.resume.suffix.lower() == ".csv":
            raise InputError(f"--resume is {args.resume.name!r:.60}; the table is written beside it as .csv, so name it .jsonl.")
        ways = _ways(args.model or [DEFAULT], args.settings or ["{}"])
        chunks = plan([[one] for *_, one in ways], {name: corpus.sources for name, corpus in corpora.items()}, args.chunk)
        kept = ResumeFile(args.resume, chunks, models())
        made_by(engine_of(options(), models()), kept)
        table = list(rows(kept, corpora, ways))
    except TwoStacksError as error:
        sys.exit(f"This sweep stops: {error}")
    except OSError as error:
        sys.exit(f"This sweep stops: {error.strerror} ({error.filename}).")
    with args.resume.with_suffix(".csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        writer.writerows(table)
    for row in table:
        print("  ".join(str(row[name]) for name in COLUMNS[:7]))


def made_by(engine: Engine, kept: ResumeFile) -> None:
    """Have the engine make what is left, and keep each chunk as it comes."""
    total, began, last = len(kept.chunks), time.monotonic(), 0.0
    if kept.made:
        print(f"{len(kept.made)} of {total} chunks were made before.", flush=True)
    before = len(kept.made)
    going = engine.sweep(kept.left)
    try:
        for found in going:
            if found is None:
                continue
            kept.add(found)
            now = time.monotonic()
            if now - last > EVERY or len(kept.made) == total:
                last, done = now, len(kept.made) - before
                left = (now - began) / done * (total - len(kept.made))
                print(f"{len(kept.made)} of {total} chunks; {left:.0f} s left.", flush=True)
    finally:
        going.close()
        engine.close()


def rows(kept: ResumeFile, corpora: Mapping[str, Corpus], ways: Sequence[tuple[str, str, Settings]]) -> Iterator[dict[str, str]]:
    """A row for each score of each way on each test set."""
    for model, text, settings in ways:
        for name, corpus in corpora.items():
            mine: list[Chunk] = [chunk for chunk in kept.chunks if chunk.corpus == name and chunk.settings == (settings,)]
            made = [kept.made[chunk.number] for chunk in mine]
            lines = [line[0] for one in made for line in one.lines]
            total = sum(line.numbers[0] for line in lines if not line.why)
            *_, found = report(replace(corpus, outputs=tuple(line.text for line in lines)), samples=0)
            for score in found.scores:
                yield dict(zip(COLUMNS, (
                    name, model, text, score.name, f"{score.value:.2f}", score.unit, score.signature, len(lines),
                    f"{total:.3f} nats", made[0].fingerprint[:12], made[0].made["device"])))


def _corpus(path: Path) -> Corpus:
    corpus = read(decoded(path.read_bytes()), path.suffix.lstrip(".").lower())
    if not corpus.sources:
        raise InputError(f"{path.name} has no sources.")
    return corpus


def _ways(names: Sequence[str], texts: Sequence[str]) -> list[tuple[str, str, Settings]]:
    """(model, settings as they were told, settings); equal ones once, as they were told first."""
    found: dict[Settings, tuple[str, str, Settings]] = {}
    for model in names:
        for text in texts:
            settings = _settings(text, model)
            found.setdefault(settings, (model, text, settings))
    return list(found.values())


def _settings(text: str, model: str) -> Settings:
    try:
        given = json.loads(text)
    except ValueError as error:
        raise InputError(f"--settings {text!r:.60} is no JSON: {error}.") from None
    if not isinstance(given, dict):
        raise InputError(f"--settings {text!r:.60} must be an object.")
    settings, unknown = Settings.from_json(json.dumps(given | {"model": model, "text": ""}))
    if unknown:
        raise InputError(f"There is no setting {unknown[0]!r:.60}.")
    return settings


if __name__ == "__main__":
    main()
