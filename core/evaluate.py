"""Score models.

    python -m core.evaluate --data DIR [--model NAME ...]      every task of the bundled models, on the test sets
    python -m core.evaluate --alignments FILE [--model NAME ...]      how far attention is from alignments by hand
    python -m core.evaluate --model NAME --source FILE --reference FILE [--task TASK]      any pair of text files

DIR holds the files of Multi30k. BLEU is sacrebleu's with its signature, cased and detokenised (13a), lower-cased
beside it; BLEU4 is lower-cased text cut by Moses' rules, as papers on captions report it. Beams run through
transformers' own `generate`.
"""

import argparse
import gzip
import json
import time
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path

import torch

from core.alignments import Aligned, AlignmentErrors, alignment_errors
from core.metrics.score import Score
from core.models import ASSETS, BUNDLED, DEFAULT, ONE_STACK, models
from core.models.families import prefix_for
from core.models.loading import Loaded
from core.prefix_model import LoadedPrefix, load_prefix
from core.settings import MAX_TOKENS
from core.train.corpus import read_lines
from core.train.scores import (
    SENTENCES,
    denoising_scores,
    fill_score,
    hidden_words,
    images,
    infilled_documents,
    summary_scores,
    translation_scores,
)

TESTS = ("test_2016_flickr", "test_2017_flickr")
CAPTIONS = {"test_2016_flickr": "test_2016"}  # the split whose five captions an image are there
BEAMS = 5
LONG = 320  # tokens of several captions in one text


def lines_of(path: Path) -> list[str]:
    """Lines of a text file, plain or gzip, without line ends."""
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8") as file:
        return [line.strip() for line in file]


@torch.inference_mode()
def translate(
    loaded, sources: Sequence[str], prefix: str, beams: int, batch: int = 64, special: bool = False,
    most: int = MAX_TOKENS,
) -> list[str]:
    """One output text per source; similar lengths share a batch.

    special: sentinels and eos stay in the text. most: tokens of a source that are read, and tokens that are written.
    """
    order = sorted(range(len(sources)), key=lambda k: len(sources[k]))
    outputs = [""] * len(sources)
    for at in range(0, len(order), batch):
        chosen = order[at : at + batch]
        inputs = loaded.tokenizer(
            [prefix + sources[k] for k in chosen], return_tensors="pt", padding=True, truncation=True,
            max_length=most,
        ).to(loaded.device)
        ids = loaded.model.generate(
            inputs["input_ids"], attention_mask=inputs["attention_mask"], num_beams=beams, max_new_tokens=most,
            do_sample=False,
        )
        texts = loaded.tokenizer.batch_decode(ids, skip_special_tokens=not special, clean_up_tokenization_spaces=False)
        for k, text in zip(chosen, texts, strict=True):
            outputs[k] = text.strip()
    return outputs


def scores(hypotheses: Sequence[str], references: Sequence[str]) -> list[str]:
    """Lines `BLEU = xx.xx  signature`, cased and lower-cased, and chrF. The two lists must have one length."""
    return [str(score) for score in translation_scores(hypotheses, references)]


def readings(name: str) -> list[Loaded | LoadedPrefix]:
    """What is scored under a model's name: one stack twice, since it can also read its source causally."""
    if name not in ONE_STACK:
        return [models().load(name)]
    loaded = load_prefix(name, ASSETS / name)
    return [loaded, loaded.causal()]


def task_scores(loaded, task: str, data: Path, split: str, beams: int = BEAMS) -> list[Score]:
    """The scores of one task of a model on one split; empty where the split has nothing for it.

    "en-de" is a translation, "fill" hides a word (greedy), "summary" reads three captions of an image,
    "denoise" restores five (greedy).
    """
    prefix = prefix_for(loaded, task)
    if task == "fill":
        found = hidden_words(data, split)
        return [fill_score(translate(loaded, found.sources, prefix, 1, special=True), found.words)]
    if task in ("summary", "denoise"):
        captions = CAPTIONS.get(split, split)
        if not list(data.glob(f"captions.{captions}.1.en*")):
            return []
        if task == "denoise":
            documents = infilled_documents(data, captions)
            return denoising_scores(translate(loaded, documents.noisy, prefix, 1, most=LONG), documents)
        found = images(data, captions)
        texts = [" ".join(three) for three in found.inputs]
        return summary_scores(translate(loaded, texts, prefix, beams, most=LONG), found)
    source, _, target = task.partition("-")
    sources, references = (read_lines(data, split, language)[:SENTENCES] for language in (source, target))
    return translation_scores(translate(loaded, sources, prefix, beams), references, target)


def table(names: Sequence[str], data: Path, splits: Sequence[str] = TESTS) -> Iterator[str]:
    """Lines of the whole table, each as soon as it is known."""
    models_of = chain.from_iterable(map(readings, names))
    for loaded, task, split in ((model, task, split) for model in models_of for task in model.tasks for split in splits):
        began, row = time.monotonic(), f"{loaded.name:14} {task:8} {split:17}"
        for score in task_scores(loaded, task, data, split):
            yield f"{row} {score}"
        yield f"{row} took {time.monotonic() - began:.0f} s"


def alignments(names: Sequence[str], file: Path) -> Iterator[str]:
    """Lines of the alignment error rates by layer, of every translation task of which `file` has the languages."""
    for name, task, errors in aligned(names, file):
        for line in errors.lines():
            yield f"{name:14} {task:8} {file.stem:17} {line}"


def aligned(names: Sequence[str], file: Path) -> Iterator[tuple[str, str, AlignmentErrors]]:
    """(model, task, rates) for every translation task of which `file` has the languages."""
    languages = json.loads(file.read_text(encoding="utf-8"))[0]
    for name in (name for name in names if name not in ONE_STACK):
        loaded = models().load(name)
        for task in loaded.tasks:
            source, _, target = task.partition("-")
            if source in languages and target in languages:
                yield name, task, alignment_errors(loaded, task, Aligned.read(file, source, target))


def pair_of_files(name: str, source: Path, reference: Path, task: str, beams: int, show: int) -> Iterator[str]:
    """Lines for one pair of text files."""
    loaded = readings(name)[0]
    sources, references = lines_of(source), lines_of(reference)
    outputs = translate(loaded, sources, prefix_for(loaded, task), beams)
    for text, output in list(zip(sources, outputs, strict=True))[:show]:
        yield f"{text}\n    {output}"
    yield f"{name}, beam {beams}, {len(outputs)} sentences"
    yield from scores(outputs, references)


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m core.evaluate", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--data", type=Path, help="folder with the test files: print the whole table")
    parser.add_argument("--split", action="append", help="of DIR, instead of the two test sets (may be repeated)")
    parser.add_argument("--model", action="append", help="a model's name (with --data it may be repeated)")
    parser.add_argument("--alignments", type=Path, help="JSON file of sentence pairs with word links, as tests/data has one")
    parser.add_argument("--source", type=Path)
    parser.add_argument("--reference", type=Path)
    parser.add_argument("--task", default="", help="a task of the model (default: its first)")
    parser.add_argument("--beams", type=int, default=BEAMS)
    parser.add_argument("--show", type=int, default=0, help="print this many outputs")
    args = parser.parse_args()
    names = args.model or [*BUNDLED, *ONE_STACK]
    if args.data or args.alignments:
        lines = chain(table(names, args.data, args.split or TESTS) if args.data else (),
                      alignments(names, args.alignments) if args.alignments else ())
    elif args.source and args.reference:
        name = (args.model or [DEFAULT])[0]
        lines = pair_of_files(name, args.source, args.reference, args.task, args.beams, args.show)
    else:
        parser.error("give --data, --alignments, or --source and --reference")
    for line in lines:
        print(line, flush=True)


if __name__ == "__main__":
    main()
