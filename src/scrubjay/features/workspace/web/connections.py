"""Connections to addresses that were looked at: the one that was checked is the one that is connected to."""

import errno
import ssl
from collections.abc import Iterable, Iterator
from typing import Any, cast

import anyio
import httpcore2

from scrubjay.core.errors import Unavailable
from scrubjay.features.workspace.web.addresses import Reach


class CheckedNetwork(httpcore2.AsyncNetworkBackend):
    """Looks a host up once, checks all of its addresses, and connects to one of these: no second look is needed that
    could be answered otherwise."""

    def __init__(self, reach: Reach) -> None:
        self._reach = reach
        # Declared also for those who lack anyio, as one that can do nothing.
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
            for address in await self._reach.addresses(host, port):
                try:
                    return await self._network.connect_tcp(address, port, timeout, local_address, socket_options)
                except httpcore2.ConnectError as error:
                    last = error
        raise unreachable(host, last)

    async def connect_unix_socket(
        self, path: str, timeout: float | None = None, socket_options: Iterable[Any] | None = None
    ) -> httpcore2.AsyncNetworkStream:
        raise Unavailable("sockets of this machine are not reached from here")

    async def sleep(self, seconds: float) -> None:
        await anyio.sleep(seconds)


def unreachable(host: str, error: BaseException | None) -> Unavailable:
    """What it means that no connection came about."""
    said = list(_chain(error))
    details = {"reason": "unreachable", "host": host[:200]}
    if any(isinstance(one, OSError) and one.errno == errno.ECONNREFUSED for one in said):
        return Unavailable(
            "Connection refused", hint="see whether the server is up", details={**details, "reason": "refused"}
        )
    if any(isinstance(one, ssl.SSLError) for one in said):
        return Unavailable(
            "the server's certificate is not accepted, or it does not speak TLS",
            hint="see whether the address is right",
            details={**details, "reason": "tls"},
        )
    return Unavailable("Connection failed", hint="see whether the server is up", details=details)


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """An error, and all that it came of."""
    if error is None:
        return
    yield error
    if isinstance(error, BaseExceptionGroup):
        for inner in cast(BaseExceptionGroup[BaseException], error).exceptions:
            yield from _chain(inner)
    yield from _chain(error.__cause__ or error.__context__)
