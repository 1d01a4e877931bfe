"""The end of the process: runs end within a step and are kept as cut, everything is written, and it leaves with 0."""

import os
import signal
import sys
import threading
import time
from typing import Any

PATIENCE = 3.0  # seconds for runs to come to their next step, and as long again for the disk
LAST = 1  # second for the last messages to reach the browsers; open pages would hold their connections for ever


def listen() -> None:
    """From now on SIGTERM ends the main thread as `sys.exit(0)` would, wherever it is; Ctrl-C stays as it is."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))


def wait() -> None:
    """Until somebody asks the process to end."""
    try:
        while True:
            time.sleep(3600)
    except (KeyboardInterrupt, SystemExit):
        signal.signal(signal.SIGTERM, signal.SIG_DFL)  # whoever asks again does not wait


def end(page: Any) -> None:
    """Nothing new begins, what goes on ends at its next step; sessions are written; the server closes."""
    leave = threading.Timer(2 * PATIENCE + 2 * LAST, os._exit, [0])  # whatever hangs, the process leaves
    leave.daemon = True
    leave.start()
    engine = page.engine
    engine.latest.close()
    engine.keeper.storage.close(PATIENCE)
    page.server.config.timeout_graceful_shutdown = LAST
    page.close(verbose=False)
