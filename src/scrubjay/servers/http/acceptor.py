"""A uvicorn server that accepts waiting connections as soon as the event loop is free, all of them."""

import asyncio
import errno
import logging
import socket
from collections.abc import Callable
from typing import Final

import uvicorn

logger = logging.getLogger("scrubjay.http")

# Connections accepted before the event loop does other work; a burst of more waits for its next iteration.
MAX_BATCH: Final = 256
# Seconds until accepting is tried again when the process has no free file descriptor.
RETRY_SECONDS: Final = 0.5
# Errors of a connection that ended before it was accepted.
_CONNECTION_ERRORS = frozenset({errno.ECONNABORTED, errno.EPROTO, errno.EPERM})


class Acceptor:
    """Accepts the connections of a listening socket.

    libuv, and so uvloop, accepts one connection per iteration of the event loop. Under load an iteration takes 0.1 s,
    because it handles all requests that have arrived: the hundredth new client waited for ten seconds (see the
    benchmark `mixed`).
    """

    def __init__(self, listener: socket.socket, make_protocol: Callable[[], asyncio.Protocol]) -> None:
        self._listener = listener
        self._make_protocol = make_protocol
        self._loop = asyncio.get_running_loop()
        self._retry: asyncio.TimerHandle | None = None
        self._starting: set[asyncio.Task[None]] = set()

    def start(self, backlog: int) -> None:
        """Listen, and accept connections until `close`."""
        self._listener.setblocking(False)
        self._listener.listen(backlog)
        self._watch()

    def close(self) -> None:
        """Stop accepting; the caller closes the socket."""
        if self._retry is not None:
            self._retry.cancel()
        self._loop.remove_reader(self._listener)

    def _watch(self) -> None:
        self._retry = None
        self._loop.add_reader(self._listener, self._accept)

    def _accept(self) -> None:
        for _ in range(MAX_BATCH):
            try:
                connection, _ = self._listener.accept()
            except (BlockingIOError, InterruptedError):
                return
            except OSError as error:
                if error.errno not in _CONNECTION_ERRORS:
                    self._pause(error)
                    return
            else:
                task = self._loop.create_task(self._start_protocol(connection))
                self._starting.add(task)
                task.add_done_callback(self._starting.discard)

    async def _start_protocol(self, connection: socket.socket) -> None:
        try:
            connection.setblocking(False)
            await self._loop.connect_accepted_socket(self._make_protocol, connection)
        except OSError:  # the client is gone
            connection.close()

    def _pause(self, error: OSError) -> None:
        """Stop accepting for a moment: the socket stays readable, so that the loop would try without end."""
        logger.warning("connections cannot be accepted", extra={"error": errno.errorcode.get(error.errno or 0)})
        self._loop.remove_reader(self._listener)
        self._retry = self._loop.call_later(RETRY_SECONDS, self._watch)


class AcceptingServer(uvicorn.Server):
    """A uvicorn server that accepts the connections of its sockets with an `Acceptor`."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self._acceptors: list[Acceptor] = []

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets=[])
        for listener in sockets or []:
            acceptor = Acceptor(listener, self._make_protocol)
            acceptor.start(self.config.backlog)
            self._acceptors.append(acceptor)

    async def serve(self, sockets: list[socket.socket] | None = None) -> None:
        try:
            await super().serve(sockets)
        finally:  # also when cancelled: the loop would watch the number of a closed socket, and ignore its next owner
            self._stop_accepting()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._stop_accepting()
        await super().shutdown(sockets=sockets)

    def _stop_accepting(self) -> None:
        while self._acceptors:
            self._acceptors.pop().close()

    def _make_protocol(self) -> asyncio.Protocol:
        make = self.config.http_protocol_class
        return make(config=self.config, server_state=self.server_state, app_state=self.lifespan.state)  # pyright: ignore[reportCallIssue]  # as uvicorn calls it
