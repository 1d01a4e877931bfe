"""The model core of Two Stacks: settings in, steps and a trace out. It knows nothing of the page or of HTTP.

    from core import Settings, record
    trace = record(Settings(text="A dog runs on the beach."))
"""

from core.settings import Decoding, Settings
from core.trace import Step, Trace

__all__ = ["Decoding", "Settings", "Step", "Trace", "record", "run"]


def __getattr__(name: str):
    # `run` and `record` need torch; settings and traces must not wait for it.
    if name in ("run", "record"):
        import importlib

        module = importlib.import_module("core.runs")
        globals().update(run=module.run, record=module.record)
        return globals()[name]
    raise AttributeError(f"module 'core' has no attribute {name!r}")
