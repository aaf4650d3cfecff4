"""How what agents do is told while it happens, and whether anybody hears it."""

from collections.abc import Mapping
from typing import Any, Protocol

from scrubjay.core.callers import Caller


class AgentEvents(Protocol):
    """Those who listen at the time."""

    def tell(self, event: Mapping[str, Any], whose: Caller, *, is_fleeting: bool = False) -> None:
        """Tell this to whoever may see what this caller does. Neither waits nor fails."""
        ...

    def is_heard_by(self, whose: Caller) -> bool:
        """Whether anybody listens who may see what this caller does."""
        ...


class NobodyListens:
    """Satisfies `AgentEvents` where there is no stream of events."""

    def tell(self, event: Mapping[str, Any], whose: Caller, *, is_fleeting: bool = False) -> None:
        return None

    def is_heard_by(self, whose: Caller) -> bool:
        return False
