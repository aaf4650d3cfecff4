"""One WebSocket of any protocol: written as fast as it is read, looked after, and ended when it has to be."""

import logging
import math
from contextlib import suppress
from typing import Final

import anyio
import anyio.abc
from starlette.types import Receive, Scope, Send

from scrubjay.core.error_location import place_of
from scrubjay.core.errors import ScrubjayError
from scrubjay.servers.http.edge import request_id_of
from scrubjay.servers.http.errors import error_response
from scrubjay.servers.http.refusals import refuse_socket
from scrubjay.servers.http.send_queue import ReaderTooSlow, SendQueue

logger = logging.getLogger("scrubjay.sockets")

# How often it is looked whether the key is still valid and the client still there, also while nothing is told.
TEND_SECONDS: Final = 1.0
# What is told within so short a time of each other needs one look at the key: a look costs as much as a message.
LOOK_SECONDS: Final = 0.02
# How long the last word may take to be written.
FAREWELL_SECONDS: Final = 1.0

GOING_AWAY, POLICY, BROKEN = 1001, 1008, 1011


class Socket:
    """Lives for as long as its connection; all that runs in `tasks` ends with it."""

    def __init__(self, *, outbox_bytes: int, outbox_messages: int, slow_seconds: float) -> None:
        self.tasks: anyio.abc.TaskGroup = anyio.create_task_group()
        self._outbox = SendQueue(most_bytes=outbox_bytes, most_messages=outbox_messages)
        self._slow_seconds = slow_seconds
        self._farewell: tuple[int, str] | None = None
        self._looked_at = -math.inf

    async def read(self, receive: Receive) -> None:
        """Heed what the client says until it leaves, or until this socket `has_ended`."""
        raise NotImplementedError

    def tend(self) -> None:
        """Called every second."""
        raise NotImplementedError

    def is_welcome(self) -> bool:
        """Whether whoever listens may be told anything: asked while something is told, though not for each word."""
        raise NotImplementedError

    def closed(self) -> None:
        """Called once, when nothing can be sent any more."""

    async def serve(self, receive: Receive, send: Send) -> None:
        """Read and write until either side ends it. Nothing goes on when this returns."""
        try:
            async with self.tasks:
                self.tasks.start_soon(self._write, send)
                self.tasks.start_soon(self._keep_tending)
                await self.read(receive)
                self.tasks.cancel_scope.cancel()
        except ExceptionGroup as bugs:
            logger.error("a connection broke", extra=place_of(bugs.exceptions[0]))
            self._farewell = (BROKEN, "internal error")
        finally:
            self.closed()
        if self._farewell is not None:
            code, reason = self._farewell
            # A reader who does not read blocks this too; the transport then lets go of it.
            with anyio.move_on_after(FAREWELL_SECONDS), suppress(OSError, RuntimeError):
                await send({"type": "websocket.close", "code": code, "reason": reason})

    def put(self, text: bytes, *, droppable: bool = False) -> int:
        """Let it be sent; how many that may be dropped were. Who does not read loses these first, then the socket."""
        try:
            return self._outbox.put(text, droppable=droppable)
        except ReaderTooSlow:
            self.end(POLICY, "the client does not read")
            return 0

    async def put_patiently(self, text: bytes) -> None:
        """Let it be sent once there is room: so what is long is told no faster than it is read."""
        await self._outbox.emptied()
        self.put(text)

    def end(self, code: int, reason: str) -> None:
        if self._farewell is None:
            self._farewell = (code, reason)
            logger.info("a connection is ended", extra={"code": code, "reason": reason})
        self.tasks.cancel_scope.cancel()

    @property
    def has_ended(self) -> bool:
        return self._farewell is not None

    async def _write(self, send: Send) -> None:
        while True:
            text = (await self._outbox.take()).decode()
            if not self._may_tell():
                return
            with anyio.move_on_after(self._slow_seconds) as patience:
                try:
                    await send({"type": "websocket.send", "text": text})
                except OSError:  # it has gone; who waits for it to read would wait for ever
                    self.tasks.cancel_scope.cancel()
                    return
            if patience.cancelled_caught:
                self.end(POLICY, "the client does not read")

    def _may_tell(self) -> bool:
        """Whether the key is still valid; the socket ends when it is not."""
        if (now := anyio.current_time()) - self._looked_at < LOOK_SECONDS:
            return True
        self._looked_at = now
        if self.is_welcome():
            return True
        self.end(POLICY, "the key is not valid any more")
        return False

    async def _keep_tending(self) -> None:
        while True:
            await anyio.sleep(TEND_SECONDS)
            if self._may_tell():
                self.tend()


async def refuse(error: ScrubjayError, scope: Scope, send: Send) -> None:
    """Answer as HTTP, before there is a socket."""
    await refuse_socket(error_response(error, request_id_of(scope)), scope, send)
