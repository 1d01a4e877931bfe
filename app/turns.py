"""Who may use the model now, and whose run is still wanted. Shared by all visitors; holds nothing of theirs but a name."""

import threading
from collections import OrderedDict, deque

from core.errors import InputError

RUNS = 16  # answered at once; more wait in line
# Of every event that uses the model: many may be answered at once, because they share it a step at a time.
MODEL_TURN = dict(concurrency_id="model", concurrency_limit=RUNS, api_visibility="private", show_progress="hidden",
                  trigger_mode="multiple")
SESSIONS = 1000  # how many visitors' latest runs are remembered


class Turn:
    """A lock given in the order it was asked for: runs of several visitors go on step by step, none waits for a whole one."""

    def __init__(self):
        self._inner = threading.Lock()
        self._waiting: deque[threading.Lock] = deque()
        self._taken = False

    def __enter__(self) -> "Turn":
        with self._inner:
            if not self._taken:
                self._taken = True
                return self
            mine = threading.Lock()
            mine.acquire()
            self._waiting.append(mine)
        mine.acquire()  # released by whoever leaves before us
        return self

    def __exit__(self, *_) -> None:
        with self._inner:
            if self._waiting:
                self._waiting.popleft().release()
            else:
                self._taken = False


class Latest:
    """The latest run of each visitor: a newer one, or Stop, makes the older one end at its next step."""

    def __init__(self):
        self.closed = False  # the host is ending
        self._lock = threading.Lock()
        self._runs: OrderedDict[str, object] = OrderedDict()

    def begin(self, visitor: str) -> object:
        """A ticket for a new run of this visitor; InputError once the host is ending."""
        if self.closed:
            raise InputError("This host is being restarted; run this again in a minute. What you typed is kept.")
        ticket = object()
        with self._lock:
            self._runs[visitor] = ticket
            self._runs.move_to_end(visitor)
            while len(self._runs) > SESSIONS:
                self._runs.popitem(last=False)
        return ticket

    def stop(self, visitor: str) -> None:
        with self._lock:
            self._runs.pop(visitor, None)

    def close(self) -> None:
        """No run is wanted any more, and none begins."""
        with self._lock:
            self.closed = True
            self._runs.clear()

    def wants(self, visitor: str, ticket: object) -> bool:
        """Whether the run with this ticket is still the one to show."""
        with self._lock:
            return self._runs.get(visitor) is ticket

    def overtaken(self, visitor: str, ticket: object) -> bool:
        """Whether a newer run of this visitor took the place of the one with this ticket."""
        with self._lock:
            return self._runs.get(visitor, ticket) is not ticket

    def stopped(self, visitor: str) -> bool:
        """Whether nothing has followed: the visitor pressed Stop, rather than starting another run."""
        with self._lock:
            return visitor not in self._runs
