"""Where sessions lie: a folder of the user's own, never one that is served; and what kind of disk it is on."""

import os
import sys
from collections.abc import Mapping
from pathlib import Path

from core.errors import SessionError

VARIABLE = "SESSIONS_DIR"
FILE = "sessions.db"
MOUNTS = Path("/proc/self/mounts")
# Disks that other machines write to, or that lack the shared memory that WAL needs.
REMOTE = ("nfs", "cifs", "smb", "9p", "fuse", "afs", "ceph", "lustre", "glusterfs", "davfs", "vboxsf", "virtiofs")
SERVED = Path(__file__).resolve().parents[2]


def folder(environment: Mapping[str, str] = os.environ) -> Path:
    """The folder that SESSIONS_DIR names, else one inside the user's data directory. SessionError for one that is served."""
    named = environment.get(VARIABLE)
    place = Path(named).expanduser() if named else data_directory(environment) / "two-stacks"
    place = place.absolute()
    for served in (SERVED, Path.cwd()):
        if place.resolve().is_relative_to(served) and served != Path(served.anchor):
            raise SessionError(f"{VARIABLE} is {place}; sessions must not lie inside {served}, where files may be served from.")
    return place


def data_directory(environment: Mapping[str, str] = os.environ, platform: str = sys.platform) -> Path:
    """Where programs of this system keep a user's data."""
    home = Path(environment.get("HOME") or Path.home())
    if platform == "win32":
        return Path(environment.get("LOCALAPPDATA") or home / "AppData" / "Local")
    if platform == "darwin":
        return home / "Library" / "Application Support"
    return Path(environment.get("XDG_DATA_HOME") or home / ".local" / "share")


def is_remote(place: Path, mounts: Path = MOUNTS) -> bool:
    """Whether the disk under `place` is a network or bucket mount; False where the system does not say."""
    try:
        lines = mounts.read_text("utf-8", "replace").splitlines()
    except OSError:
        return False
    # The deepest mount point above the place holds it; of two at one point, the later one hides the other.
    best, kind = -1, ""
    for fields in (line.split() for line in lines):
        if len(fields) < 3:
            continue
        point = Path(fields[1].replace("\\040", " "))
        if place.resolve().is_relative_to(point) and len(point.parts) >= best:
            best, kind = len(point.parts), fields[2]
    return kind.startswith(REMOTE)
