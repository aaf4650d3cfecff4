"""How HTTP and WebSockets of all protocols are carried: with bounds that uvicorn itself does not keep."""

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
from scrubjay.servers.http.errors import error_response
from scrubjay.servers.http.security_headers import with_security_headers

# A peer that reads has its last messages by then; one that does not would keep its connection for ever.
LINGER_SECONDS: Final = 1.0
POLICY_VIOLATION: Final = 1008

# The head of a request, with a key and all cookies of a page, is a tenth of this.
MAX_HEAD_BYTES: Final = 64 * 1024
# Whoever has something to ask has said so by then; a connection that is kept for later has less.
HEAD_SECONDS: Final = 20.0
# So many connections may be waited for; beyond that the longest is let go, so that there is always room for one that
# asks at once. Half of what the system allows is left to those that do.
_FILES = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
MOST_WAITED_FOR: Final = 1_000 if _FILES == resource.RLIM_INFINITY else min(1_000, _FILES // 2)


class BoundedHttp(HttpToolsProtocol):
    """Waits only so long for a request to begin, and reads only so much of its head.

    Uvicorn does neither: a client that says one letter a minute would keep its connection for ever, and one that never
    ends a header would fill the memory.
    """

    _waited_for: ClassVar[WeakKeyDictionary[ServerState, dict["BoundedHttp", None]]] = WeakKeyDictionary()

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self._waiting = self._waited_for.setdefault(self.server_state, {})
        self._patience: TimerHandle | None = None
        self._in_head = self._has_ended = False
        """Whether a request has begun and its head has no end yet; whether one ended in the piece that came last."""
        self._arrived = 0
        """Bytes that came since the head began and before it ended."""
        self._understood = 0
        """Bytes of the head's lines that are whole: many may come in one piece."""
        self._problem: ScrubjayError | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]  # as uvicorn has it
        super().connection_made(transport)
        self._wait()
        if len(self._waiting) > MOST_WAITED_FOR:
            next(iter(self._waiting)).let_go()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        self._has_ended = False
        super().data_received(data)
        if self.transport.is_closing() or self.transport.get_protocol() is not self:  # or it is a WebSocket now
            return
        if self._in_head and not self._has_ended:  # otherwise most of the piece may be another request's body
            self._arrived += len(data)
            if self._arrived > MAX_HEAD_BYTES:
                self._refuse(_too_large(), 431)
        elif self._is_idle():  # what comes belongs to no request
            self._wait()

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._in_head, self._arrived, self._understood = True, 0, 0
        self._wait()

    def on_url(self, url: bytes) -> None:
        self._count(len(url))
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        self._count(len(name) + len(value))
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        self._in_head = False
        self._stop_waiting()
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        super().on_message_complete()
        self._has_ended = True

    def send_400_response(self, msg: str) -> None:
        if self._problem is not None:
            self._refuse(self._problem, 431)
        else:
            self._refuse(InvalidRequest("this is no request of HTTP", hint="look at what the client sends"), 400)

    def let_go(self) -> None:
        """End a connection over which no request has come."""
        self._stop_waiting()
        if self.transport.is_closing():
            return
        if self._in_head and self._is_idle():
            self._refuse(Busy("the request did not come in time", hint="send it again"), 408)
        else:
            self.transport.close()

    def _is_idle(self) -> bool:
        return not self.cycle or self.cycle.response_complete

    def _count(self, size: int) -> None:
        self._understood += size
        if self._understood > MAX_HEAD_BYTES:
            self._problem = _too_large()
            raise self._problem

    def _wait(self) -> None:
        if self._patience is None:
            self._waiting[self] = None
            self._patience = self.loop.call_later(HEAD_SECONDS, self.let_go)

    def _stop_waiting(self) -> None:
        self._waiting.pop(self, None)
        if self._patience is not None:
            self._patience.cancel()
            self._patience = None

    def _refuse(self, error: ScrubjayError, status: int) -> None:
        response = error_response(error, request_id := new_id("req"), status=status)
        headers = with_security_headers([*response.raw_headers, (b"x-request-id", request_id.encode())])
        lines = b"".join(b"%s: %s\r\n" % header for header in (*headers, (b"connection", b"close")))
        self.transport.write(b"%s%s\r\n%s" % (STATUS_LINE[status], lines, bytes(response.body)))
        self.transport.close()


def _too_large() -> TooLarge:
    return TooLarge(
        f"the head of the request is larger than {MAX_HEAD_BYTES} bytes",
        hint="send fewer or shorter headers",
        details={"limit_bytes": MAX_HEAD_BYTES},
    )


class BoundedWebSocket(WebSocketsSansIOProtocol):
    """Lets go of peers who do not read, and of peers who send more at once than is asked for.

    Uvicorn closes a connection only when all that was written has been read, and does not heed `ws_max_queue`.
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
