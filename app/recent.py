"""The last whole traces of this process, by id: equal settings are answered from here, and a view may ask for more of one."""

import threading
from collections import OrderedDict
from collections.abc import Iterable

from core.trace import Trace

KEPT = 32  # a trace of the pocket model is about 0.1 MB, of 128 x 128 tokens and 48 heads 8 MB


class Recent:
    """Shared by all visitors. Only finished runs go in: a stopped one has the id of the whole."""

    def __init__(self, lasting: Iterable[Trace] = ()):
        self._lasting = {trace.id: trace for trace in lasting}
        self._traces: OrderedDict[str, Trace] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, id: str) -> Trace | None:
        with self._lock:
            if id in self._traces:
                self._traces.move_to_end(id)
            return self._traces.get(id) or self._lasting.get(id)

    def add(self, trace: Trace) -> None:
        with self._lock:
            self._traces[trace.id] = trace
            while len(self._traces) > KEPT:
                self._traces.popitem(last=False)
