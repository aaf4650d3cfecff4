"""Read messages from a byte stream: one per line, or with a Content-Length header, as editors send them.

A client may use either framing, and switch between them; responses use the one that it used last.
"""

import re
from collections.abc import Awaitable, Callable
from typing import Final

_LENGTH: Final = re.compile(rb"content-length\s*:\s*(\d{1,18})", re.IGNORECASE)
# No JSON text begins like this.
_HEADER: Final = re.compile(rb"content-(length|type)\s*:", re.IGNORECASE)
# Bytes kept from each end of an oversized message: enough to find the id of the request.
_END_BYTES: Final = 512


class MessageTooLong(Exception):
    """A message exceeds the size limit. It has been read completely; only its two ends are kept."""

    def __init__(self, head: bytes, tail: bytes) -> None:
        self.head = head[:_END_BYTES]
        self.tail = tail[-_END_BYTES:]


class InvalidHeaders(Exception):
    """The headers of a message contain no valid Content-Length."""


class MessageReader:
    """Reads one message after the other."""

    def __init__(self, receive: Callable[[], Awaitable[bytes]], max_bytes: int) -> None:
        """`receive` waits for more bytes and returns none at the end of the input."""
        self._receive = receive
        self._max_bytes = max_bytes
        self._buffer = bytearray()
        self.has_headers = False
        """True when the last message had headers."""

    async def next(self) -> bytes | None:
        """Return the next message, or None at the end; raise `MessageTooLong` or `InvalidHeaders`."""
        line = b""
        while not line:  # empty lines are ignored
            try:
                raw_line = await self._read_line()
            except MessageTooLong:
                self.has_headers = False
                raise
            if raw_line is None:
                return None
            line = raw_line.strip()
        self.has_headers = _HEADER.match(line) is not None
        return await self._read_body(line) if self.has_headers else line

    async def _read_body(self, line: bytes) -> bytes:
        size: int | None = None
        while line:
            if length := _LENGTH.fullmatch(line):
                size = int(length[1])
            line = (await self._read_line() or b"").strip()
        if size is None:
            raise InvalidHeaders
        return await self._read_exactly(size)

    async def _read_line(self) -> bytes | None:
        """Return the next line; the end of the input ends a line too."""
        head = b""
        searched = 0
        while (end := self._buffer.find(b"\n", searched)) < 0:
            if len(self._buffer) > self._max_bytes:
                head = head or bytes(self._buffer[:_END_BYTES])
                del self._buffer[:-_END_BYTES]
            searched = len(self._buffer)
            piece = await self._receive()
            if not piece and not self._buffer:
                return None
            self._buffer += piece or b"\n"
        line = self._take(end)
        del self._buffer[:1]
        if head or len(line) > self._max_bytes:
            raise MessageTooLong(head or line, line)
        return line

    async def _read_exactly(self, size: int) -> bytes:
        """Return `size` bytes, or fewer at the end of the input."""
        is_too_long = size > self._max_bytes
        head = b""
        while len(self._buffer) < size and (piece := await self._receive()):
            self._buffer += piece
            if is_too_long:
                head = head or bytes(self._buffer[:_END_BYTES])
                dropped = max(0, min(len(self._buffer), size) - _END_BYTES)
                del self._buffer[:dropped]
                size -= dropped
        body = self._take(size)
        if is_too_long:
            raise MessageTooLong(head or body, body)
        return body

    def _take(self, size: int) -> bytes:
        taken = bytes(self._buffer[:size])
        del self._buffer[:size]
        return taken


def with_headers(message: bytes) -> bytes:
    """Return the message with a Content-Length header."""
    return b"Content-Length: %d\r\n\r\n%b" % (len(message), message)
