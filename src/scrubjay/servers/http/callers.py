"""The authenticated caller of a request, as stored in the ASGI scope by `EdgeMiddleware`."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from scrubjay.core.callers import OWNER, Authenticator, Caller


class SocketGuard(Protocol):
    """Authenticates and counts messages on a WebSocket that is already open."""

    async def authenticate(self, key: str | None) -> Caller:
        """Return the caller of this key; raise the same errors as for a request, and log them as refusals."""
        ...

    def count(self, caller: Caller) -> None:
        """Count one request of this caller; raise `RateLimited` when there were too many."""
        ...


@dataclass(frozen=True, slots=True)
class _UnguardedSocket:
    """Implements `SocketGuard` without `EdgeMiddleware`: checks keys and counts nothing."""

    authenticator: Authenticator

    async def authenticate(self, key: str | None) -> Caller:
        return await self.authenticator.authenticate(key)

    def count(self, caller: Caller) -> None:
        pass


def caller_of(scope: Mapping[str, Any]) -> Caller:
    """Return the authenticated caller of this request; without `EdgeMiddleware`, the owner."""
    return scope.get("state", {}).get("caller", OWNER)


def socket_guard_of(scope: Mapping[str, Any], authenticator: Authenticator) -> SocketGuard:
    """Return the guard of this WebSocket; without `EdgeMiddleware`, one that only checks keys."""
    return scope.get("state", {}).get("socket_guard") or _UnguardedSocket(authenticator)
