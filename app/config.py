"""AppConfig: what the host decides, from the command line and the environment. Frozen; read once at start."""

import argparse
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from core.engines.options import Options, options
from core.errors import InputError
from core.models import Models, folders_in

LOCAL_HOSTS = ("127.0.0.1", "localhost", "::1")


class Variable(NamedTuple):
    """One variable of the environment. option: the same on the command line, where there is one, which wins."""

    option: str
    default: str
    meaning: str


# Everything that this program reads from its environment. A test holds GUIDE.md's table, and every read in the code, against it.
ENVIRONMENT: dict[str, Variable] = {
    "GRADIO_SERVER_NAME": Variable("--host", "127.0.0.1", "the address to serve on; 0.0.0.0 for all"),
    "PORT": Variable("--port", "7860", "the port"),
    "GRADIO_SERVER_PORT": Variable("", "7860", "the port where PORT is not set; a Space sets it"),
    "GRADIO_ROOT_PATH": Variable("--root-path", "none", "the path under which a reverse proxy serves the page, such as /stacks"),
    "MODELS_DIR": Variable("--models-dir", "none", "a folder of model folders; visitors pick them from a list"),
    "DEVICE": Variable("--device", "CUDA, then CPU", "where models run: cpu or cuda"),
    "ALLOW_HUB": Variable("", "on for localhost only",
                          "1 or 0: whether a visitor may type a hub id owner/name (safetensors only, no remote code)"),
    "ENGINE": Variable("", "local", "where runs, comparisons and corpora are made: local or ray; ray needs requirements-ray.txt"),
    "RAY_ADDRESS": Variable("", "auto", "with ENGINE=ray: the cluster's address, such as 10.0.0.1:6379; auto is the one that "
                            "make ray started here"),
    "REPLICAS": Variable("", "1-2", "with ENGINE=ray: how many processes hold the models for live runs, at least and at most"),
    "REPLICA_CPUS": Variable("", "1", "with ENGINE=ray: cores of one replica"),
    "REPLICA_GPUS": Variable("", "0", "with ENGINE=ray: GPUs of one replica; 0.25 lets four share one"),
    "GRADIO_MCP_SERVER": Variable("", "off", "1: the public endpoints are tools for MCP clients, too; needs the package mcp"),
    "SESSIONS_DIR": Variable("", "in the user's data directory", "where sessions lie; never inside the served folder"),
    "SESSIONS_BACKUP": Variable("", "none", "a folder, say of a mounted bucket, that gets a copy every 5 minutes and at the end; "
                                "an empty disk is filled from it"),
    "SESSIONS_COPIES": Variable("", "none", "folders, parted by colons, that other pages name as SESSIONS_BACKUP: what is shared "
                                "there can be replayed here, too"),
    "SESSIONS_BYTES": Variable("", "2147483648", "what all sessions may take together; the oldest unshared ones go first"),
    "OMP_WAIT_POLICY": Variable("", "PASSIVE", "what torch's threads do between two operations; ACTIVE takes the cores from "
                                "everything else"),
    "WEB_CONCURRENCY": Variable("", "1", "ignored, with a line in the log: one process serves"),
    "SPACE_ID": Variable("", "set by a Space", "tells that the disk is emptied at each restart"),
    "SPACES_ZERO_GPU": Variable("", "set by a Space", "tells that a GPU is lent a call at a time (ZeroGPU)"),
}


@dataclass(frozen=True)
class AppConfig:
    """Where to serve and what to allow. zero: a Space lends a GPU a call at a time, and this process itself has none."""

    host: str = "127.0.0.1"
    port: int = 7860
    models_dir: Path | None = None
    allow_hub: bool = True
    device: str | None = None
    queue_size: int = 256  # a class that clicks at once, and then some
    root_path: str = ""
    mcp: bool = False
    zero: bool = False
    engine: Options = Options()

    def registry(self) -> Models:
        """The models this host offers. Loads nothing."""
        device = "cpu" if self.zero else self.device
        return Models(folders_in(self.models_dir) if self.models_dir else {}, self.allow_hub, device)


def read_config(arguments: Sequence[str] | None = None, environment: Mapping[str, str] = os.environ) -> AppConfig:
    """The command line over the environment over the defaults. The hub is open on localhost only, unless set."""
    parser = argparse.ArgumentParser(prog="python -m app", description="Two Stacks, the encoder-decoder playground")
    port = environment.get("PORT") or environment.get("GRADIO_SERVER_PORT") or "7860"

    def option(name: str, default: str | None, **more) -> None:
        variable = ENVIRONMENT[name]
        parser.add_argument(variable.option, default=default, help=variable.meaning, **more)

    option("GRADIO_SERVER_NAME", environment.get("GRADIO_SERVER_NAME") or "127.0.0.1")
    option("PORT", port, type=int)
    option("GRADIO_ROOT_PATH", environment.get("GRADIO_ROOT_PATH") or "")
    option("MODELS_DIR", environment.get("MODELS_DIR") or None, type=Path)
    option("DEVICE", environment.get("DEVICE") or None)
    args = parser.parse_args(arguments)
    hub = environment.get("ALLOW_HUB")
    mcp = is_on(environment.get("GRADIO_MCP_SERVER"))
    if mcp and find_spec("mcp") is None:
        raise InputError('GRADIO_MCP_SERVER is set, and the package mcp is not installed: pip install "gradio[mcp]".')
    return AppConfig(
        host=args.host, port=args.port, models_dir=args.models_dir, device=args.device, root_path=_root_path(args.root_path),
        allow_hub=is_on(hub) if hub else args.host in LOCAL_HOSTS,
        mcp=mcp, zero=is_on(environment.get("SPACES_ZERO_GPU")), engine=options(environment),
    )


def is_on(value: str | None) -> bool:
    """Whether a variable of the environment says yes."""
    return (value or "").lower() in ("1", "t", "true", "yes", "on")


def _root_path(given: str) -> str:
    """A path such as /stacks, without a slash at its end, or a whole address."""
    path = given.rstrip("/")
    if path and not path.startswith(("/", "http://", "https://")):
        raise InputError(f"The root path is {given!r:.60}; it must begin with / (such as /stacks) or be a whole address.")
    return path
