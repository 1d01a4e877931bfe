"""Options: which engine, and how large its cluster may get; read from the environment."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec

from core.errors import InputError

ENGINES = ("local", "ray")
MOST_REPLICAS = 10_000


@dataclass(frozen=True)
class Options:
    """engine: of ENGINES. address: of the cluster, as RAY_ADDRESS has it; "auto" is the one that runs on this machine.

    least, most: replicas that hold the models for live runs. cpus, gpus: what one replica takes, fractions allowed; threads of
    torch are as many as whole CPUs. quiet: seconds in which a replica was not needed before it is given back.
    """

    engine: str = "local"
    address: str = "auto"
    least: int = 1
    most: int = 2
    cpus: float = 1
    gpus: float = 0
    quiet: float = 120

    @property
    def threads(self) -> int:
        """Threads of torch in a replica."""
        return max(1, int(self.cpus))


def options(environment: Mapping[str, str] = os.environ) -> Options:
    """The options of the environment; InputError where one cannot be used, or Ray is asked for and not installed."""
    engine = (environment.get("ENGINE") or "local").lower()
    if engine not in ENGINES:
        raise InputError(f"ENGINE is {engine!r:.40}; it must be {' or '.join(ENGINES)}.")
    if engine == "ray" and find_spec("ray") is None:
        raise InputError("ENGINE is ray, and Ray is not installed: pip install -r requirements-ray.txt.")
    least, most = _replicas(environment.get("REPLICAS") or "1-2")
    return Options(
        engine, environment.get("RAY_ADDRESS") or "auto", least, most,
        cpus=_share("REPLICA_CPUS", environment.get("REPLICA_CPUS") or "1", 0.1),
        gpus=_share("REPLICA_GPUS", environment.get("REPLICA_GPUS") or "0", 0),
    )


def _replicas(given: str) -> tuple[int, int]:
    """"1-4" or "2": the least and the most."""
    least, _, most = given.partition("-")
    most = most or least
    if not (least.isdecimal() and most.isdecimal() and 1 <= int(least) <= int(most) <= MOST_REPLICAS):
        raise InputError(f"REPLICAS is {given!r:.40}; it must be a number or a range such as 1-4, from 1 on.")
    return int(least), int(most)


def _share(name: str, given: str, least: float) -> float:
    try:
        value = float(given)
    except ValueError:
        value = -1.0
    if not least <= value <= 1024:
        raise InputError(f"{name} is {given!r:.40}; it must be a number from {least:g} to 1024.")
    return value
