"""uvicorn protocol classes for HTTP and WebSockets, with limits that uvicorn does not enforce."""

import asyncio
import resource
from asyncio import TimerHandle
from typing import Any, ClassVar, Final
from weakref import WeakKeyDictionary

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from uvicorn.server import ServerState

from scrubjay.core.errors import Busy, InvalidRequest, ScrubjayError, TooLarge
from scrubjay.core.ids import new_id
from scrubjay.servers.http.client_connection import EXTENSION
from scrubjay.servers.http.errors import error_response
from scrubjay.servers.http.request_body import BODY_BYTES_PER_SECOND, BODY_SECONDS
from scrubjay.servers.http.security_headers import with_security_headers

# Seconds until a closed WebSocket is aborted: a peer that does not read would keep the connection open for ever.
LINGER_SECONDS: Final = 1.0
POLICY_VIOLATION: Final = 1008

# Ten times a large request head, with a key and all cookies of a page.
MAX_HEAD_BYTES: Final = 64 * 1024
# Seconds for the head of a request to arrive. uvicorn closes an idle keep-alive connection sooner.
HEAD_SECONDS: Final = 20.0
# Seconds for a client to read what waits to be sent, and bytes that it must read in each further second. The limits are
# those of bodies in the other direction.
WRITE_SECONDS: Final = BODY_SECONDS
WRITE_BYTES_PER_SECOND: Final = BODY_BYTES_PER_SECOND
# Connections without a request that is worked on. Beyond this the oldest is closed, so that clients which send a
# request at once find room: half of the file descriptors is left to them.
_FILES = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
MAX_IDLE_CONNECTIONS: Final = 1_000 if _FILES == resource.RLIM_INFINITY else min(1_000, _FILES // 2)


class BoundedHttp(HttpToolsProtocol):
    """HTTP protocol with limits on the time and size of a request head, and on the time to read a response.

    uvicorn has none of them: a client that sends one byte a minute, or that does not read, would keep its connection
    for ever, and one that never ends a header would fill the memory. Implements `ClientConnection`.
    """

    _idle_by_server: ClassVar[WeakKeyDictionary[ServerState, dict["BoundedHttp", None]]] = WeakKeyDictionary()

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._idle = self._idle_by_server.setdefault(self.server_state, {})
        self._timer: TimerHandle | None = None
        self._write_timer: TimerHandle | None = None
        self._in_head = self._request_ended = False
        """`_in_head`: a head is arriving. `_request_ended`: the data received last completed a request."""
        self._received_bytes = 0
        """Bytes received since the head began and before it ended."""
        self._parsed_bytes = 0
        """Bytes of complete lines of the head: many lines may arrive at once."""
        self._problem: ScrubjayError | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]  # as uvicorn has it
        super().connection_made(transport)
        self._start_timer()
        if len(self._idle) > MAX_IDLE_CONNECTIONS:
            next(iter(self._idle)).close_idle()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_timer()
        self._stop_write_timer()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        self._request_ended = False
        super().data_received(data)
        if self.transport.is_closing() or self.transport.get_protocol() is not self:  # or it is a WebSocket now
            return
        if self._in_head and not self._request_ended:  # otherwise most of the data may be another request's body
            self._received_bytes += len(data)
            if self._received_bytes > MAX_HEAD_BYTES:
                self._refuse(_too_large(), 431)
        elif self._is_idle():  # the data belongs to no request
            self._start_timer()

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self.scope["extensions"] = {EXTENSION: self}  # pyright: ignore[reportGeneralTypeIssues]
        self._in_head, self._received_bytes, self._parsed_bytes = True, 0, 0
        self._start_timer()

    def on_url(self, url: bytes) -> None:
        self._count(len(url))
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        self._count(len(name) + len(value))
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        self._in_head = False
        self._stop_timer()
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        super().on_message_complete()
        self._request_ended = True

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if self._is_idle() and not self.transport.is_closing():
            self._idle[self] = None  # until the next request; uvicorn closes the connection after some seconds

    def send_400_response(self, msg: str) -> None:
        if self._problem is not None:
            self._refuse(self._problem, 431)
        else:
            self._refuse(InvalidRequest("this is not a valid HTTP request", hint="check what the client sends"), 400)

    def close_idle(self) -> None:
        """Close a connection without a request; answer 408 when part of a head has arrived."""
        self._stop_timer()
        if self.transport.is_closing():
            return
        if self._in_head and self._is_idle():
            self._refuse(Busy("the request did not arrive in time", hint="send it again"), 408)
        else:
            self._close()

    def timeout_keep_alive_handler(self) -> None:
        if not self.transport.is_closing():
            self._close()

    # -- responses that are not read -----------------------------------------------------------------

    def pause_writing(self) -> None:
        super().pause_writing()
        self._start_write_timer()

    def resume_writing(self) -> None:
        super().resume_writing()
        if not self.transport.is_closing():
            self._stop_write_timer()

    async def wait_until_read(self) -> None:
        await self.flow.drain()

    def make_evictable(self) -> None:
        self._start_timer()

    def _close(self) -> None:
        """Close the connection when the client has read everything, or does not."""
        if self.transport.get_write_buffer_size():
            self._start_write_timer()
        self.transport.close()

    def _start_write_timer(self) -> None:
        if self._write_timer is None:
            seconds = WRITE_SECONDS + self.transport.get_write_buffer_size() / WRITE_BYTES_PER_SECOND
            self._write_timer = self.loop.call_later(seconds, self.transport.abort)

    def _stop_write_timer(self) -> None:
        if self._write_timer is not None:
            self._write_timer.cancel()
            self._write_timer = None

    # -- heads ---------------------------------------------------------------------------------------

    def _is_idle(self) -> bool:
        return not self.cycle or self.cycle.response_complete

    def _count(self, size: int) -> None:
        self._parsed_bytes += size
        if self._parsed_bytes > MAX_HEAD_BYTES:
            self._problem = _too_large()
            raise self._problem

    def _start_timer(self) -> None:
        if self._timer is None:
            self._idle[self] = None
            self._timer = self.loop.call_later(HEAD_SECONDS, self.close_idle)

    def _stop_timer(self) -> None:
        self._idle.pop(self, None)
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _refuse(self, error: ScrubjayError, status: int) -> None:
        response = error_response(error, request_id := new_id("req"), status=status)
        headers = with_security_headers([*response.raw_headers, (b"x-request-id", request_id.encode())])
        lines = b"".join(b"%s: %s\r\n" % header for header in (*headers, (b"connection", b"close")))
        self.transport.write(b"%s%s\r\n%s" % (STATUS_LINE[status], lines, bytes(response.body)))
        self._close()


def _too_large() -> TooLarge:
    return TooLarge(
        f"the head of the request is larger than {MAX_HEAD_BYTES} bytes",
        hint="send fewer or shorter headers",
        details={"limit_bytes": MAX_HEAD_BYTES},
    )


class BoundedWebSocket(WebSocketsSansIOProtocol):
    """WebSocket protocol that disconnects peers which do not read, or which send faster than messages are handled.

    uvicorn closes a connection only when the peer has read everything, and ignores `ws_max_queue`.
    """

    async def run_asgi(self) -> None:
        await super().run_asgi()
        self.loop.call_later(LINGER_SECONDS, self.transport.abort)

    def shutdown(self) -> None:
        super().shutdown()
        self.loop.call_later(LINGER_SECONDS, self.transport.abort)

    def keepalive_timeout(self) -> None:
        super().keepalive_timeout()
        self.loop.call_later(LINGER_SECONDS, self.transport.abort)

    def send_receive_event_to_app(self) -> None:
        if self.queue.qsize() < self.config.ws_max_queue or self.close_sent:
            super().send_receive_event_to_app()
        else:
            self.conn.send_close(POLICY_VIOLATION, "too many messages at once")
            self.handle_parser_exception()
