"""The connection below an ASGI request, as far as `BoundedHttp` exposes it to the middleware."""

from typing import Final, Protocol

from starlette.types import Scope

EXTENSION: Final = "scrubjay.connection"


class ClientConnection(Protocol):
    """A client's connection."""

    async def wait_until_read(self) -> None:
        """Wait until the client has read what was sent, but for a small rest, or is gone."""
        ...

    def make_evictable(self) -> None:
        """Mark the connection as one to close when many are open: its request is refused."""
        ...


class _UnknownConnection:
    """Implements `ClientConnection` on other servers, which expose nothing."""

    async def wait_until_read(self) -> None:
        pass

    def make_evictable(self) -> None:
        pass


_UNKNOWN: Final = _UnknownConnection()


def connection_of(scope: Scope) -> ClientConnection:
    """Return the connection that a request arrived on."""
    return scope.get("extensions", {}).get(EXTENSION, _UNKNOWN)
