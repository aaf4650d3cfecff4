"""Interface for live events of delegated coding agents."""

from collections.abc import Mapping
from typing import Any, Protocol

from scrubjay.core.callers import Caller


class AgentEvents(Protocol):
    """Sends events to the clients that are connected now."""

    def publish(self, event: Mapping[str, Any], owner: Caller, *, is_transient: bool = False) -> None:
        """Send an event to the listeners that may see the events of `owner`. Never blocks or raises."""
        ...

    def has_listener_for(self, owner: Caller) -> bool:
        """Return True if a listener may see the events of `owner`."""
        ...


class NoAgentEvents:
    """Implements `AgentEvents` for processes without an event stream."""

    def publish(self, event: Mapping[str, Any], owner: Caller, *, is_transient: bool = False) -> None:
        return None

    def has_listener_for(self, owner: Caller) -> bool:
        return False
