"""The response to a request as the edge sends it: with the common headers, and no longer than it may be sent."""

import time
from collections.abc import Callable, Iterable
from typing import Final

import anyio
from starlette.responses import Response
from starlette.types import Message, Send

from scrubjay.servers.http.rate_limits import RateLimitStatus
from scrubjay.servers.http.request_body import RequestBody
from scrubjay.servers.http.security_headers import Header, with_security_headers

# Seconds for which the rest of a refused body is read and discarded. Closing at once would reset the connection of a
# client that is still sending, and the reset destroys the response before it is read.
LINGER_SECONDS: Final = 10.0
# Time to the response in milliseconds, as Mimo sends with every response.
LATENCY_HEADER: Final = "X-Mimo-Latency-Ms"
_LATENCY: Final = LATENCY_HEADER.lower().encode()
# First message of a response: to a request, to a refused WebSocket, or to an accepted one.
_FIRST_MESSAGES = frozenset({"http.response.start", "websocket.http.response.start", "websocket.accept"})


class EdgeResponse:
    """Sends a response with the common headers."""

    def __init__(self, send: Send, request_id: str) -> None:
        self._send = send
        self._request_id = request_id
        self._began = time.perf_counter()
        self.headers: list[Header] = []
        self.started = False
        self._is_chunked = False
        self.on_start: Callable[[bool], bool] | None = None
        """Called when a response starts, with True for an event stream; False discards the response."""
        self.may_continue: Callable[[], bool] | None = None
        """Called before each chunk; False stops the response."""

    def add_rate_limit(self, status: RateLimitStatus | None) -> None:
        self.headers += status.headers if status is not None else ()

    async def end_body(self) -> None:
        """End a chunked response."""
        await self._send({"type": "http.response.body", "body": b"", "more_body": False})

    async def send_refusal(self, refusal: Response, body: RequestBody) -> None:
        """Send a response at once, but end it only when the client has stopped sending."""
        await self({"type": "http.response.start", "status": refusal.status_code, "headers": refusal.raw_headers})
        await self({"type": "http.response.body", "body": refusal.body, "more_body": True})
        with anyio.move_on_after(LINGER_SECONDS):
            while not body.complete:
                await body.next_chunk()
        await self({"type": "http.response.body", "body": b"", "more_body": False})

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.body":
            if not self.started:  # the start was discarded
                return
            is_part = self._is_chunked or message.get("more_body", False)
            if is_part and self.may_continue is not None and not self.may_continue():
                return
            self._is_chunked = message.get("more_body", False)
        if message["type"] == "http.response.start":
            if self.on_start is not None and not self.on_start(_is_stream(message)):
                return
            self.started = True
        if message["type"] in _FIRST_MESSAGES:
            message = {**message, "headers": self._with_common_headers(message.get("headers", ()))}
        await self._send(message)

    def _with_common_headers(self, headers: Iterable[Header]) -> list[Header]:
        headers = [*headers, (b"x-request-id", self._request_id.encode()), *self.headers]
        if not any(name == _LATENCY for name, _ in headers):
            headers.append((_LATENCY, b"%.2f" % ((time.perf_counter() - self._began) * 1000)))
        return with_security_headers(headers)


def _is_stream(start: Message) -> bool:
    return any(
        name.lower() == b"content-type" and value.startswith(b"text/event-stream")
        for name, value in start.get("headers", ())
    )
