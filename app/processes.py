"""One process serves: its queue, the model's turn and which run of a visitor is wanted all live in its memory.

Nothing here starts a second one. One that somebody else starts on the same sessions is told of the first: on a local disk both
write safely, and both go on; on a network mount, where locks do not hold, it is refused before it can do harm.
"""

import logging
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from core.errors import SessionError

log = logging.getLogger("two-stacks")
FILE = "process"


def ignored(environment: Mapping[str, str] = os.environ) -> str:
    """What to say about WEB_CONCURRENCY, which hosts set for servers that fork workers; "" for nothing."""
    asked = environment.get("WEB_CONCURRENCY", "")
    if asked in ("", "1"):
        return ""
    return f"WEB_CONCURRENCY is {asked[:20]} and is ignored: one process serves, because queue, turns and Stop are in its memory."


def claim(folder: Path, remote: bool, port: int) -> Any:
    """Mark `folder` as this process's until it ends; keep what is given back. SessionError for a network mount in use.

    None where another process has it, or where the system has no such locks.
    """
    try:
        import fcntl
    except ImportError:  # Windows
        return None
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    file = (folder / FILE).open("a+")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.seek(0)
        other = file.read(100).strip() or "another process"
        file.close()
        if remote:
            raise SessionError(f"{other} keeps sessions in {folder}, which is a network mount: two writers would damage them. "
                               "Stop it first, or set SESSIONS_DIR to a local disk and SESSIONS_BACKUP to the mount.") from None
        log.warning("%s keeps sessions in %s too. Both write safely, but each has its own queue and its own turns: "
                    "do not put both behind one address.", other, folder)
        return None
    file.truncate(0)
    file.write(f"process {os.getpid()} on port {port}")
    file.flush()
    return file
