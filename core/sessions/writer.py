"""One thread that writes: whoever decodes hands a row over and goes on. What waits together is committed together."""

import atexit
import logging
import queue
import threading
from collections.abc import Callable

from sqlite_utils import Database

from core.sessions.database import File

log = logging.getLogger("two-stacks")
WAITING = 1000  # rows; a disk that falls further behind slows the run down instead of filling memory
GATHERED = 0.25  # seconds that rows wait for company: a transaction for each would cost as much as the row itself
Job = Callable[[Database], None]
Failed = Callable[[Exception], None]


class Writer:
    """Jobs in the order they came, each whole or not at all. Of one that fails the log and its giver know; the others go on."""

    def __init__(self, file: File):
        self.file = file
        self.closing = False  # the process is ending: a run that ends now is cut, nobody stopped it
        self._jobs: queue.Queue[tuple[Job | threading.Event, Failed | None]] = queue.Queue(WAITING)
        self._lock = threading.Lock()
        self._hurry = threading.Event()
        self._thread: threading.Thread | None = None

    def put(self, job: Job, failed: Failed | None = None) -> None:
        """Write later, soon. failed: called by the thread that writes, with the error, where that cannot be done."""
        self._start()
        self._jobs.put((job, failed))

    def flush(self, timeout: float = 10.0) -> bool:
        """Wait until everything handed over so far is on disk; False when that takes too long."""
        if self._thread is None:
            return True
        done = threading.Event()
        self._jobs.put((done, None))
        self._hurry.set()
        return done.wait(timeout)

    def _start(self) -> None:
        with self._lock:
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="write-sessions", daemon=True)
                self._thread.start()
                atexit.register(self.flush)

    def _work(self) -> None:
        while True:
            jobs = [self._jobs.get()]
            self._hurry.wait(GATHERED)
            self._hurry.clear()
            while not self._jobs.empty():
                jobs.append(self._jobs.get())
            try:
                with self.file.writing() as database:
                    for job, failed in jobs:
                        if not isinstance(job, threading.Event):
                            self._one(database, job, failed)
            except Exception as error:  # a full disk, a locked file: the runs go on, and the host's log says what is missing
                log.exception("%d rows of sessions could not be written", len(jobs))
                for _, failed in jobs:
                    _tell(failed, error)
            for job, _ in jobs:
                if isinstance(job, threading.Event):
                    job.set()

    def _one(self, database: Database, job: Job, failed: Failed | None) -> None:
        try:
            with database.atomic():
                job(database)
        except Exception as error:  # one bad row must not take those beside it along; the host's log has the whole error
            log.exception("a row of a session could not be written")
            _tell(failed, error)
            if not database.conn.in_transaction:  # the error took the transaction with it
                database.conn.execute("begin immediate")


def _tell(failed: Failed | None, error: Exception) -> None:
    if failed:
        failed(error)
