"""What `make run`, a Space and the Procfile start: environment -> AppConfig -> build() -> launch()."""

import gc
import os
import sys
from pathlib import Path

# `python app/__main__.py` puts app/ first in sys.path; with the root in its place it is the same as `python -m app`.
ROOT = str(Path(__file__).resolve().parents[1])
if sys.path[0] != ROOT:
    sys.path[0] = ROOT
os.environ["GRADIO_ANALYTICS_ENABLED"] = "False"
# Threads of torch sleep between two operations. Spinning, they take the cores from everything else that runs here.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

gc.disable()  # a start makes hundreds of thousands of objects that stay; looking through them takes a tenth of it
from app import stubs  # noqa: E402

stubs.leave_out()

from app import shutdown  # noqa: E402
from app.config import read_config  # noqa: E402
from app.page import build  # noqa: E402
from app.serving import launch  # noqa: E402
from core.errors import TwoStacksError  # noqa: E402


def main() -> None:
    """Serve until asked to end; what the host set wrongly is said in one sentence."""
    shutdown.listen()
    try:
        config = read_config()
        page = build(config)
        gc.freeze()
        gc.enable()
        launch(page, config)
    except TwoStacksError as error:
        sys.exit(f"Two Stacks does not start: {error}")


if __name__ == "__main__":
    main()
