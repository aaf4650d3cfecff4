"""Connections to checked addresses only."""

import errno
import ssl
from collections.abc import Iterable, Iterator
from typing import Any, cast

import anyio
import httpcore2

from scrubjay.core.errors import Unavailable
from scrubjay.features.workspace.web.addresses import HostPolicy


class CheckedNetworkBackend(httpcore2.AsyncNetworkBackend):
    """Resolves a host once, checks all of its addresses, and connects to one of these.

    A second resolution could return another address (DNS rebinding).
    """

    def __init__(self, policy: HostPolicy) -> None:
        self._policy = policy
        # Its type is declared as a fallback class for installations without anyio; hence the cast.
        self._network = cast(httpcore2.AsyncNetworkBackend, httpcore2.AnyIOBackend())

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        last: Exception | None = None
        with anyio.fail_after(timeout):
            for address in await self._policy.resolve(host, port):
                try:
                    return await self._network.connect_tcp(address, port, timeout, local_address, socket_options)
                except httpcore2.ConnectError as error:
                    last = error
        raise connection_error(host, last)

    async def connect_unix_socket(
        self, path: str, timeout: float | None = None, socket_options: Iterable[Any] | None = None
    ) -> httpcore2.AsyncNetworkStream:
        raise Unavailable("Unix sockets are not supported")

    async def sleep(self, seconds: float) -> None:
        await anyio.sleep(seconds)


def connection_error(host: str, error: BaseException | None) -> Unavailable:
    """Return the domain error for a failed connection."""
    causes = list(_chain(error))
    details = {"reason": "unreachable", "host": host[:200]}
    if any(isinstance(cause, OSError) and cause.errno == errno.ECONNREFUSED for cause in causes):
        return Unavailable(
            "Connection refused", hint="check that the server is running", details={**details, "reason": "refused"}
        )
    if any(isinstance(cause, ssl.SSLError) for cause in causes):
        return Unavailable(
            "the TLS handshake failed: the certificate is not trusted, or the server does not use TLS",
            hint="check the URL",
            details={**details, "reason": "tls"},
        )
    return Unavailable("Connection failed", hint="check that the server is running", details=details)


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an error and all of its causes."""
    if error is None:
        return
    yield error
    if isinstance(error, BaseExceptionGroup):
        for inner in cast(BaseExceptionGroup[BaseException], error).exceptions:
            yield from _chain(inner)
    yield from _chain(error.__cause__ or error.__context__)
