"""What the benches share: a ratio with its spread, percentiles, and what machine this is. No bench asserts on time."""

import os
import platform
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median


@dataclass(frozen=True)
class Spread:
    """The middle of some measurements and how far they lie apart; printed as `1.02 [0.98-1.07]`."""

    middle: float
    low: float
    high: float

    @classmethod
    def of(cls, values: Sequence[float]) -> "Spread":
        if not values:
            raise ValueError("no measurement to take the middle of")
        return cls(median(values), min(values), max(values))

    def __str__(self) -> str:
        return f"{self.middle:.2f} [{self.low:.2f}-{self.high:.2f}]"


def ratios(ours: Sequence[float], theirs: Sequence[float]) -> Spread:
    """ours / theirs, pair by pair: in an A B A B series only neighbours saw the same load."""
    if len(ours) != len(theirs):
        raise ValueError(f"{len(ours)} measurements against {len(theirs)}; a ratio needs pairs")
    return Spread.of([a / b for a, b in zip(ours, theirs, strict=True)])


def percentile(values: Sequence[float], q: float) -> float:
    """The smallest value that at least the share `q` (0 to 1) of all values does not exceed."""
    ordered = sorted(values)
    if not ordered:
        raise ValueError("no measurement to take a percentile of")
    rank = -int(-q * len(ordered) // 1)  # ceiling
    return ordered[min(len(ordered), max(1, rank)) - 1]


def milliseconds(values: Sequence[float]) -> str:
    """Median and 95th percentile of times in ms, with how many there were."""
    return f"{median(values):6.1f} / {percentile(values, 0.95):6.1f}  (n {len(values)})"


def cores() -> int:
    """The cores this process may use, which in a container are fewer than the machine has."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def load() -> float | None:
    """Processes waiting for a core, mean of the last minute; None where the system does not say."""
    try:
        return os.getloadavg()[0]
    except (AttributeError, OSError):
        return None


def busy(now: float | None, count: int) -> str:
    """A sentence about the load average `now` on `count` cores. The bench itself has not started when it is read."""
    if now is None:
        return "load average not known here"
    if now > 0.5 * count:
        return f"load average {now:.2f}: LOADED, so read the ratios and distrust the times"
    return f"load average {now:.2f}: quiet"


def machine() -> str:
    """The facts without which no number below means anything."""
    import torch
    import transformers

    return (
        f"{cores()} cores, {torch.get_num_threads()} torch threads, torch {torch.__version__}, "
        f"transformers {transformers.__version__}, python {platform.python_version()}, "
        f"{platform.system()} {platform.machine()}\n{busy(load(), cores())}"
    )
