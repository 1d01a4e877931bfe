"""Sessions: what a person did, kept in SQLite a row a step as it happens, and replayed as the same records without a model."""

from core.sessions.listing import Kept, Session
from core.sessions.recording import Recording
from core.sessions.store import Store

__all__ = ["Kept", "Recording", "Session", "Store"]
