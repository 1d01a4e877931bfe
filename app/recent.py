"""The last whole traces of this process, by id: equal settings are answered from here, and a view may ask for more of one."""

import threading
from collections import OrderedDict
from collections.abc import Iterable

from core.trace import Trace

KEPT = 256 * 2**20  # bytes: the pocket model's usual traces take 0.1 MB, 512 x 128 tokens of 72 heads take 100


class Recent:
    """Shared by all visitors. Only finished runs go in: a stopped one has the id of the whole.

    The newest stay that take KEPT bytes together; the very newest stays in any case.
    """

    def __init__(self, lasting: Iterable[Trace] = ()):
        self._lasting = {trace.id: trace for trace in lasting}
        self._traces: OrderedDict[str, Trace] = OrderedDict()
        self._bytes = 0
        self._lock = threading.Lock()

    def get(self, id: str) -> Trace | None:
        with self._lock:
            if id in self._traces:
                self._traces.move_to_end(id)
            return self._traces.get(id) or self._lasting.get(id)

    def add(self, trace: Trace) -> None:
        with self._lock:
            if before := self._traces.pop(trace.id, None):
                self._bytes -= before.nbytes
            self._traces[trace.id] = trace
            self._bytes += trace.nbytes
            while self._bytes > KEPT and len(self._traces) > 1:
                self._bytes -= self._traces.popitem(last=False)[1].nbytes
