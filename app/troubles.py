"""What is wrong with a host's disk, as a sentence for its visitors."""

import errno
import sqlite3

FULL = "The disk of this host is full."
CLOSED = "The disk of this host cannot be written to."
BUSY = "The file of sessions is busy for longer than this waits; try again in a minute."
DAMAGED = "The file of sessions is damaged; what can be read of it is kept when this host is started anew."
CODES = {errno.ENOSPC: FULL, errno.EDQUOT: FULL, errno.EROFS: CLOSED, errno.EACCES: CLOSED, errno.EPERM: CLOSED}
SAID = (("full", FULL), ("readonly", CLOSED), ("unable to open", CLOSED), ("locked", BUSY), ("busy", BUSY),
        ("malformed", DAMAGED), ("not a database", DAMAGED))


def trouble(error: BaseException) -> str:
    """The sentence for an error of the disk or of the file of sessions; "" for any other."""
    if isinstance(error, sqlite3.Error):
        return next((told for word, told in SAID if word in str(error)), "")
    return CODES.get(error.errno, "") if isinstance(error, OSError) else ""
