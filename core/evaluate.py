"""Score a model on a pair of text files: `python -m core.evaluate --model NAME --source FILE --reference FILE`.

Beams run through transformers' own `generate`: our page searches greedily so far. Scores are sacrebleu's, with
their signature; cased and detokenised (13a), and lower-cased beside it, as papers on captions report it.
"""

import argparse
import gzip
from collections.abc import Sequence
from pathlib import Path

import sacrebleu
import torch

from core.models import DEFAULT, models
from core.models.families import prefix_for
from core.settings import MAX_TOKENS


def lines_of(path: Path) -> list[str]:
    """Lines of a text file, plain or gzip, without line ends."""
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8") as file:
        return [line.strip() for line in file]


@torch.inference_mode()
def translate(loaded, sources: Sequence[str], prefix: str, beams: int, batch: int = 64) -> list[str]:
    """One output text per source; similar lengths share a batch."""
    order = sorted(range(len(sources)), key=lambda k: len(sources[k]))
    outputs = [""] * len(sources)
    for at in range(0, len(order), batch):
        chosen = order[at : at + batch]
        inputs = loaded.tokenizer(
            [prefix + sources[k] for k in chosen], return_tensors="pt", padding=True, truncation=True,
            max_length=MAX_TOKENS,
        ).to(loaded.device)
        ids = loaded.model.generate(
            inputs["input_ids"], attention_mask=inputs["attention_mask"], num_beams=beams, max_new_tokens=MAX_TOKENS,
            do_sample=False,
        )
        texts = loaded.tokenizer.batch_decode(ids, skip_special_tokens=True, clean_up_tokenization_spaces=False)
        for k, text in zip(chosen, texts, strict=True):
            outputs[k] = text.strip()
    return outputs


def scores(hypotheses: Sequence[str], references: Sequence[str]) -> list[str]:
    """Lines `BLEU = xx.xx  signature`, cased and lower-cased, and chrF. The two lists must have one length."""
    if len(hypotheses) != len(references):
        raise ValueError(f"{len(hypotheses)} outputs for {len(references)} references")
    out = []
    for metric in (sacrebleu.BLEU(), sacrebleu.BLEU(lowercase=True), sacrebleu.CHRF()):
        score = metric.corpus_score(list(hypotheses), [list(references)])
        out.append(f"{score.name} = {score.score:.2f}  {metric.get_signature()}")
    return out


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m core.evaluate", description=__doc__)
    parser.add_argument("--model", default=DEFAULT)
    parser.add_argument("--source", type=Path, required=True)
    parser.add_argument("--reference", type=Path, required=True)
    parser.add_argument("--task", default="", help="a task of the model (default: its first)")
    parser.add_argument("--beams", type=int, default=4)
    parser.add_argument("--show", type=int, default=0, help="print this many outputs")
    args = parser.parse_args()
    loaded = models().load(args.model)
    sources, references = lines_of(args.source), lines_of(args.reference)
    outputs = translate(loaded, sources, prefix_for(loaded, args.task), args.beams)
    for source, output in list(zip(sources, outputs, strict=True))[: args.show]:
        print(f"{source}\n    {output}")
    print(f"{args.model}, beam {args.beams}, {len(outputs)} sentences")
    for line in scores(outputs, references):
        print(line)


if __name__ == "__main__":
    main()
