"""AppConfig: what the host decides, from the command line and the environment. Frozen; read once at start."""

import argparse
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from core.models import Models, folders_in

LOCAL_HOSTS = ("127.0.0.1", "localhost", "::1")


@dataclass(frozen=True)
class AppConfig:
    """Where to serve and what to allow."""

    host: str = "127.0.0.1"
    port: int = 7860
    models_dir: Path | None = None
    allow_hub: bool = True
    device: str | None = None
    queue_size: int = 256  # a class that clicks at once, and then some

    def registry(self) -> Models:
        """The models this host offers. Loads nothing."""
        return Models(folders_in(self.models_dir) if self.models_dir else {}, self.allow_hub, self.device)


def read_config(arguments: Sequence[str] | None = None, environment: Mapping[str, str] = os.environ) -> AppConfig:
    """The command line over the environment over the defaults. The hub is open on localhost only, unless set."""
    parser = argparse.ArgumentParser(prog="python -m app", description="Two Stacks, the encoder-decoder playground")
    parser.add_argument("--host", default=environment.get("GRADIO_SERVER_NAME", "127.0.0.1"))
    port = environment.get("PORT") or environment.get("GRADIO_SERVER_PORT") or "7860"
    parser.add_argument("--port", type=int, default=int(port))
    parser.add_argument("--models-dir", type=Path, default=environment.get("MODELS_DIR") or None,
                        help="folder whose subfolders are transformers checkpoints to offer")
    parser.add_argument("--device", default=environment.get("DEVICE") or None, help="cpu or cuda (default: cuda if any)")
    args = parser.parse_args(arguments)
    hub = environment.get("ALLOW_HUB")
    allow = hub.lower() in ("1", "true", "yes", "on") if hub else args.host in LOCAL_HOSTS
    models_dir = Path(args.models_dir) if args.models_dir else None
    return AppConfig(args.host, args.port, models_dir, allow, args.device)
