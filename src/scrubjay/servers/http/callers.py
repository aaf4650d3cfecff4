"""Who a request comes from, as the edge found out."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from scrubjay.core.callers import OWNER, Caller, Doorkeeper


class Visit(Protocol):
    """A connection that the edge let in and that stays open: keys may be shown over it, and what is asked counts."""

    async def show(self, key: str | None) -> Caller:
        """Whose key it is; every refusal of the edge, which tells the log of it."""
        ...

    def count(self, caller: Caller) -> None:
        """Count one more request of this caller; `RateLimited` when there were too many."""
        ...


@dataclass(frozen=True, slots=True)
class _Unguarded:
    """Satisfies `Visit` where no edge stands in front."""

    doorkeeper: Doorkeeper

    async def show(self, key: str | None) -> Caller:
        return await self.doorkeeper.admit(key)

    def count(self, caller: Caller) -> None:
        pass


def caller_of(scope: Mapping[str, Any]) -> Caller:
    """Whom the edge let in with this request; the owner where no edge stands in front."""
    return scope.get("state", {}).get("caller", OWNER)


def visit_of(scope: Mapping[str, Any], doorkeeper: Doorkeeper) -> Visit:
    """What the edge lets a connection do that it let in."""
    return scope.get("state", {}).get("visit") or _Unguarded(doorkeeper)
