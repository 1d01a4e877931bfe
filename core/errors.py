"""The errors a person may see. Every message is one sentence: what was wrong, the value, what is allowed.

    TwoStacksError
    ├── InputError      a text or a setting that cannot be used
    ├── ModelError      a model that is unknown, not allowed, too large, or does not load
    ├── EngineError     a cluster that is not there, busy, or lost a part of itself
    ├── ControlError    an attention site that this model does not let us reach
    ├── RecordError     bytes that are not a record of this project
    └── SessionError    a session that is not there, not yours, or full
"""


class TwoStacksError(Exception):
    """Base of all errors whose message may be shown as it stands."""


class InputError(TwoStacksError, ValueError):
    """A text or setting out of its range."""


class ModelError(TwoStacksError):
    """A model that cannot be had."""


class EngineError(TwoStacksError):
    """The engine that makes the forwards does not answer, or stopped in the middle; what was made so far is kept."""


class ControlError(TwoStacksError):
    """A control or capture whose attention site is out of reach."""


class RecordError(TwoStacksError, ValueError):
    """Bytes that do not hold a valid record."""


class SessionError(TwoStacksError):
    """A session that cannot be had or kept."""
