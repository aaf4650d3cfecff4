"""A WebSocket connection of any protocol, with backpressure and key checks."""

import logging
import math
from contextlib import suppress
from typing import Final

import anyio
import anyio.abc
from starlette.types import Receive, Scope, Send

from scrubjay.core.error_location import error_fields
from scrubjay.core.errors import ScrubjayError
from scrubjay.servers.http.errors import error_response
from scrubjay.servers.http.refusals import refuse_socket
from scrubjay.servers.http.request_metadata import request_id_of
from scrubjay.servers.http.send_queue import ReaderTooSlow, SendQueue

logger = logging.getLogger("scrubjay.sockets")

# Interval at which the key and the client are checked, also while the connection is idle.
TICK_SECONDS: Final = 1.0
# Messages within this time share one key check, which costs as much as a message.
KEY_CHECK_SECONDS: Final = 0.02
# Seconds for sending the close frame.
CLOSE_SECONDS: Final = 1.0

GOING_AWAY, POLICY, INTERNAL_ERROR = 1001, 1008, 1011


class WebSocketConnection:
    """Reads and writes one WebSocket until it closes; everything that runs in `tasks` ends with it."""

    def __init__(self, *, outbox_bytes: int, outbox_messages: int, slow_seconds: float) -> None:
        self.tasks: anyio.abc.TaskGroup = anyio.create_task_group()
        self._outbox = SendQueue(max_bytes=outbox_bytes, max_messages=outbox_messages)
        self._slow_seconds = slow_seconds
        self._close_frame: tuple[int, str] | None = None
        self._key_checked_at = -math.inf

    async def read(self, receive: Receive) -> None:
        """Handle messages until the client disconnects or this socket `has_ended`."""
        raise NotImplementedError

    def on_tick(self) -> None:
        """Run periodic work; called every second while the key is valid."""
        raise NotImplementedError

    def is_authorized(self) -> bool:
        """Return True while the key is valid; checked while sending, but not for each message."""
        raise NotImplementedError

    def on_closed(self) -> None:
        """Clean up; called once, when nothing can be sent any more."""

    async def serve(self, receive: Receive, send: Send) -> None:
        """Read and write until either side closes; no task is left when this returns."""
        try:
            async with self.tasks:
                self.tasks.start_soon(self._write, send)
                self.tasks.start_soon(self._tick)
                await self.read(receive)
                self.tasks.cancel_scope.cancel()
        except ExceptionGroup as bugs:
            logger.error("a connection failed unexpectedly", extra=error_fields(bugs.exceptions[0]))
            self._close_frame = (INTERNAL_ERROR, "internal error")
        finally:
            self.on_closed()
        if self._close_frame is not None:
            code, reason = self._close_frame
            # A client that does not read blocks this too; the transport then drops it.
            with anyio.move_on_after(CLOSE_SECONDS), suppress(OSError, RuntimeError):
                await send({"type": "websocket.close", "code": code, "reason": reason})

    def enqueue(self, text: bytes, *, droppable: bool = False) -> int:
        """Queue a message; return the number dropped. A slow client loses droppable messages first, then the socket."""
        try:
            return self._outbox.put(text, droppable=droppable)
        except ReaderTooSlow:
            self.end(POLICY, "the client does not read")
            return 0

    async def enqueue_with_room(self, text: bytes) -> None:
        """Queue a message once the queue is empty, so that long output is sent no faster than it is read."""
        await self._outbox.wait_for_room()
        self.enqueue(text)

    def end(self, code: int, reason: str) -> None:
        """Close the socket with this code and reason; later calls change nothing."""
        if self._close_frame is None:
            self._close_frame = (code, reason)
            logger.info("closing a connection", extra={"code": code, "reason": reason})
        self.tasks.cancel_scope.cancel()

    @property
    def has_ended(self) -> bool:
        return self._close_frame is not None

    async def _write(self, send: Send) -> None:
        while True:
            text = (await self._outbox.take()).decode()
            if not self._check_key():
                return
            with anyio.move_on_after(self._slow_seconds) as sending:
                try:
                    await send({"type": "websocket.send", "text": text})
                except OSError:  # the client is gone; waiting for it would never end
                    self.tasks.cancel_scope.cancel()
                    return
            if sending.cancelled_caught:
                self.end(POLICY, "the client does not read")

    def _check_key(self) -> bool:
        """Return True while the key is valid; otherwise close the socket."""
        if (now := anyio.current_time()) - self._key_checked_at < KEY_CHECK_SECONDS:
            return True
        self._key_checked_at = now
        if self.is_authorized():
            return True
        self.end(POLICY, "the key is no longer valid")
        return False

    async def _tick(self) -> None:
        while True:
            await anyio.sleep(TICK_SECONDS)
            if self._check_key():
                self.on_tick()


async def refuse(error: ScrubjayError, scope: Scope, send: Send) -> None:
    """Send an HTTP error before the socket is accepted."""
    await refuse_socket(error_response(error, request_id_of(scope)), scope, send)
