"""What a tab gives the page beside its components: how it follows a run, and how it draws a moment of a session again."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from core.settings import Settings


@dataclass(frozen=True)
class Tab:
    """follow: given an event's `then` or `select`, shows what came of it; opens: the same for the tab's own opening, where that
    differs. parts: what a replay draws into, by the names of app/replays.py. again: settings of a replay -> values of the tab's
    own `controls`. text: an event that names a text for the attention view. ran: events that made a run."""

    follow: Callable[[Callable], None] | None = None
    parts: Mapping[str, Any] = field(default_factory=dict)
    again: Callable[[Settings], dict] | None = None
    controls: Sequence[Any] = ()
    opens: Callable[[Callable], None] | None = None
    text: Callable | None = None
    ran: Sequence[Any] = ()
