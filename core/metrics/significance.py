"""Is a difference more than chance? Paired tests and confidence intervals, by sacrebleu's own functions.

Source: Koehn 2004 (bootstrap); Riezler and Maxwell 2005 (approximate randomisation). The seed is sacrebleu's, 12345
unless SACREBLEU_SEED says otherwise; it stands in the signature.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import sacrebleu
from sacrebleu.significance import PairedTest

from core.errors import InputError
from core.metrics import bleu
from core.metrics.score import checked

FEW = 100  # segments; below this a test says little
SAMPLES = {"bs": 1000, "ar": 10_000}
MAX_SAMPLES = 100_000
METRICS = ("BLEU", "chrF2", "TER")


@dataclass(frozen=True)
class Tested:
    """One system by one metric. The baseline has no `p`.

    mean, half: of the bootstrap's 95 % interval mean ± half (None under "ar"). identical: scores as the baseline does, so
    that p is 1 by our rule; sacrebleu's own p, kept in `reported`, would be 1 / (samples + 1).
    """

    system: str
    metric: str
    score: float
    p: float | None
    reported: float | None
    mean: float | None
    half: float | None
    signature: str
    identical: bool = False
    warning: str = ""

    @property
    def verdict(self) -> str:
        """A word or two for a table."""
        if self.p is None:
            return "baseline"
        return "identical" if self.identical else f"p = {self.p:.4f}{', different' if self.p < 0.05 else ''}"


def paired(
    systems: Mapping[str, Sequence[str]], *references: Sequence[str | None], metrics: Sequence[str] = ("BLEU", "chrF2"),
    method: str = "bs", samples: int = 0, tokenizer: str = "",
) -> list[Tested]:
    """Every system against the first, by each metric; with one system alone its intervals.

    systems: name -> its outputs, flat lists beside the references. method: "bs" paired bootstrap, "ar" approximate
    randomisation. samples: 0 for SAMPLES. InputError for unusable input.
    """
    _usable(systems, references, metrics, method, samples)
    names = list(systems)
    test = PairedTest(
        [(name, list(texts)) for name, texts in systems.items()],
        {name: _metric(name, bleu.chosen(tokenizer, *references)) for name in metrics},
        [list(side) for side in references], test_type=method, n_samples=samples,
    )
    signatures, results = test()
    first = list(systems[names[0]])
    warning = "" if len(first) >= FEW else f"Only {len(first)} segments: under {FEW} a test says little."
    found = []
    for metric, signature in signatures.items():
        for name, result in zip(names, results[metric], strict=True):
            same = result.p_value is not None and result.score == results[metric][0].score
            found.append(Tested(
                name, metric, float(result.score), 1.0 if same else result.p_value, result.p_value,
                _number(result.mean), _number(result.ci), str(signature), same, warning))
    return found


def _metric(name: str, tokenizer: str) -> sacrebleu.metrics.base.Metric:
    return {"BLEU": lambda: bleu.metric(tokenizer), "chrF2": sacrebleu.CHRF, "TER": sacrebleu.TER}[name]()


def _number(value: object) -> float | None:
    return None if value is None else float(value)


def _usable(systems: Mapping, references: Sequence, metrics: Sequence[str], method: str, samples: int) -> None:
    if not systems:
        raise InputError("There is no system to test; at least one list of outputs is needed.")
    for texts in systems.values():
        checked(texts, references)
    if unknown := [name for name in metrics if name not in METRICS]:
        raise InputError(f"There is no test for {str(unknown[0])[:40]!r}; there is one for {', '.join(METRICS)}.")
    if method not in SAMPLES:
        raise InputError(f"There is no test {str(method)[:40]!r}; there are {', '.join(SAMPLES)}.")
    if isinstance(samples, bool) or not isinstance(samples, int) or not 0 <= samples <= MAX_SAMPLES:
        raise InputError(f"{str(samples)[:40]} samples cannot be drawn; allowed are 0 (the usual number) to {MAX_SAMPLES}.")
